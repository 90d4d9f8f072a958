package component

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/kind"
	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/resource"
)

// An object of a kind without a row is judged by what it says about itself, unless the
// resource or a row that somebody has added knows better.
func TestKindsWithoutARow(t *testing.T) {
	gvk := schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Gadget"}
	gadget := func() *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(gvk)
		u.SetNamespace("shop")
		u.SetName("a")
		return u
	}
	row := func(health func(object.Object, object.Op) kind.State) *kind.Table {
		return kind.Builtin().With(kind.Kind{GVK: gvk, Category: kind.Static, Scope: kind.Namespaced, Health: health})
	}
	says := func(reason condition.Reason) func(object.Object, object.Op) kind.State {
		return func(object.Object, object.Op) kind.State { return kind.State{Reason: reason, Message: "says somebody"} }
	}
	const notReady = `{"conditions":[{"type":"Ready","status":"False","message":"waiting for a disk"}]}`
	for _, tc := range []struct {
		name   string
		status string
		health func(object.Object, object.Op) kind.State // of the resource
		kinds  *kind.Table
		want   string
	}{
		{"it says nothing", `{}`, nil, nil, "True/Healthy: Component is healthy."},
		{"it is ready", `{"conditions":[{"type":"Ready","status":"True"}]}`, nil, nil, "True/Healthy: Component is healthy."},
		{"it is not ready", notReady, nil, nil, "False/Creating: Gadget a: waiting for a disk"},
		{"it is stuck", `{"conditions":[{"type":"Stalled","status":"True","message":"no quota"}]}`, nil, nil, "False/Failing: Gadget a: no quota"},
		{"it speaks of an older spec", `{"observedGeneration":1,"conditions":[{"type":"Ready","status":"True"}]}`, nil, nil, "False/Creating: Gadget a: waiting for its controller to observe the latest spec"},
		{"the resource knows better", notReady, says(condition.Operational), nil, "True/Operational: Component is healthy."},
		{"a row knows better", notReady, nil, row(says(condition.OperationPending)), "False/OperationPending: Gadget a: says somebody"},
		{"a row has nothing to say", notReady, nil, row(nil), "True/Healthy: Component is healthy."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCluster(t)
			c.answers["Gadget a"] = `{"apiVersion":"example.org/v1","kind":"Gadget","metadata":{"namespace":"shop","name":"a","generation":2},"status":` + tc.status + `}`
			env := c.env(noon)
			env.Owns, env.Kinds = append(env.Owns, gvk), tc.kinds
			managed := resource.Manage(gadget())
			if tc.health != nil {
				managed = managed.Health(func(u *unstructured.Unstructured, op object.Op) kind.State { return tc.health(u, op) })
			}
			res := Run(t.Context(), env, newShop(), []Component{with("web", managed)})
			if got := said(res.Reports[0]); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// What is only observed is judged alike.
func TestObservedKindsWithoutARow(t *testing.T) {
	c := newCluster(t)
	gvk := schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Gadget"}
	u := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "False"}}}}}
	u.SetGroupVersionKind(gvk)
	u.SetNamespace("shop")
	u.SetName("a")
	c.put("", u)
	env := c.env(noon)
	env.Reads = append(env.Reads, gvk)
	res := Run(t.Context(), env, newShop(), []Component{with("web", resource.Observe(u.DeepCopy()))})
	if got := said(res.Reports[0]); got != "False/Updating: Gadget a: Ready is False" {
		t.Error(got)
	}
}
