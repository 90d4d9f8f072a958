package apply_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
)

// formerOwner is the UID that an owner had before it was deleted and restored.
const formerOwner = "0b3c4d5e-1111-4222-8333-944455556666"

// heritage are the ways in which an object can have come to be ours.
var heritage = []struct {
	name   string
	writes int // that it takes to make it what it should be
	seed   func(f *fixture, cm *corev1.ConfigMap)
}{
	{"this operator, before it was started again", 1, func(f *fixture, cm *corev1.ConfigMap) {
		f.apply(f.configMap(cm.Name, "a=1", "b=2"), object.OpCreated)
	}},
	{"an operator that updates", 2, func(f *fixture, cm *corev1.ConfigMap) {
		f.must(f.Create(f.Context(), cm, client.FieldOwner("old-operator")))
	}},
	{"client-side apply", 2, func(f *fixture, cm *corev1.ConfigMap) {
		cm.Annotations = map[string]string{"kubectl.kubernetes.io/last-applied-configuration": `{"data":{"a":"1","b":"2"}}`}
		f.must(f.Create(f.Context(), cm, client.FieldOwner("kubectl-client-side-apply")))
	}},
	{"an operator that applies by another name", 2, func(f *fixture, cm *corev1.ConfigMap) {
		f.applyAs(cm, "old-operator")
	}},
	{"this operator, for the owner before it was restored", 2, func(f *fixture, cm *corev1.ConfigMap) {
		f.applyAs(cm, controller+"/"+formerOwner)
	}},
	{"all of them, one after another", 2, func(f *fixture, cm *corev1.ConfigMap) {
		f.must(f.Create(f.Context(), cm.DeepCopy(), client.FieldOwner("kubectl-client-side-apply")))
		f.applyAs(cm, "old-operator")
		f.applyAs(cm, controller+"/"+formerOwner)
		f.apply(f.configMap(cm.Name, "b=2"), object.OpUpdated) // by force, without a former manager
	}},
}

func (f *fixture) applyAs(cm *corev1.ConfigMap, manager string) {
	f.Helper()
	tree, err := object.Tree(f.Scheme(), cm)
	f.must(err)
	u := &unstructured.Unstructured{Object: tree}
	f.must(f.WithWatch.Apply(f.Context(), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(manager), client.ForceOwnership))
}

// inherited makes an object that a former manager wrote, in part together with a person.
func (f *fixture) inherited(name string, seed func(*fixture, *corev1.ConfigMap)) {
	f.Helper()
	cm := f.configMap(name, "a=1", "b=2")
	cm.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(f.owner, f.owner.GroupVersionKind())}
	seed(f, cm)
	body := client.RawPatch(types.MergePatchType, []byte(`{"data":{"h":"person"}}`))
	f.must(f.Patch(f.Context(), f.configMap(name), body, client.FieldOwner("a-person")))
}

// successor is the controller of today, in a new process.
func (f *fixture) successor(c client.Client) *apply.Applier {
	return apply.New(c, controller, apply.Options{Live: f.WithWatch, Former: []string{"old-operator", "kubectl-client-side-apply"}})
}

// heirs describes an object: its data and who manages it.
func (f *fixture) heirs(name string) string {
	f.Helper()
	cm := f.live(name)
	var managers []string
	for _, e := range cm.ManagedFields {
		managers = append(managers, fmt.Sprintf("%s by %s", strings.Replace(e.Manager, string(f.owner.GetUID()), "owner", 1), e.Operation))
	}
	slices.Sort(managers)
	return fmt.Sprintf("%v %v, managed %s", cm.Data, slices.Sorted(maps.Keys(cm.Annotations)), strings.Join(managers, " and "))
}

const inheritedWell = "map[a:1 h:person] [], managed a-person by Update and test-operator/owner by Apply"

// What an earlier version of the operator wrote, and today's does not, goes. What
// others wrote stays. It is done once.
func TestTheFieldsOfFormerManagersAreInherited(t *testing.T) {
	for _, tt := range heritage {
		t.Run(tt.name, func(t *testing.T) {
			f := setUp(t)
			f.inherited("cm", tt.seed)
			c := &writes{Client: f.WithWatch}
			a := f.successor(c)
			_, err := a.Apply(t.Context(), f.owner, "store", f.configMap("cm", "a=1"))
			f.must(err)
			if got := f.heirs("cm"); got != inheritedWell {
				t.Errorf("got  %s\nwant %s", got, inheritedWell)
			}
			if c.n != tt.writes {
				t.Errorf("it took %d writes, want %d", c.n, tt.writes)
			}
			for _, again := range []*apply.Applier{a, f.successor(c)} {
				if res, err := again.Apply(t.Context(), f.owner, "store", f.configMap("cm", "a=1")); err != nil || res.Op != object.OpNone || c.n != tt.writes {
					t.Errorf("again: %q, %v, %d writes", res.Op, err, c.n-tt.writes)
				}
			}
		})
	}
}

// writes counts what is written.
type writes struct {
	client.Client

	n int
}

func (w *writes) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	w.n++
	return w.Client.Patch(ctx, obj, patch, opts...)
}

func (w *writes) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	w.n++
	return w.Client.Apply(ctx, obj, opts...)
}

