package apply_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
)

func clusterRole(name string) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}}}
}

func in(ns string, cm *corev1.ConfigMap) *corev1.ConfigMap {
	cm.Namespace = ns
	return cm
}

// indexed answers lists by the index of a cache, which the server does not have.
type indexed struct{ client.Client }

func (c indexed) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	o := (&client.ListOptions{}).ApplyOptions(opts)
	uid, ok := o.FieldSelector.RequiresExactMatch(apply.OwnerIndex)
	if !ok {
		return errors.New("a list that is not by owner")
	}
	if err := c.Client.List(ctx, list, client.InNamespace(o.Namespace)); err != nil {
		return err
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		return err
	}
	return meta.SetList(list, slices.DeleteFunc(items, func(item runtime.Object) bool {
		return !slices.Contains(apply.OwnerUIDs(item.(object.Object)), uid)
	}))
}

var trackable = []schema.GroupVersionKind{corev1.SchemeGroupVersion.WithKind("ConfigMap"), rbacv1.SchemeGroupVersion.WithKind("ClusterRole")}

// What the garbage collector would take for an orphan one day is refused before
// anything is written, and the two ways to do so are told apart.
func TestReferencesThatAreIllegalAreRefused(t *testing.T) {
	f := setUp(t)
	crd := &unstructured.Unstructured{}
	crd.SetAPIVersion("apiextensions.k8s.io/v1")
	crd.SetKind("CustomResourceDefinition") // of which the table of kinds knows nothing
	crd.SetName("things.test.armature.dev")
	misplaced := clusterRole("misplaced")
	misplaced.Namespace = f.ns
	for _, tt := range []struct {
		name string
		obj  object.Object
		want apply.Shape
		fix  string
	}{
		{"another namespace", in("kube-public", f.configMap("cm")), apply.OtherNamespace, fmt.Sprintf(`set its namespace to %q, or let it be tracked: resource.Manage(…).Tracked()`, f.ns)},
		{"a ClusterRole", clusterRole(f.ns), apply.ClusterScoped, "let it be tracked"},
		{"a ClusterRole that says it is in a namespace", misplaced, apply.ClusterScoped, "let it be tracked"},
		{"a kind whose scope the server knows", crd, apply.ClusterScoped, "let it be tracked"},
	} {
		for _, how := range []object.Ownership{object.Controlled, object.Shared} {
			w := &writes{Client: f.WithWatch}
			_, err := apply.New(w, controller, apply.Options{}).Apply(t.Context(), f.owner, "store", tt.obj, object.Handling{Ownership: how})
			var shape *apply.ShapeError
			if !errors.As(err, &shape) || shape.Shape != tt.want || !condition.IsInvalid(err) || !strings.Contains(err.Error(), tt.fix) || w.n != 0 {
				t.Errorf("%s, %q: %v, %d writes", tt.name, how, err, w.n)
			}
			if _, err := f.applier.Plan(t.Context(), f.owner, "store", tt.obj, object.Handling{Ownership: how}); !errors.As(err, &shape) || shape.Shape != tt.want {
				t.Errorf("%s, %q: planning it: %v", tt.name, how, err)
			}
		}
	}
	everywhere := f.clusterOwner()
	if _, err := f.applier.Apply(t.Context(), everywhere, "store", f.configMap("of-a-cluster-scoped-owner")); err != nil {
		t.Errorf("a cluster-scoped owner may own anything: %v", err)
	}
}

// marks describes how an object is owned.
func marks(obj client.Object) string {
	var refs []string
	for _, ref := range obj.GetOwnerReferences() {
		refs = append(refs, fmt.Sprintf("%s controller=%t", ref.Name, ref.Controller != nil && *ref.Controller))
	}
	slices.Sort(refs)
	return fmt.Sprintf("label %t, annotation %q, component %q, refs %v", obj.GetLabels()[apply.OwnerMark] != "", obj.GetAnnotations()[apply.OwnerMark], obj.GetLabels()[apply.ComponentLabel], refs)
}

