package condition

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestAggregateGolden reads one part per line from in.txt, as name=status/reason or
// name=status/reason@generation, then the message; a name alone has no condition.
// The owner is at generation 2.
func TestAggregateGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/aggregate/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			conditions, parts := parseParts(t, string(archive.Files[0].Data))
			c := Aggregate("Ready", 2, conditions, parts...)
			got := fmt.Sprintf("%s %s %s@%d\n%s\n", c.Type, c.Status, c.Reason, c.ObservedGeneration, c.Message)
			if *update {
				archive.Files[1].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want := string(archive.Files[1].Data); got != want || len(archive.Comment) == 0 {
				t.Errorf("%sgot\n%swant\n%s", archive.Comment, got, want)
			}
			if !c.LastTransitionTime.IsZero() {
				t.Error("the time is not for Aggregate to decide")
			}
		})
	}
}

func parseParts(t *testing.T, text string) (conditions []metav1.Condition, parts []Part) {
	t.Helper()
	for line := range strings.Lines(text) {
		head, message, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		name, state, written := strings.Cut(head, "=")
		parts = append(parts, Part{Name: name, Condition: name + "Ready"})
		if !written {
			continue
		}
		state, generation, dated := strings.Cut(state, "@")
		c := cond(name+"Ready", "", "", 2, message)
		if dated {
			if _, err := fmt.Sscan(generation, &c.ObservedGeneration); err != nil {
				t.Fatal(err)
			}
		}
		status, reason, _ := strings.Cut(state, "/")
		c.Status, c.Reason = metav1.ConditionStatus(status), reason
		conditions = append(conditions, c)
	}
	return conditions, parts
}

// TestAggregateLaws compares with the definition, spelled out, on random parts.
func TestAggregateLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range 8_000 {
		var conditions []metav1.Condition
		var parts []Part
		for n := range rng.IntN(5) {
			p := Part{Name: fmt.Sprint("part", n), Condition: fmt.Sprint("Type", n)}
			parts = append(parts, p)
			if rng.IntN(6) > 0 {
				c := randomCondition(rng)
				c.Type = p.Condition
				conditions = append(conditions, c)
			}
		}
		const generation = 1
		got := Aggregate("Ready", generation, conditions, parts...)

		want := len(parts) > 0
		named := 0
		for _, p := range parts {
			c, ok := Find(conditions, p.Condition)
			up := ok && c.Status == metav1.ConditionTrue && c.ObservedGeneration >= generation
			want = want && up
			if strings.Contains(got.Message, "; "+p.Name) {
				named++
			}
			if up == strings.Contains(got.Message, "; "+p.Name) {
				t.Fatalf("run %d: %s is up: %v, but the message is %q", i, p.Name, up, got.Message)
			}
			if !up && ok && c.Status != metav1.ConditionTrue && got.Status == metav1.ConditionFalse && Reason(got.Reason).Priority() > 0 && Reason(c.Reason).Priority() > Reason(got.Reason).Priority() {
				t.Fatalf("run %d: %s outweighs %s", i, c.Reason, got.Reason)
			}
		}
		if (got.Status == metav1.ConditionTrue) != want || got.Status == metav1.ConditionUnknown {
			t.Fatalf("run %d: %v\n%v", i, got, conditions)
		}
		if got.Type != "Ready" || got.ObservedGeneration != generation || got.Reason == "" {
			t.Fatalf("run %d: %v", i, got)
		}
	}
}
