package condition

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var update = flag.Bool("update", false, "write what the tests got as what they want")

// The vocabulary is API: a changed word, weight or truth has to be seen in review.
func TestVocabulary(t *testing.T) {
	golden(t, "../docs/conditions.md", `# What a condition can say

Every condition that Armature writes has one of these reasons. Its status follows from the reason and is True or
False, never Unknown; True means "as it is meant to be". Where one condition speaks for many, the reason of the highest
priority among those that are not True is taken. *Graded* reasons are replaced by a verdict (`+"`Down` or `Degraded`"+`) when the
grace period is over; a *sticky* reason is kept until then, while the message moves on. A reason that is not in this
table was written by somebody else.

This file is made from the table in package condition: `+"`go test ./condition -update`"+`.

`+markdown(newVocabulary(builtin...).sorted()))
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: -want +got\n%s", file, diff)
	}
}

// The built-in rows keep the rules that registered ones have to keep; Unknown, which
// stands for no reason at all, is the one exception.
func TestBuiltinRowsAreSound(t *testing.T) {
	seen := map[Reason]bool{}
	for _, r := range builtin {
		if err := r.check(); err != nil && r.Reason != Unknown {
			t.Errorf("%s: %v", r.Reason, err)
		}
		if seen[r.Reason] {
			t.Errorf("%s: has two rows", r.Reason)
		}
		seen[r.Reason] = true
	}
}

func TestRowsAreSortedAndACopy(t *testing.T) {
	rows := Rows()
	if !slices.IsSortedFunc(rows, func(a, b Row) int { return b.Priority - a.Priority }) {
		t.Error("rows do not fall by priority")
	}
	rows[0].Meaning = "changed"
	if again := Rows(); again[0].Meaning == "changed" {
		t.Error("a caller can change the table")
	}
}

func TestReason(t *testing.T) {
	for _, tc := range []struct {
		reason Reason
		want   string // priority, ready, known
	}{
		{Error, "20 false true"},
		{PrerequisiteNotMet, "10 false true"},
		{Suspended, "15 false true"},
		{Disabled, "14 false true"},
		{Healthy, "3 true true"},
		{Operational, "2 true true"},
		{Completed, "1 true true"},
		{Unknown, "0 false true"},
		{"SomebodyElses", "0 false false"},
		{"", "0 false false"},
	} {
		t.Run(string(tc.reason), func(t *testing.T) {
			_, known := Lookup(tc.reason)
			if got := fmt.Sprint(tc.reason.Priority(), tc.reason.Ready(), known); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestRegistration(t *testing.T) {
	good := Row{Reason: "QuotaExceeded", Priority: 12, Status: metav1.ConditionFalse, Category: CategoryWaiting, Graded: true, Meaning: "The quota is used up."}
	with := func(change func(*Row)) Row { r := good; change(&r); return r }
	for _, tc := range []struct {
		name string
		rows []Row
		want string
	}{
		{"a sound row is added", []Row{good}, ""},
		{"adding it again is fine", []Row{good, good}, ""},
		{"a ready reason of one's own", []Row{with(func(r *Row) { r.Status, r.Category, r.Graded = metav1.ConditionTrue, CategoryReady, false })}, ""},
		{"two meanings for one word", []Row{good, with(func(r *Row) { r.Priority = 11 })}, "says something else"},
		{"another meaning for a built-in word", []Row{with(func(r *Row) { r.Reason = Failing })}, "says something else"},
		{"no word", []Row{with(func(r *Row) { r.Reason = "" })}, "CamelCase"},
		{"two words", []Row{with(func(r *Row) { r.Reason = "Quota exceeded" })}, "CamelCase"},
		{"outside the scale", []Row{with(func(r *Row) { r.Priority = 21 })}, "not between 1 and 20"},
		{"the weight of nothing", []Row{with(func(r *Row) { r.Priority = 0 })}, "not between 1 and 20"},
		{"neither true nor false", []Row{with(func(r *Row) { r.Status = metav1.ConditionUnknown })}, `status "Unknown" does not go`},
		{"an unheard-of category", []Row{with(func(r *Row) { r.Category = "odd" })}, `category "odd"`},
		{"waiting and True", []Row{with(func(r *Row) { r.Status = metav1.ConditionTrue })}, `status "True" does not go with category "waiting"`},
		{"ready and False", []Row{with(func(r *Row) { r.Category = CategoryReady })}, `status "False" does not go with category "ready"`},
		{"True and graded", []Row{with(func(r *Row) { r.Status, r.Category = metav1.ConditionTrue, CategorySuspension })}, "not graded"},
		{"sticky and not graded", []Row{with(func(r *Row) { r.Graded, r.Sticky = false, true })}, "only what is graded"},
		{"no meaning", []Row{with(func(r *Row) { r.Meaning = "" })}, "one sentence"},
		{"a meaning that breaks the table", []Row{with(func(r *Row) { r.Meaning = "a | b." })}, "one sentence"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := newVocabulary(builtin...)
			err := v.add(tc.rows...)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if err != nil && len(v.rows) != len(builtin) {
				t.Error("something was added all the same")
			}
		})
	}
}

func TestMustRegister(t *testing.T) {
	row := Row{Reason: "RegisteredByATest", Priority: 5, Status: metav1.ConditionFalse, Category: CategoryWaiting, Meaning: "A test has put it there."}
	var wg sync.WaitGroup
	for range 8 { // the race detector watches
		wg.Go(func() { MustRegister(row) })
		wg.Go(func() { _, _ = Lookup(row.Reason); _ = Rows() })
	}
	wg.Wait()
	if got, ok := Lookup(row.Reason); !ok || got != row {
		t.Errorf("got %v", got)
	}
	if !strings.Contains(Markdown(), "| 5 | `RegisteredByATest` | False | waiting |  |  | A test has put it there. |\n") {
		t.Error("the documentation does not show it")
	}
	defer func() {
		if r := recover(); !strings.Contains(fmt.Sprint(r), "condition.MustRegister: reason") {
			t.Errorf("recovered %v", r)
		}
	}()
	row.Priority++
	MustRegister(row)
}
