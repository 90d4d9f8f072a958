package component

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-go/armature/api"
	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/object"
)

// shop is an owner that remembers its components.
type shop struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Status api.Status
}

func newShop() *shop {
	return &shop{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "shop", UID: "1", Generation: 1}}
}

func (s *shop) DeepCopyObject() runtime.Object {
	c := *s
	c.Status = *s.Status.DeepCopy()
	return &c
}
func (s *shop) Conditions() *[]metav1.Condition { return &s.Status.Conditions }
func (s *shop) RuntimeStatus() *api.Status      { return &s.Status }

// forgetful is an owner that has conditions and nothing else.
type forgetful struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	conditions []metav1.Condition
}

func (f *forgetful) DeepCopyObject() runtime.Object  { c := *f; return &c }
func (f *forgetful) Conditions() *[]metav1.Condition { return &f.conditions }

// kinds are those that the tests deal with, by the names that people use.
var kinds = map[string]schema.GroupVersionKind{
	"ConfigMap":               corev1.SchemeGroupVersion.WithKind("ConfigMap"),
	"Secret":                  corev1.SchemeGroupVersion.WithKind("Secret"),
	"Service":                 corev1.SchemeGroupVersion.WithKind("Service"),
	"Namespace":               corev1.SchemeGroupVersion.WithKind("Namespace"),
	"PersistentVolumeClaim":   corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"),
	"Deployment":              appsv1.SchemeGroupVersion.WithKind("Deployment"),
	"StatefulSet":             appsv1.SchemeGroupVersion.WithKind("StatefulSet"),
	"DaemonSet":               appsv1.SchemeGroupVersion.WithKind("DaemonSet"),
	"Job":                     batchv1.SchemeGroupVersion.WithKind("Job"),
	"HorizontalPodAutoscaler": autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler"),
}

// reads are the kinds that may only be observed.
var reads = []string{"Secret", "Namespace"}

func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, autoscalingv2.AddToScheme, batchv1.AddToScheme, corev1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// named makes an object of one of the kinds in the owner's namespace.
func named(t *testing.T, s *runtime.Scheme, kind, name string) object.Object {
	t.Helper()
	gvk, ok := kinds[kind]
	if !ok {
		t.Fatalf("there is no kind %q in these tests", kind)
	}
	fresh, err := s.New(gvk)
	if err != nil {
		t.Fatal(err)
	}
	obj := fresh.(object.Object)
	obj.SetName(name)
	if kind != "Namespace" {
		obj.SetNamespace("shop")
	}
	return obj
}

// cluster stands behind the two interfaces that a pass works with. It keeps objects
// and fails on demand; what an API server would make of an object is none of its
// business, so tests say what the answer to an apply holds besides what was sent.
type cluster struct {
	t       *testing.T
	scheme  *runtime.Scheme
	owned   map[object.Key]object.Object // ours
	foreign map[object.Key]object.Object // somebody else's
	answers map[string]string            // "Kind name" → JSON that the answer to an apply holds besides
	faults  map[string]error             // "verb Kind name" → what it comes to; a crash panics
	calls   []string                     // "verb Kind name", in order
	desired map[string]object.Object     // "Kind name" → what was sent last
}

// crash is a fault that panics.
type crash struct{ error }

func newCluster(t *testing.T) *cluster {
	t.Helper()
	return &cluster{
		t: t, scheme: newScheme(t), owned: map[object.Key]object.Object{}, foreign: map[object.Key]object.Object{},
		answers: map[string]string{}, faults: map[string]error{}, desired: map[string]object.Object{},
	}
}

// env is what a pass over this cluster works with, at the given time.
func (c *cluster) env(now time.Time) Env {
	env := Env{Applier: c, Observer: c, Scheme: c.scheme, Now: func() time.Time { return now }}
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		if slices.Contains(reads, name) {
			env.Reads = append(env.Reads, kinds[name])
		} else {
			env.Owns = append(env.Owns, kinds[name])
		}
	}
	return env
}

func (c *cluster) key(obj object.Object) object.Key {
	key, err := object.KeyOf(c.scheme, obj)
	if err != nil {
		c.t.Fatal(err)
	}
	return key
}

// call notes a call and returns the fault that was planned for it.
func (c *cluster) call(verb string, key object.Key) error {
	text := verb + " " + key.Short()
	c.calls = append(c.calls, text)
	err := c.faults[text]
	if err, ok := err.(crash); ok { //nolint:errorlint // a plan of the test, never wrapped
		panic(err.Error())
	}
	return err
}

