package object

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// serverMetadata are the fields of metadata that only the API server sets.
var serverMetadata = []string{
	"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation",
	"managedFields", "resourceVersion", "selfLink", "uid",
}

// writeOnly are the kinds with fields that the API server accepts and stores as
// something else: what is sent has to be what is stored, or it can never be seen to
// be there. Each entry rewrites a tree of its kind in place.
var writeOnly = map[schema.GroupKind]func(tree map[string]any) error{
	{Kind: "Secret"}: foldStringData,
}

// Tree returns what is sent of obj to server-side apply: plain maps, lists, strings,
// int64, float64 and bool, shared with nothing else. In a tree
//
//   - apiVersion and kind are set, from obj or from scheme (see [GVK]);
//   - there is no status, nothing in metadata that only the server sets, no null;
//   - a Go struct held by value appears only if it says something, at every depth:
//     `strategy: {}` and `resources: {}` are artefacts of Go's encoding, and sending
//     them would claim the field. Two empty structs do say something and stay: one
//     behind a pointer (`emptyDir: {}`), and one in a field that its API declares
//     required (a NetworkPolicy's `podSelector: {}`, which selects every pod);
//   - a Secret's stringData is part of its data.
//
// Decoding a tree and taking the tree of that gives the same tree. An unstructured
// object has no artefacts: whatever it holds was written by somebody, and only
// nulls, status and server metadata are removed. A null inside a list is an error
// that names its path: dropping it would move what follows. Tree does not change obj.
func Tree(scheme *runtime.Scheme, obj Object) (map[string]any, error) {
	gvk, err := GVK(scheme, obj)
	if err != nil {
		return nil, err
	}
	tree, err := encode(obj)
	if err != nil {
		return nil, fmt.Errorf("encoding %s %q: %w", gvk.Kind, obj.GetName(), err)
	}
	tree["apiVersion"], tree["kind"] = gvk.GroupVersion().String(), gvk.Kind
	delete(tree, "status")
	if metadata, ok := tree["metadata"].(map[string]any); ok {
		for _, field := range serverMetadata {
			delete(metadata, field)
		}
		if len(metadata) == 0 {
			delete(tree, "metadata")
		}
	}
	if rewrite := writeOnly[gvk.GroupKind()]; rewrite != nil {
		if err := rewrite(tree); err != nil {
			return nil, fmt.Errorf("encoding %s %q: %w", gvk.Kind, obj.GetName(), err)
		}
	}
	return tree, nil
}

// encode returns obj as a tree of its own without nulls and without artefacts.
func encode(obj Object) (map[string]any, error) {
	var tree map[string]any
	if u, ok := obj.(runtime.Unstructured); ok {
		tree = u.UnstructuredContent()
	} else {
		var err error
		if tree, err = runtime.DefaultUnstructuredConverter.ToUnstructured(obj); err != nil {
			return nil, err
		}
		pruneObject(obj, tree)
	}
	return plainMap(tree, nil)
}

// plainMap copies a map without its null fields. Path is where it is, for errors.
func plainMap(node map[string]any, path []string) (map[string]any, error) {
	out := make(map[string]any, len(node))
	for _, k := range slices.Sorted(maps.Keys(node)) { // sorted, so that of two errors the same one is reported
		if node[k] == nil {
			continue
		}
		v, err := plain(node[k], append(path, "."+k))
		if err != nil {
			return nil, err
		}
		out[k] = v
	}
	return out, nil
}

// plain copies a node without the null fields of its maps. It refuses a null in a
// list, and Go values that have no place in a tree.
func plain(node any, path []string) (any, error) {
	switch node := node.(type) {
	case map[string]any:
		return plainMap(node, path)
	case []any:
		out := make([]any, len(node))
		for i, v := range node {
			var err error
			if out[i], err = plain(v, append(path, fmt.Sprintf("[%d]", i))); err != nil {
				return nil, err
			}
		}
		return out, nil
	case string, bool, int64, float64:
		return node, nil
	case int:
		return int64(node), nil
	case int32:
		return int64(node), nil
	case nil:
		return nil, fmt.Errorf("%s: a list must not hold null; remove the element", at(path))
	default:
		return nil, fmt.Errorf("%s: a tree has no place for a Go %T; write map[string]any, []any, string, bool, int64 or float64", at(path), node)
	}
}

// at writes a path the way people do: spec.rules[0].host.
func at(path []string) string { return strings.TrimPrefix(strings.Join(path, ""), ".") }

// foldStringData moves a Secret's stringData into its data, where it wins, as it
// does in the API server.
func foldStringData(tree map[string]any) error {
	plain, ok := tree["stringData"].(map[string]any)
	if !ok {
		return nil
	}
	data, ok := tree["data"].(map[string]any)
	if !ok {
		data = map[string]any{}
	}
	for key, value := range plain {
		text, ok := value.(string)
		if !ok {
			return fmt.Errorf("stringData[%q]: must be a string", key)
		}
		data[key] = base64.StdEncoding.EncodeToString([]byte(text))
	}
	delete(tree, "stringData")
	if len(data) > 0 {
		tree["data"] = data
	}
	return nil
}