// The process may end, with all that it remembers, before and after any of the writes.
func TestACrashWhileInheritingIsHealed(t *testing.T) {
	for _, tt := range heritage {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, after=%t", tt.name, after), func(t *testing.T) {
				f := setUp(t)
				for n := 1; ; n++ {
					name := fmt.Sprintf("cm-%d", n)
					f.inherited(name, tt.seed)
					c := &faulty{Client: f.WithWatch, n: n, after: after}
					_, err := f.successor(c).Apply(t.Context(), f.owner, "store", f.configMap(name, "a=1"))
					if c.hit != errors.Is(err, errFault) {
						t.Fatalf("write %d: %v", n, err)
					}
					w := &writes{Client: f.WithWatch}
					for range 2 {
						before := w.n
						_, err = f.successor(w).Apply(t.Context(), f.owner, "store", f.configMap(name, "a=1"))
						f.must(err)
						if got := f.heirs(name); got != inheritedWell {
							t.Errorf("write %d broke:\ngot  %s\nwant %s", n, got, inheritedWell)
						}
						if before > 0 && w.n != before {
							t.Errorf("write %d broke: it does not settle", n)
						}
					}
					if !c.hit {
						if n-1 != tt.writes {
							t.Errorf("it takes %d writes, want %d", n-1, tt.writes)
						}
						return
					}
				}
			})
		}
	}
}

// Somebody writes between the look and the takeover: their write is not lost.
func TestInheritingDoesNotOverwriteAnybody(t *testing.T) {
	f := setUp(t)
	f.inherited("cm", heritage[1].seed)
	body := client.RawPatch(types.MergePatchType, []byte(`{"data":{"h":"another"}}`))
	m := &meddler{Client: f.WithWatch, beforePatch: func() {
		f.must(f.Patch(t.Context(), f.configMap("cm"), body, client.FieldOwner("a-person")))
	}}
	a := f.successor(m)
	var wait *condition.WaitError
	if _, err := a.Apply(t.Context(), f.owner, "store", f.configMap("cm", "a=1")); !errors.As(err, &wait) || wait.After == 0 {
		t.Errorf("got %v, want a wait", err)
	}
	_, err := a.Apply(t.Context(), f.owner, "store", f.configMap("cm", "a=1"))
	f.must(err)
	if got, want := f.heirs("cm"), strings.Replace(inheritedWell, "h:person", "h:another", 1); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Only the owner's own objects are inherited, by their controller reference: that a
// manager of that name wrote an object makes it nobody's.
func TestTheObjectsOfOthersAreNotInherited(t *testing.T) {
	f := setUp(t)
	f.must(f.Create(t.Context(), f.configMap("cm", "a=1", "b=2"), client.FieldOwner("old-operator")))
	before := f.live("cm")
	_, err := f.successor(f.WithWatch).Apply(t.Context(), f.owner, "store", f.configMap("cm", "a=1"))
	var conflict *apply.ConflictError
	if !errors.As(err, &conflict) || f.live("cm").ResourceVersion != before.ResourceVersion {
		t.Errorf("got %v, want a conflict and nothing written", err)
	}
}

// The status that an earlier version of the operator updated is today's to correct
// and to retire; what others say stays. A crash at any write is healed.
func TestTheStatusOfAFormerManagerIsInherited(t *testing.T) {
	f := setUp(t)
	for _, after := range []bool{false, true} {
		for n, hit := 1, true; hit; n++ {
			f.owner = f.thing(fmt.Sprintf("owner-%d-%t", n, after))
			f.writeForeign("Foreign=True")
			f.must(unstructured.SetNestedSlice(f.owner.Object, append(f.said(), conditionNamed("Ready"), conditionNamed("Legacy")), "status", "conditions"))
			f.must(f.Status().Update(t.Context(), f.owner, client.FieldOwner("old-operator")))

			c := &faulty{Client: f.WithWatch, n: n, after: after}
			report := func(c client.Client) (map[string]any, error) {
				f.refresh()
				return f.successor(c).ApplyStatus(t.Context(), f.owner, conditions("Ready=True"))
			}
			_, err := report(c)
			if hit = c.hit; hit != errors.Is(err, errFault) {
				t.Fatalf("write %d: %v", n, err)
			}
			_, err = report(f.WithWatch)
			f.must(err)
			if got := f.words(); got != "Foreign=True Ready=True" {
				t.Errorf("write %d broke: the conditions are %s", n, got)
			}
			if live, err := report(f.WithWatch); live != nil || err != nil {
				t.Errorf("write %d broke: it does not settle: %v", n, err)
			}
			if !hit && n != 3 {
				t.Errorf("it takes %d writes, want 2", n-1)
			}
		}
	}
}

func (f *fixture) said() []any {
	f.Helper()
	list, _, err := unstructured.NestedSlice(f.owner.Object, "status", "conditions")
	f.must(err)
	return list
}

func conditionNamed(name string) any {
	return map[string]any{"type": name, "status": "False", "reason": "Old", "message": "", "lastTransitionTime": "2027-01-15T08:00:00Z"}
}

func TestTheCacheKeepsOurManagedFieldsOnly(t *testing.T) {
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", ManagedFields: []metav1.ManagedFieldsEntry{
		{Manager: "kubectl"}, {Manager: "former"}, {Manager: "op/uid"}, {Manager: "operator/uid"}, {Manager: "op/status", Subresource: "status"},
	}}}
	out, err := apply.Transform("op", []string{"former"})(cm)
	if err != nil || out != any(cm) {
		t.Fatalf("%v, %v", out, err)
	}
	var kept []string
	for _, e := range cm.ManagedFields {
		kept = append(kept, e.Manager)
	}
	if !slices.Equal(kept, []string{"former", "op/uid", "op/status"}) {
		t.Errorf("kept %v", kept)
	}
	for _, in := range []any{"no object", &corev1.ConfigMap{}} {
		if out, err := apply.Transform("op", []string{"former"})(in); err != nil || out != in {
			t.Errorf("%v became %v, %v", in, out, err)
		}
	}
}
