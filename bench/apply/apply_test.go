package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain is the program where the program calls itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-contender" {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// plane returns the plane program, or skips.
func plane(t *testing.T) string {
	t.Helper()
	path := os.Getenv("ARMATURE_PLANE")
	if path == "" {
		path = filepath.Join("..", "..", "bin", "plane")
	}
	if _, err := os.Stat(path); err != nil {
		t.Skip("needs the plane: run make plane, or name it with ARMATURE_PLANE")
	}
	return path
}

// The whole benchmark at its smallest. It says nothing about speed.
func TestSmallest(t *testing.T) {
	dir := t.TempDir()
	out, doc := filepath.Join(dir, "out", "apply.json"), filepath.Join(dir, "doc.md")
	if err := os.WriteFile(doc, []byte("before\n"+docBegin+"old\n"+docEnd+"after\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr strings.Builder
	args := []string{
		"-plane", plane(t), "-out", out, "-doc", doc, "-deployments", "3", "-configmaps", "3", "-services", "3", "-statefulsets", "3",
		"-rest", "3", "-churn", "3", "-drift", "3", "-touched", "5",
	}
	if code := run(t.Context(), args, nil, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d, %s", code, stderr.String())
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	t.Attr("apiserver", r.Machine.Kubernetes)

	if want := len(contenders) * len(phases); len(r.Rows) != want {
		t.Fatalf("%d rows, want %d", len(r.Rows), want)
	}
	passes := map[string]int{"first apply": 1, "at rest": 3, "status churn": 3, "foreign churn": 3, "injected drift": 3}
	for _, row := range r.Rows {
		if row.Passes != passes[row.Phase] {
			t.Errorf("%s, %s: %d passes, want %d", row.Contender, row.Phase, row.Passes, passes[row.Phase])
		}
		if row.Left != 0 {
			t.Errorf("%s, %s: %d of %d drifts are left", row.Contender, row.Phase, row.Left, row.Drifted)
		}
		objects := row.Objects * row.Passes
		want := map[string]requests{ // for every row of a contender that is not listed with its phase
			"armature, first apply":    {Reads: 12, Writes: 12},
			"armature, at rest":        {},
			"armature, status churn":   {},
			"armature, foreign churn":  {},
			"armature, injected drift": {Writes: 15},
			"ssa-every-pass":           {Writes: objects},
			"fluxcd-ssa, at rest":      {Reads: objects, DryRuns: objects},
		}
		for _, key := range []string{row.Contender, row.Contender + ", " + row.Phase} {
			w, listed := want[key]
			got := row.Requests
			got.Watches, got.Elsewhere = 0, 0
			if listed && got != w {
				t.Errorf("%s: %+v, want %+v", key, got, w)
			}
		}
	}
	written, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(written); !strings.HasPrefix(got, "before\n"+docBegin) || !strings.HasSuffix(got, docEnd+"after\n") || strings.Contains(got, "\nold\n") || !strings.Contains(got, "| armature | at rest | 3 | 0 |") {
		t.Errorf("the document is now:\n%s", got)
	}
}

// What would be wrong with results is said.
func TestJudge(t *testing.T) {
	good := func() []outcome {
		rows := make([]row, len(phases))
		for i, ph := range phases {
			rows[i] = row{Contender: contenders[0].name, Phase: ph.name}
			if ph.change != nil {
				rows[i].Touched = 4
			}
		}
		last := &rows[len(rows)-1]
		last.Drifted, last.Changed, last.Requests.Writes = 4, 4, 4
		outcomes := []outcome{{Contender: contenders[0].name, rows: rows}, {Contender: contenders[1].name}}
		for i := range outcomes {
			outcomes[i].stages = map[string]snapshot{}
			for _, stage := range []string{phases[0].name, phases[len(phases)-1].name} {
				outcomes[i].stages[stage] = snapshot{"Deployment web-000": {"spec": map[string]any{"replicas": int64(1), "paused": false}}}
			}
		}
		return outcomes
	}
	at := func(o []outcome) map[string]any {
		spec, _ := o[1].stages[phases[0].name]["Deployment web-000"]["spec"].(map[string]any)
		return spec
	}
	cases := []struct {
		name  string
		spoil func(o []outcome)
		want  string
	}{
		{"nothing", func([]outcome) {}, ""},
		{"a read at rest", func(o []outcome) { o[0].rows[1].Requests.Reads = 1 }, "armature: at rest: 1 requests, 0 of them writes, for 0 drifted objects"},
		{"a dry run under churn", func(o []outcome) { o[0].rows[2].Requests.DryRuns = 1 }, "armature: status churn: 1 requests, 0 of them writes, for 0 drifted objects"},
		{"two writes for a drift", func(o []outcome) { o[0].rows[4].Requests.Writes = 5 }, "armature: injected drift: 5 requests, 5 of them writes, for 4 drifted objects"},
		{"an object that changed", func(o []outcome) { o[0].rows[3].Changed = 1 }, "armature: foreign churn: 1 objects changed for 0 drifted, 0 left"},
		{"no churn", func(o []outcome) { o[0].rows[2].Touched = 0 }, "armature: status churn: somebody else changed 0 objects, 0 of them by drift, which is not what was tried"},
		{"a visitor at rest", func(o []outcome) { o[0].rows[1].Touched = 1 }, "armature: at rest: somebody else changed 1 objects, 0 of them by drift, which is not what was tried"},
		{"a drift that is left", func(o []outcome) { o[0].rows[4].Left = 1 }, "armature: injected drift: 4 objects changed for 4 drifted, 1 left"},
		{"a difference for a known reason", func(o []outcome) { at(o)["replicas"] = int64(2) }, ""},
		{"a difference for no known reason", func(o []outcome) { at(o)["paused"] = true }, contenders[1].name + ": after first apply, Deployment spec.paused differs from Armature's: Deployment web-000: true, not false"},
		{"an object that is missing", func(o []outcome) { clear(o[1].stages[phases[0].name]) }, contenders[1].name + ": after first apply, Deployment differs from Armature's: Deployment web-000 is missing"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			o := good()
			c.spoil(o)
			if got := strings.Join(judge(o), "\n"); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestCommandLine(t *testing.T) {
	for _, args := range []string{"-rest 0", "-deployments -1", "apply", "-unknown", "-services 0", "-touched 0", "-drift -1"} {
		if code := run(t.Context(), strings.Fields(args), nil, io.Discard, io.Discard); code != 2 {
			t.Errorf("%s: exit code %d, want 2", args, code)
		}
	}
	if code := run(t.Context(), []string{"-plane", filepath.Join(t.TempDir(), "none")}, nil, io.Discard, io.Discard); code != 3 {
		t.Errorf("without a plane: exit code %d, want 3", code)
	}
}
