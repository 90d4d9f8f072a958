package component

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/kind"
	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/resource"
)

// converge applies the resources in order and judges the component.
func (r *run) converge(ctx context.Context) {
	if err := r.check(); err != nil {
		r.judge(nil, err)
		return
	}
	findings, blocked, err := r.visitAll(ctx)
	for _, f := range findings {
		r.report.States = append(r.report.States, f.State)
	}
	if err == nil {
		err = r.release(ctx)
	}
	if err == nil && !blocked {
		err = r.clear(ctx)
	}
	r.judge(findings, err)
}

// check looks at the content of what is to be applied before anything is, as far as it
// does not depend on data and no guard holds it back. What cannot be rendered, or
// panics, does so again in its turn.
func (r *run) check() (err error) {
	var problems []error
	defer func() {
		if recover() != nil {
			err = errors.Join(problems...)
		}
	}()
	for i, e := range r.entries {
		if !e.active() || len(e.Reads) > 0 {
			continue
		}
		if e.Guard() != nil {
			break
		}
		obj, err := e.render()
		if err != nil {
			continue
		}
		r.entries[i].rendered = obj
		if _, err := object.Tree(r.pass.env.Scheme, obj); err != nil {
			problems = append(problems, e.invalid(err))
		}
	}
	return errors.Join(problems...)
}

// judge sets the condition that follows from what was found and from the error, if
// any, that ended the way there.
func (r *run) judge(findings []finding, err error) {
	wait := waiting(err)
	if err != nil && wait == nil {
		r.fail(err)
		return
	}
	if wait != nil {
		r.report.complete = false
		r.report.After = sooner(r.report.After, wait.After)
		findings = append(findings, finding{State: State{Reason: wait.ConditionReason(), Message: wait.Message}})
	}
	r.report.judged = r.pass.env.now()
	c := judge(findings, r.previous(), r.component.Grace, r.report.judged)
	for _, note := range r.report.Notes {
		c.Message = strings.TrimSuffix(c.Message, ".") + "; " + note.String()
	}
	c.ObservedGeneration = r.pass.owner.GetGeneration()
	r.report.Condition = c
}

// visitAll goes through the resources in order until one is blocked or fails.
func (r *run) visitAll(ctx context.Context) (findings []finding, blocked bool, err error) {
	for i, e := range r.entries {
		if !e.active() && e.Mode != resource.ModeObserve {
			continue
		}
		f, err := r.visit(ctx, e)
		if wait := waiting(err); wait != nil {
			r.report.After = sooner(r.report.After, wait.After)
			findings = append(findings, finding{State: State{Key: e.key, Reason: wait.ConditionReason(), Message: r.blocks(i, wait.Message)}})
			behind, err := r.behind(ctx, i)
			return append(findings, behind...), true, err
		}
		if err != nil {
			return findings, false, err
		}
		if f != nil {
			findings = append(findings, *f)
		}
	}
	return findings, false, nil
}

// visit makes one object so, or reads it, and says how it is doing; nil says
// nothing.
func (r *run) visit(ctx context.Context, e entry) (*finding, error) {
	live, op, err := r.bring(ctx, e)
	if err != nil || live == nil {
		return nil, err
	}
	f, err := r.health(e, live, op)
	if err != nil {
		return nil, err
	}
	return f, e.extract(live)
}

func (r *run) bring(ctx context.Context, e entry) (object.Object, object.Op, error) {
	if e.Mode == resource.ModeObserve {
		live, err := r.observe(ctx, e)
		return live, object.OpNone, err
	}
	if missing := unset(e.Reads); missing != "" {
		return nil, "", &condition.WaitError{Message: "waiting for data " + missing}
	}
	if err := e.Guard(); err != nil {
		return nil, "", fmt.Errorf("%s: guard: %w", e.key.Short(), err)
	}
	desired, err := e.rendered, error(nil)
	if desired == nil {
		desired, err = e.render()
	}
	if err != nil {
		return nil, "", err
	}
	res, err := r.pass.env.Applier.Apply(ctx, r.pass.owner, r.component.Name, desired, e.handling())
	if err != nil {
		return nil, "", e.invalid(err)
	}
	r.changed(e.key, res, "")
	for _, note := range res.Notes {
		r.report.Notes = append(r.report.Notes, Note{note, e.key})
	}
	r.report.After = sooner(r.report.After, res.Again)
	return res.Live, res.Op, nil
}

