package apply_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/object"
)

// foreign is one of the ways in which somebody else writes an object. It is given the
// object as it is and what we apply, neither of which it may change.
type foreign struct {
	name string
	do   func(g generator, f *fixture, live, payload *unstructured.Unstructured) error
}

var foreignWrites = []foreign{
	{"update", func(g generator, f *fixture, live, _ *unstructured.Unstructured) error {
		u := live.DeepCopy()
		g.mutate(u.Object, 1+g.IntN(3))
		return f.Update(f.Context(), u, client.FieldOwner("a-person"))
	}},
	{"update of managed fields", func(g generator, f *fixture, live, _ *unstructured.Unstructured) error {
		u := live.DeepCopy()
		entries := u.GetManagedFields()
		switch g.IntN(4) {
		case 0:
			entries = []metav1.ManagedFieldsEntry{{}}
		case 1:
			entries = slices.DeleteFunc(entries, func(e metav1.ManagedFieldsEntry) bool { return strings.HasPrefix(e.Manager, controller) })
		case 2:
			entries = slices.DeleteFunc(entries, func(e metav1.ManagedFieldsEntry) bool { return !strings.HasPrefix(e.Manager, controller) })
		default:
			g.mutate(u.Object, 1)
		}
		u.SetManagedFields(entries)
		return f.Update(f.Context(), u, client.FieldOwner("a-person"))
	}},
	{"patch", func(g generator, f *fixture, live, _ *unstructured.Unstructured) error {
		changed := live.DeepCopy()
		g.mutate(changed.Object, 1+g.IntN(2))
		return f.Patch(f.Context(), changed, client.MergeFrom(live), client.FieldOwner("a-person"))
	}},
	{"annotation", func(g generator, f *fixture, live, _ *unstructured.Unstructured) error {
		body := fmt.Sprintf(`{"metadata":{"annotations":{"example.com/foreign":"%d"}}}`, g.IntN(1000))
		return f.Patch(f.Context(), live.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(body)), client.FieldOwner("a-person"))
	}},
	{"apply by another manager", func(g generator, f *fixture, _, payload *unstructured.Unstructured) error {
		u := payload.DeepCopy()
		u.SetOwnerReferences(nil)
		g.thin(u.Object)
		if g.maybe() {
			g.mutate(u.Object, 1)
		}
		return f.WithWatch.Apply(f.Context(), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner("someone"), client.ForceOwnership)
	}},
	{"apply under our name", func(g generator, f *fixture, _, payload *unstructured.Unstructured) error {
		u := payload.DeepCopy()
		g.mutate(u.Object, 1+g.IntN(2))
		return f.WithWatch.Apply(f.Context(), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(f.applier.Manager(f.owner)), client.ForceOwnership)
	}},
	{"made anew", func(_ generator, f *fixture, live, _ *unstructured.Unstructured) error {
		if err := f.Delete(f.Context(), live.DeepCopy(), client.PropagationPolicy(metav1.DeletePropagationBackground), client.GracePeriodSeconds(0)); err != nil {
			return err
		}
		u := live.DeepCopy()
		for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "generation"} {
			unstructured.RemoveNestedField(u.Object, "metadata", field)
		}
		return f.Create(f.Context(), u, client.FieldOwner("a-backup-tool"))
	}},
}

// site is a place in a tree: a field of a map, or an item of a list.
type site struct {
	parent map[string]any
	field  string
	index  int // of an item, where parent[field] is its list; else -1
}

// sites lists the places of an object that mutations may change: not what says which
// object it is, and nothing that only the server writes.
func sites(tree map[string]any) []site {
	metadata, _ := tree["metadata"].(map[string]any)
	out := places(metadata, "name", "namespace", "uid", "resourceVersion", "managedFields", "creationTimestamp", "generation")
	return append(out, places(tree, "apiVersion", "kind", "metadata", "status")...)
}

// places lists the places in a map and below, but for some of its fields.
func places(node map[string]any, without ...string) []site {
	var out []site
	for _, k := range slices.Sorted(maps.Keys(node)) { // sorted, so that a seed is a run
		if slices.Contains(without, k) {
			continue
		}
		out = append(out, site{node, k, -1})
		switch v := node[k].(type) {
		case map[string]any:
			out = append(out, places(v)...)
		case []any:
			for i, item := range v {
				out = append(out, site{node, k, i})
				if m, ok := item.(map[string]any); ok {
					out = append(out, places(m)...)
				}
			}
		}
	}
	return out
}

