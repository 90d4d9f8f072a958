package kind_test

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-go/armature/armaturetest"
	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/kind"
	"github.com/armature-go/armature/object"
)

func ExampleTable() {
	row, _ := kind.Builtin().Lookup(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	web := &appsv1.Deployment{
		Spec:   appsv1.DeploymentSpec{Replicas: new(int32(3))},
		Status: appsv1.DeploymentStatus{Replicas: 3, ReadyReplicas: 2, UpdatedReplicas: 3},
	}
	fmt.Println(row.Category, row.Scope, row.Suspend.How)
	fmt.Println(row.Health(web, object.OpNone))
	fmt.Println(row.Grace(web))
	// Output:
	// workload namespaced scale
	// {Scaling 2 of 3 replicas ready}
	// {Degraded 2 of 3 replicas ready}
}

func ExampleTable_With() {
	gadget := kind.Kind{
		GVK:      schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Gadget"},
		Category: kind.Integration,
		Scope:    kind.Namespaced,
		Health: func(live object.Object, _ object.Op) kind.State {
			return kind.State{Reason: condition.OperationPending, Message: "waiting for " + live.GetName() + " to be provided"}
		},
	}
	table := kind.Builtin().With(gadget)
	row, known := table.Lookup(gadget.GVK)
	fmt.Println(row.GVK.Kind, known)
	// Output: Gadget true
}

func ExampleTable_Find() {
	gadget := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.org/v1", "kind": "Gadget",
		"metadata": map[string]any{"generation": int64(2)},
		"status": map[string]any{
			"observedGeneration": int64(2),
			"conditions":         []any{map[string]any{"type": "Ready", "status": "False", "message": "waiting for a disk"}},
		},
	}}
	row := kind.Builtin().Find(gadget.GroupVersionKind())
	fmt.Println(row.Health(gadget, object.OpCreated))
	// Output: {Creating waiting for a disk}
}

// TestBuiltin shows the table; what a kind's rules say is tested beside it.
func TestBuiltin(t *testing.T) {
	var b strings.Builder
	for _, k := range kind.Builtin().Kinds() {
		has := func(rule bool, word string) string {
			if rule {
				return word
			}
			return "-"
		}
		fmt.Fprintf(&b, "%-64s %-11s %-10s %-6s %-5s %-6s %-6s %s\n",
			object.Key{GVK: k.GVK}.String(), k.Category, k.Scope, has(k.Health != nil, "health"), has(k.Grace != nil, "grace"),
			has(k.Suspend.How != "", string(k.Suspend.How)), has(k.Suspend.Mutate != nil, "mutate"), has(k.Suspend.Spares != nil, "spares"))
	}
	armaturetest.Golden(t, "testdata/builtin.golden.txt", b.String())
}

