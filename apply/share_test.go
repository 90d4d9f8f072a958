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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
)

// crowd are owners that share objects, each with an operator process of its own, and the
// number of writes of all.
type crowd struct {
	*fixture

	owners []*unstructured.Unstructured
	w      *writes
}

func newCrowd(f *fixture, n int) *crowd {
	c := &crowd{fixture: f, w: &writes{Client: f.WithWatch}}
	for i := range n {
		c.owners = append(c.owners, f.thing(fmt.Sprintf("owner-%d", i)))
	}
	return c
}

// share applies a shared object for one of the owners.
func (c *crowd) share(i int, cm *corev1.ConfigMap) error {
	_, err := c.anew().Apply(c.Context(), c.owners[i], "store", cm, object.Handling{Ownership: object.Shared})
	return err
}

// anew is the operator in a new process.
func (c *crowd) anew() *apply.Applier { return apply.New(c.w, controller, apply.Options{}) }

func (c *crowd) leave(i int, name string) object.Op {
	c.Helper()
	res, err := c.anew().Delete(c.Context(), c.owners[i], c.configMap(name))
	c.must(err)
	return res.Op
}

// state describes a shared object: its data, references and managers.
func (c *crowd) state(name string) string {
	c.Helper()
	cm := c.configMap(name)
	err := c.Get(c.Context(), client.ObjectKeyFromObject(cm), cm)
	if apierrors.IsNotFound(err) {
		return "gone"
	}
	c.must(err)
	var refs, managers []string
	for _, ref := range cm.OwnerReferences {
		refs = append(refs, strings.TrimPrefix(ref.Name, "owner-"))
	}
	for _, e := range cm.ManagedFields {
		for i, owner := range c.owners {
			if strings.HasSuffix(e.Manager, string(owner.GetUID())) {
				managers = append(managers, fmt.Sprint(i))
			}
		}
	}
	slices.Sort(managers)
	return fmt.Sprintf("%v of %v by %v", cm.Data, refs, managers)
}

func conflictWith(holder string) func(error) bool {
	return func(err error) bool {
		var conflict *apply.ConflictError
		return errors.As(err, &conflict) && conflict.Holder == holder && conflict.Consent == ""
	}
}

// Owners of one controller apply one object with the same content: each applies once,
// nobody is in anybody's way, and a new process has nothing to do.
func TestOwnersShareAnObject(t *testing.T) {
	c := newCrowd(setUp(t), 3)
	for i := range c.owners {
		c.must(c.share(i, c.configMap("cm", "k=1")))
	}
	if got := c.state("cm"); got != "map[k:1] of [0 1 2] by [0 1 2]" || c.w.n != 3 {
		t.Errorf("%s, %d writes", got, c.w.n)
	}
	for range 2 {
		for i := range c.owners {
			c.must(c.share(i, c.configMap("cm", "k=1")))
		}
	}
	if c.w.n != 3 {
		t.Errorf("%d writes at rest", c.w.n-3)
	}
	cm := c.live("cm")
	if got := apply.OwnerUIDs(cm); len(got) != 3 || metav1.GetControllerOf(cm) != nil || cm.OwnerReferences[0].BlockOwnerDeletion != nil {
		t.Errorf("owners %v, references %v", got, cm.OwnerReferences)
	}
	owned, err := apply.New(indexed{c.w}, controller, apply.Options{}).Owned(t.Context(), c.owners[1], trackable)
	if len(owned) != 1 || err != nil {
		t.Errorf("%v, %v", owned, err)
	}
}

// Drift of a shared object is corrected by force, and once.
func TestDriftOfASharedObjectIsCorrected(t *testing.T) {
	c := newCrowd(setUp(t), 2)
	for i := range c.owners {
		c.must(c.share(i, c.configMap("cm", "k=1")))
	}
	for _, first := range []int{0, 1} {
		c.w.n = 0
		c.must(c.Patch(t.Context(), c.configMap("cm"), client.RawPatch(types.MergePatchType, []byte(`{"data":{"k":"drifted","theirs":"x"}}`))))
		if err := c.share(first, c.configMap("cm", "k=1")); first == 1 && !conflictWith("Thing owner-0")(err) || first == 0 && err != nil {
			t.Errorf("first comes %d: %v", first, err)
		}
		for range 2 {
			for i := range c.owners {
				c.must(c.share(i, c.configMap("cm", "k=1")))
			}
		}
		if got := c.state("cm"); got != "map[k:1 theirs:x] of [0 1] by [0 1]" || c.w.n != 2+first {
			t.Errorf("first comes %d: %s, %d writes", first, got, c.w.n)
		}
	}
}

