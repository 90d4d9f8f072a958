package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// event is one line of go test -json; see go doc test2json.
type event struct {
	Action      string  `json:"Action"`
	Package     string  `json:"Package"`
	Test        string  `json:"Test"`
	Output      string  `json:"Output"`
	Elapsed     float64 `json:"Elapsed"`
	Key         string  `json:"Key"` // of an attr
	Value       string  `json:"Value"`
	ImportPath  string  `json:"ImportPath"`  // of build output
	FailedBuild string  `json:"FailedBuild"` // the ImportPath whose build made the package fail
}

// record is one run of one test.
type record struct {
	name    testName
	verdict string // pass, fail, skip or measured; empty while it runs
	parent  *record
	tested  bool // it has subtests
	broken  bool // one of its subtests counts as failed
	output  []string
}

// pkg is one package while its tests run.
type pkg struct {
	records []*record
	latest  map[string]*record // by test name; -count runs a name again
	output  []string
}

// summary counts what the test runner reports and prints what failed.
type summary struct {
	out     io.Writer
	allowed map[testName]string

	running map[string]*pkg
	builds  map[string][]string // output of builds, by import path

	passed, failed, skipped int

	failures []string
	used     map[testName]bool // allowed skips that happened
	met      map[testName]bool // test functions that met an API server
	servers  map[string]bool   // their versions
}

func newSummary(out io.Writer, allowed map[testName]string) *summary {
	return &summary{
		out:     out,
		allowed: allowed,
		running: map[string]*pkg{},
		builds:  map[string][]string{},
		used:    map[testName]bool{},
		met:     map[testName]bool{},
		servers: map[string]bool{},
	}
}

// read takes the events of one test run. Lines that are no events are printed
// as they are. A package that has not ended when the stream does has failed.
func (s *summary) read(r io.Reader) {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		var e event
		switch {
		case strings.TrimSpace(line) == "":
		case json.Unmarshal([]byte(line), &e) != nil || e.Action == "":
			fmt.Fprintln(s.out, strings.TrimRight(line, "\n"))
		default:
			s.add(e)
		}
		if err != nil {
			break
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.running)) {
		s.end(event{Package: name, Action: "never finished"})
	}
}

func (s *summary) add(e event) {
	if e.Package == "" { // a build
		if e.Action == "build-output" {
			s.builds[e.ImportPath] = append(s.builds[e.ImportPath], e.Output)
		}
		return
	}
	p := s.running[e.Package]
	if p == nil {
		p = &pkg{latest: map[string]*record{}}
		s.running[e.Package] = p
	}
	if e.Test == "" {
		switch e.Action {
		case "output":
			p.output = append(p.output, e.Output)
		case "pass", "fail", "skip":
			s.end(e)
		}
		return
	}

	r := p.latest[e.Test]
	if r == nil || e.Action == "run" {
		r = p.start(testName{e.Package, e.Test})
	}
	switch e.Action {
	case "output":
		r.output = append(r.output, e.Output)
	case "pass", "fail", "skip":
		r.verdict = e.Action
	case "attr":
		if e.Key == "apiserver" {
			s.met[r.name.top()] = true
			s.servers[e.Value] = true
		}
	}
}

// start begins the record of a test, below the nearest test that contains it.
// Names of subtests may contain slashes of their own.
func (p *pkg) start(name testName) *record {
	r := &record{name: name}
	if strings.HasPrefix(name.test, "Benchmark") { // the runner says how a benchmark ended only if it failed
		r.verdict = "measured"
	}
	for above := name.test; r.parent == nil; {
		i := strings.LastIndexByte(above, '/')
		if i < 0 {
			break
		}
		above = above[:i]
		r.parent = p.latest[above]
	}
	if r.parent != nil {
		r.parent.tested = true
	}
	p.records = append(p.records, r)
	p.latest[name.test] = r
	return r
}

