package main

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// snapshot is all objects of a namespace, by kind and name, without what differs
// from server to server and from namespace to namespace.
type snapshot map[string]map[string]any

func (p *party) snapshot(ctx context.Context) (snapshot, error) {
	all := snapshot{}
	for _, row := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(row.group.WithKind(row.kind + "List"))
		if err := p.client.List(ctx, list, client.InNamespace(p.ns)); err != nil {
			return nil, err
		}
		for _, item := range list.Items {
			all[row.kind+" "+item.GetName()] = normalise(item.Object)
		}
	}
	return all, nil
}

// normalise removes from an object what belongs to the server, to managers and to
// the namespace, and its status, which nobody here computes.
func normalise(tree map[string]any) map[string]any {
	u := &unstructured.Unstructured{Object: tree}
	for _, path := range [][]string{
		{"apiVersion"},
		{"kind"},
		{"metadata", "namespace"},
		{"metadata", "uid"},
		{"metadata", "resourceVersion"},
		{"metadata", "generation"},
		{"metadata", "creationTimestamp"},
		{"metadata", "managedFields"},
		{"spec", "clusterIP"},
		{"spec", "clusterIPs"},
		{"status"},
	} {
		unstructured.RemoveNestedField(u.Object, path...)
	}
	refs := u.GetOwnerReferences()
	for i := range refs {
		refs[i].UID = ""
	}
	u.SetOwnerReferences(refs)
	return u.Object
}

// left returns how many of the drifted objects are not as they were before.
func left(before, after snapshot, drifted []ref) int {
	n := 0
	for _, r := range drifted {
		key := r.row.kind + " " + r.name
		if !reflect.DeepEqual(before[key], after[key]) {
			n++
		}
	}
	return n
}

// differences compares what a contender left behind with what the first did. Each
// field that differs is told once for each kind, with one object as an example.
func differences(want, got snapshot) map[string]string {
	out := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		kind := kindIn(key)
		if got[key] == nil {
			out[kind] = key + " is missing"
			continue
		}
		walk(want[key], got[key], "", func(path string, w, g any) {
			field := kind + " " + path
			if out[field] == "" {
				out[field] = fmt.Sprintf("%s: %v, not %v", key, g, w)
			}
		})
	}
	for key := range got {
		if want[key] == nil {
			out[kindIn(key)] = key + " is too much"
		}
	}
	return out
}

func kindIn(key string) string {
	var kind, name string
	_, _ = fmt.Sscan(key, &kind, &name) // both are there: a snapshot has made the key
	return kind
}

// walk calls differ for every field in which two trees differ.
func walk(want, got any, path string, differ func(path string, want, got any)) {
	w, wantMap := want.(map[string]any)
	g, gotMap := got.(map[string]any)
	if !wantMap || !gotMap {
		if !reflect.DeepEqual(want, got) {
			differ(path, want, got)
		}
		return
	}
	names := map[string]bool{}
	for _, m := range []map[string]any{w, g} {
		for name := range m {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		below := name
		if path != "" {
			below = path + "." + name
		}
		walk(w[name], g[name], below, differ)
	}
}
