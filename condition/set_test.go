package condition

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// at is a moment some seconds into the tests' own time.
func at(seconds int64) metav1.Time { return metav1.NewTime(time.Unix(1_700_000_000+seconds, 0).UTC()) }

// cond writes a condition as type=status/reason@generation message.
func cond(typ string, status metav1.ConditionStatus, reason Reason, generation int64, message string) metav1.Condition {
	return metav1.Condition{Type: typ, Status: status, Reason: string(reason), ObservedGeneration: generation, Message: message}
}

func since(c metav1.Condition, t metav1.Time) metav1.Condition { c.LastTransitionTime = t; return c }

func TestSet(t *testing.T) {
	up := cond("Ready", metav1.ConditionTrue, Healthy, 1, "up")
	down := cond("Ready", metav1.ConditionFalse, Down, 1, "down")
	for _, tc := range []struct {
		name    string
		have    []metav1.Condition
		set     metav1.Condition
		changed bool
		want    string // since, reason and message of the stored condition
	}{
		{"the first one starts now", nil, up, true, "100 Healthy up"},
		{"the first one may say since when", nil, since(up, at(7)), true, "7 Healthy up"},
		{"the same changes nothing", []metav1.Condition{since(up, at(5))}, up, false, "5 Healthy up"},
		{"a new status starts anew", []metav1.Condition{since(up, at(5))}, down, true, "100 Down down"},
		{"a new reason does not", []metav1.Condition{since(down, at(5))}, cond("Ready", metav1.ConditionFalse, Degraded, 1, "down"), true, "5 Degraded down"},
		{"a new message does not", []metav1.Condition{since(up, at(5))}, cond("Ready", metav1.ConditionTrue, Healthy, 1, "well up"), true, "5 Healthy well up"},
		{"a new generation does not", []metav1.Condition{since(up, at(5))}, cond("Ready", metav1.ConditionTrue, Healthy, 2, "up"), true, "5 Healthy up"},
		{"the caller can start it anew", []metav1.Condition{since(down, at(5))}, since(down, at(90)), true, "90 Down down"},
		{"starting anew at the same second changes nothing", []metav1.Condition{since(up, at(5))}, since(up, metav1.NewTime(at(5).Add(time.Millisecond))), false, "5 Healthy up"},
		{"what was never dated is dated", []metav1.Condition{up}, up, true, "100 Healthy up"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			list := slices.Clone(tc.have)
			changed := Set(&list, tc.set, at(100))
			stored, _ := Find(list, "Ready")
			got := fmt.Sprint(stored.LastTransitionTime.Unix()-at(0).Unix(), " ", stored.Reason, " ", stored.Message)
			if changed != tc.changed || got != tc.want || len(list) != 1 {
				t.Errorf("got %s, changed %v; want %s, %v", got, changed, tc.want, tc.changed)
			}
		})
	}
}

func TestSetKeepsTheListSorted(t *testing.T) {
	list := []metav1.Condition{since(cond("Z", metav1.ConditionTrue, Healthy, 1, ""), at(1)), since(cond("A", metav1.ConditionTrue, Healthy, 1, ""), at(1))}
	if Set(&list, list[0], at(2)) {
		t.Error("the order is not a change")
	}
	Set(&list, cond("M", metav1.ConditionTrue, Healthy, 1, ""), at(3))
	var got []string
	for _, c := range list {
		got = append(got, c.Type)
	}
	if diff := cmp.Diff([]string{"A", "M", "Z"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestSetOnNothing(t *testing.T) {
	if Set(nil, cond("Ready", metav1.ConditionTrue, Healthy, 1, ""), at(1)) {
		t.Error("nothing cannot have changed")
	}
	if _, ok := Find(nil, "Ready"); ok {
		t.Error("there is nothing to find")
	}
}

// A message that the API server would refuse would take the whole status with it.
func TestSetCutsWhatIsTooLong(t *testing.T) {
	var list []metav1.Condition
	long := cond("Ready", metav1.ConditionTrue, Healthy, 1, "x"+strings.Repeat("é", maxMessage))
	Set(&list, long, at(1))
	if got := list[0].Message; len(got) > maxMessage || !utf8.ValidString(got) || !strings.HasSuffix(got, "é…") {
		t.Errorf("got %d bytes ending in %q", len(got), got[len(got)-8:])
	}
	if Set(&list, long, at(2)) {
		t.Error("the same long message is a change")
	}
}

// TestSetLaws walks through random conditions: setting twice changes nothing the
// second time, false means equal, the list stays a sorted set that keeps the others,
// and the time moves with the status or at the caller's word alone.
func TestSetLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var list []metav1.Condition
	for i := range int64(8_000) {
		c := randomCondition(rng)
		before := slices.Clone(list)
		had, existed := Find(before, c.Type)
		changed := Set(&list, c, at(1000+i))
		if changed == cmp.Equal(before, list) {
			t.Fatalf("step %d: changed is %v: %s", i, changed, cmp.Diff(before, list))
		}
		stored, ok := Find(list, c.Type)
		moved := !stored.LastTransitionTime.Equal(&had.LastTransitionTime)
		switch {
		case !ok || stored.Status != c.Status || stored.Reason != c.Reason || stored.Message != c.Message || stored.ObservedGeneration != c.ObservedGeneration:
			t.Fatalf("step %d: stored %v, set %v", i, stored, c)
		case !c.LastTransitionTime.IsZero() && !stored.LastTransitionTime.Equal(&c.LastTransitionTime):
			t.Fatalf("step %d: the caller's time was not taken", i)
		case c.LastTransitionTime.IsZero() && existed && moved != (stored.Status != had.Status):
			t.Fatalf("step %d: the time moved: %v", i, moved)
		case !slices.IsSortedFunc(list, func(a, b metav1.Condition) int { return strings.Compare(a.Type, b.Type) }):
			t.Fatalf("step %d: not sorted: %v", i, list)
		}
		for _, other := range before {
			if now, _ := Find(list, other.Type); other.Type != c.Type && now != other {
				t.Fatalf("step %d: %s changed", i, other.Type)
			}
		}
		if Set(&list, c, at(1001+i)) {
			t.Fatalf("step %d: the same again is a change", i)
		}
	}
}

func randomCondition(rng *rand.Rand) metav1.Condition {
	c := cond(
		string(rune('A'+rng.IntN(6))),
		[]metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown}[rng.IntN(3)],
		[]Reason{Healthy, Suspended, Disabled, Creating, Blocked, Failing, Unknown, "Foreign"}[rng.IntN(8)],
		rng.Int64N(3),
		[]string{"", "a", "b."}[rng.IntN(3)],
	)
	if rng.IntN(4) == 0 {
		c.LastTransitionTime = at(rng.Int64N(50))
	}
	return c
}