func (r *run) observe(ctx context.Context, e entry) (object.Object, error) {
	live, err := r.pass.env.Observer.Observe(ctx, e.key)
	switch {
	case err != nil:
		return nil, err
	case !object.IsNil(live):
		return live, nil
	case e.Absence == resource.AbsenceBlocks:
		return nil, &condition.WaitError{Message: "waiting for it to exist"}
	case e.Absence == resource.AbsenceIgnored:
		return nil, nil //nolint:nilnil // the author can do without it
	default:
		return nil, fmt.Errorf("%s does not exist", e.key.Short())
	}
}

// peek returns what exists of a resource, without writing and without minding if
// nothing does.
func (r *run) peek(ctx context.Context, e entry) (object.Object, error) {
	switch {
	case e.Mode == resource.ModeObserve:
		live, err := r.pass.env.Observer.Observe(ctx, e.key)
		if err != nil || object.IsNil(live) {
			return nil, err
		}
		return live, nil
	case e.active():
		return r.pass.owned[e.key], nil
	default:
		return nil, nil //nolint:nilnil // it is on its way out
	}
}

func unset(cells []resource.Data) string {
	var missing []string
	for _, c := range cells {
		if !c.IsSet() {
			missing = append(missing, fmt.Sprintf("%q", c.Name()))
		}
	}
	return strings.Join(missing, ", ")
}

// health asks the resource's own rule, or that of its kind, how the object is doing;
// a kind without a row is judged by what its objects say about themselves. Nil says
// nothing. An object that is blocked holds back what comes after it, so
// that is a wait; what is no state at all is an error.
func (r *run) health(e entry, live object.Object, op object.Op) (*finding, error) {
	k := r.pass.env.Kinds.Find(e.key.GVK)
	rule := e.Health
	if rule == nil {
		rule = k.Health
	}
	if rule == nil {
		return nil, nil //nolint:nilnil // there is nothing to say
	}
	state := rule(live, op)
	row, _ := condition.Lookup(state.Reason)
	switch {
	case state.Reason == "":
		return nil, nil //nolint:nilnil // as above
	case state.Reason == condition.Blocked:
		return nil, &condition.WaitError{Message: state.Message}
	case !ofObject(state.Reason):
		return nil, &ruleError{key: e.key, reason: condition.Error, text: unfit("health", state.Reason)}
	case row.Category == condition.CategoryFailure:
		return nil, &ruleError{key: e.key, reason: state.Reason, text: state.Message}
	}
	f := &finding{State: State{Key: e.key, Reason: state.Reason, Message: state.Message, Auxiliary: e.Participation == resource.Auxiliary}}
	if k.Grace != nil {
		f.grace = func() kind.State { return k.Grace(live) }
	}
	return f, nil
}

// ruleError says that a rule cannot judge an object, and why.
type ruleError struct {
	key    object.Key
	reason condition.Reason
	text   string
}

func (e *ruleError) Error() string { return e.key.Short() + ": " + e.text }

// ConditionReason is the reason that a condition shows for this error.
func (e *ruleError) ConditionReason() condition.Reason { return e.reason }

// blocks adds to what is waited for what waits behind it.
func (r *run) blocks(at int, message string) string {
	var held []string
	for _, e := range r.entries[at+1:] {
		if e.active() {
			held = append(held, e.key.Short())
		}
	}
	if len(held) == 0 {
		return message
	}
	return message + " (holds back " + strings.Join(held, ", ") + ")"
}

// behind looks at what exists of a blocked resource and of those behind it, so that
// they stay visible while they are not updated.
func (r *run) behind(ctx context.Context, at int) ([]finding, error) {
	if r.entries[at].Mode == resource.ModeObserve {
		at++ // it has just been looked at
	}
	var findings []finding
	for _, e := range r.entries[at:] {
		live, err := r.peek(ctx, e)
		if err == nil && live != nil {
			var f *finding
			if f, err = r.health(e, live, object.OpNone); f != nil {
				findings = append(findings, *f)
			}
		}
		if err != nil && waiting(err) == nil { // one block is enough
			return findings, err
		}
	}
	return findings, nil
}
