package operator_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	corev1 "k8s.io/api/core/v1"

	"github.com/armature-go/armature/armaturetest"
	"github.com/armature-go/armature/component"
	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/operator"
	"github.com/armature-go/armature/resource"
)

func untyped(apiVersion, kind string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	return u
}

// An operator manages kinds that it has no Go type for, and renders known ones as
// trees: they are made, kept, left alone at rest and pruned like any other.
func TestObjectsWithoutAGoTypeAreManaged(t *testing.T) {
	f := setUp(t)
	kinds := operator.Kinds{Owns: []object.Object{untyped("test.armature.dev/v1", "Gadget"), untyped("v1", "ConfigMap")}}
	f.run(kinds, func(x *thing, _ *resource.Facts) ([]component.Component, error) {
		gadget := untyped("test.armature.dev/v1", "Gadget")
		gadget.Object["spec"] = map[string]any{
			"text": x.Spec.Value, "tags": []any{"a", "b"}, "ports": []any{map[string]any{"port": int64(80), "protocol": "TCP"}},
		}
		config := untyped("v1", "ConfigMap")
		config.Object["data"] = map[string]any{"value": x.Spec.Value}
		c := component.Component{Name: "store", Condition: "StoreReady"}
		for _, obj := range []*unstructured.Unstructured{gadget, config} {
			if obj.GetKind() == "Gadget" && x.Spec.Value == "no gadget" {
				continue
			}
			obj.SetNamespace(x.Namespace)
			obj.SetName(x.Name)
			c.Resources = append(c.Resources, resource.Manage(obj))
		}
		return []component.Component{c}, nil
	})
	x := f.create("a", "one")
	f.wait("a", "Ready True Healthy 1 of 1 ready")
	gadget := untyped("test.armature.dev/v1", "Gadget")
	key := client.ObjectKeyFromObject(x)
	text := func(want string) {
		t.Helper()
		armaturetest.Eventually(t, 10*time.Second, func() string {
			err := client.IgnoreNotFound(f.Get(t.Context(), key, gadget))
			if got, _, _ := unstructured.NestedString(gadget.Object, "spec", "text"); err != nil || got != want {
				return fmt.Sprintf("the text is %q, want %q (%v)", got, want, err)
			}
			return ""
		})
	}
	rest := func() {
		t.Helper()
		f.passes(3)
		if n := f.cluster.Count(t, f.name, func() { f.passes(8) }); n.Sum() != 0 {
			t.Errorf("at rest there were %s", n)
		}
	}
	text("one")
	rest()
	for _, body := range []string{`{"spec":{"text":"drifted"}}`, `{"spec":{"tags":["b","a"]}}`, `{"spec":{"ports":null}}`} {
		n := f.cluster.Count(t, f.name, func() {
			if err := f.Patch(t.Context(), gadget, client.RawPatch(types.MergePatchType, []byte(body))); err != nil {
				t.Fatal(err)
			}
			armaturetest.Eventually(t, 10*time.Second, func() string {
				if err := f.Get(t.Context(), key, gadget); err != nil {
					return err.Error()
				}
				if got := fmt.Sprint(gadget.Object["spec"]); got != "map[mode:plain ports:[map[port:80 protocol:TCP]] tags:[a b] text:one]" {
					return "the spec is " + got
				}
				return ""
			})
			f.passes(3)
		})
		if n.Sum() != 1 {
			t.Errorf("correcting %s took %s", body, n)
		}
	}
	cm := f.configMap("a")
	if err := f.Get(t.Context(), key, cm); err != nil || cm.Data["value"] != "one" {
		t.Errorf("the ConfigMap has %v, %v", cm.Data, err)
	}
	f.edit(x, "no gadget")
	armaturetest.Eventually(t, 10*time.Second, func() string {
		if err := f.Get(t.Context(), key, gadget); client.IgnoreNotFound(err) != nil || err == nil {
			return fmt.Sprintf("the gadget is there: %v", err)
		}
		return ""
	})
	if err := f.Get(t.Context(), key, &corev1.ConfigMap{}); err != nil {
		t.Error(err)
	}
	rest()
}
