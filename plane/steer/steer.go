// Package steer reads the annotations that tell simulated pods and nodes how
// to behave.
//
// A mistyped value is never ignored: it comes back as a [ValueError] whose text
// names the annotation and the form that would be understood.
package steer

import (
	"fmt"
	"strconv"
	"time"
)

// Annotations of pods, and Down of nodes.
const (
	Prefix     = "plane.armature.dev/"
	ReadyAfter = Prefix + "ready-after" // a duration: running at once, ready later
	Hold       = Prefix + "hold"        // true: running, not ready; a Job's pod does not end
	RunFor     = Prefix + "run-for"     // a duration: the containers exit after it
	ExitCode   = Prefix + "exit-code"   // 0 to 255: what the containers exit with
	CrashLoop  = Prefix + "crash-loop"  // true: the containers fail and are restarted for ever
	PullFail   = Prefix + "pull-fail"   // true: the image is never there
	StopAfter  = Prefix + "stop-after"  // a duration: deletion takes that long
	Down       = Prefix + "down"        // true, on a Node: the node does not answer
)

// Pod is what the annotations of a pod ask for. The zero value is a pod that
// is ready at once and runs until it is deleted.
type Pod struct {
	ReadyAfter time.Duration
	Hold       bool
	RunFor     time.Duration
	Exits      bool // the containers end by themselves, after RunFor
	ExitCode   int32
	CrashLoop  bool
	PullFail   bool
	StopAfter  time.Duration
}

// A ValueError is an annotation with a value that cannot be understood.
type ValueError struct {
	Annotation, Value, Want string
}

func (p *ValueError) Error() string {
	return fmt.Sprintf("annotation %s: %q is not %s", p.Annotation, p.Value, p.Want)
}

const (
	aDuration = `a duration; write for example "500ms", "1.5s" or "2m"`
	anExit    = `an exit code; write a number from 0 to 255`
	aSwitch   = `a switch; write "true" or "false", or remove the annotation`
)

// ParsePod reads the annotations of a pod; others are ignored. When several
// are wrong, the first in the order of the constants above is returned.
func ParsePod(annotations map[string]string) (Pod, *ValueError) {
	r := reader{values: annotations}
	p := Pod{
		ReadyAfter: r.duration(ReadyAfter),
		Hold:       r.toggle(Hold),
		RunFor:     r.duration(RunFor),
		ExitCode:   r.code(ExitCode),
		CrashLoop:  r.toggle(CrashLoop),
		PullFail:   r.toggle(PullFail),
		StopAfter:  r.duration(StopAfter),
	}
	_, runs := annotations[RunFor]
	_, exits := annotations[ExitCode]
	p.Exits = runs || exits || p.CrashLoop
	if p.CrashLoop && !exits {
		p.ExitCode = 1
	}
	if r.problem != nil {
		return Pod{}, r.problem
	}
	return p, nil
}

// ParseNode reports whether the annotations of a node take it down.
func ParseNode(annotations map[string]string) (bool, *ValueError) {
	r := reader{values: annotations}
	down := r.toggle(Down)
	return down, r.problem
}

// reader keeps the first problem it meets.
type reader struct {
	values  map[string]string
	problem *ValueError
}

func (r *reader) reject(name, want string) {
	if r.problem == nil {
		r.problem = &ValueError{Annotation: name, Value: r.values[name], Want: want}
	}
}

func (r *reader) duration(name string) time.Duration {
	v, ok := r.values[name]
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 {
		r.reject(name, aDuration)
		return 0
	}
	return d
}

func (r *reader) toggle(name string) bool {
	v, ok := r.values[name]
	if !ok || v == "false" {
		return false
	}
	if v != "true" {
		r.reject(name, aSwitch)
	}
	return true
}

func (r *reader) code(name string) int32 {
	v, ok := r.values[name]
	if !ok {
		return 0
	}
	n, err := strconv.ParseUint(v, 10, 8)
	if err != nil {
		r.reject(name, anExit)
		return 0
	}
	return int32(n)
}