// Where owners differ the first one decides, and nobody is stolen from.
func TestOwnersThatDifferHaveAConflict(t *testing.T) {
	c := newCrowd(setUp(t), 2)
	c.must(c.share(0, c.configMap("cm", "k=1")))
	before := c.live("cm").ResourceVersion
	if err := c.share(1, c.configMap("cm", "k=2")); !conflictWith("Thing owner-0")(err) || c.live("cm").ResourceVersion != before {
		t.Errorf("joining: %v", err)
	}
	if got := c.leave(1, "cm"); got != object.OpNone {
		t.Errorf("who never shared it leaves: %q", got)
	}
	c.must(c.share(1, c.configMap("cm", "k=1")))
	if err := c.share(1, c.configMap("cm", "k=2")); !conflictWith("Thing owner-0")(err) {
		t.Errorf("changing it: %v", err)
	}
	var conflict *apply.ConflictError
	if _, err := c.anew().Plan(t.Context(), c.owners[1], "store", c.configMap("cm", "k=2"), object.Handling{Ownership: object.Shared}); !errors.As(err, &conflict) {
		t.Errorf("planning to: %v", err)
	}
	if got := c.state("cm"); got != "map[k:1] of [0 1] by [0 1]" {
		t.Error(got)
	}
	c.must(c.share(0, c.configMap("cm", "k=3")))
	if err := c.share(1, c.configMap("cm", "k=1")); !conflictWith("Thing owner-0")(err) || c.state("cm") != "map[k:3] of [0 1] by [0 1]" {
		t.Errorf("%v, %s", err, c.state("cm"))
	}
	for _, how := range []object.Ownership{object.Controlled, object.Tracked} {
		for i := range c.owners {
			if _, err := c.anew().Apply(t.Context(), c.owners[i], "store", c.configMap("cm", "k=3"), object.Handling{Ownership: how}); !conflictWith(fmt.Sprintf("Thing owner-%d", 1-i))(err) {
				t.Errorf("%q: owner %d takes it for itself: %v", how, i, err)
			}
		}
	}
}

// After an upgrade all owners want something else. Whoever comes first, they agree.
func TestOwnersChangeASharedObjectTogether(t *testing.T) {
	c := newCrowd(setUp(t), 3)
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}} {
		cm := c.configMap("cm", "a=1", "b=1")
		c.must(client.IgnoreNotFound(c.Delete(t.Context(), c.configMap("cm"))))
		for i := range c.owners {
			c.must(c.share(i, cm))
		}
		for range 2 {
			for _, i := range order {
				if err := c.share(i, c.configMap("cm", "a=2", "c=1")); err != nil && !conflictWith("Thing owner-0")(err) {
					t.Error(err)
				}
			}
		}
		before := c.w.n
		for _, i := range order {
			c.must(c.share(i, c.configMap("cm", "a=2", "c=1")))
		}
		if got := c.state("cm"); got != "map[a:2 c:1] of [0 1 2] by [0 1 2]" || c.w.n != before {
			t.Errorf("%v: %s, %d writes at rest", order, got, c.w.n-before)
		}
	}
}