// TestDocumentation writes down what the table says, for users.
func TestDocumentation(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# The kinds that Armature knows

How an operator judges its objects, and what becomes of them while it is suspended. What an object is not yet, or never
will be, is told by the reasons in [conditions.md](conditions.md): a workload that reports a failure is ` + "`Failing`" + `, and so on
for the other categories. An object whose status is about an older generation is never called ready.

A kind that is not listed is judged by what its objects say about themselves. One is ready when
` + kind.Builtin().Find(schema.GroupVersionKind{}).Means + `.
Where ` + "`Stalled`" + ` is True, the object is ` + "`Failing`" + `; one that says nothing of this is ready by being there. It takes no part in
suspension. An operator adds rows of its own, or replaces these, with ` + "`kind.Table.With`" + `.

| what suspension does | |
|---|---|
| keep | the object stays as it is |
| scale | it stays, without pods |
| pause | it stays, and starts nothing more |
| delete | it is deleted once it rests, and made anew on resumption |
| | it takes no part: it stays, unchanged |

This file is made from the table in package kind: ` + "`go test ./kind -update`" + `.

| kind | group and version | scope | category | ready when | suspension |
|---|---|---|---|---|---|
`)
	for _, k := range kind.Builtin().Kinds() {
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s | %s |\n", k.GVK.Kind, k.GVK.GroupVersion(), k.Scope, k.Category, k.Means, k.Suspend.How)
	}
	armaturetest.Golden(t, "../docs/kinds.md", b.String())
}

// What a row needs follows from its category and from how it is suspended.
func TestRowsAreComplete(t *testing.T) {
	for _, k := range kind.Builtin().Kinds() {
		static := k.Category == kind.Static
		switch {
		case k.Scope != kind.Namespaced && k.Scope != kind.Cluster:
			t.Errorf("%s: no scope", k.GVK.Kind)
		case k.Means == "" || strings.ContainsAny(k.Means, "\n|"):
			t.Errorf("%s: the documentation needs to know, on one line, when it is ready", k.GVK.Kind)
		case !static && (k.Health == nil || k.Grace == nil || k.Suspend.How == ""):
			t.Errorf("%s: a %s needs health, grace and suspension", k.GVK.Kind, k.Category)
		case static && (k.Grace != nil || k.Suspend.How != ""):
			t.Errorf("%s: a static kind has no use for grace or suspension", k.GVK.Kind)
		case (k.Suspend.How == "") != (k.Suspend.Status == nil):
			t.Errorf("%s: suspension and its status go together", k.GVK.Kind)
		case (k.Suspend.How == kind.Scale || k.Suspend.How == kind.Pause) && k.Suspend.Mutate == nil:
			t.Errorf("%s: nothing brings it to rest", k.GVK.Kind)
		case k.Suspend.How == kind.Keep && k.Suspend.Mutate != nil:
			t.Errorf("%s: what is kept is not changed", k.GVK.Kind)
		}
	}
}

func TestTable(t *testing.T) {
	secret := corev1.SchemeGroupVersion.WithKind("Secret")
	var none *kind.Table
	if _, ok := none.Lookup(secret); ok || none.Kinds() != nil {
		t.Error("a nil table has no rows")
	}
	if _, ok := new(kind.Table).Lookup(secret); ok {
		t.Error("the zero table has no rows")
	}
	first := kind.Builtin()
	second := first.With(kind.Kind{GVK: secret, Category: kind.Task}, kind.Kind{GVK: secret, Category: kind.Integration})
	if k, _ := second.Lookup(secret); k.Category != kind.Integration || k.Scope != "" {
		t.Errorf("a row replaces the whole row, and the last one wins; got %v", k)
	}
	if k, _ := first.Lookup(secret); k.Category != kind.Static {
		t.Error("a table was changed by making another one")
	}
	if len(first.Kinds()) != len(second.Kinds()) {
		t.Errorf("got %d and %d rows", len(first.Kinds()), len(second.Kinds()))
	}
	if _, ok := first.Lookup(schema.GroupVersionKind{Group: "apps", Version: "v1beta1", Kind: "Deployment"}); ok {
		t.Error("another version is another kind")
	}
}

// Rules say Error of what they cannot read; they never guess, and never panic.
func TestRulesOnWrongObjects(t *testing.T) {
	var typedNil *appsv1.Deployment
	var noContent *unstructured.Unstructured
	other := &corev1.Event{}
	garbled := &unstructured.Unstructured{Object: map[string]any{"metadata": "nonsense", "spec": int64(7)}}
	for _, k := range kind.Builtin().Kinds() {
		if k.Health == nil {
			continue
		}
		for _, obj := range []object.Object{nil, typedNil, noContent, other} {
			if s := k.Health(obj, object.OpNone); s.Reason != condition.Error || s.Message == "" {
				t.Errorf("%s: health of %T: %v", k.GVK.Kind, obj, s)
			}
			if k.Grace != nil && k.Grace(obj).Reason != condition.Error {
				t.Errorf("%s: grace of %T", k.GVK.Kind, obj)
			}
			if k.Suspend.Mutate != nil && k.Suspend.Mutate(obj) == nil {
				t.Errorf("%s: %T was brought to rest", k.GVK.Kind, obj)
			}
			if k.Suspend.Spares != nil && k.Suspend.Spares(obj) {
				t.Errorf("%s: %T was spared", k.GVK.Kind, obj)
			}
		}
		if s := k.Health(garbled, object.OpNone); s.Reason != condition.Error || !strings.Contains(s.Message, "reading a") {
			t.Errorf("%s: health of a garbled object: %v", k.GVK.Kind, s)
		}
	}
	row, _ := kind.Builtin().Lookup(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	if got, want := row.Health(other, object.OpNone).Message, "this is a *v1.Event where a *v1.Deployment is expected"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
