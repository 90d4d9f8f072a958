package object

import (
	"encoding/base64"
	"fmt"
	"math"

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
//   - a Secret's stringData is part of its data;
//   - of a built-in kind, whatever is owned as a whole is complete: what the API server
//     would add to an atomic list or map, or to the key of a list item, is there, and so
//     is the rest of a choice, such as a strategy, that was made. Quantities are
//     written as the server writes them.
//
// Decoding a tree and taking the tree of that gives the same tree. An unstructured
// object has no artefacts: whatever it holds was written by somebody, and only
// nulls, status and server metadata are removed. Tree does not change obj.
//
// Content that cannot be sent is a [*PayloadError]: a null inside a list, because
// dropping it would move what follows; an item of a list whose key is empty, or the
// same as that of another one.
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
	if err := canonical(gvk.GroupKind(), tree); err != nil {
		return nil, fmt.Errorf("encoding %s %q: %w", gvk.Kind, obj.GetName(), err)
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
	out, failed := plainMap(tree)
	if failed != nil {
		return nil, failed
	}
	return out, nil
}

// canonical rewrites a tree of a kind as the API server would.
func canonical(kind schema.GroupKind, tree map[string]any) error {
	if rewrite := writeOnly[kind]; rewrite != nil {
		if err := rewrite(tree); err != nil {
			return err
		}
	}
	if s := shapes()[kind]; s != nil {
		if _, err := s.canonical(tree); err != nil {
			return err
		}
	}
	return nil
}

// plainMap copies a map without its null fields. Of two errors it reports the one of
// the smaller key, so that it is always the same.
func plainMap(node map[string]any) (map[string]any, *PayloadError) {
	out := make(map[string]any, len(node))
	var first *PayloadError
	var where string
	for k, v := range node {
		if v == nil {
			continue
		}
		sub, err := plain(v)
		if err != nil && (first == nil || k < where) {
			first, where = err, k
		}
		out[k] = sub
	}
	if first != nil {
		return nil, first.below(where)
	}
	return out, nil
}

// plain copies a node without the null fields of its maps. It refuses a null in a
// list, and Go values that have no place in a tree.
func plain(node any) (any, *PayloadError) {
	switch node := node.(type) {
	case map[string]any:
		return plainMap(node)
	case []any:
		out := make([]any, len(node))
		for i, v := range node {
			var err *PayloadError
			if out[i], err = plain(v); err != nil {
				return nil, err.below(index(i))
			}
		}
		return out, nil
	case string, bool, int64:
		return node, nil
	case int:
		return int64(node), nil
	case int32:
		return int64(node), nil
	case float64:
		if whole := int64(node); float64(whole) == node && math.Abs(node) < 1<<53 {
			return whole, nil // 5.0 is written as 5, and read as an integer
		}
		return node, nil
	case nil:
		return nil, &PayloadError{Problem: "a list must not hold null", Fix: "remove the element"}
	default:
		return nil, &PayloadError{
			Problem: fmt.Sprintf("a tree has no place for a Go %T", node),
			Fix:     "write map[string]any, []any, string, bool, int64 or float64",
		}
	}
}

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
			return &PayloadError{Path: fmt.Sprintf("stringData[%q]", key), Problem: "must be a string"}
		}
		data[key] = base64.StdEncoding.EncodeToString([]byte(text))
	}
	delete(tree, "stringData")
	if len(data) > 0 {
		tree["data"] = data
	}
	return nil
}
