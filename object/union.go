package object

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Replacement is a part of an object that has to be replaced as a whole.
type Replacement struct {
	Pointer string // where in the live object, as a JSON pointer (RFC 6901)
	Live    any    // what is there
	Value   any    // what it should be
}

// Unions returns how a live object of a built-in kind has to be changed so that
// server-side apply can make it as desired, a tree, where the two have chosen
// different members of a union: a volume that is an emptyDir and a configMap. An
// apply leaves what somebody else has chosen beside what is ours, and the server
// refuses the two (422). The fields are those that it named in the refusal; unions
// elsewhere are left alone, and so is what is no member of one. Neither tree is changed.
func Unions(kind schema.GroupKind, desired, live map[string]any, fields []string) []Replacement {
	s := shapes()[kind]
	if s == nil {
		return nil
	}
	w := unions{}
	for _, field := range fields {
		w.refused = append(w.refused, withoutIndex(field))
	}
	w.walk(s, desired, live, "", "")
	return w.found
}

// Lists returns the lists of a built-in kind, by path, in an item of which the server
// found something wrong: lists whose items are told apart by keys, and which are in no
// other list. Somebody else's item in them can keep ours from being applied, such as a
// port of the same name under another protocol. Neither tree is changed.
func Lists(kind schema.GroupKind, desired, live map[string]any, fields []string) map[string]Replacement {
	found := map[string]Replacement{}
	for _, field := range fields {
		path, _, inItem := strings.Cut(field, "[")
		if !inItem || len(Keys(kind, path)) == 0 {
			continue
		}
		want, has := list(desired, path), list(live, path)
		if want != nil && has != nil {
			found[path] = Replacement{Pointer: "/" + strings.ReplaceAll(path, ".", "/"), Live: has, Value: runtime.DeepCopyJSONValue(want)}
		}
	}
	return found
}

// list is the list at a path; nil if there is none.
func list(tree map[string]any, path string) any {
	node := any(tree)
	for name := range strings.SplitSeq(path, ".") {
		m, ok := node.(map[string]any)
		if !ok {
			return nil
		}
		node = m[name]
	}
	if _, ok := node.([]any); !ok {
		return nil
	}
	return node
}

// unions walks a desired object beside the live one.
type unions struct {
	refused []string // spec.volumes[].configMap
	found   []Replacement
}

// walk looks at a node. The path is as the server writes it, without the indexes of
// items.
func (w *unions) walk(s *shape, desired, live any, path, pointer string) {
	switch d := desired.(type) {
	case map[string]any:
		l, ok := live.(map[string]any)
		if !ok {
			return
		}
		if chosen := s.choose(d, l); chosen != nil && w.isRefused(path) {
			w.found = append(w.found, Replacement{Pointer: pointer, Live: l, Value: chosen})
			return
		}
		for _, p := range s.below {
			w.walk(p.shape, d[p.name], l[p.name], strings.TrimPrefix(path+"."+p.name, "."), pointer+"/"+p.name)
		}
	case []any:
		l, ok := live.([]any)
		if !ok || s.each == nil || len(s.keys) == 0 {
			return
		}
		for _, item := range d {
			if i := slices.IndexFunc(l, func(other any) bool { return s.sameKeys(item, other) }); i >= 0 {
				w.walk(s.each, item, l[i], path+"[]", pointer+"/"+strconv.Itoa(i))
			}
		}
	}
}

// choose returns the live node with the desired members of its union in place of the
// others; nil if there are no others, or nothing is desired.
func (s *shape) choose(desired, live map[string]any) map[string]any {
	var others []string
	chosen := s.lone
	for name := range live {
		if _, ours := desired[name]; !ours && s.member(name) {
			others = append(others, name)
		}
	}
	for name := range desired {
		chosen = chosen || s.member(name)
	}
	if len(others) == 0 || !chosen {
		return nil
	}
	out := runtime.DeepCopyJSON(live)
	maps.DeleteFunc(out, func(name string, _ any) bool { return slices.Contains(others, name) })
	for name, value := range desired {
		if s.member(name) || s.lone {
			out[name] = runtime.DeepCopyJSONValue(value)
		}
	}
	return out
}

// member reports whether a field is a member of the union at a node.
func (s *shape) member(name string) bool {
	return slices.Contains(s.oneOf, name) || slices.Equal(s.oneOf, []string{"*"}) && name != "name"
}

func (w *unions) isRefused(path string) bool {
	return slices.ContainsFunc(w.refused, func(field string) bool {
		return field == path || strings.HasPrefix(field, path+".")
	})
}

var indexes = regexp.MustCompile(`\[[^\]]*\]`)

// withoutIndex writes a field without the places of items in their lists.
func withoutIndex(field string) string { return indexes.ReplaceAllString(field, "[]") }