// put makes an object exist: ours, of a component, unless that is empty.
func (c *cluster) put(component string, obj object.Object) {
	if component == "" {
		c.foreign[c.key(obj)] = obj
		return
	}
	obj.SetLabels(map[string]string{apply.ComponentLabel: component})
	c.owned[c.key(obj)] = obj
}

// overlay lays JSON over an object.
func (c *cluster) overlay(obj object.Object, text string) object.Object {
	if text == "" {
		return obj
	}
	if err := json.Unmarshal([]byte(text), obj); err != nil {
		c.t.Fatalf("%s: %v", text, err)
	}
	return obj
}

// Apply implements [Applier].
func (c *cluster) Apply(_ context.Context, _ object.Object, component string, desired object.Object, _ ...object.Handling) (apply.Result, error) {
	key := c.key(desired)
	if err := c.call("apply", key); err != nil {
		return apply.Result{}, err
	}
	desired = desired.DeepCopyObject().(object.Object)
	live := c.overlay(desired.DeepCopyObject().(object.Object), c.answers[key.Short()])
	op := object.OpCreated
	if _, exists := c.owned[key]; exists {
		op = object.OpUpdated
		if equality.Semantic.DeepEqual(c.desired[key.Short()], desired) {
			op = object.OpNone
		}
	}
	c.desired[key.Short()] = desired
	c.put(component, live)
	return apply.Result{Op: op, Live: live.DeepCopyObject().(object.Object)}, nil
}

// Delete implements [Applier].
func (c *cluster) Delete(_ context.Context, _, obj object.Object) (apply.Result, error) {
	key := c.key(obj)
	if err := c.call("delete", key); err != nil {
		return apply.Result{}, err
	}
	live, exists := c.owned[key]
	if !exists {
		return apply.Result{Op: object.OpNone}, nil
	}
	delete(c.owned, key)
	delete(c.desired, key.Short())
	return apply.Result{Op: object.OpDeleted, Live: live}, nil
}

// Release implements [Applier].
func (c *cluster) Release(_ context.Context, _, obj object.Object) (apply.Result, error) {
	key := c.key(obj)
	if err := c.call("release", key); err != nil {
		return apply.Result{}, err
	}
	live, exists := c.owned[key]
	if !exists {
		return apply.Result{Op: object.OpNone}, nil
	}
	delete(c.owned, key)
	c.foreign[key] = live
	return apply.Result{Op: object.OpReleased, Live: live}, nil
}

func (c *cluster) Amend(_ context.Context, _, seen, changed object.Object) (apply.Result, error) {
	key := c.key(seen)
	if err := c.call("amend", key); err != nil {
		return apply.Result{}, err
	}
	c.owned[key] = changed
	return apply.Result{Op: object.OpUpdated, Live: changed}, nil
}

// Owned implements [Applier]. It is not noted: every pass begins with it.
func (c *cluster) Owned(_ context.Context, _ object.Object, of []schema.GroupVersionKind) ([]object.Object, error) {
	if err := c.faults["owned"]; err != nil {
		return nil, err
	}
	var all []object.Object
	for key, obj := range c.owned {
		if slices.Contains(of, key.GVK) {
			all = append(all, obj.DeepCopyObject().(object.Object))
		}
	}
	return all, nil
}

// Observe implements [Observer].
func (c *cluster) Observe(_ context.Context, key object.Key) (object.Object, error) {
	if err := c.call("observe", key); err != nil {
		return nil, err
	}
	for _, where := range []map[object.Key]object.Object{c.foreign, c.owned} {
		if obj, ok := where[key]; ok {
			return obj.DeepCopyObject().(object.Object), nil
		}
	}
	return nil, nil //nolint:nilnil // absence is an answer
}

// takeCalls returns the calls since it was asked last.
func (c *cluster) takeCalls() []string {
	calls := c.calls
	c.calls = nil
	return calls
}

// show writes what was sent of an object beyond its name.
func (c *cluster) show(name string) string {
	tree, err := object.Tree(c.scheme, c.desired[name])
	if err != nil {
		c.t.Fatal(err)
	}
	var parts []string
	for _, path := range []string{"spec.replicas", "spec.suspend", "data"} {
		node := any(tree)
		for field := range strings.SplitSeq(path, ".") {
			fields, _ := node.(map[string]any)
			node = fields[field]
		}
		if node != nil {
			parts = append(parts, fmt.Sprintf("%s=%v", strings.TrimPrefix(path, "spec."), node))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " " + strings.Join(parts, " ")
}
