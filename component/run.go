package component

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/resource"
)

// Run takes the components of an owner through one pass and returns what to report.
// The conditions on the owner are those of the pass before; Run replaces them as it
// goes, in memory only, so that a component sees what an earlier one has become.
//
// Where [Validate] finds a mistake nothing is written, and the result has no
// reports, only Ready False with reason Invalid.
func Run(ctx context.Context, env Env, owner Owner, components []Component) Result {
	env.Kinds = env.kinds()
	if err := Validate(env, owner, components); err != nil {
		return Failed(env, owner, err)
	}
	owned, err := env.Applier.Owned(ctx, owner, env.Owns)
	if err != nil {
		return Failed(env, owner, err)
	}
	p := &pass{env: env, owner: owner, owned: map[object.Key]object.Object{}}
	for _, obj := range owned {
		key, err := object.KeyOf(env.Scheme, obj)
		if err != nil {
			return Failed(env, owner, err)
		}
		p.owned[key] = obj
	}
	var res Result
	for _, c := range components {
		report := p.run(ctx, c)
		condition.Set(owner.Conditions(), report.Condition, metav1.NewTime(env.now()))
		stored, _ := condition.Find(*owner.Conditions(), c.Condition)
		report.Condition = stored
		if !report.judged.IsZero() {
			report.After = sooner(report.After, graceLeft(stored, c.Grace, report.judged, env.now()))
		}
		res.Reports = append(res.Reports, report)
		res.After = sooner(res.After, report.After)
		res.Err = errors.Join(res.Err, report.Err)
	}
	changes, err := p.prune(ctx, components, res.Reports)
	if err != nil {
		after, failed := remedy(err)
		res.After, res.Err = sooner(res.After, after), errors.Join(res.Err, failed)
		res.Ready = notReady(env, owner, err)
	} else {
		res.Ready = ready(env, owner, components)
	}
	res.Changes = changes
	return res
}

// Failed is the result of a pass that could not begin: Ready is False with the
// reason of err, and no component is judged.
func Failed(env Env, owner Owner, err error) Result {
	after, failed := remedy(err)
	return Result{Ready: notReady(env, owner, err), After: after, Err: failed}
}

func ready(env Env, owner Owner, components []Component) metav1.Condition {
	var parts []condition.Part
	for _, c := range components {
		parts = append(parts, condition.Part{Name: c.Name, Condition: c.Condition})
	}
	return store(env, owner, condition.Aggregate(Ready, owner.GetGeneration(), *owner.Conditions(), parts...))
}

func notReady(env Env, owner Owner, err error) metav1.Condition {
	return store(env, owner, metav1.Condition{
		Type: Ready, Status: metav1.ConditionFalse, Reason: string(reasonOf(err)), Message: text(err), ObservedGeneration: owner.GetGeneration(),
	})
}

func store(env Env, owner Owner, c metav1.Condition) metav1.Condition {
	condition.Set(owner.Conditions(), c, metav1.NewTime(env.now()))
	stored, _ := condition.Find(*owner.Conditions(), c.Type)
	return stored
}

// pass is one pass over one owner.
type pass struct {
	env   Env
	owner Owner
	owned map[object.Key]object.Object // what is the owner's in the cluster, as the cache has it
}

// entry is a resource with its identity.
type entry struct {
	resource.Declaration

	key      object.Key
	rendered object.Object // what is desired, where that is known before anything is applied; else nil
}

// run takes one component through the pass. A panic in the component's code is
// its error.
func (p *pass) run(ctx context.Context, c Component) (report Report) {
	start := p.env.now()
	r := &run{pass: p, component: c, report: Report{Name: c.Name, Started: p.started(c)}}
	defer func() {
		if cause := recover(); cause != nil {
			r.fail(&PanicError{Component: c.Name, Cause: cause, Stack: debug.Stack()})
		}
		report = r.report
		report.Took = p.env.now().Sub(start)
	}()
	if c.Err != nil {
		r.judge(nil, c.Err)
		return
	}
	r.all(ctx)
	return
}

// PanicError is a panic in the code of one component.
type PanicError struct {
	Component string
	Cause     any
	Stack     []byte // of the goroutine, for the log
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("the code of component %q panicked: %v", e.Component, e.Cause)
}

