package component

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/kind"
)

var (
	// states are the words that a health rule may answer with, without failures.
	states = []condition.Reason{
		condition.Failing, condition.OperationFailing, condition.TaskFailing, condition.Blocked, condition.Scaling, condition.TaskRunning,
		condition.Updating, condition.Creating, condition.OperationPending, condition.TaskPending, condition.Healthy, condition.Operational, condition.Completed,
	}
	readyStates = []condition.Reason{condition.Healthy, condition.Operational, condition.Completed}
	failures    = []condition.Reason{condition.Error, condition.Invalid, condition.PermissionDenied, condition.Conflict}
	nonsense    = []condition.Reason{"Fine", "", condition.Down, condition.Degraded, condition.Suspended, condition.Disabled, condition.Unknown, condition.PrerequisiteNotMet, condition.FeatureGateError}
	stickies    = []condition.Reason{condition.Creating, condition.Updating, condition.Scaling}

	// others is what a condition can say that judging does not lead to: its status
	// and its reason.
	others = []metav1.Condition{
		{Status: metav1.ConditionFalse, Reason: string(condition.PrerequisiteNotMet)},
		{Status: metav1.ConditionTrue, Reason: string(condition.Disabled)},
		{Status: metav1.ConditionFalse, Reason: string(condition.Suspending)},
		{Status: metav1.ConditionTrue, Reason: string(condition.Suspended)},
		{Status: metav1.ConditionFalse, Reason: string(condition.PendingSuspension)},
		{Status: metav1.ConditionFalse, Reason: string(condition.FeatureGateError)},
		{Status: metav1.ConditionFalse, Reason: string(condition.Unknown)},
		{Status: metav1.ConditionFalse, Reason: "SomebodyElses"},
	}
)

// walk is a random history of one condition, and what must be true of it, kept in
// plain variables: whether the component is on its way, and since when.
type walk struct {
	rng        *rand.Rand
	grace      time.Duration
	now        time.Time
	conditions []metav1.Condition

	onItsWay bool // the last condition came from judging, or was an error
	begun    time.Time
}

func pick[T any](rng *rand.Rand, from []T) T { return from[rng.IntN(len(from))] }

// found makes up what a pass finds.
func (w *walk) found() []finding {
	var all []finding
	for range w.rng.IntN(4) {
		f := finding{State: State{Reason: pick(w.rng, states), Auxiliary: w.rng.IntN(4) == 0}}
		switch w.rng.IntN(12) {
		case 0, 1, 2, 3:
			f.Reason = pick(w.rng, readyStates)
		case 4:
			f.Reason = pick(w.rng, failures)
		case 5:
			f.Reason = pick(w.rng, nonsense)
		}
		f.Key.Name = string(f.Reason)
		if w.rng.IntN(3) > 0 {
			verdict := pick(w.rng, []condition.Reason{condition.Healthy, condition.Degraded, condition.Down})
			f.grace = func() kind.State { return kind.State{Reason: verdict} }
		}
		all = append(all, f)
	}
	return all
}

// TestJudgeWalk follows random histories.
func TestJudgeWalk(t *testing.T) {
	for seed := range uint64(2_000) {
		rng := rand.New(rand.NewPCG(seed, 15))
		w := &walk{rng: rng, now: noon, grace: time.Duration(rng.IntN(4)) * time.Minute}
		for step := range 40 {
			w.now = w.now.Add(time.Duration(rng.IntN(90_000)) * time.Millisecond)
			if rng.IntN(8) == 0 {
				w.told()
			} else {
				w.judged(t)
			}
			if c := w.condition(); c.LastTransitionTime.After(w.now) {
				t.Errorf("the condition will turn %s at %s, and it is %s", c.Reason, c.LastTransitionTime, w.now)
			}
			if rng.IntN(2) == 0 { // the API server keeps whole seconds
				for i := range w.conditions {
					w.conditions[i].LastTransitionTime = metav1.NewTime(w.conditions[i].LastTransitionTime.Truncate(time.Second))
				}
				w.begun = w.begun.Truncate(time.Second)
			}
			if t.Failed() {
				t.Fatalf("seed %d, step %d", seed, step)
			}
		}
	}
}

func (w *walk) condition() metav1.Condition {
	c, _ := condition.Find(w.conditions, "WebReady")
	c.Type = "WebReady"
	return c
}

func (w *walk) told() {
	c := pick(w.rng, others)
	c.Type = "WebReady"
	condition.Set(&w.conditions, c, metav1.NewTime(w.now))
	w.onItsWay = false
}

