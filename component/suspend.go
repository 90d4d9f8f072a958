package component

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/kind"
	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/resource"
)

// suspend stops what can be stopped. Objects that would work against it, such as
// an autoscaler, go first. Errors do not keep the others running.
func (r *run) suspend(ctx context.Context) {
	states := map[object.Key]State{}
	errs := r.recollect(ctx)
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
			states[e.key] = State{Key: e.key, Reason: state.Reason, Message: state.Message}
		}
	}
	for _, e := range r.entries {
		if state, ok := states[e.key]; ok {
			r.report.States = append(r.report.States, state)
		}
	}
	err := errors.Join(errs...)
	if err == nil {
		err = r.release(ctx)
	}
	if err == nil {
		err = r.clear(ctx)
	}
	if err != nil {
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

// recollect takes out of what exists the data without which the objects to suspend
// cannot be rendered. Nothing is written for it, and nobody is waited for.
func (r *run) recollect(ctx context.Context) []error {
	var needed []resource.Data
	for _, e := range r.entries {
		if _, can := r.suspension(e); can {
			needed = append(needed, e.Reads...)
		}
	}
	var errs []error
	for _, e := range r.entries {
		if !slices.ContainsFunc(e.Writes, func(cell resource.Data) bool { return slices.Contains(needed, cell) }) {
			continue
		}
		live, err := r.peek(ctx, e)
		if err == nil && live != nil {
			err = e.extract(live)
		}
		if waiting(err) == nil {
			errs = append(errs, err)
		}
	}
	return errs
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
	if e.Ownership == object.Shared { // others may need it as it is
		return r.leave(ctx, e)
	}
	switch {
	case !exists && rule.How == kind.Delete:
		return kind.State{Reason: condition.Suspended, Message: "it is deleted"}, nil
	case exists && live.GetDeletionTimestamp() != nil:
		return kind.State{Reason: condition.Suspending, Message: "it is being deleted"}, nil
	case exists && rule.Spares != nil && rule.Spares(live):
		return kind.State{Reason: condition.Suspended, Message: "it has ended"}, nil
	}
	state := kind.State{Reason: condition.Suspended, Message: "it does not exist yet"}
	if exists {
		state = rule.Status(live)
	}
	rests := state.Reason == condition.Suspended
	switch missing := unset(e.Reads); {
	case rests && rule.How == kind.Delete: // it can go as it is; an apply could make it anew
	case rests && missing != "": // it cannot be rendered, and need not be
	case missing != "":
		return kind.State{}, &condition.WaitError{Message: fmt.Sprintf("%s: waiting for data %s to suspend it", e.key.Short(), missing)}
	default:
		rested, err := r.rest(ctx, e, rule)
		if conflict, ok := errors.AsType[*apply.ConflictError](err); ok {
			return kind.State{Reason: condition.Suspended, Message: "it belongs to " + conflict.Holder + " and is left alone"}, nil
		}
		if err != nil {
			return kind.State{}, err
		}
		state = rule.Status(rested)
	}
	if row, _ := condition.Lookup(state.Reason); row.Category != condition.CategorySuspension {
		return kind.State{}, &ruleError{key: e.key, reason: condition.Error, text: cmp.Or(state.Message, unfit("suspension", state.Reason))}
	}
	if state.Reason == condition.Suspended && rule.How == kind.Delete {
		deleted, err := r.pass.env.Applier.Delete(ctx, r.pass.owner, e.Object)
		if err != nil {
			return kind.State{}, err
		}
		r.changed(e.key, deleted, "the component is suspended")
	}
	return state, nil
}

// leave takes the owner off an object that it shares; the last owner deletes it.
func (r *run) leave(ctx context.Context, e entry) (kind.State, error) {
	res, err := r.pass.env.Applier.Delete(ctx, r.pass.owner, e.Object)
	if err != nil {
		return kind.State{}, err
	}
	r.changed(e.key, res, "the component is suspended")
	return kind.State{Reason: condition.Suspended, Message: "it is left to its other owners"}, nil
}

// rest applies the object in its resting form.
func (r *run) rest(ctx context.Context, e entry, rule kind.Suspension) (object.Object, error) {
	desired, err := e.render()
	if err != nil {
		return nil, err
	}
	if rule.Mutate != nil {
		if err := rule.Mutate(desired); err != nil {
			return nil, fmt.Errorf("suspending %s: %w", e.key.Short(), err)
		}
	}
	how := e.handling()
	how.Yield = nil // at rest nothing is yielded
	res, err := r.pass.env.Applier.Apply(ctx, r.pass.owner, r.component.Name, desired, how)
	if err != nil {
		return nil, err
	}
	r.changed(e.key, res, "the component is suspended")
	r.report.After = sooner(r.report.After, res.Again)
	return res.Live, e.extract(res.Live)
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