// A tracked object carries marks and no reference. The owner has the finalizer first.
func TestTrackedObjectsCarryMarks(t *testing.T) {
	f := setUp(t)
	f.owner.SetFinalizers([]string{"example.com/theirs"})
	f.must(f.Update(t.Context(), f.owner))
	blue := f.cluster.Namespace(t)
	tracked := []client.Object{in(blue, f.configMap("cm", "k=1")), clusterRole(f.ns)}
	var order []string
	m := &meddler{Client: f.WithWatch, beforePatch: func() { order = append(order, "patch") }, beforeApply: func() { order = append(order, "apply") }}
	a := apply.New(indexed{m}, controller, apply.Options{})
	for _, obj := range tracked {
		if res, err := a.Apply(t.Context(), f.owner, "store", obj, object.Handling{Ownership: object.Tracked}); err != nil || res.Op != object.OpCreated {
			t.Fatalf("%q, %v", res.Op, err)
		}
		f.must(f.Get(t.Context(), client.ObjectKeyFromObject(obj), obj))
		if got, want := marks(obj), fmt.Sprintf("label true, annotation %q, component \"store\", refs []", "Thing.test.armature.dev/"+f.ns+"/owner"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if uids := apply.OwnerUIDs(obj); !slices.Equal(uids, []string{string(f.owner.GetUID())}) {
			t.Errorf("owners %v", uids)
		}
	}
	if !slices.Equal(order, []string{"patch", "apply"}) || !slices.Equal(f.owner.GetFinalizers(), []string{"example.com/theirs", a.Finalizer()}) {
		t.Errorf("%v: %v", order, f.owner.GetFinalizers())
	}
	version := f.owner.GetResourceVersion()
	f.refresh()
	if f.owner.GetResourceVersion() != version || !a.Finalizes(f.owner) {
		t.Errorf("the owner as it was read is not the owner as it is")
	}
	w := &writes{Client: f.WithWatch}
	for _, a := range []*apply.Applier{a, apply.New(indexed{w}, controller, apply.Options{})} {
		for _, desired := range []client.Object{in(blue, f.configMap("cm", "k=1")), clusterRole(f.ns)} {
			if res, err := a.Apply(t.Context(), f.owner, "store", desired, object.Handling{Ownership: object.Tracked}); err != nil || res.Op != object.OpNone || w.n > 0 {
				t.Errorf("again: %q, %v, %d writes", res.Op, err, w.n)
			}
		}
		owned, err := a.Tracked(t.Context(), f.owner, trackable)
		if len(owned) != 2 || err != nil {
			t.Errorf("%d are tracked, %v", len(owned), err)
		}
	}
	if res, err := a.Release(t.Context(), f.owner, in(blue, f.configMap("cm"))); err != nil || res.Op != object.OpReleased {
		t.Errorf("releasing: %q, %v", res.Op, err)
	}
	free := in(blue, f.configMap("cm"))
	f.must(f.Get(t.Context(), client.ObjectKeyFromObject(free), free))
	if got := marks(free); got != `label false, annotation "", component "", refs []` {
		t.Errorf("released: %s", got)
	}
	if res, err := a.Delete(t.Context(), f.owner, clusterRole(f.ns)); err != nil || res.Op != object.OpDeleted {
		t.Errorf("deleting: %q, %v", res.Op, err)
	}
	if owned, err := a.Tracked(t.Context(), f.owner, trackable); len(owned) != 0 || err != nil {
		t.Errorf("%d are tracked, %v", len(owned), err)
	}
	f.must(a.RemoveFinalizer(t.Context(), f.owner))
	f.refresh()
	if !slices.Equal(f.owner.GetFinalizers(), []string{"example.com/theirs"}) {
		t.Errorf("finalizers %v", f.owner.GetFinalizers())
	}
}

// A mark is believed where both of its parts or the field manager agree, and the owner's
// user cannot consent to what happens in other namespaces.
func TestTheMarksOfOthersAreRespected(t *testing.T) {
	f := setUp(t)
	blue := f.cluster.Namespace(t)
	other := f.thing("other")
	a := apply.New(indexed{f.WithWatch}, controller, apply.Options{})
	_, err := a.Apply(t.Context(), other, "store", in(blue, f.configMap("theirs", "k=1")), object.Handling{Ownership: object.Tracked})
	f.must(err)
	copied := in(blue, f.configMap("copied", "k=1"))
	copied.Labels = map[string]string{apply.OwnerMark: string(f.owner.GetUID()), apply.ComponentLabel: "store"}
	f.must(f.Create(t.Context(), copied))
	f.owner.SetAnnotations(map[string]string{apply.AdoptAnnotation: "ConfigMap/theirs,ConfigMap/copied"})
	for name, holder := range map[string]string{"theirs": "Thing " + f.ns + "/other", "copied": `field manager "armaturetest"`} {
		_, err := a.Apply(t.Context(), f.owner, "store", in(blue, f.configMap(name, "k=2")), object.Handling{Ownership: object.Tracked})
		var conflict *apply.ConflictError
		if !errors.As(err, &conflict) || conflict.Holder != holder || conflict.Consent != "" {
			t.Errorf("%s: %v", name, err)
		}
		if res, err := a.Delete(t.Context(), f.owner, in(blue, f.configMap(name))); err != nil || res.Op != object.OpNone {
			t.Errorf("%s: deleting it: %q, %v", name, res.Op, err)
		}
	}
	if a.Finalizes(f.owner) {
		t.Error("an owner that tracks nothing has a finalizer")
	}
	if owned, err := a.Tracked(t.Context(), f.owner, trackable); len(owned) != 0 || err != nil {
		t.Errorf("%d are tracked, %v", len(owned), err)
	}
}

// An owner that is made anew under its name takes over what its predecessor tracked.
func TestTrackedObjectsOfANamesakeAreInherited(t *testing.T) {
	f := setUp(t)
	blue := f.cluster.Namespace(t)
	a := apply.New(f.WithWatch, controller, apply.Options{})
	_, err := a.Apply(t.Context(), f.owner, "store", in(blue, f.configMap("cm", "a=1", "b=2")), object.Handling{Ownership: object.Tracked})
	f.must(err)
	f.must(a.RemoveFinalizer(t.Context(), f.owner)) // as by hand
	f.must(f.Delete(t.Context(), f.owner))
	f.owner = f.thing("owner")
	w := &writes{Client: f.WithWatch}
	for range 2 {
		_, err = apply.New(w, controller, apply.Options{}).Apply(t.Context(), f.owner, "store", in(blue, f.configMap("cm", "a=1")), object.Handling{Ownership: object.Tracked})
		f.must(err)
	}
	cm := in(blue, f.configMap("cm"))
	f.must(f.Get(t.Context(), client.ObjectKeyFromObject(cm), cm))
	if cm.Labels[apply.OwnerMark] != string(f.owner.GetUID()) || len(cm.ManagedFields) != 1 || len(cm.Data) != 1 || w.n != 3 {
		t.Errorf("%v %v %v, %d writes", cm.Labels, cm.Data, cm.ManagedFields, w.n)
	}
}

// An object changes from one ownership to another, and keeps nothing of the one before.
func TestTheOwnershipOfAnObjectMayChange(t *testing.T) {
	f := setUp(t)
	who := "Thing.test.armature.dev/" + f.ns + "/owner"
	want := map[object.Ownership]string{
		object.Controlled: `label false, annotation "", component "store", refs [owner controller=true]`,
		object.Tracked:    fmt.Sprintf(`label true, annotation %q, component "store", refs []`, who),
		object.Shared:     `label false, annotation "", component "store", refs [owner controller=false]`,
	}
	for _, how := range []object.Ownership{object.Controlled, object.Tracked, object.Shared, object.Tracked, object.Controlled, object.Shared, object.Controlled} {
		_, err := f.applier.Apply(t.Context(), f.owner, "store", f.configMap("cm", "k=1"), object.Handling{Ownership: how})
		f.must(err)
		if got := marks(f.live("cm")); got != want[how] {
			t.Errorf("%q: %s", how, got)
		}
	}
}

// The finalizer is put on the owner that was read, or nothing is made.
func TestNothingIsTrackedWithoutAFinalizer(t *testing.T) {
	blueOf := func(f *fixture) *corev1.ConfigMap { return in(f.cluster.Namespace(f.T), f.configMap("cm", "k=1")) }
	for name, tt := range map[string]struct {
		change func(f *fixture, stale *unstructured.Unstructured)
		again  bool // the next pass succeeds
	}{
		"somebody else puts a finalizer on it": {func(f *fixture, _ *unstructured.Unstructured) {
			f.owner.SetFinalizers([]string{"example.com/theirs"})
			f.must(f.Update(f.Context(), f.owner))
		}, true},
		"it is gone": {func(f *fixture, _ *unstructured.Unstructured) { f.must(f.Delete(f.Context(), f.owner)) }, false},
		"it is made anew": {func(f *fixture, _ *unstructured.Unstructured) {
			f.must(f.Delete(f.Context(), f.owner))
			f.owner = f.thing("owner")
		}, true},
		"it is being deleted": {func(f *fixture, stale *unstructured.Unstructured) {
			f.owner.SetFinalizers([]string{"example.com/theirs"})
			f.must(f.Update(f.Context(), f.owner))
			f.owner.DeepCopyInto(stale)
			f.must(f.Delete(f.Context(), f.owner))
		}, false},
		"it was read so": {func(f *fixture, stale *unstructured.Unstructured) {
			f.owner.SetFinalizers([]string{"example.com/theirs"})
			f.must(f.Update(f.Context(), f.owner))
			f.must(f.Delete(f.Context(), f.owner))
			f.refresh()
			f.owner.DeepCopyInto(stale)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := setUp(t)
			cm, stale := blueOf(f), f.owner.DeepCopy()
			tt.change(f, stale)
			_, err := f.applier.Apply(t.Context(), stale, "store", cm, object.Handling{Ownership: object.Tracked})
			if !condition.IsWait(err) {
				t.Errorf("got %v, want a wait", err)
			}
			if err := f.Get(t.Context(), client.ObjectKeyFromObject(cm), cm.DeepCopy()); !apierrors.IsNotFound(err) {
				t.Errorf("it was made: %v", err)
			}
			if tt.again {
				f.refresh()
				_, err := f.applier.Apply(t.Context(), f.owner, "store", cm, object.Handling{Ownership: object.Tracked})
				f.must(err)
			}
		})
	}
	t.Run("the right is missing", func(t *testing.T) {
		f := setUp(t)
		cfg := f.cluster.Config()
		cfg.Impersonate = rest.ImpersonationConfig{UserName: "nobody"}
		poor, err := client.New(cfg, client.Options{Scheme: f.Scheme()})
		f.must(err)
		mixed := &patchless{Client: f.WithWatch, patch: poor}
		_, err = apply.New(mixed, controller, apply.Options{}).Apply(t.Context(), f.owner, "store", blueOf(f), object.Handling{Ownership: object.Tracked})
		var denied *apply.DeniedError
		if !errors.As(err, &denied) || denied.Verb != "patch" || denied.Resource != "things.test.armature.dev" {
			t.Errorf("got %v", err)
		}
	})
}

// patchless patches as somebody else.
type patchless struct {
	client.Client

	patch client.Client
}

func (p *patchless) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	return p.patch.Patch(ctx, obj, patch, opts...)
}