// end counts the tests of a package.
func (s *summary) end(e event) {
	p := s.running[e.Package]
	delete(s.running, e.Package)
	passed, failed, skipped := s.passed, s.failed, s.skipped
	for _, r := range p.records {
		if s.problem(r) != "" {
			for above := r.parent; above != nil; above = above.parent {
				above.broken = true
			}
		}
	}
	for _, r := range p.records {
		s.count(r)
	}
	if e.Action != "pass" && e.Action != "skip" && s.failed == failed {
		text := append(s.builds[e.FailedBuild], p.output...)
		for _, r := range p.records { // what a test printed before its process went away
			text = append(text, r.output...)
		}
		s.fail(e.Package+": "+why(e), text...)
	}

	word := "ok  "
	if s.failed > failed {
		word = "FAIL"
	}
	if len(p.records) > 0 || s.failed > failed {
		fmt.Fprintf(s.out, "%s  %s  %s  %.1fs\n", word, e.Package, counts(s.passed-passed, s.failed-failed, s.skipped-skipped), e.Elapsed)
	}
}

func why(e event) string {
	switch {
	case e.FailedBuild != "":
		return "does not build"
	case e.Action == "fail":
		return "failed outside of its tests"
	default:
		return e.Action
	}
}

// problem says why r counts as failed. It is empty if r does not.
func (s *summary) problem(r *record) string {
	switch r.verdict {
	case "pass":
		return ""
	case "skip":
		if _, allowed := s.allowed[r.name]; allowed {
			return ""
		}
		return r.name.String() + ": skipped, and the list of skips does not allow it"
	case "fail":
		return r.name.String()
	case "measured":
		return ""
	default:
		return r.name.String() + ": never finished"
	}
}

func (s *summary) count(r *record) {
	problem := s.problem(r)
	switch {
	case r.broken: // counted through a subtest
	case problem != "":
		s.fail(problem, r.output...)
	case r.verdict == "skip":
		s.skipped++
		s.used[r.name] = true
		fmt.Fprintf(s.out, "skip  %s: %s\n", r.name, s.allowed[r.name])
	case r.verdict == "pass" && !r.tested:
		s.passed++
	}
}

// fail counts one failure and shows the output that belongs to it.
func (s *summary) fail(what string, output ...string) {
	s.failed++
	s.failures = append(s.failures, what)
	fmt.Fprintln(s.out, "--- FAIL:", what)
	for _, line := range essence(output) {
		fmt.Fprintln(s.out, "   ", line)
	}
}

// most is how many lines of one failure are shown at its start and at its end.
const most = 40

// essence is output without the runner's own marks, and without its middle
// where it is long.
func essence(output []string) []string {
	var lines []string
	for line := range strings.Lines(strings.Join(output, "")) {
		line = strings.TrimRight(line, " \n")
		mark := strings.TrimSpace(line)
		switch word, _, _ := strings.Cut(mark, " "); {
		case mark == "", mark == "FAIL", strings.HasPrefix(mark, "FAIL\t"), word == "===", word == "---":
		default:
			lines = append(lines, line)
		}
	}
	if left := len(lines) - 2*most; left > 0 {
		lines = slices.Concat(lines[:most], []string{fmt.Sprintf("… %d lines left out", left)}, lines[len(lines)-most:])
	}
	return lines
}

// close prints the end of the summary and returns the exit status.
func (s *summary) close() int {
	if s.passed+s.failed+s.skipped == 0 {
		s.fail("no test ran")
	}
	if len(s.failures) > 0 {
		fmt.Fprintln(s.out, "\nfailed:")
		for _, f := range s.failures {
			fmt.Fprintln(s.out, "  ", f)
		}
	}
	for _, name := range slices.SortedFunc(maps.Keys(s.allowed), func(a, b testName) int { return strings.Compare(a.String(), b.String()) }) {
		if !s.used[name] {
			fmt.Fprintf(s.out, "stale: the list of skips allows %s, which was not skipped\n", name)
		}
	}
	total := counts(s.passed, s.failed, s.skipped)
	fmt.Fprintf(s.out, "\ntests: %s\n%s; %s\n", total, total, s.servedBy())
	if s.failed > 0 {
		return 1
	}
	return 0
}

func counts(passed, failed, skipped int) string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", passed, failed, skipped)
}

func (s *summary) servedBy() string {
	text := fmt.Sprintf("%d tests met an API server", len(s.met))
	if len(s.met) == 1 {
		text = "1 test met an API server"
	}
	if len(s.met) > 0 {
		text += " (" + strings.Join(slices.Sorted(maps.Keys(s.servers)), ", ") + ")"
	}
	return text
}
