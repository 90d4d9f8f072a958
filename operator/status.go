package operator

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/armature-go/armature/api"
	"github.com/armature-go/armature/component"
	"github.com/armature-go/armature/condition"
)

// settleTime is how long a mere change of text waits after the last write, so that
// progress counters do not become a stream of writes.
const settleTime = 5 * time.Second

// status is the part of an owner's status that the runtime writes.
type status struct {
	ObservedGeneration int64                 `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition    `json:"conditions,omitempty"`
	Components         []api.ComponentStatus `json:"components,omitempty"`
}

// restore puts the status into an owner that was read before it was written.
func (s *status) restore(owner component.Owner) {
	*owner.Conditions() = slices.Clone(s.Conditions)
	if rs := component.RuntimeStatus(owner); rs != nil {
		rs.ObservedGeneration = s.ObservedGeneration
		rs.Components = slices.Clone(s.Components)
	}
}

// writeStatus writes what the pass found out, if that changed anything. It returns
// whether it did, and after which time to look again where it put the write off.
func (r *reconciler) writeStatus(ctx context.Context, read component.Owner, res component.Result, mem *memory) (bool, time.Duration, error) {
	desired, err := r.desiredStatus(read, res)
	if err != nil {
		return false, 0, err
	}
	if wait := mem.written.Add(settleTime).Sub(r.env.Now()); wait > 0 && onlyText(*read.Conditions(), desired.Conditions) {
		return false, wait, nil
	}
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(desired)
	if err != nil {
		return false, 0, err
	}
	live, err := r.applier.ApplyStatus(ctx, read, tree)
	var wait *condition.WaitError
	switch {
	case errors.As(err, &wait):
		return false, wait.After, nil
	case err != nil || live == nil:
		return false, 0, err
	}
	got := &status{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live, got); err != nil {
		return false, 0, err
	}
	mem.status, mem.written = got, r.env.Now()
	return true, 0, nil
}

// desiredStatus is what should be in the status after the pass.
func (r *reconciler) desiredStatus(read component.Owner, res component.Result) (*status, error) {
	s := &status{Conditions: []metav1.Condition{res.Ready}}
	if res.Reports == nil { // no component was judged: their conditions stay as they are
		written, err := r.applier.StatusConditions(read)
		if err != nil {
			return nil, err
		}
		for _, t := range written {
			if c, ok := condition.Find(*read.Conditions(), t); ok && t != res.Ready.Type {
				s.Conditions = append(s.Conditions, c)
			}
		}
	}
	for _, report := range res.Reports {
		s.Conditions = append(s.Conditions, report.Condition)
	}
	slices.SortFunc(s.Conditions, func(a, b metav1.Condition) int { return strings.Compare(a.Type, b.Type) })
	rs := component.RuntimeStatus(read)
	if rs == nil {
		return s, nil
	}
	s.ObservedGeneration = read.GetGeneration()
	if res.Reports == nil {
		s.Components = rs.Components
	}
	for _, report := range res.Reports {
		s.Components = append(s.Components, api.ComponentStatus{Name: report.Name, Condition: report.Condition.Type, Started: report.Started})
	}
	return s, nil
}

// onlyText reports whether the two lists differ in their messages, and in nothing
// else.
func onlyText(before, after []metav1.Condition) bool {
	differs := false
	for _, c := range after {
		old, ok := condition.Find(before, c.Type)
		if !ok || old.Status != c.Status || old.Reason != c.Reason || old.ObservedGeneration != c.ObservedGeneration {
			return false
		}
		differs = differs || old.Message != c.Message
	}
	return differs
}
