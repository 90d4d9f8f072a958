package apply_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/condition"
)

// conditions builds a status from words such as "Ready=True".
func conditions(words ...string) map[string]any {
	list := []metav1.Condition{}
	for _, w := range words {
		t, status, _ := strings.Cut(w, "=")
		list = append(list, metav1.Condition{
			Type: t, Status: metav1.ConditionStatus(status), Reason: "Tested", ObservedGeneration: 1,
			LastTransitionTime: metav1.Unix(1_800_000_000, 0),
		})
	}
	return map[string]any{"conditions": list, "observedGeneration": int64(1)}
}

// refresh reads the owner as a pass does.
func (f *fixture) refresh() {
	f.Helper()
	f.must(f.Get(f.Context(), client.ObjectKeyFromObject(f.owner), f.owner))
}

func (f *fixture) status(status map[string]any) map[string]any {
	f.Helper()
	f.refresh()
	live, err := f.applier.ApplyStatus(f.Context(), f.owner, status)
	f.must(err)
	f.refresh()
	return live
}

// words reads the conditions back.
func (f *fixture) words() string {
	f.Helper()
	f.refresh()
	list, _, err := unstructured.NestedSlice(f.owner.Object, "status", "conditions")
	f.must(err)
	var words []string
	for _, item := range list {
		c := item.(map[string]any)
		words = append(words, fmt.Sprintf("%s=%s", c["type"], c["status"]))
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// writeForeign writes a condition in the manner of a program that updates the
// whole status.
func (f *fixture) writeForeign(word string) {
	f.Helper()
	f.refresh()
	t, status, _ := strings.Cut(word, "=")
	list, _, err := unstructured.NestedSlice(f.owner.Object, "status", "conditions")
	f.must(err)
	list = slices.DeleteFunc(list, func(item any) bool { return item.(map[string]any)["type"] == t })
	list = append(list, map[string]any{"type": t, "status": status, "reason": "Foreign", "message": "", "lastTransitionTime": "2027-01-15T08:00:00Z"})
	f.must(unstructured.SetNestedSlice(f.owner.Object, list, "status", "conditions"))
	f.must(f.Status().Update(f.Context(), f.owner, client.FieldOwner("foreign")))
}

func TestStatusIsWrittenOnce(t *testing.T) {
	f := setUp(t)
	if live := f.status(conditions("Ready=False", "StoreReady=False")); live == nil {
		t.Fatal("the first status was not sent")
	}
	rv := f.owner.GetResourceVersion()
	if live := f.status(conditions("Ready=False", "StoreReady=False")); live != nil || f.owner.GetResourceVersion() != rv {
		t.Errorf("the same status was sent again")
	}
	cold := apply.New(f.WithWatch, controller, apply.Options{})
	if live, err := cold.ApplyStatus(t.Context(), f.owner, conditions("Ready=False", "StoreReady=False")); err != nil || live != nil {
		t.Errorf("a new process sent the same status again: %v %v", live, err)
	}
	if live := f.status(conditions("Ready=True", "StoreReady=True")); live == nil {
		t.Errorf("another status was not sent")
	}
	stale := f.owner.DeepCopy()
	f.status(conditions("Ready=False", "StoreReady=True"))
	if !f.applier.StatusNewer(stale) || f.applier.StatusNewer(f.owner) {
		t.Errorf("which of cache and own write is newer was not told")
	}
	if live, err := f.applier.ApplyStatus(t.Context(), stale, conditions("Ready=False", "StoreReady=True")); err != nil || live != nil {
		t.Errorf("a cache behind our own write made it send again: %v %v", live, err)
	}
	if live, err := f.applier.ApplyStatus(t.Context(), stale, conditions("Ready=True", "StoreReady=True")); err != nil || live == nil {
		t.Errorf("a cache behind our own write hid a change back: %v %v", live, err)
	}
}

// An owner that stays older than our own write of its status comes from a store that
// was restored, and is written again.
func TestStatusOfARestoredOwnerIsWrittenAgain(t *testing.T) {
	f := setUp(t)
	now := time.Now()
	a := apply.New(f.WithWatch, controller, apply.Options{Now: func() time.Time { return now }})
	f.refresh()
	stale := f.owner.DeepCopy()
	if live, err := a.ApplyStatus(t.Context(), f.owner, conditions("Ready=True")); err != nil || live == nil {
		t.Fatalf("the first status: %v, %v", live, err)
	}
	for _, step := range []struct {
		after time.Duration
		sent  bool
	}{{0, false}, {59 * time.Second, false}, {2 * time.Second, true}} {
		now = now.Add(step.after)
		if newer := a.StatusNewer(stale); newer == step.sent {
			t.Errorf("after %s more the last write is newer: %t", step.after, newer)
		}
		if live, err := a.ApplyStatus(t.Context(), stale, conditions("Ready=True")); err != nil || (live != nil) != step.sent {
			t.Errorf("after %s more: sent %t, %v; want %t", step.after, live != nil, err, step.sent)
		}
	}
}

func TestStatusOfOthersSurvivesAndDriftIsCorrected(t *testing.T) {
	f := setUp(t)
	f.status(conditions("Ready=True", "StoreReady=True"))
	f.writeForeign("Foreign=True")
	rv := f.owner.GetResourceVersion()
	if live := f.status(conditions("Ready=True", "StoreReady=True")); live != nil || f.owner.GetResourceVersion() != rv {
		t.Errorf("a condition of somebody else's made us write")
	}
	f.status(conditions("Ready=True"))
	if got := f.words(); got != "Foreign=True Ready=True" {
		t.Errorf("after a condition was retired: %s", got)
	}
	f.writeForeign("Ready=False")
	f.status(conditions("Ready=True"))
	if got := f.words(); got != "Foreign=True Ready=True" {
		t.Errorf("after somebody changed ours: %s", got)
	}
	types, err := f.applier.StatusConditions(f.owner)
	if err != nil || !slices.Equal(types, []string{"Ready"}) {
		t.Errorf("ours are %v, %v", types, err)
	}
}

// A condition that somebody else wrote a part of cannot be dropped by an apply
// alone: the server keeps what is theirs and finds the rest missing.
func TestARetiredConditionThatOthersHoldAPartOfGoes(t *testing.T) {
	f := setUp(t)
	f.writeForeign("StoreReady=False")
	f.status(conditions("Ready=True", "StoreReady=True"))
	if live := f.status(conditions("Ready=True")); live == nil {
		t.Error("nothing was sent")
	}
	if got := f.words(); got != "Ready=True" {
		t.Errorf("conditions are %s", got)
	}
}

func TestTheFirstStatusDoesNotLandOnANamesake(t *testing.T) {
	f := setUp(t)
	stale := f.owner.DeepCopy()
	f.must(f.Delete(t.Context(), f.owner))
	f.owner = f.thing("owner")
	_, err := f.applier.ApplyStatus(t.Context(), stale, conditions("Ready=True"))
	if !condition.IsWait(err) {
		t.Errorf("got %v, want a wait", err)
	}
	if got := f.words(); got != "" {
		t.Errorf("the namesake has %s", got)
	}
	f.must(f.Delete(t.Context(), f.owner))
	if live, err := f.applier.ApplyStatus(t.Context(), f.owner, conditions("Ready=True")); err != nil || live != nil {
		t.Errorf("a status for an owner that is gone: %v, %v", live, err)
	}
}

// faulty fails the n-th write: before it is sent, or after it has been done.
type faulty struct {
	client.Client

	n     int
	after bool
	hit   bool
}

var errFault = errors.New("the connection broke")

func (c *faulty) fail(do func() error) error {
	c.n--
	if c.n != 0 {
		return do()
	}
	c.hit = true
	if c.after {
		if err := do(); err != nil {
			return err
		}
	}
	return errFault
}

func (c *faulty) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	return c.fail(func() error { return c.Client.Apply(ctx, obj, opts...) })
}

func (c *faulty) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	return c.fail(func() error { return c.Client.Patch(ctx, obj, patch, opts...) })
}

