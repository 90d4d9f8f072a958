package component

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/kind"
)

// finding is the state of one object, and how bad it is once patience has run out.
// A finding without a key is about the component as a whole.
type finding struct {
	State

	grace func() kind.State // nil: the kind has no such rule
}

// says puts the object in front of a text about it, unless the text begins so.
func (f finding) says(text string) string {
	if f.Key.Name == "" || strings.HasPrefix(text, f.Key.Short()) {
		return text
	}
	return f.Key.Short() + ": " + text
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
	if !converges(condition.Reason(previous.Reason)) {
		c.LastTransitionTime = metav1.NewTime(now) // patience starts now, though it may have been False before
		return c
	}
	row, _ := condition.Lookup(reason)
	if previous.Status != metav1.ConditionFalse || row.Category == condition.CategoryFailure {
		return c
	}
	if before, _ := condition.Lookup(condition.Reason(previous.Reason)); before.Sticky {
		c.Reason = previous.Reason
	}
	if row.Graded && expired(previous, grace, now) {
		grade(&c, findings)
	}
	return c
}

// expired reports whether the grace period of a condition is over.
func expired(c metav1.Condition, grace time.Duration, now time.Time) bool {
	return grace > 0 && now.Sub(c.LastTransitionTime.Time) > grace
}

// elsewhere are the categories of reasons that do not come from converging.
var elsewhere = map[condition.Category]bool{
	condition.CategoryUnwritten:  true,
	condition.CategoryOff:        true,
	condition.CategorySuspension: true,
}

// converges reports whether a reason says how far a component has come. What
// follows one that does not begins anew.
func converges(reason condition.Reason) bool {
	row, known := condition.Lookup(reason)
	return known && !elsewhere[row.Category] && reason != condition.FeatureGateError && reason != condition.PrerequisiteNotMet
}

// ofObject reports whether a reason can say how one object is doing.
func ofObject(reason condition.Reason) bool {
	row, _ := condition.Lookup(reason)
	return converges(reason) && row.Category != condition.CategoryGrace
}

// participating leaves out what does not count: auxiliary objects, but for those
// that are blocked or cannot be judged.
func participating(findings []finding) []finding {
	var kept []finding
	for _, f := range findings {
		row, _ := condition.Lookup(f.Reason)
		if !f.Auxiliary || f.Reason == condition.Blocked || row.Category == condition.CategoryFailure || !ofObject(f.Reason) {
			kept = append(kept, f)
		}
	}
	return kept
}

// healthy is what a component says of which every object is ready.
const healthy = "Component is healthy."

// summary is the reason with the highest priority among what is not ready, with
// the texts of all that share its priority; where all is ready, the highest ready
// reason.
func summary(findings []finding) (condition.Reason, string) {
	worst := condition.Healthy
	for i, f := range findings {
		if !ofObject(f.Reason) {
			return condition.Error, f.says(unfit("health", f.Reason))
		}
		if i == 0 || outranks(f.Reason, worst) {
			worst = f.Reason
		}
	}
	if worst.Ready() {
		return worst, healthy
	}
	var texts []string
	for _, f := range findings {
		if f.Reason.Priority() == worst.Priority() {
			texts = append(texts, f.says(f.Message))
		}
	}
	return worst, strings.Join(texts, "; ")
}

// unfit says that a rule gave an answer which it cannot give.
func unfit(rule string, answer condition.Reason) string {
	return fmt.Sprintf("its %s rule answers %q, which is no state of an object; answer with a reason of package condition that is", rule, answer)
}

// outranks reports whether a decides over b: what is not ready first, then by
// priority.
func outranks(a, b condition.Reason) bool {
	if a.Ready() != b.Ready() {
		return !a.Ready()
	}
	return a.Priority() > b.Priority()
}

// grade replaces the reason of a condition by how bad it is that the component has
// not converged in time.
func grade(c *metav1.Condition, findings []finding) {
	verdict, texts := verdict(findings)
	text := strings.Join(texts, "; ")
	switch verdict {
	case "":
		c.Reason, c.Message = string(condition.Down), "Component is down: it did not converge within its grace period; "+c.Message
	case condition.Healthy:
		c.Message += "; the grace period is over, and what has not converged works all the same"
	case condition.Error:
		c.Reason, c.Message = string(verdict), text
	default:
		c.Reason, c.Message = string(verdict), fmt.Sprintf("Component is %s: %s", strings.ToLower(string(verdict)), text)
	}
}

// verdict is the gravest answer of the grace rules of what is not ready, and what
// they say; empty if there is no rule to ask. A block is as bad as can be, whatever
// is behind it.
func verdict(findings []finding) (condition.Reason, []string) {
	var gravest condition.Reason
	var texts []string
	for _, f := range findings {
		if f.Reason.Ready() || f.grace == nil && f.Reason != condition.Blocked {
			continue
		}
		state := kind.State{Reason: condition.Down, Message: f.Message}
		if f.Reason != condition.Blocked {
			state = f.grace()
		}
		if !verdicts[state.Reason] {
			state = kind.State{Reason: condition.Error, Message: unfit("grace", state.Reason)}
		}
		if state.Reason.Priority() > gravest.Priority() {
			gravest, texts = state.Reason, nil
		}
		if state.Reason == gravest {
			texts = append(texts, f.says(state.Message))
		}
	}
	return gravest, texts
}

// verdicts are the answers that a grace rule can give. Error says that the rule
// could not judge.
var verdicts = map[condition.Reason]bool{condition.Healthy: true, condition.Degraded: true, condition.Down: true, condition.Error: true}

// graceLeft is the time until a look at the component would find its grace period
// over; 0 if none runs, or if it was over when the component was judged. The look
// falls behind the end by the clock and by the whole seconds that the API server
// keeps, and at most a second behind.
func graceLeft(c metav1.Condition, grace time.Duration, judged, now time.Time) time.Duration {
	row, _ := condition.Lookup(condition.Reason(c.Reason))
	if grace <= 0 || !row.Graded || expired(c, grace, judged) {
		return 0
	}
	left := c.LastTransitionTime.Truncate(time.Second).Add(grace + time.Second).Sub(now)
	if left <= 0 { // it has ended since
		return time.Second
	}
	return left
}
