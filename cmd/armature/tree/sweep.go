package tree

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/armature-go/armature/apply"
)

// sweep is what was found out by looking at every kind that the cluster serves.
type sweep struct {
	ref     Ref
	version string // of the owner, then
	at      time.Time
	inUse   []resource // kinds of which the owner has objects
}

// resource is a kind as discovery describes it.
type resource struct {
	schema.GroupVersionResource
	kind       string
	singular   string
	namespaced bool
}

// sweepEvery is how long it is believed that an owner whose resourceVersion stays the
// same has objects of the same kinds.
const sweepEvery = 10 * time.Second

// sweepFor finds the kinds of which the owner has objects, if that may have changed.
func (r *Reader) sweepFor(ctx context.Context, ref Ref, owner *unstructured.Unstructured) error {
	now := r.opts.Now()
	if r.swept.ref == ref && r.swept.version == owner.GetResourceVersion() && now.Sub(r.swept.at) < sweepEvery {
		return nil
	}
	found, err := r.labelled(ctx, ref.Namespace)
	if err != nil {
		return err
	}
	next := sweep{ref: ref, version: owner.GetResourceVersion(), at: now}
	for _, f := range found {
		if slices.ContainsFunc(f.objects, func(obj *unstructured.Unstructured) bool { return isController(owner, obj) }) {
			next.inUse = append(next.inUse, f.resource)
		}
	}
	r.swept = next
	return nil
}

// Labelled returns how many objects of each kind carry the label of a component, for
// the kinds of which there are any. An empty namespace means all, and what is in none.
func (r *Reader) Labelled(ctx context.Context, namespace string) (map[string]int, error) {
	found, err := r.labelled(ctx, namespace)
	if err != nil {
		return nil, r.unanswered(err)
	}
	counts := map[string]int{}
	for _, f := range found {
		counts[f.kind] += len(f.objects)
	}
	return counts, nil
}

// held is a kind and its objects that carry the label of a component.
type held struct {
	resource
	objects []*unstructured.Unstructured
}

func (r *Reader) labelled(ctx context.Context, namespace string) ([]held, error) {
	all, err := r.listable(ctx)
	if err != nil {
		return nil, err
	}
	return gather(all, func(res resource) ([]held, error) {
		if !res.namespaced && namespace != "" {
			return nil, nil
		}
		objects, err := r.list(ctx, res, namespace, apply.ComponentLabel, metadataOnly)
		if len(objects) == 0 {
			return nil, err
		}
		return []held{{res, objects}}, err
	})
}

// listable returns every kind that the cluster serves and lists, each in the version
// that the cluster prefers.
func (r *Reader) listable(ctx context.Context) ([]resource, error) {
	lists, err := discovery.ServerPreferredResourcesWithContext(ctx, r.discovery)
	if discovery.IsGroupDiscoveryFailedError(err) { // an aggregated API is down; that is no reason to show nothing
		r.remark("not looked at: %v", err)
		err = nil
	}
	if err != nil {
		return nil, err
	}
	var all []resource
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, res := range list.APIResources {
			if slices.Contains(res.Verbs, "list") && !strings.Contains(res.Name, "/") {
				all = append(all, resource{gv.WithResource(res.Name), res.Kind, singular(res), res.Namespaced})
			}
		}
	}
	return all, nil
}

func singular(res metav1.APIResource) string {
	if res.SingularName != "" {
		return res.SingularName
	}
	return strings.ToLower(res.Kind)
}

// detail is how much of the objects is read.
type detail string

const (
	whole        detail = "whole"
	metadataOnly detail = "metadata"
)

// list reads the objects of one kind that a selector takes. What may not be read, or
// is no longer served, counts as nothing, with a remark.
func (r *Reader) list(ctx context.Context, res resource, namespace, selector string, how detail) ([]*unstructured.Unstructured, error) {
	read := r.listWhole
	if how == metadataOnly {
		read = r.listMetadata
	}
	objects, err := read(ctx, res, namespace, metav1.ListOptions{LabelSelector: selector})
	switch {
	case apierrors.IsForbidden(err):
		r.remark("not looked at: %s (you may not list them)", res.Resource)
		return nil, nil
	case apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("listing %s: %w", res.Resource, err)
	}
	return objects, nil
}

func (r *Reader) listWhole(ctx context.Context, res resource, namespace string, o metav1.ListOptions) ([]*unstructured.Unstructured, error) {
	list, err := r.dynamic.Resource(res.GroupVersionResource).Namespace(namespace).List(ctx, o)
	if err != nil {
		return nil, err
	}
	var out []*unstructured.Unstructured
	for i := range list.Items {
		list.Items[i].SetGroupVersionKind(res.GroupVersion().WithKind(res.kind))
		out = append(out, &list.Items[i])
	}
	return out, nil
}

func (r *Reader) listMetadata(ctx context.Context, res resource, namespace string, o metav1.ListOptions) ([]*unstructured.Unstructured, error) {
	list, err := r.metadata.Resource(res.GroupVersionResource).Namespace(namespace).List(ctx, o)
	if err != nil {
		return nil, err
	}
	var out []*unstructured.Unstructured
	for i := range list.Items {
		list.Items[i].SetGroupVersionKind(res.GroupVersion().WithKind(res.kind))
		tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&list.Items[i])
		if err != nil {
			return nil, err
		}
		out = append(out, &unstructured.Unstructured{Object: tree})
	}
	return out, nil
}

// remark says something once.
func (r *Reader) remark(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.remarked[text] {
		r.remarked[text] = true
		r.opts.Remark(text)
	}
}

// atOnce is how many requests are made side by side.
const atOnce = 8

// gather asks for each item, several at once, and joins the answers in order. The
// first error in that order is returned.
func gather[In, Out any](items []In, ask func(In) ([]Out, error)) ([]Out, error) {
	answers := make([][]Out, len(items))
	errs := make([]error, len(items))
	slots := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for i, item := range items {
		slots <- struct{}{}
		wg.Go(func() {
			answers[i], errs[i] = ask(item)
			<-slots
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return slices.Concat(answers...), nil
}