// The finalizer that is taken off is ours, wherever in the list it is by now.
func TestOnlyOurFinalizerIsTakenOff(t *testing.T) {
	f := setUp(t)
	f.owner.SetFinalizers([]string{"example.com/first", f.applier.Finalizer()})
	f.must(f.Update(t.Context(), f.owner))
	stale := f.owner.DeepCopy()
	f.owner.SetFinalizers([]string{f.applier.Finalizer(), "example.com/second"})
	f.must(f.Update(t.Context(), f.owner))
	var wait *condition.WaitError
	if err := f.applier.RemoveFinalizer(t.Context(), stale); !errors.As(err, &wait) || wait.After == 0 {
		t.Errorf("got %v, want a wait", err)
	}
	f.refresh()
	f.must(f.applier.RemoveFinalizer(t.Context(), f.owner))
	f.must(f.applier.RemoveFinalizer(t.Context(), f.owner)) // there is none
	f.refresh()
	if got := f.owner.GetFinalizers(); !slices.Equal(got, []string{"example.com/second"}) {
		t.Errorf("finalizers %v", got)
	}
	f.must(f.Delete(t.Context(), f.owner))
	gone := f.owner.DeepCopy()
	gone.SetFinalizers([]string{f.applier.Finalizer()})
	f.must(client.IgnoreNotFound(f.Patch(t.Context(), f.owner, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))))
	if err := f.applier.RemoveFinalizer(t.Context(), gone); err != nil {
		t.Errorf("of an owner that is gone: %v", err)
	}
}