// Whoever leaves takes its reference along and nothing else. The last one deletes.
func TestOwnersLeaveASharedObject(t *testing.T) {
	f := setUp(t)
	for n, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}} {
		name := fmt.Sprintf("cm-%d", n)
		c := &crowd{fixture: f, w: &writes{Client: f.WithWatch}}
		for i := range 3 {
			c.owners = append(c.owners, f.thing(fmt.Sprintf("owner-%d-%d", n, i)))
			c.must(c.share(i, f.configMap(name, "k=1")))
		}
		c.must(c.Patch(t.Context(), c.configMap(name), client.RawPatch(types.MergePatchType, []byte(`{"data":{"theirs":"x"}}`)), client.FieldOwner("a-person")))
		for at, i := range order {
			want := object.OpReleased
			if at == 2 {
				want = object.OpDeleted
			}
			if got := c.leave(i, name); got != want {
				t.Errorf("%v: %d leaves: %q", order, i, got)
			}
			for _, j := range order[at+1:] {
				c.must(c.share(j, c.configMap(name, "k=1")))
			}
			if cm := c.configMap(name); at < 2 {
				c.must(c.Get(t.Context(), client.ObjectKeyFromObject(cm), cm))
				if len(cm.OwnerReferences) != 2-at || len(cm.ManagedFields) != 3-at || !maps.Equal(cm.Data, map[string]string{"k": "1", "theirs": "x"}) || cm.Labels[apply.ComponentLabel] != "store" {
					t.Errorf("%v: %d left: %v %v %v", order, i, cm.Data, cm.OwnerReferences, cm.ManagedFields)
				}
			}
			before := c.w.n
			for _, j := range order[at+1:] {
				c.must(c.share(j, c.configMap(name, "k=1")))
			}
			if c.w.n != before {
				t.Errorf("%v: %d left, and it does not settle", order, i)
			}
		}
		if got := c.state(name); got != "gone" {
			t.Errorf("%v: %s", order, got)
		}
	}
}

// What only the one who leaves declares goes, and the others decide from then on.
func TestWhatOnlyOneOwnerDeclaredGoesWithIt(t *testing.T) {
	c := newCrowd(setUp(t), 2)
	c.must(c.share(0, c.configMap("cm", "k=1", "mine=x")))
	c.must(c.share(1, c.configMap("cm", "k=1")))
	c.must(c.share(0, c.configMap("cm", "k=2", "mine=x")))
	if err := c.share(1, c.configMap("cm", "k=1")); !conflictWith("Thing owner-0")(err) {
		t.Error(err)
	}
	if res, err := c.anew().Release(t.Context(), c.owners[0], c.configMap("cm")); err != nil || res.Op != object.OpReleased {
		t.Errorf("%q, %v", res.Op, err)
	}
	c.must(c.share(1, c.configMap("cm", "k=1")))
	if got := c.state("cm"); got != "map[k:1] of [1] by [1]" {
		t.Error(got)
	}
	if res, err := c.anew().Release(t.Context(), c.owners[1], c.configMap("cm")); err != nil || res.Op != object.OpReleased || len(c.live("cm").OwnerReferences) > 0 {
		t.Errorf("the last one releases it: %q, %v", res.Op, err)
	}
}

// The fields of an owner whose reference the garbage collector has taken off go to those
// that are left.
func TestOwnersThatAreGoneLeaveNothingBehind(t *testing.T) {
	c := newCrowd(setUp(t), 2)
	for i := range c.owners {
		c.must(c.share(i, c.configMap("cm", "k=1")))
	}
	c.must(c.share(0, c.configMap("cm", "k=2", "mine=x")))
	c.must(c.Patch(t.Context(), c.configMap("cm"), client.RawPatch(types.JSONPatchType, []byte(`[{"op":"remove","path":"/metadata/ownerReferences/0"}]`))))
	for range 2 {
		c.must(c.share(1, c.configMap("cm", "k=1")))
	}
	if got := c.state("cm"); got != "map[k:1] of [1] by [1]" {
		t.Error(got)
	}
}

// Sharing is among the owners of one controller: what anybody else made is not shared,
// and stays when the one who wanted it is gone.
func TestTheObjectsOfOthersAreNotShared(t *testing.T) {
	c := newCrowd(setUp(t), 2)
	ref := metav1.OwnerReference{APIVersion: "test.armature.dev/v1", Kind: "Thing", Name: "owner-0", UID: c.owners[0].GetUID()}
	unowned, referred := c.configMap("unowned", "k=1"), c.configMap("referred", "k=1")
	referred.OwnerReferences = []metav1.OwnerReference{ref}
	c.must(c.Create(t.Context(), unowned))
	c.must(c.Create(t.Context(), referred))
	_, err := c.anew().Apply(t.Context(), c.owners[0], "store", c.configMap("controlled", "k=1"))
	c.must(err)
	_, err = apply.New(c.w, "another-operator", apply.Options{}).Apply(t.Context(), c.owners[0], "store", c.configMap("another", "k=1"), object.Handling{Ownership: object.Shared})
	c.must(err)
	for _, name := range []string{"unowned", "referred", "controlled", "another"} {
		before := c.live(name).ResourceVersion
		err := c.share(1, c.configMap(name, "k=1"))
		if conflict := new(apply.ConflictError); !errors.As(err, &conflict) || conflict.Holder == "" {
			t.Errorf("%s: %v", name, err)
		}
		if op := c.leave(1, name); op != object.OpNone || c.live(name).ResourceVersion != before {
			t.Errorf("%s: it was written, %q", name, op)
		}
	}
}

