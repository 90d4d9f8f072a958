package component

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/kind"
	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/resource"
)

// finding is the state of one object, and how bad it is once patience has run out.
type finding struct {
	State

	grace func() kind.State // nil: the kind has no such rule
}

// converge applies the resources in order and judges the component.
func (r *run) converge(ctx context.Context) {
	findings, blocked, err := r.visitAll(ctx)
	for _, f := range findings {
		r.report.States = append(r.report.States, f.State)
	}
	if err != nil {
		r.fail(err)
		return
	}
	if err := r.tidy(ctx, blocked); err != nil {
		r.fail(err)
		return
	}
	previous, _ := condition.Find(*r.pass.owner.Conditions(), r.component.Condition)
	previous.Type = r.component.Condition
	r.report.Condition = judge(findings, previous, r.component.Grace, r.pass.env.now())
	r.report.Condition.ObservedGeneration = r.pass.owner.GetGeneration()
}

// visitAll goes through the resources in order until one is blocked or fails.
func (r *run) visitAll(ctx context.Context) (findings []finding, blocked bool, err error) {
	for i, e := range r.entries {
		if !e.active() && e.Mode != resource.ModeObserve {
			continue
		}
		f, err := r.visit(ctx, e)
		var wait *condition.WaitError
		if condition.IsWait(err) && errors.As(err, &wait) {
			r.report.After = sooner(r.report.After, wait.After)
			f = &finding{State: State{Key: e.key, Reason: wait.ConditionReason(), Message: r.blocks(i, wait.Message)}}
			findings = append(findings, *f)
			return append(findings, r.behind(i)...), true, nil
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
	f := r.health(e, live, op)
	if e.Extract != nil {
		if err := e.Extract(live); err != nil {
			return nil, fmt.Errorf("%s: extracting data: %w", e.key.Short(), err)
		}
	}
	return f, nil
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
		return nil, "", err
	}
	desired, err := e.Render()
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", e.key.Short(), err)
	}
	res, err := r.pass.env.Applier.Apply(ctx, r.pass.owner, r.component.Name, desired)
	if err != nil {
		return nil, "", err
	}
	r.changed(e.key, res, "")
	return res.Live, res.Op, nil
}

