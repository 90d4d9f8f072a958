package apply_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/condition"
)

// parse reads an unstructured object into the fixture's namespace.
func (f *fixture) parse(text string) *unstructured.Unstructured {
	f.Helper()
	u := &unstructured.Unstructured{}
	f.must(json.Unmarshal([]byte(text), &u.Object))
	u.SetNamespace(f.ns)
	return u
}

// What nobody but the author can mend is told as such: with the path, without a
// trace in the cluster, and not tried again in a hurry.
func TestWhatOnlyItsAuthorCanMendIsInvalid(t *testing.T) {
	f := setUp(t)
	const pod = `"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[%]}}}}`
	deployment := func(spec, container string) string {
		return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{` + spec + strings.Replace(pod, "%", container, 1)
	}
	tests := []struct {
		name, text string
		says       string // in the error
		requests   int    // that write
		retried    bool
	}{
		{"no name", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{}}`, "ConfigMap: it has no name", 0, false},
		{"a generated name", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"web-"}}`, "generateName", 0, false},
		{"a field unknown to a built-in kind", deployment(`"foo":1,`, `{"name":"web","image":"web:1"}`), ".spec.foo", 2, true},
		{"a field unknown to a custom kind", `{"apiVersion":"test.armature.dev/v1","kind":"Thing","metadata":{"name":"web"},"spec":{"value":"x","deep":{"er":1}}}`, ".spec.deep", 2, true},
		{"a value of another type", deployment(`"replicas":"three",`, `{"name":"web","image":"web:1"}`), ".spec.replicas", 2, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			obj := f.parse(tt.text)
			c := &counted{Client: f.WithWatch}
			_, err := apply.New(c, controller, apply.Options{}).Apply(t.Context(), f.owner, "store", obj)
			var invalid *condition.InvalidError
			if !errors.As(err, &invalid) || !condition.IsInvalid(err) || !strings.Contains(err.Error(), tt.says) {
				t.Fatalf("got %v, want it invalid, naming %s", err, tt.says)
			}
			if c.applies != tt.requests || (invalid.After > 0) != tt.retried {
				t.Errorf("%d applies, and again after %s", c.applies, invalid.After)
			}
			if obj.GetName() != "" {
				if err := f.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); !apierrors.IsNotFound(err) {
					t.Errorf("it is there: %v", err)
				}
			}
		})
	}
}

// An object that is there stays as it is while what should become of it is wrong.
func TestAnInvalidChangeLeavesTheObjectAsItIs(t *testing.T) {
	f := setUp(t)
	text := `{"apiVersion":"test.armature.dev/v1","kind":"Thing","metadata":{"name":"child"},"spec":{"value":"x"}}`
	_, err := f.applier.Apply(t.Context(), f.owner, "store", f.parse(text))
	f.must(err)
	_, err = f.applier.Apply(t.Context(), f.owner, "store", f.parse(strings.Replace(text, `"x"`, `"y","wrong":1`, 1)))
	if !condition.IsInvalid(err) {
		t.Errorf("got %v, want it invalid", err)
	}
	live := f.parse(text)
	f.must(f.Get(t.Context(), client.ObjectKeyFromObject(live), live))
	if value, _, _ := unstructured.NestedString(live.Object, "spec", "value"); value != "x" {
		t.Errorf("the value is %q", value)
	}
}