// What this process made is found although the cache does not show it.
func TestTrackedObjectsAreFoundBeforeTheCacheShowsThem(t *testing.T) {
	f := setUp(t)
	blue := f.cluster.Namespace(t)
	a := apply.New(blind{f.WithWatch}, controller, apply.Options{})
	for _, name := range []string{"there", "gone"} {
		_, err := a.Apply(t.Context(), f.owner, "store", in(blue, f.configMap(name, "k=1")), object.Handling{Ownership: object.Tracked})
		f.must(err)
	}
	f.must(f.Delete(t.Context(), in(blue, f.configMap("gone"))))
	for range 2 {
		owned, err := a.Tracked(t.Context(), f.owner, trackable)
		if err != nil || len(owned) != 1 || owned[0].GetName() != "there" {
			t.Errorf("%v, %v", owned, err)
		}
	}
}

// blind lists nothing.
type blind struct{ client.Client }

func (blind) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// The process may end, with all that it remembers, before or after any write: of an owner
// whose objects change from A and B to A and C, and that is deleted then, nothing is left.
func TestACrashLeavesNoTrackedObjectBehind(t *testing.T) {
	for _, after := range []bool{false, true} {
		for _, restart := range []bool{false, true} { // or the owner is deleted at once
			t.Run(fmt.Sprintf("after=%t, restart=%t", after, restart), func(t *testing.T) {
				f := setUp(t)
				blue := f.cluster.Namespace(t)
				for n, hit := 1, true; hit; n++ {
					f.owner = f.thing(fmt.Sprintf("owner-%d", n))
					c := &faulty{Client: f.WithWatch, n: n, after: after}
					err := f.trackedPasses(c, blue)
					if hit = c.hit; hit != errors.Is(err, errFault) {
						t.Fatalf("write %d: %v", n, err)
					}
					if restart {
						f.must(f.trackedPasses(f.WithWatch, blue))
					}
					f.mayBeGone(f.Delete(t.Context(), f.owner))
					end := &faulty{Client: f.WithWatch, n: 1 + n%3, after: after}
					f.mayBeGone(f.endPass(end))
					for range 2 {
						f.mayBeGone(f.endPass(f.WithWatch))
					}
					var left corev1.ConfigMapList
					f.must(f.List(t.Context(), &left, client.InNamespace(blue), client.HasLabels{apply.OwnerMark}))
					if err := f.Get(t.Context(), client.ObjectKeyFromObject(f.owner), f.owner.DeepCopy()); !apierrors.IsNotFound(err) || len(left.Items) > 0 {
						t.Errorf("write %d broke: %d objects are left, the owner: %v", n, len(left.Items), err)
					}
					if !hit && n < 5 {
						t.Errorf("there were only %d writes", n-1)
					}
				}
			})
		}
	}
}