func (r *run) observe(ctx context.Context, e entry) (object.Object, error) {
	live, err := r.pass.env.Observer.Observe(ctx, e.key)
	switch {
	case err != nil:
		return nil, err
	case live != nil:
		return live, nil
	case e.Absence == resource.AbsenceBlocks:
		return nil, &condition.WaitError{Message: "waiting for it to exist"}
	case e.Absence == resource.AbsenceIgnored:
		return nil, nil //nolint:nilnil // the author can do without it
	default:
		return nil, fmt.Errorf("%s does not exist", e.key.Short())
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

// health asks the resource's own rule, or that of its kind, how the object is doing.
func (r *run) health(e entry, live object.Object, op object.Op) *finding {
	k, known := r.pass.env.Kinds.Lookup(e.key.GVK)
	rule := e.Health
	if rule == nil && known {
		rule = k.Health
	}
	if rule == nil {
		return nil
	}
	state := rule(live, op)
	if state.Reason == "" {
		return nil
	}
	f := &finding{State: State{Key: e.key, Reason: state.Reason, Message: state.Message, Auxiliary: e.Participation == resource.Auxiliary}}
	if known && k.Grace != nil {
		f.grace = func() kind.State { return k.Grace(live) }
	}
	return f
}

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

// behind looks at what exists behind a blocked resource, so that it stays visible
// while it is not updated.
func (r *run) behind(at int) []finding {
	var findings []finding
	for _, e := range r.entries[at:] {
		live, exists := r.pass.owned[e.key]
		if !exists || !e.active() {
			continue
		}
		if f := r.health(e, live, object.OpNone); f != nil {
			findings = append(findings, *f)
		}
	}
	return findings
}

// judge derives the condition of a component from its objects, its condition so
// far and how long it has had to converge.
func judge(findings []finding, previous metav1.Condition, grace time.Duration, now time.Time) metav1.Condition {
	findings = participating(findings)
	reason, message := summary(findings)
	c := metav1.Condition{Type: previous.Type, Status: metav1.ConditionFalse, Reason: string(reason), Message: message}
	if reason.Ready() {
		c.Status = metav1.ConditionTrue
		return c
	}
	row, known := condition.Lookup(reason)
	if !known || row.Category == condition.CategoryFailure {
		return c
	}
	before, known := condition.Lookup(condition.Reason(previous.Reason))
	if !known || elsewhere[before.Category] || before.Reason == condition.FeatureGateError || before.Reason == condition.PrerequisiteNotMet {
		c.LastTransitionTime = metav1.NewTime(now) // patience starts now, though it may have been False before
		return c
	}
	if previous.Status == metav1.ConditionTrue {
		return c
	}
	if before.Sticky {
		c.Reason = previous.Reason
	}
	if grace > 0 && now.Sub(previous.LastTransitionTime.Time) > grace {
		if verdict, text := gradeAll(findings); verdict != condition.Healthy {
			c.Reason, c.Message = string(verdict), text
		}
	}
	return c
}

// elsewhere are the categories of reasons that do not come from converging: what
// follows them begins anew.
var elsewhere = map[condition.Category]bool{
	condition.CategoryUnwritten:  true,
	condition.CategoryOff:        true,
	condition.CategorySuspension: true,
}

// participating leaves out what does not count: auxiliary objects that are not
// blocked.
func participating(findings []finding) []finding {
	var kept []finding
	for _, f := range findings {
		if !f.Auxiliary || f.Reason == condition.Blocked {
			kept = append(kept, f)
		}
	}
	return kept
}

// summary is the reason with the highest priority among what is not ready, with
// the texts of all that share it; where all is ready, the highest ready reason.
func summary(findings []finding) (condition.Reason, string) {
	worst := condition.Reason("")
	for _, f := range findings {
		if row, known := condition.Lookup(f.Reason); !known || row.Status == metav1.ConditionUnknown {
			return condition.Error, fmt.Sprintf("%s: its health rule answers %q, which is no known state", f.Key.Short(), f.Reason)
		}
		if worst == "" || outranks(f.Reason, worst) {
			worst = f.Reason
		}
	}
	if worst == "" {
		return condition.Healthy, "Component is healthy."
	}
	if worst.Ready() {
		return worst, "Component is healthy."
	}
	var texts []string
	for _, f := range findings {
		if f.Reason.Priority() == worst.Priority() && !f.Reason.Ready() {
			texts = append(texts, f.Key.Short()+": "+f.Message)
		}
	}
	return worst, strings.Join(texts, "; ")
}

// outranks reports whether a decides over b: what is not ready first, then by
// priority.
func outranks(a, b condition.Reason) bool {
	if a.Ready() != b.Ready() {
		return !a.Ready()
	}
	return a.Priority() > b.Priority()
}

// gradeAll says how bad it is that the component has not converged in time.
func gradeAll(findings []finding) (condition.Reason, string) {
	verdict, graded := condition.Healthy, false
	var texts []string
	for _, f := range findings {
		if f.Reason.Ready() {
			continue
		}
		state := kind.State{Reason: condition.Down, Message: f.Message}
		switch {
		case f.Reason == condition.Blocked:
		case f.grace != nil:
			state = f.grace()
		default:
			continue
		}
		graded = true
		if state.Reason == condition.Healthy {
			continue
		}
		if state.Reason.Priority() > verdict.Priority() {
			verdict, texts = state.Reason, nil
		}
		if state.Reason == verdict {
			texts = append(texts, f.Key.Short()+": "+state.Message)
		}
	}
	if !graded {
		_, message := summary(findings)
		return condition.Down, "Component is down: it did not converge within its grace period; " + message
	}
	return verdict, fmt.Sprintf("Component is %s: %s", strings.ToLower(string(verdict)), strings.Join(texts, "; "))
}

// graceLeft is the time until the grace period of a condition ends; 0 if it does
// not run or is over.
func graceLeft(c metav1.Condition, grace time.Duration, now time.Time) time.Duration {
	row, _ := condition.Lookup(condition.Reason(c.Reason))
	if grace == 0 || !row.Graded {
		return 0
	}
	left := c.LastTransitionTime.Add(grace).Sub(now)
	if left < 0 {
		return 0 // the pass has judged already
	}
	return left + graceMargin
}

// graceMargin makes the look after the grace period fall behind its end, both by
// the clock and by the whole seconds that the API server keeps.
const graceMargin = time.Second