// judged judges once and compares with the rules.
func (w *walk) judged(t *testing.T) {
	t.Helper()
	findings, before := w.found(), w.condition()
	c := judge(findings, before, w.grace, w.now)
	condition.Set(&w.conditions, c, metav1.NewTime(w.now))
	got := w.condition()

	// truth
	ready, sick := true, false
	for _, f := range findings {
		bad := slices.Contains(failures, f.Reason) || slices.Contains(nonsense, f.Reason)
		if f.Auxiliary && f.Reason != condition.Blocked && !bad {
			continue
		}
		sick = sick || bad
		ready = ready && slices.Contains(readyStates, f.Reason)
	}
	if isTrue := got.Status == metav1.ConditionTrue; isTrue != ready || got.Status != metav1.ConditionTrue && got.Status != metav1.ConditionFalse {
		t.Errorf("ready: %v, and the condition is %s; found %v", ready, got.Status, reasons(findings))
	}
	if row, known := condition.Lookup(condition.Reason(got.Reason)); !known || row.Status != got.Status {
		t.Errorf("the condition is %s, and its reason %q", got.Status, got.Reason)
	}
	w.time(t, before, got)

	// reason
	over := w.grace > 0 && before.Status == metav1.ConditionFalse && w.onItsWay && w.now.Sub(before.LastTransitionTime.Time) > w.grace
	verdict := got.Reason == string(condition.Down) || got.Reason == string(condition.Degraded)
	failed := slices.Contains(failures, condition.Reason(got.Reason))
	sticky := w.onItsWay && before.Status == metav1.ConditionFalse && slices.Contains(stickies, condition.Reason(before.Reason))
	switch {
	case ready:
	case failed != sick:
		t.Errorf("%v leads to %s", reasons(findings), got.Reason)
	case verdict && !over:
		t.Errorf("the verdict is %s, and the grace period is not over", got.Reason)
	case over && !verdict && !sick && !worksAfterAll(findings):
		t.Errorf("the grace period is over, and the reason is %s; found %v", got.Reason, reasons(findings))
	case sticky && !verdict && !sick && got.Reason != before.Reason:
		t.Errorf("%s did not stay and became %s", before.Reason, got.Reason)
	}

	// rest: the same again changes nothing, or a pass would wake the next one
	again := slices.Clone(w.conditions)
	if condition.Set(&again, judge(findings, got, w.grace, w.now), metav1.NewTime(w.now)) {
		t.Errorf("the same again turned %v into %v", got, again[0])
	}
	w.left(t, got)
	w.onItsWay = true
}

// time follows the transition time: it is now when the status turns or when being
// False means something new, and otherwise what it was.
func (w *walk) time(t *testing.T, before, got metav1.Condition) {
	t.Helper()
	if got.Status != before.Status || got.Status == metav1.ConditionFalse && !w.onItsWay {
		w.begun = w.now
	} else {
		w.begun = before.LastTransitionTime.Time
	}
	if got.LastTransitionTime.Unix() != w.begun.Unix() {
		t.Errorf("%s/%s, then %s/%s: since %s, want %s", before.Status, before.Reason, got.Status, got.Reason, got.LastTransitionTime, w.begun)
	}
}

// left asks when to look again, some time after judging.
func (w *walk) left(t *testing.T, c metav1.Condition) {
	t.Helper()
	now := w.now.Add(time.Duration(w.rng.IntN(3_000)) * time.Millisecond)
	left := graceLeft(c, w.grace, w.now, now)
	deadline := c.LastTransitionTime.Add(w.grace)
	row, _ := condition.Lookup(condition.Reason(c.Reason))
	switch {
	case w.grace == 0 || !row.Graded || w.now.After(deadline):
		if left != 0 {
			t.Errorf("look again in %s, and nothing will have changed", left)
		}
	case left <= 0:
		t.Errorf("nobody looks when the grace period ends")
	case !now.Add(left).After(deadline):
		t.Errorf("the look is %s too early", deadline.Sub(now.Add(left)))
	case now.Before(deadline) && now.Add(left).Sub(deadline.Truncate(time.Second)) > time.Second:
		t.Errorf("the look is %s late", now.Add(left).Sub(deadline.Truncate(time.Second)))
	case left > time.Second && !now.Before(deadline):
		t.Errorf("the grace period has ended, and the look is in %s", left)
	}
}

// worksAfterAll reports whether a rule was asked and none found anything amiss.
func worksAfterAll(findings []finding) bool {
	asked, amiss := false, false
	for _, f := range findings {
		if f.Auxiliary && f.Reason != condition.Blocked || slices.Contains(readyStates, f.Reason) {
			continue
		}
		switch {
		case f.Reason == condition.Blocked:
			amiss = true
		case f.grace != nil:
			asked = true
			amiss = amiss || f.grace().Reason != condition.Healthy
		}
	}
	return asked && !amiss
}

func reasons(findings []finding) []condition.Reason {
	var all []condition.Reason
	for _, f := range findings {
		all = append(all, f.Reason)
	}
	return all
}
