package resource

import (
	"time"

	"github.com/armature-go/armature/feature"
	"github.com/armature-go/armature/kind"
	"github.com/armature-go/armature/object"
)

// Resource is one object that a component has something to say about.
type Resource interface {
	// Declaration says what; it has no side effects and may be called often.
	Declaration() Declaration
}

var (
	_ Resource = (*Managed[object.Object])(nil)
	_ Resource = (*Observed[object.Object])(nil)
	_ Resource = (*Removed[object.Object])(nil)
	_ Resource = (*Released[object.Object])(nil)
)

// Mode is what is meant by naming an object.
type Mode string

// The four modes.
const (
	ModeManage  Mode = "manage"
	ModeObserve Mode = "observe"
	ModeRemove  Mode = "remove"
	ModeRelease Mode = "release"
)

// Participation says whether the health of an object counts for its component.
type Participation string

// The participations. An error and a blocked guard count in both.
const (
	Required  Participation = "required"
	Auxiliary Participation = "auxiliary"
)

// Absence says what it means that an observed object does not exist.
type Absence string

// The absences.
const (
	AbsenceFails   Absence = "fails"   // an error
	AbsenceBlocks  Absence = "blocks"  // wait for it, and hold back what comes after
	AbsenceIgnored Absence = "ignored" // go on without it
)

// Declaration is everything a resource says about itself.
type Declaration struct {
	Object        object.Object // baseline: its name and namespace are the identity; nil if there is none
	Mode          Mode
	Gate          feature.Gate // off means: the managed object should not exist
	Participation Participation
	Ownership     object.Ownership
	Yield, Ignore []object.Path // fields that are somebody else's once they set them, or always
	Whole         []object.Path // lists that are all ours
	Recreate      bool          // delete it and make it anew where it cannot be changed
	Absence       Absence       // of observed objects
	Reads         []Data        // what its mutations wait for
	Writes        []Data        // what Extract sets
	Mutations     []Mutation
	Problems      []string // mistakes in the declaration itself

	Guard   func() error                                                               // nil error: go on; a wait holds back this and what follows
	Render  func() (object.Object, error)                                              // a fresh object: baseline and enabled mutations
	Extract func(live object.Object) error                                             // sets the cells in Writes
	Health  func(live object.Object, op object.Op) kind.State                          // nil: the rule of the kind
	Drain   func(live object.Object, now time.Time) (changed object.Object, err error) // what comes before a deletion: a change to write, a wait, or neither; nil if nothing does
	Origin  func(path string) string                                                   // what put there what Render has at a path: "the baseline", `mutation "x"`; empty if it cannot tell
}

// Mutation is the part of a mutation that can be shown.
type Mutation struct {
	Name string
	Gate feature.Gate
}

// Data is a [Cell] of any type.
type Data interface {
	Name() string
	IsSet() bool
	Clear()
	isNil() bool
}

// IsNilData reports whether a cell is missing: nil, or a nil pointer to a cell.
func IsNilData(d Data) bool { return d == nil || d.isNil() }