// mutate changes a tree in n places.
func (g generator) mutate(tree map[string]any, n int) {
	for range n {
		all := sites(tree)
		if len(all) == 0 {
			return
		}
		s := pick(g, all...)
		if s.index < 0 {
			g.mutateField(s)
		} else {
			g.mutateItem(s)
		}
	}
}

func (g generator) mutateField(s site) {
	if g.IntN(4) == 0 {
		delete(s.parent, s.field)
		return
	}
	switch v := s.parent[s.field].(type) {
	case map[string]any:
		v[pick(g, "foreign", "a", "example.com-x")] = pick(g, any("x"), any(int64(1)))
	case []any:
		if len(v) > 0 {
			extra := runtime.DeepCopyJSONValue(v[g.IntN(len(v))])
			if m, ok := extra.(map[string]any); ok && m["name"] != nil && g.maybe() {
				m["name"] = "foreign"
			}
			s.parent[s.field] = slices.Insert(slices.Clone(v), g.IntN(len(v)+1), extra)
		}
	default:
		s.parent[s.field] = g.other(v)
	}
}

func (g generator) mutateItem(s site) {
	list := slices.Clone(s.parent[s.field].([]any))
	switch g.IntN(3) {
	case 0:
		list = slices.Delete(list, s.index, s.index+1)
	case 1:
		j := g.IntN(len(list))
		list[s.index], list[j] = list[j], list[s.index]
	default:
		if m, ok := list[s.index].(map[string]any); ok {
			keys := slices.Sorted(maps.Keys(m))
			if len(keys) > 0 {
				g.mutateField(site{m, pick(g, keys...), -1})
			}
		} else {
			list[s.index] = g.other(list[s.index])
		}
	}
	s.parent[s.field] = list
}

// other returns another value of the same type.
func (g generator) other(v any) any {
	switch v := v.(type) {
	case string:
		return pick(g, v+"x", "x", "1", "2Gi", "UDP", "10.0.0.3")
	case int64:
		return v + pick(g, int64(1), -1, 1000)
	case float64:
		return v + 1
	case bool:
		return !v
	default:
		return "x"
	}
}

// thin removes fields at random, as from somebody who cares for a part of the object.
// What tells list items apart stays, mostly.
func (g generator) thin(node map[string]any) {
	for _, k := range slices.Sorted(maps.Keys(node)) {
		if slices.Contains([]string{"apiVersion", "kind", "metadata", "name", "namespace", "containerPort", "port", "protocol", "mountPath", "ip", "topologyKey"}, k) {
			continue
		}
		if g.IntN(3) == 0 {
			delete(node, k)
			continue
		}
		switch v := node[k].(type) {
		case map[string]any:
			g.thin(v)
		case []any:
			for _, item := range v {
				if m, ok := item.(map[string]any); ok && g.maybe() {
					g.thin(m)
				}
			}
		}
	}
}

// gadget is the sample of a kind that is no built-in one.
var gadget = sampleKind{name: "Gadget", make: func(g generator, meta metav1.ObjectMeta) object.Object {
	rule := pick(g, `{"path":"/"}`, `{"path":"/","weight":1}`) // what is left out is filled in by the server, in a list that is ours as a whole
	const number = `9007199254740991`                          // the largest that a server can keep apart in managed fields
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetAPIVersion("test.armature.dev/v1")
	u.SetKind("Gadget")
	u.SetNamespace(meta.Namespace)
	u.SetName(meta.Name)
	u.SetLabels(meta.Labels)
	spec := map[string]any{}
	for _, field := range some(g,
		`"text":"a"`, `"count":3`, `"ratio":0.5`, `"enabled":true`, `"size":"10%"`, `"words":{"a":"b","c":"d"}`, `"whole":{"a":"x","b":"y"}`,
		`"args":["--one","--two"]`, `"rules":[`+rule+`,{"path":"/x","weight":2}]`, `"tags":["a","b"]`, `"numbers":[1,2,`+number+`]`,
		`"ports":[{"port":80,"protocol":"TCP","name":"http"},{"port":53,"protocol":"UDP"}]`, `"free":{"any":{"thing":[1,{"b":"c"}]}}`) {
		if err := utiljson.Unmarshal([]byte("{"+field+"}"), &spec); err != nil {
			panic(err)
		}
	}
	u.Object["spec"] = spec
	return u
}}
