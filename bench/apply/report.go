package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// report is what is written to the file.
type report struct {
	Date       time.Time `json:"date"`
	Machine    machine   `json:"machine"`
	Settings   settings  `json:"settings"`
	Contenders []outcome `json:"contenders"`
	Rows       []row     `json:"rows"`
	Wrong      []string  `json:"wrong,omitempty"`
}

type machine struct {
	CPU        string `json:"cpu"`
	Cores      int    `json:"cores"`
	Go         string `json:"go"`
	Kubernetes string `json:"kubernetes"`
}

func thisMachine(kubernetes string) machine {
	return machine{CPU: cpuModel(), Cores: runtime.NumCPU(), Go: runtime.Version(), Kubernetes: kubernetes}
}

// cpuModel is what Linux says, empty elsewhere.
func cpuModel() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if name, model, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(model)
		}
	}
	return ""
}

// versionOf returns the version of a module that is linked in; ours is this checkout.
func versionOf(module string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, dep := range info.Deps {
		switch {
		case dep.Path != module:
		case dep.Replace != nil:
			return module + " (this checkout)"
		default:
			return module + " " + dep.Version
		}
	}
	return module
}

// save writes the report as JSON.
func (r report) save(file string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// tables are what people read: the costs of each phase, and of each contender.
func (r report) tables() [2][][]string {
	costs := [][]string{{"contender", "phase", "passes", "reads", "dry runs", "writes", "changed", "sent B", "received B", "watched B", "CPU ms", "wall ms", "drift left"}}
	for _, w := range r.Rows {
		each := func(n int) string { return ratio(float64(n), w.Passes*w.Objects, 3) }
		size := func(n int64) string { return ratio(float64(n), w.Passes*w.Objects, 0) }
		pass := func(d time.Duration) string { return ratio(float64(d)/float64(time.Millisecond), w.Passes, 1) }
		drift := "-"
		if w.Drifted > 0 {
			drift = fmt.Sprintf("%d of %d", w.Left, w.Drifted)
		}
		costs = append(costs, []string{
			w.Contender, w.Phase, fmt.Sprint(w.Passes),
			each(w.Requests.Reads + w.Requests.StatusReads), each(w.Requests.DryRuns), each(w.Requests.Writes + w.Requests.StatusWrites), each(w.Changed),
			size(w.Moved.Sent), size(w.Moved.Received), size(w.Moved.WatchReceived), pass(w.CPU), pass(w.Wall), drift,
		})
	}
	peers := [][]string{{"contender", "version", "heap B per object: cache", "remembered"}}
	for _, o := range r.Contenders {
		line := []string{o.Contender, o.Version, "n/a", "n/a"}
		if o.Heap != nil {
			line = append(line[:2], fmt.Sprint(o.Heap.Cache), fmt.Sprint(o.Heap.Remembered))
		}
		peers = append(peers, line)
	}
	return [2][][]string{costs, peers}
}

// notes say how each contender was set, and where its objects end otherwise than
// Armature's.
func (r report) notes() []string {
	var notes []string
	for _, o := range r.Contenders {
		parts := []string{o.Contender + ": " + o.Settings}
		for _, field := range slices.Sorted(maps.Keys(o.Differs)) {
			parts = append(parts, "ends with another "+field+", as "+o.Differs[field])
		}
		notes = append(notes, strings.Join(parts, "; "))
	}
	return notes
}

// ratio prints n for each of so many; zero is only printed for zero.
func ratio(n float64, of, digits int) string {
	if n == 0 || of == 0 {
		return "0"
	}
	return fmt.Sprintf("%.*f", digits, n/float64(of))
}

// facts are the lines above the tables.
func (r report) facts() []string {
	s := r.Settings
	return []string{
		fmt.Sprintf("%s; %s, %d cores; %s, Kubernetes %s", r.Date.Format("2006-01-02 15:04 MST"), r.Machine.CPU, r.Machine.Cores, r.Machine.Go, r.Machine.Kubernetes),
		fmt.Sprintf("bin/bench-apply -deployments %d -configmaps %d -services %d -statefulsets %d -rest %d -churn %d -drift %d -touched %d",
			s.Sizes.Deployments, s.Sizes.ConfigMaps, s.Sizes.Services, s.Sizes.StatefulSets, s.Rest, s.Churn, s.Drift, s.Touched),
	}
}

// print writes the tables for a terminal.
func (r report) print(out io.Writer) error {
	for _, fact := range r.facts() {
		fmt.Fprintln(out, fact)
	}
	for _, table := range r.tables() {
		fmt.Fprintln(out)
		w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
		for _, line := range table {
			fmt.Fprintln(w, strings.Join(line, "\t"))
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "\n%s\n", strings.Join(r.notes(), "\n"))
	return nil
}

// The lines of a document between which the tables stand.
const (
	docBegin = "<!-- bench-apply: written by make bench-apply, begin -->\n"
	docEnd   = "<!-- bench-apply: end -->\n"
)

var errNoMarks = fmt.Errorf("no place for the tables between the lines %q and %q", docBegin, docEnd)

// refresh replaces the tables in a document.
func (r report) refresh(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, begins := strings.Cut(string(text), docBegin)
	_, after, ends := strings.Cut(rest, docEnd)
	if !begins || !ends {
		return fmt.Errorf("writing to %s: %w", file, errNoMarks)
	}
	return os.WriteFile(file, []byte(before+docBegin+r.markdown()+docEnd+after), 0o644)
}

func (r report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n", strings.Join(r.facts(), "\n\n    "))
	for _, table := range r.tables() {
		fmt.Fprintln(&b)
		for i, line := range table {
			fmt.Fprintf(&b, "| %s |\n", strings.Join(line, " | "))
			if i == 0 {
				fmt.Fprintf(&b, "|%s\n", strings.Repeat("---|", len(line)))
			}
		}
	}
	fmt.Fprintf(&b, "\n- %s\n\n", strings.Join(r.notes(), "\n- "))
	return b.String()
}