// started reports whether the component has been past its prerequisites: its mark
// says so, or an object of it exists.
func (p *pass) started(c Component) bool {
	if s := RuntimeStatus(p.owner); s != nil {
		for _, cs := range s.Components {
			if cs.Name == c.Name && cs.Started {
				return true
			}
		}
	}
	for _, obj := range p.owned {
		if obj.GetLabels()[apply.ComponentLabel] == c.Name {
			return true
		}
	}
	return false
}

// run is the way of one component through a pass.
type run struct {
	pass      *pass
	component Component
	entries   []entry
	report    Report
}

// all decides, from the strongest to the weakest, what this pass does with the
// component.
func (r *run) all(ctx context.Context) {
	for _, res := range r.component.Resources {
		d := res.Declaration()
		key, err := object.KeyOf(r.pass.env.Scheme, d.Object)
		if err != nil {
			r.fail(err)
			return
		}
		r.entries = append(r.entries, entry{Declaration: d, key: key})
		for _, cell := range d.Writes {
			cell.Clear()
		}
	}
	on, err := r.component.Gate.Enabled()
	if err != nil {
		r.report.Err = fmt.Errorf("component %q: %w", r.component.Name, err)
		r.settle(metav1.ConditionFalse, condition.FeatureGateError, text(err))
		return
	}
	if !on {
		r.disable(ctx)
		return
	}
	if waiting, held := r.held(); held {
		r.settle(metav1.ConditionFalse, condition.PrerequisiteNotMet, waiting)
		return
	}
	r.report.Started = true
	if r.component.Suspend {
		r.suspend(ctx)
	} else {
		r.converge(ctx)
	}
}

// held reports whether the component has to wait for a prerequisite.
func (r *run) held() (waiting string, held bool) {
	if r.report.Started {
		return "", false
	}
	for _, pre := range r.component.After {
		if ok, waiting := pre.Met(r.pass.owner); !ok {
			return waiting, true
		}
	}
	return "", false
}

// disable deletes what the component manages, and then what it wants to be gone.
func (r *run) disable(ctx context.Context) {
	const cause = "the component is disabled"
	if err := errors.Join(r.remove(ctx, cause, entry.active), r.remove(ctx, cause, entry.unwanted)); err != nil {
		r.fail(err)
		return
	}
	r.report.complete = true
	r.settle(metav1.ConditionTrue, condition.Disabled, "Component is disabled.")
}

// release lets go of what the component wants to be let go of.
func (r *run) release(ctx context.Context) error {
	var errs []error
	for _, e := range r.entries {
		if e.Mode != resource.ModeRelease {
			continue
		}
		res, err := r.pass.env.Applier.Release(ctx, r.pass.owner, e.Object)
		errs = append(errs, err)
		if err == nil {
			r.changed(e.key, res, "it is released")
		}
	}
	return errors.Join(errs...)
}

// clear deletes what the component wants to be gone. It is not for a pass that was
// blocked: what that did not get to know may be what it would delete.
func (r *run) clear(ctx context.Context) error {
	r.report.complete = true
	return r.remove(ctx, "it is no longer wanted", entry.unwanted)
}

// off reports whether a managed resource is switched off. Validate has made sure
// that the gate can be evaluated.
func (e entry) off() bool {
	on, err := e.Gate.Enabled()
	return e.Mode == resource.ModeManage && err == nil && !on
}

// active reports whether the object is to be made so.
func (e entry) active() bool { return e.Mode == resource.ModeManage && !e.off() }

// unwanted reports whether the object is to be gone, though the component is on.
func (e entry) unwanted() bool { return e.Mode == resource.ModeRemove || e.off() }

// render returns the desired object. It is the declared one, and no mutation makes
// another of it: what was checked and what is applied have one identity.
func (e entry) render() (object.Object, error) {
	obj, err := e.Render()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.key.Short(), err)
	}
	if object.IsNil(obj) {
		return nil, fmt.Errorf("%s: rendering it yields nothing", e.key.Short())
	}
	if obj.GetNamespace() != e.key.Namespace || obj.GetName() != e.key.Name {
		return nil, &condition.InvalidError{
			Field: e.key.Short(), Problem: fmt.Sprintf("a mutation makes another object of it, %s/%s", obj.GetNamespace(), obj.GetName()), Fix: "name the baseline as the object is to be named",
		}
	}
	obj.GetObjectKind().SetGroupVersionKind(e.key.GVK)
	return obj, nil
}

