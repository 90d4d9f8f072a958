package demo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// record is what has been seen of the fields of an act, since before its command.
type record struct {
	wants   []want
	values  [][]string // of each want, at least one
	current []bool     // whether the last value of each is about the present
	objects map[subject]map[types.UID]*unstructured.Unstructured
	events  chan event
}

// event is a change of an object of a subject.
type event struct {
	subject
	kind   watch.EventType
	object *unstructured.Unstructured
}

// observe notes the values of all fields, and goes on watching them until the context
// ends.
func observe(ctx context.Context, client dynamic.Interface, wants []want) (*record, error) {
	r := &record{
		wants: wants, values: make([][]string, len(wants)), current: make([]bool, len(wants)),
		objects: map[subject]map[types.UID]*unstructured.Unstructured{}, events: make(chan event),
	}
	for _, w := range wants {
		if _, ok := r.objects[w.of]; ok {
			continue
		}
		if err := r.follow(ctx, client, w.of); err != nil {
			return nil, fmt.Errorf("watching %s: %w", w.of.short(), err)
		}
	}
	for i := range wants {
		r.read(i)
	}
	return r, nil
}

// follow reads a subject and watches it from there on.
func (r *record) follow(ctx context.Context, client dynamic.Interface, of subject) error {
	options := metav1.ListOptions{LabelSelector: of.selector}
	if of.selector == "" {
		options.FieldSelector = "metadata.name=" + of.name
	}
	api := client.Resource(of.resource).Namespace(namespace)
	list, err := api.List(ctx, options)
	if err != nil {
		return err
	}
	r.objects[of] = map[types.UID]*unstructured.Unstructured{}
	for i := range list.Items {
		r.objects[of][list.Items[i].GetUID()] = &list.Items[i]
	}
	options.ResourceVersion = list.GetResourceVersion()
	w, err := api.Watch(ctx, options)
	if err != nil {
		return err
	}
	go func() {
		defer w.Stop()
		for e := range w.ResultChan() {
			obj, ok := e.Object.(*unstructured.Unstructured)
			if !ok {
				return
			}
			select {
			case r.events <- event{of, e.Type, obj}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return nil
}

// take notes an event.
func (r *record) take(e event) {
	if e.kind == watch.Deleted {
		delete(r.objects[e.subject], e.object.GetUID())
	} else {
		r.objects[e.subject][e.object.GetUID()] = e.object
	}
	for i, w := range r.wants {
		if w.of == e.subject {
			r.read(i)
		}
	}
}

// read notes the value that a field has now, if it is about the present.
func (r *record) read(i int) {
	w := r.wants[i]
	objects := slices.Collect(maps.Values(r.objects[w.of]))
	value, current := w.field.read(objects)
	r.current[i] = current
	if len(r.values[i]) == 0 || current && last(r.values[i]) != value {
		r.values[i] = append(r.values[i], value)
	}
}

// missing returns the first want that has not come true, or -1.
func (r *record) missing() int {
	for i, w := range r.wants {
		if !r.current[i] || !w.goal.met(r.values[i]) {
			return i
		}
	}
	return -1
}

// text is the table of what has been seen.
func (r *record) text() string {
	var widths [2]int
	for _, w := range r.wants {
		widths[0], widths[1] = max(widths[0], len(w.of.short())), max(widths[1], len(w.field.name))
	}
	var b strings.Builder
	for i, w := range r.wants {
		fmt.Fprintf(&b, "     %-*s  %-*s  %s\n", widths[0], w.of.short(), widths[1], w.field.name, way(r.values[i]))
	}
	return b.String()
}

// way is the way that a value has taken, without the middle of a long one.
func way(values []string) string {
	const enough = 4
	switch {
	case len(values) == 1:
		return values[0] + ", as before"
	case len(values) > enough:
		values = slices.Concat(values[:2], []string{"…"}, values[len(values)-1:])
	}
	return strings.Join(values, " → ")
}

func (s subject) short() string { return s.kind + " " + s.name }
