package apply

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// program is the set of fields that a manager owns, made ready to be walked beside
// objects. Whether a list is replaced as a whole, keyed or a set is read off it, so
// no schema is needed. A program never changes and is shared between all objects
// that have the same fields.
type program struct {
	fields []fieldOf // of a map, sorted by name
	items  []itemOf  // of a keyed list or of a set, sorted by how the server writes them
	opaque bool      // something in it is not understood
}

type fieldOf struct {
	name  string
	below *program
}

// itemOf is an item of a list: of a keyed list by its keys, of a set by its value.
type itemOf struct {
	raw   string
	keys  map[string]any
	value any // of a set, where keys is nil
	below *program
}

// leaf reports whether the node is owned as a whole.
func (p *program) leaf() bool { return len(p.fields) == 0 && len(p.items) == 0 }

// compile reads a set of fields as the server writes it (FieldsV1): a tree whose
// keys name fields ("f:spec"), items by their keys (`k:{"name":"web"}`), items by
// their value (`v:"a"`) and the node itself ("."). What is written otherwise makes
// the program opaque.
func compile(raw []byte) (*program, error) {
	var tree map[string]json.RawMessage
	if err := json.Unmarshal(raw, &tree); err != nil {
		return nil, fmt.Errorf("reading a set of fields: %w", err)
	}
	p := &program{}
	for name, sub := range tree {
		if name == "." {
			continue
		}
		below, err := compile(sub)
		if err != nil {
			return nil, err
		}
		p.add(name, below)
	}
	slices.SortFunc(p.fields, func(a, b fieldOf) int { return strings.Compare(a.name, b.name) })
	slices.SortFunc(p.items, func(a, b itemOf) int { return strings.Compare(a.raw, b.raw) })
	p.opaque = p.opaque || len(p.fields) > 0 && len(p.items) > 0
	return p, nil
}

func (p *program) add(name string, below *program) {
	p.opaque = p.opaque || below.opaque
	sign, rest, _ := strings.Cut(name, ":")
	switch sign {
	case "f":
		p.fields = append(p.fields, fieldOf{rest, below})
	case "k":
		var keys map[string]any
		if utiljson.Unmarshal([]byte(rest), &keys) != nil || len(keys) == 0 {
			p.opaque = true
		}
		p.items = append(p.items, itemOf{raw: name, keys: keys, below: below})
	case "v":
		var value any
		if utiljson.Unmarshal([]byte(rest), &value) != nil {
			p.opaque = true
		}
		p.items = append(p.items, itemOf{raw: name, value: value, below: below})
	default: // an index, or something newer than this code
		p.opaque = true
	}
}

// fieldsOf returns the fields of an entry as the server wrote them, empty where there
// is no entry. All access to their encoding is here.
func fieldsOf(entry *metav1.ManagedFieldsEntry) string {
	if entry == nil || entry.FieldsV1 == nil {
		return ""
	}
	return entry.FieldsV1.GetRawString()
}

// under returns what is owned below a field, nil if nothing is.
func (p *program) under(names ...string) *program {
	for _, name := range names {
		if p == nil {
			return nil
		}
		i, found := slices.BinarySearchFunc(p.fields, name, func(f fieldOf, name string) int { return strings.Compare(f.name, name) })
		if !found {
			return nil
		}
		p = p.fields[i].below
	}
	return p
}

// keyed returns the values that the items of a keyed list have for one key.
func (p *program) keyed(key string) []string {
	if p == nil {
		return nil
	}
	var values []string
	for _, item := range p.items {
		if v, ok := item.keys[key]; ok {
			values = append(values, fmt.Sprint(v))
		}
	}
	return values
}

// is reports whether an item of a list is the one.
func (i itemOf) is(node any) bool {
	if i.keys == nil {
		return equality.Semantic.DeepEqual(i.value, node)
	}
	m, ok := node.(map[string]any)
	if !ok {
		return false
	}
	for k, v := range i.keys {
		if !equality.Semantic.DeepEqual(m[k], v) {
			return false
		}
	}
	return true
}

// exact reports whether what is owned in live is what is desired, with the same
// values in the same order, so that applying desired again would change nothing.
// Where it cannot tell it says no.
func (p *program) exact(desired, live any) bool {
	switch {
	case p.opaque:
		return false
	case p.leaf():
		return equality.Semantic.DeepEqual(withoutTypesIn(desired), withoutTypesIn(live))
	}
	switch d := desired.(type) {
	case map[string]any:
		l, ok := live.(map[string]any)
		return ok && len(p.items) == 0 && p.exactFields(d, l)
	case []any:
		l, ok := live.([]any)
		return ok && len(p.fields) == 0 && p.exactItems(d, l)
	default:
		return false
	}
}

func (p *program) exactFields(desired, live map[string]any) bool {
	for _, f := range p.fields {
		d, declared := desired[f.name]
		l, exists := live[f.name]
		if !declared || !exists || !f.below.exact(d, l) {
			return false
		}
	}
	return len(p.fields) == len(desired)
}

func (p *program) exactItems(desired, live []any) bool {
	last := -1
	for _, d := range desired {
		i := slices.IndexFunc(p.items, func(item itemOf) bool { return item.is(d) })
		if i < 0 {
			return false
		}
		item := p.items[i]
		at := slices.IndexFunc(live, item.is)
		if at <= last || slices.ContainsFunc(live[at+1:], item.is) || !item.below.exact(d, live[at]) {
			return false
		}
		last = at
	}
	return len(p.items) == len(desired)
}

// unresolved returns the path of something that is owned and desired and that the
// server's answer does not show, or an empty string: what is written under one name
// and stored under another can never be seen to be there.
func (p *program) unresolved(desired, live any, path string) string {
	if p.leaf() {
		if live == nil && !blank(desired) {
			return path
		}
		return ""
	}
	dm, _ := desired.(map[string]any)
	lm, _ := live.(map[string]any)
	for _, f := range p.fields {
		if missing := f.below.unresolved(dm[f.name], lm[f.name], path+"."+f.name); missing != "" {
			return missing
		}
	}
	dl, _ := desired.([]any)
	ll, _ := live.([]any)
	for _, item := range p.items {
		at := fmt.Sprintf("%s[%s]", path, item.raw)
		d, l := find(dl, item), find(ll, item)
		if d != nil && l == nil {
			return at
		}
		if missing := item.below.unresolved(d, l, at); missing != "" {
			return missing
		}
	}
	return ""
}

func find(list []any, item itemOf) any {
	if i := slices.IndexFunc(list, item.is); i >= 0 {
		return list[i]
	}
	return nil
}

// blank reports whether a node says nothing.
func blank(node any) bool {
	switch v := node.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	case string:
		return v == ""
	case bool:
		return !v
	case int64:
		return v == 0
	case float64:
		return v == 0
	}
	return false
}