// handling is how the object is applied.
func (e entry) handling() object.Handling {
	return object.Handling{Ownership: e.Ownership, Yield: e.Yield, Ignore: e.Ignore, Whole: e.Whole, Recreate: e.Recreate}
}

// invalid turns what is wrong with the content of the object into an error that says
// where it comes from; any other error stays as it is.
func (e entry) invalid(err error) error {
	payload, ok := errors.AsType[*object.PayloadError](err)
	if !ok {
		return err
	}
	plain := *payload
	plain.Fix = ""
	problem := plain.Error()
	if first, second := e.origin(payload.Other), e.origin(payload.Path); first != "" && second != "" {
		problem += fmt.Sprintf(" (the first is from %s, the second from %s)", first, second)
	}
	return &condition.InvalidError{Field: e.key.Short(), Problem: problem, Fix: payload.Fix}
}

func (e entry) origin(path string) string {
	if e.Origin == nil || path == "" {
		return ""
	}
	return e.Origin(path)
}

// extract takes data out of the live object.
func (e entry) extract(live object.Object) error {
	if e.Extract == nil {
		return nil
	}
	if err := e.Extract(live); err != nil {
		return fmt.Errorf("%s: extracting data: %w", e.key.Short(), err)
	}
	return nil
}

// remove deletes objects of the component, the last first.
func (r *run) remove(ctx context.Context, cause string, which func(entry) bool) error {
	var errs []error
	for _, e := range slices.Backward(r.entries) {
		if !which(e) {
			continue
		}
		if err := r.drain(ctx, e); err != nil {
			errs = append(errs, err)
			continue
		}
		res, err := r.pass.env.Applier.Delete(ctx, r.pass.owner, e.Object)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		r.changed(e.key, res, cause)
	}
	return errors.Join(errs...)
}

// drain does what comes before the deletion of an object of the owner. It returns nil
// when the object may go.
func (r *run) drain(ctx context.Context, e entry) error {
	live := r.pass.owned[e.key]
	if e.Drain == nil || live == nil || live.GetDeletionTimestamp() != nil {
		return nil
	}
	if metav1.GetControllerOf(live) == nil && len(live.GetOwnerReferences()) > 1 { // it stays, for others who share it
		return nil
	}
	changed, err := e.Drain(live, r.pass.env.now())
	if wait, ok := errors.AsType[*condition.WaitError](err); ok {
		return &condition.WaitError{Reason: wait.Reason, Message: e.key.Short() + ": " + wait.Message, After: wait.After}
	}
	if err != nil {
		return fmt.Errorf("%s: draining it: %w", e.key.Short(), err)
	}
	if changed == nil {
		return nil
	}
	res, err := r.pass.env.Applier.Amend(ctx, r.pass.owner, live, changed)
	if err != nil {
		return err
	}
	r.changed(e.key, res, "it is drained before it is deleted")
	return &condition.WaitError{Message: e.key.Short() + " is being drained"}
}

func (r *run) changed(key object.Key, res apply.Result, cause string) {
	if res.Op != object.OpNone && res.Op != "" {
		r.report.Changes = append(r.report.Changes, Change{Object: res.Live, Key: key, Op: res.Op, Cause: cause})
	}
}

// fail ends the component's pass: the condition has the reason of the error.
func (r *run) fail(err error) {
	r.report.complete = false
	after, failed := remedy(err)
	r.report.After = sooner(r.report.After, after)
	if failed != nil {
		r.report.Err = fmt.Errorf("component %q: %w", r.component.Name, failed)
	}
	r.settle(metav1.ConditionFalse, reasonOf(err), text(err))
	if !converges(condition.Reason(r.previous().Reason)) {
		r.report.Condition.LastTransitionTime = metav1.NewTime(r.pass.env.now()) // converging has begun, if with an error
	}
}

// previous is the component's condition of the pass before.
func (r *run) previous() metav1.Condition {
	c, _ := condition.Find(*r.pass.owner.Conditions(), r.component.Condition)
	c.Type = r.component.Condition
	return c
}

// settle sets the component's condition, whatever it was before.
func (r *run) settle(status metav1.ConditionStatus, reason condition.Reason, message string) {
	r.report.Condition = metav1.Condition{
		Type: r.component.Condition, Status: status, Reason: string(reason), Message: message, ObservedGeneration: r.pass.owner.GetGeneration(),
	}
}
