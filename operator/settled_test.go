package operator_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/armaturetest"
	"github.com/armature-go/armature/component"
	"github.com/armature-go/armature/resource"
)

// passes waits until the operator has been through n more passes.
func (f *fixture) passes(n int) {
	f.Helper()
	at := armaturetest.Passes(f, f.name)
	armaturetest.Eventually(f, 30*time.Second, func() string {
		if now := armaturetest.Passes(f, f.name) - at; now < n {
			return fmt.Sprintf("%d of %d passes", now, n)
		}
		return ""
	})
}

// A pass that sees what the last one saw calls nobody and sends nothing. Whatever a
// pass depends on ends that.
func TestASettledPassRendersNothing(t *testing.T) {
	f := setUp(t)
	var rendered atomic.Int64
	f.run(configMaps, func(x *thing, facts *resource.Facts) ([]component.Component, error) {
		rendered.Add(1)
		if secret, ok := resource.Fact[*corev1.Secret](facts, types.NamespacedName{Namespace: x.Namespace, Name: "fact"}); ok {
			x.Spec.Value = string(secret.Data["value"])
		}
		return []component.Component{holding(x, x.Name)}, nil
	})
	x := f.create("a", "one")
	f.wait("a", "Ready True Healthy")
	settled := func() {
		t.Helper()
		armaturetest.Eventually(t, 30*time.Second, func() string { // what was on its way arrives
			before := rendered.Load()
			f.passes(3)
			if rendered.Load() != before {
				return "components are still built"
			}
			return ""
		})
		before := rendered.Load()
		n := f.cluster.Count(t, f.name, func() { f.passes(5) })
		if more := rendered.Load() - before; more != 0 || n.Sum() != 0 {
			t.Errorf("at rest, components were built %d times and there were %s", more, n)
		}
	}
	value := func(want string) {
		t.Helper()
		cm := f.configMap("a")
		armaturetest.Eventually(t, 10*time.Second, func() string {
			if err := f.Get(t.Context(), client.ObjectKeyFromObject(cm), cm); err != nil || cm.Data["value"] != want {
				return fmt.Sprintf("the value is %q, want %q (%v)", cm.Data["value"], want, err)
			}
			return ""
		})
	}
	settled()
	for name, step := range map[string]struct {
		do   func() error
		want string
	}{
		"an object drifts": {func() error {
			cm := f.configMap("a")
			return f.Patch(t.Context(), cm, client.RawPatch(types.MergePatchType, []byte(`{"data":{"value":"drifted"}}`)))
		}, "one"},
		"an object is deleted": {func() error { return f.Delete(t.Context(), f.configMap("a")) }, "one"},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		t.Log(name)
		value(step.want)
		settled()
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: f.ns, Name: "fact"}, StringData: map[string]string{"value": "two"}}
	if err := f.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	value("two")
	settled()
	if err := f.Delete(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	value("one")
	settled()
	f.edit(x, "three")
	value("three")
	settled()
}
