package apply_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
)

// planned is a plan on one line for each change, without the marks that every object
// gets.
func (f *fixture) planned(obj object.Object) string {
	f.Helper()
	how := object.Controlled
	if obj.GetNamespace() != f.ns {
		how = object.Tracked
	}
	p, err := f.applier.Plan(f.Context(), f.owner, "store", obj, object.Handling{Ownership: how})
	f.must(err)
	text := string(p.Op)
	if p.Unverified != "" {
		text += ", unverified"
	}
	for _, c := range p.Changes {
		if !strings.Contains(c.Path, "ownerReferences") && !strings.Contains(c.Path, apply.ComponentLabel) && !strings.Contains(c.Path, apply.OwnerMark) {
			text += "\n" + c.String()
		}
	}
	return text
}

func TestPlanSaysWhatAnApplyWouldChange(t *testing.T) {
	f := setUp(t)
	by := client.FieldOwner("a-person")
	patch := func(obj client.Object, body string) {
		f.must(f.Patch(t.Context(), obj, client.RawPatch(types.StrategicMergePatchType, []byte(body)), by))
	}
	f.apply(f.configMap("cm", "a=1", "b=2"), object.OpCreated)
	f.apply(f.workload("Deployment", "web", "replicas: 0,", "", "env: [{name: A, value: x}]"), object.OpCreated)
	f.apply(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: f.ns, Name: "s"}, Data: map[string][]byte{"k": []byte("hush")}}, object.OpCreated)
	tests := []struct {
		name string
		do   func()
		obj  object.Object
		want string
	}{
		{"nothing", nil, f.configMap("cm", "a=1", "b=2"), "none"},
		{"a new object", nil, f.configMap("new", "k=v"), "created\ndata.k: v"},
		{"what is desired has changed", nil, f.configMap("cm", "a=3", "c=4"), "updated\ndata.a: 1 becomes 3 (desired changed)\ndata.b: 2 is removed (no longer desired)\ndata.c: 4 (it is not there)"},
		{
			"somebody else has changed it", func() { patch(f.configMap("cm"), `{"data":{"a":"9","theirs":"x"}}`) }, f.configMap("cm", "a=3", "c=4"),
			`updated` + "\n" + `data.a: 9 becomes 3 (written by "a-person")`,
		},
		{
			"in a container", func() {
				patch(f.workload("Deployment", "web", "", "", ""), `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"y:1"}]}}}}`)
			},
			f.workload("Deployment", "web", "replicas: 0,", "", "env: [{name: A, value: w}, {name: B, value: z}]"),
			"updated\n" +
				"spec.template.spec.containers[name=main].env[name=A].value: x becomes w (desired changed)\n" +
				"spec.template.spec.containers[name=main].env[name=B].name: B (it is not there)\n" +
				"spec.template.spec.containers[name=main].env[name=B].value: z (it is not there)\n" +
				`spec.template.spec.containers[name=main].image: y:1 becomes x:1 (written by "a-person")`,
		},
		{
			"a secret", nil, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: f.ns, Name: "s"}, StringData: map[string]string{"k": "whisper", "new": "secret"}},
			"updated\ndata.k: (redacted) becomes (redacted) (desired changed)\ndata.new: (redacted) (it is not there)",
		},
		{"a namespace that is not there", nil, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "nowhere", Name: "cm"}, Data: map[string]string{"k": "v"}}, "created, unverified\ndata.k: v"},
		{"a kind that is not served", nil, f.parse(`{"apiVersion":"nobody.example.com/v1","kind":"Gizmo","metadata":{"name":"g"},"spec":{"size":1}}`), "created, unverified\nspec.size: 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.do != nil {
				tt.do()
			}
			before := f.versions()
			if got := f.planned(tt.obj); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if after := f.versions(); after != before {
				t.Errorf("something was written: %s became %s", before, after)
			}
			if tt.name == "nothing" || strings.Contains(tt.want, "unverified") {
				return
			}
			_, err := f.applier.Apply(t.Context(), f.owner, "store", tt.obj)
			f.must(err)
			if got := f.planned(tt.obj); got != "none" {
				t.Errorf("after the apply the plan is\n%s", got)
			}
		})
	}
}

// What takes two writes cannot be tried in one dry run.
func TestPlanOfAUnionIsUnverified(t *testing.T) {
	f := setUp(t)
	f.apply(f.workload("Deployment", "d", "", "", ""), object.OpCreated)
	want := "updated, unverified\nspec.strategy.type: RollingUpdate becomes Recreate"
	if got := f.planned(f.workload("Deployment", "d", "strategy: {type: Recreate},", "", "")); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// versions are the resource versions of what the tests of plans deal with.
func (f *fixture) versions() string {
	f.Helper()
	var b strings.Builder
	for _, list := range []client.ObjectList{&corev1.ConfigMapList{}, &corev1.SecretList{}} {
		f.must(f.List(f.Context(), list, client.InNamespace(f.ns)))
		switch list := list.(type) {
		case *corev1.ConfigMapList:
			for _, x := range list.Items {
				fmt.Fprintf(&b, "%s=%s ", x.Name, x.ResourceVersion)
			}
		case *corev1.SecretList:
			for _, x := range list.Items {
				fmt.Fprintf(&b, "%s=%s ", x.Name, x.ResourceVersion)
			}
		}
	}
	return b.String()
}

// What Apply refuses Plan refuses, and says so in the same way.
func TestPlanFailsWhereApplyWould(t *testing.T) {
	f := setUp(t)
	f.must(f.Create(t.Context(), f.configMap("theirs", "k=1"), client.FieldOwner("a-person")))
	for name, obj := range map[string]object.Object{
		"somebody else's": f.configMap("theirs", "k=2"),
		"unreadable":      f.parse(`{"apiVersion":"test.armature.dev/v1","kind":"Gadget","metadata":{"name":"g"},"spec":{"wrong":1}}`),
		"no name":         f.configMap(""),
	} {
		_, planned := f.applier.Plan(t.Context(), f.owner, "store", obj)
		_, applied := f.applier.Apply(t.Context(), f.owner, "store", obj)
		if planned == nil || applied == nil || condition.ReasonOf(planned) != condition.ReasonOf(applied) || planned.Error() != applied.Error() {
			t.Errorf("%s: planning says %v, applying %v", name, planned, applied)
		}
	}
}

// A webhook that was registered before Kubernetes 1.22 may have side effects, and then
// no dry run is possible: the changes are what we know of them.
func TestPlanWithoutADryRunIsUnverified(t *testing.T) {
	f := setUp(t)
	f.apply(f.configMap("cm", "a=1", "kept=x"), object.OpCreated)
	f.applier = apply.New(&refusing{f.WithWatch, apierrors.NewBadRequest("admission webhook \"hook.example.com\" does not support dry run")}, controller, apply.Options{})
	for _, tt := range []struct{ name, want string }{
		{"cm", "updated, unverified\ndata.a: 1 becomes 2"}, // that kept would go is for the server to know
		{"new", "created, unverified\ndata.a: 2"},
	} {
		if got := f.planned(f.configMap(tt.name, "a=2")); got != tt.want {
			t.Errorf("got\n%s\nwant\n%s", got, tt.want)
		}
	}
}
