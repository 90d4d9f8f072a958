package main

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// phase is a number of passes, each after the same kind of change by somebody else.
type phase struct {
	name   string
	passes func(settings) int
	change func(ctx context.Context, p *party, round int) ([]ref, error) // nil for none; returns what has drifted
}

var phases = []phase{
	{"first apply", func(settings) int { return 1 }, nil},
	{"at rest", func(s settings) int { return s.Rest }, nil},
	{"status churn", func(s settings) int { return s.Churn }, churnStatus},
	{"foreign churn", func(s settings) int { return s.Churn }, churnForeign},
	{"injected drift", func(s settings) int { return s.Drift }, injectDrift},
}

// ref names one of the objects.
type ref struct {
	row  kindRow
	i    int
	name string
}

// pick returns n different objects, evenly of the rows and other ones in each round,
// or all that there are.
func pick(s sizes, rows []kindRow, round, n int) []ref {
	var all []ref
	for i, added := 0, true; added; i++ {
		added = false
		for _, row := range rows {
			if i < row.count(s) {
				all = append(all, ref{row, i, objectName(row.kind, i)})
				added = true
			}
		}
	}
	n = min(n, len(all))
	var picked []ref
	for k := range n {
		picked = append(picked, all[(round*n+k)%len(all)])
	}
	return picked
}

// party is everybody else in a contender's namespace.
type party struct {
	client   client.Client
	settings settings
	ns       string
}

func (p *party) object(r ref) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(r.row.group.WithKind(r.row.kind))
	u.SetNamespace(p.ns)
	u.SetName(r.name)
	return u
}

// churnStatus does what the controllers of workloads do.
func churnStatus(ctx context.Context, p *party, round int) ([]ref, error) {
	workloads := []kindRow{kinds[0], kinds[3]}
	for _, r := range pick(p.settings.Sizes, workloads, round, p.settings.Touched) {
		status := fmt.Sprintf(`{"status":{"observedGeneration":1,"replicas":%d,"updatedReplicas":%[1]d,"readyReplicas":%[1]d,"availableReplicas":%[1]d}}`, round+1)
		if err := p.client.Status().Patch(ctx, p.object(r), client.RawPatch(types.MergePatchType, []byte(status))); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// churnForeign writes annotations that are nobody's business, and scales the
// Deployments whose replicas are not declared.
func churnForeign(ctx context.Context, p *party, round int) ([]ref, error) {
	for _, r := range pick(p.settings.Sizes, kinds, round, p.settings.Touched) {
		note := fmt.Sprintf(`{"metadata":{"annotations":{"example.com/seen":"%d"}}}`, round)
		if err := p.client.Patch(ctx, p.object(r), client.RawPatch(types.MergePatchType, []byte(note))); err != nil {
			return nil, err
		}
	}
	for _, r := range pick(p.settings.Sizes, kinds[:1], 0, p.settings.Touched) {
		if !scaled(r.i) {
			continue
		}
		scale := fmt.Sprintf(`{"spec":{"replicas":%d}}`, 2+round%3)
		body := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "autoscaling/v1", "kind": "Scale"}}
		patch := client.RawPatch(types.MergePatchType, []byte(scale))
		if err := p.client.SubResource("scale").Patch(ctx, p.object(r), patch, client.WithSubResourceBody(body)); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// injectDrift changes a value that is the contender's.
func injectDrift(ctx context.Context, p *party, round int) ([]ref, error) {
	drifted := pick(p.settings.Sizes, kinds, round, p.settings.Touched)
	for _, r := range drifted {
		patch := fmt.Sprintf(r.row.drift, fmt.Sprintf("drift-%d", round))
		if err := p.client.Patch(ctx, p.object(r), client.RawPatch(types.JSONPatchType, []byte(patch)), client.FieldOwner("somebody")); err != nil {
			return nil, fmt.Errorf("changing %s %s: %w", r.row.kind, r.name, err)
		}
	}
	return drifted, nil
}

// remove deletes all objects, and returns them as gone.
func (p *party) remove(ctx context.Context) ([]version, error) {
	var gone []version
	for _, row := range kinds {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(row.group.WithKind(row.kind))
		if err := p.client.DeleteAllOf(ctx, u, client.InNamespace(p.ns), client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
			return nil, err
		}
		for i := range row.count(p.settings.Sizes) {
			gone = append(gone, version{Kind: row.kind, Name: objectName(row.kind, i)})
		}
	}
	return gone, nil
}

// versions returns the resource versions of all objects in the namespace.
func (p *party) versions(ctx context.Context) (map[version]bool, error) {
	seen := map[version]bool{}
	for _, row := range kinds {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(row.group.WithKind(row.kind + "List"))
		if err := p.client.List(ctx, list, client.InNamespace(p.ns)); err != nil {
			return nil, err
		}
		for _, item := range list.Items {
			seen[version{row.kind, item.Name, item.ResourceVersion}] = true
		}
	}
	return seen, nil
}