func (f *fixture) mayBeGone(err error) {
	f.Helper()
	if !errors.Is(err, errFault) {
		f.must(client.IgnoreNotFound(err))
	}
}

// trackedPasses are two passes, in a process of their own.
func (f *fixture) trackedPasses(c client.Client, ns string) error {
	a := apply.New(indexed{c}, controller, apply.Options{Live: f.WithWatch})
	for _, pass := range []string{"ab", "ac"} {
		f.refresh()
		for name := range strings.SplitSeq(pass, "") {
			if _, err := a.Apply(f.Context(), f.owner, "store", in(ns, f.configMap(f.owner.GetName()+name, "k=1")), object.Handling{Ownership: object.Tracked}); err != nil {
				return err
			}
		}
		owned, err := a.Owned(f.Context(), f.owner, trackable)
		if err != nil {
			return err
		}
		for _, obj := range owned {
			if !strings.Contains(pass, obj.GetName()[len(obj.GetName())-1:]) {
				if _, err := a.Delete(f.Context(), f.owner, obj); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// endPass is a pass over an owner that is being deleted, in a process of its own.
func (f *fixture) endPass(c client.Client) error {
	if err := f.Get(f.Context(), client.ObjectKeyFromObject(f.owner), f.owner); err != nil {
		return err
	}
	a := apply.New(indexed{c}, controller, apply.Options{Live: f.WithWatch})
	for {
		tracked, err := a.Tracked(f.Context(), f.owner, trackable)
		if err != nil || len(tracked) == 0 {
			return errors.Join(err, a.RemoveFinalizer(f.Context(), f.owner))
		}
		for _, obj := range tracked {
			if _, err := a.Delete(f.Context(), f.owner, obj); err != nil {
				return err
			}
		}
	}
}