// Whoever joins while the last one leaves still has the object, and two who leave at
// once leave nothing.
func TestOwnersComeAndGoAtOnce(t *testing.T) {
	c := newCrowd(setUp(t), 3)
	c.must(c.share(0, c.configMap("cm", "k=1")))
	for leaving, meanwhile := range []func() error{
		func() error { return c.share(1, c.configMap("cm", "k=1")) },
		func() error { c.leave(0, "cm"); return c.share(2, c.configMap("cm", "k=1")) },
	} {
		m := &interrupted{Client: c.w, get: func() { c.must(meanwhile()) }}
		var wait *condition.WaitError
		if _, err := apply.New(m, controller, apply.Options{Live: m}).Delete(t.Context(), c.owners[leaving], c.configMap("cm")); !errors.As(err, &wait) || wait.After == 0 {
			t.Errorf("leaving: %v, want a wait", err)
		}
	}
	if got := c.leave(1, "cm"); got != object.OpReleased {
		t.Error(got)
	}
	c.must(c.share(2, c.configMap("cm", "k=1")))
	if got := c.state("cm"); got != "map[k:1] of [2] by [2]" {
		t.Error(got)
	}
}

// interrupted lets something happen after the second look at the object.
type interrupted struct {
	client.Client

	looks int
	get   func()
}

func (i *interrupted) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	err := i.Client.Get(ctx, key, obj, opts...)
	if i.looks++; i.looks == 2 {
		i.get()
	}
	return err
}

// The process may end before and after any write of owners who come, change their minds,
// and leave: whoever does the same again ends in the same state.
func TestACrashWhileSharingIsHealed(t *testing.T) {
	f := setUp(t)
	for _, after := range []bool{false, true} {
		for n, hit := 1, true; hit; n++ {
			c := &crowd{fixture: f, w: &writes{}}
			name := fmt.Sprintf("cm-%t-%d", after, n)
			for i := range 2 {
				c.owners = append(c.owners, f.thing(fmt.Sprintf("%s-%d", name, i)))
			}
			broken := &faulty{Client: f.WithWatch, n: n, after: after}
			for step := range strings.SplitSeq("0=1 1=1 0=2 1=2 0- 1=2 0=2 1- 0=2", " ") {
				do := func() error {
					owner, a := c.owners[step[0]-'0'], c.anew()
					if value, wanted := strings.CutPrefix(step[1:], "="); wanted {
						_, err := a.Apply(t.Context(), owner, "store", f.configMap(name, "k="+value), object.Handling{Ownership: object.Shared})
						return err
					}
					_, err := a.Delete(t.Context(), owner, f.configMap(name))
					return err
				}
				c.w.Client = broken
				err := do()
				if c.w.Client = f.WithWatch; errors.Is(err, errFault) {
					err = do()
				}
				if err != nil {
					t.Fatalf("write %d broke, after=%t, step %s: %v", n, after, step, err)
				}
			}
			cm := f.live(name)
			if hit = broken.hit; len(cm.OwnerReferences) != 1 || cm.OwnerReferences[0].UID != c.owners[0].GetUID() || len(cm.ManagedFields) != 1 || cm.Data["k"] != "2" {
				t.Errorf("write %d broke, after=%t: %v %v %v", n, after, cm.Data, cm.OwnerReferences, cm.ManagedFields)
			}
			if op := c.leave(0, name); op != object.OpDeleted {
				t.Errorf("the last one leaves: %q", op)
			}
			if !hit && n-1 != 7 { // none where the one who left has left nothing else behind
				t.Errorf("it takes %d writes, want 7", n-1)
			}
		}
	}
}