func (c *faulty) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	return c.fail(func() error { return c.Client.Delete(ctx, obj, opts...) })
}

func (c *faulty) Status() client.SubResourceWriter { return &faultyStatus{c.Client.Status(), c} }

type faultyStatus struct {
	client.SubResourceWriter

	of *faulty
}

func (s *faultyStatus) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption) error {
	return s.of.fail(func() error { return s.SubResourceWriter.Apply(ctx, obj, opts...) })
}

// Whatever write of a scenario breaks, before or after it took effect, a new
// process that does the same again ends in the same state.
func TestEveryBrokenWriteIsHealedByDoingItAgain(t *testing.T) {
	for _, after := range []bool{false, true} {
		t.Run(fmt.Sprintf("after=%t", after), func(t *testing.T) {
			f := setUp(t)
			for n, hit := 1, true; hit; n++ {
				owner := f.thing(fmt.Sprintf("owner-%d", n))
				c := &faulty{Client: f.WithWatch, n: n, after: after}
				err := scenario(f, c, owner)
				hit = c.hit
				if hit != errors.Is(err, errFault) {
					t.Fatalf("write %d: %v", n, err)
				}
				f.must(scenario(f, f.WithWatch, owner))
				want := "kept=v2 labelled controlled; dropped gone; released free; Ready=True"
				if got := outcome(f, owner); got != want {
					t.Errorf("write %d broke: %s; want %s", n, got, want)
				}
				if n > 20 {
					t.Fatal("the scenario has no end")
				}
				if !hit && n < 7 {
					t.Errorf("the scenario made only %d writes", n-1)
				}
			}
		})
	}
}

