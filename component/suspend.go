package component

import (
	"context"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/kind"
	"github.com/armature-go/armature/object"
)

// suspend stops what can be stopped. Objects that would work against it, such as
// an autoscaler, go first. Errors do not keep the others running.
func (r *run) suspend(ctx context.Context) {
	var errs []error
	for _, deletes := range []bool{true, false} {
		for _, e := range r.entries {
			rule, can := r.suspension(e)
			if !can || (rule.How == kind.Delete) != deletes {
				continue
			}
			state, err := r.suspendOne(ctx, e, rule)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			r.report.States = append(r.report.States, State{Key: e.key, Reason: state.Reason, Message: state.Message})
		}
	}
	if err := errors.Join(errs...); err != nil {
		r.fail(err)
		return
	}
	if err := r.tidy(ctx, false); err != nil {
		r.fail(err)
		return
	}
	reason, message := suspended(r.report.States)
	status := metav1.ConditionFalse
	if reason == condition.Suspended {
		status = metav1.ConditionTrue
	}
	r.settle(status, reason, message)
}

// suspension returns the rule by which the kind of a managed object is suspended.
func (r *run) suspension(e entry) (kind.Suspension, bool) {
	k, known := r.pass.env.Kinds.Lookup(e.key.GVK)
	if !known || !e.active() || k.Suspend.How == "" {
		return kind.Suspension{}, false
	}
	return k.Suspend, true
}

func (r *run) suspendOne(ctx context.Context, e entry, rule kind.Suspension) (kind.State, error) {
	live, exists := r.pass.owned[e.key]
	switch {
	case !exists && rule.How == kind.Delete:
		return kind.State{Reason: condition.Suspended, Message: "it is deleted"}, nil
	case exists && live.GetDeletionTimestamp() != nil:
		return kind.State{Reason: condition.Suspending, Message: "it is being deleted"}, nil
	case exists && rule.Spares != nil && rule.Spares(live):
		return kind.State{Reason: condition.Suspended, Message: "it has ended"}, nil
	}
	if rule.How != kind.Delete || rule.Mutate != nil { // else there is nothing to bring to rest first
		rested, err := r.rest(ctx, e, rule)
		if err != nil {
			return kind.State{}, err
		}
		live = rested
	}
	state := rule.Status(live)
	if state.Reason == condition.Suspended && rule.How == kind.Delete {
		deleted, err := r.pass.env.Applier.Delete(ctx, r.pass.owner, e.Object)
		if err != nil {
			return kind.State{}, err
		}
		r.changed(e.key, deleted, "the component is suspended")
	}
	return state, nil
}

// rest applies the object in its resting form.
func (r *run) rest(ctx context.Context, e entry, rule kind.Suspension) (object.Object, error) {
	if missing := unset(e.Reads); missing != "" {
		return nil, &condition.WaitError{Message: "waiting for data " + missing}
	}
	desired, err := e.Render()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.key.Short(), err)
	}
	if rule.Mutate != nil {
		if err := rule.Mutate(desired); err != nil {
			return nil, fmt.Errorf("suspending %s: %w", e.key.Short(), err)
		}
	}
	res, err := r.pass.env.Applier.Apply(ctx, r.pass.owner, r.component.Name, desired)
	if err != nil {
		return nil, err
	}
	r.changed(e.key, res, "the component is suspended")
	if e.Extract != nil {
		if err := e.Extract(res.Live); err != nil {
			return nil, fmt.Errorf("%s: extracting data: %w", e.key.Short(), err)
		}
	}
	return res.Live, nil
}

// suspended sums up: the state that is furthest from suspended decides.
func suspended(states []State) (condition.Reason, string) {
	worst := condition.Suspended
	for _, s := range states {
		if s.Reason.Priority() > worst.Priority() {
			worst = s.Reason
		}
	}
	if worst == condition.Suspended {
		return worst, "All resources are suspended."
	}
	var texts []string
	for _, s := range states {
		if s.Reason == worst {
			texts = append(texts, s.Key.Short()+": "+s.Message)
		}
	}
	return worst, strings.Join(texts, "; ")
}
