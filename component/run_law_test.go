package component

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/feature"
	"github.com/armature-go/armature/resource"
)

// plan is what a random component is expected to do: the calls in their order, and
// how it ends.
type plan struct {
	component Component
	calls     []string
	ends      ending
}

// ending is how the way through the resources of a component ends.
type ending string

const (
	complete ending = "complete"
	blocked  ending = "blocked"
	failed   ending = "failed"
)

// faults are what may come of a call: what to plan, and how the component ends.
var faults = []struct {
	err  error
	ends ending
}{
	{errBoom, failed},
	{crash{errBoom}, failed},
	{&condition.InvalidError{Field: "spec", Problem: "wrong"}, failed},
	{&condition.WaitError{Message: "soon"}, blocked},
	{fmt.Errorf("on the way: %w", &condition.WaitError{Message: "soon", After: time.Minute}), blocked},
	{errors.Join(errBoom, &condition.WaitError{Message: "soon"}), failed},
}

// randomPlan makes up a component with a list of resources and with faults in the
// cluster, and says what should become of it.
func randomPlan(rng *rand.Rand, c *cluster, name string) plan {
	p := plan{component: with(name), ends: complete}
	if rng.IntN(10) == 0 {
		p.component.Gate = never
	}
	var applied, released, removed, disabled []string
	for n := range rng.IntN(6) {
		id := fmt.Sprintf("%s-%d", name, n)
		obj := config(id)
		switch rng.IntN(6) {
		case 0:
			p.component.Resources = append(p.component.Resources, resource.Remove(obj))
			removed = append(removed, id)
		case 1:
			p.component.Resources = append(p.component.Resources, resource.Manage(obj).GatedBy(never))
			removed = append(removed, id)
		case 2:
			p.component.Resources = append(p.component.Resources, resource.Release(obj))
			released = append(released, "release ConfigMap "+id)
		default:
			p.component.Resources = append(p.component.Resources, resource.Manage(obj).GatedBy(feature.When(true)))
			applied = append(applied, "apply ConfigMap "+id)
			disabled = append(disabled, id)
		}
		if rng.IntN(2) == 0 {
			c.put(name, config(id))
		}
	}
	if on, _ := p.component.Gate.Enabled(); !on {
		p.calls = slices.Concat(deletes(disabled), deletes(removed))
		return p
	}
	for _, call := range applied {
		p.calls = append(p.calls, call)
		if rng.IntN(8) == 0 {
			f := pick(rng, faults)
			c.faults[call], p.ends = f.err, f.ends
			break
		}
	}
	if p.ends != failed {
		p.calls = append(p.calls, released...)
	}
	if p.ends == complete {
		p.calls = append(p.calls, deletes(removed)...)
	}
	return p
}

// deletes are the calls that delete objects, the last first.
func deletes(ids []string) []string {
	var calls []string
	for _, id := range slices.Backward(ids) {
		calls = append(calls, "delete ConfigMap "+id)
	}
	return calls
}

// TestRunLaws runs random lists of components against a cluster in which random
// calls fail, and compares with a plan that was made without the code under test:
// which calls are made, in which order, and what every condition says.
func TestRunLaws(t *testing.T) {
	for seed := range uint64(3_000) {
		rng := rand.New(rand.NewPCG(seed, 16))
		c, owner := newCluster(t), newShop()
		for n := range rng.IntN(3) {
			c.put("web", config(fmt.Sprintf("stale-%d", n)))
		}
		var stale []string
		for _, obj := range c.owned {
			stale = append(stale, obj.GetName())
		}
		slices.Sort(stale)
		var components []Component
		var plans []plan
		var want []string
		allComplete := true
		for n := range rng.IntN(5) {
			p := randomPlan(rng, c, fmt.Sprintf("part%d", n))
			components, plans = append(components, p.component), append(plans, p)
			want = append(want, p.calls...)
			allComplete = allComplete && p.ends == complete
		}
		if allComplete {
			for _, name := range stale {
				want = append(want, "delete ConfigMap "+name)
			}
		}
		res := Run(t.Context(), c.env(noon), owner, components)
		if got := c.takeCalls(); !slices.Equal(got, want) {
			t.Errorf("the calls were\n\t%s\nand should have been\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
		}
		judgeRun(t, owner, plans, res)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// judgeRun demands that every component has one condition, which fits its end, and
// that the whole is ready if everything is.
func judgeRun(t *testing.T, owner *shop, plans []plan, res Result) {
	t.Helper()
	if len(owner.Status.Conditions) != len(plans)+1 || len(res.Reports) != len(plans) {
		t.Errorf("%d components have %d conditions and %d reports", len(plans), len(owner.Status.Conditions), len(res.Reports))
		return
	}
	all := len(plans) > 0
	for i, p := range plans {
		r := res.Reports[i]
		stored, ok := condition.Find(owner.Status.Conditions, p.component.Condition)
		if !ok || stored != r.Condition || r.Name != p.component.Name {
			t.Errorf("%s reports %v, and the owner shows %v", p.component.Name, r.Condition, stored)
		}
		isTrue := stored.Status == metav1.ConditionTrue
		all = all && isTrue
		row, _ := condition.Lookup(condition.Reason(stored.Reason))
		switch {
		case isTrue != (p.ends == complete), row.Status != stored.Status:
			t.Errorf("%s is %s, and its condition %s/%s", p.component.Name, p.ends, stored.Status, stored.Reason)
		case p.ends == blocked && stored.Reason != string(condition.Blocked):
			t.Errorf("%s is blocked, and says %s", p.component.Name, stored.Reason)
		case p.ends == failed && row.Category != condition.CategoryFailure:
			t.Errorf("%s has failed, and says %s", p.component.Name, stored.Reason)
		case (r.Err != nil) != (stored.Reason == string(condition.Error)):
			t.Errorf("%s says %s, and its error is %v", p.component.Name, stored.Reason, r.Err)
		}
	}
	if isTrue := res.Ready.Status == metav1.ConditionTrue; isTrue != all {
		t.Errorf("all are True: %v, and Ready is %s/%s: %s", all, res.Ready.Status, res.Ready.Reason, res.Ready.Message)
	}
}