// scenario is what a pass does, in a process of its own.
func scenario(f *fixture, c client.Client, owner *unstructured.Unstructured) error {
	a := apply.New(c, controller, apply.Options{Live: f.WithWatch})
	name := owner.GetName()
	do := func(_ apply.Result, err error) error { return err }
	steps := []func() error{
		func() error { return do(a.Apply(f.Context(), owner, "store", f.configMap(name+"-kept", "v=1"))) },
		func() error { return do(a.Apply(f.Context(), owner, "store", f.configMap(name+"-kept", "v=2"))) },
		func() error {
			if freed(f, name+"-released") {
				return nil
			}
			return do(a.Apply(f.Context(), owner, "store", f.configMap(name+"-released", "v=1")))
		},
		func() error { return do(a.Release(f.Context(), owner, f.configMap(name+"-released"))) },
		func() error { return do(a.Apply(f.Context(), owner, "store", f.configMap(name+"-dropped", "v=1"))) },
		func() error { return do(a.Delete(f.Context(), owner, f.configMap(name+"-dropped"))) },
		func() error {
			fresh := owner.DeepCopy()
			if err := f.Get(f.Context(), client.ObjectKeyFromObject(owner), fresh); err != nil {
				return err
			}
			_, err := a.ApplyStatus(f.Context(), fresh, conditions("Ready=True"))
			return err
		},
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func freed(f *fixture, name string) bool {
	cm := f.configMap(name)
	return f.Get(f.Context(), client.ObjectKeyFromObject(cm), cm) == nil && len(cm.OwnerReferences) == 0
}

func outcome(f *fixture, owner *unstructured.Unstructured) string {
	var b strings.Builder
	kept := f.live(owner.GetName() + "-kept")
	fmt.Fprintf(&b, "kept=v%s", kept.Data["v"])
	if kept.Labels[apply.ComponentLabel] == "store" {
		b.WriteString(" labelled")
	}
	if metav1.IsControlledBy(kept, owner) {
		b.WriteString(" controlled")
	}
	dropped := f.configMap(owner.GetName() + "-dropped")
	if err := f.Get(f.Context(), client.ObjectKeyFromObject(dropped), dropped); err != nil {
		b.WriteString("; dropped gone")
	}
	if freed(f, owner.GetName()+"-released") {
		b.WriteString("; released free")
	}
	f.owner = owner
	b.WriteString("; " + f.words())
	return b.String()
}
