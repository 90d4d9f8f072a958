package resource

import (
	"time"

	"github.com/armature-go/armature/object"
)

// Observed is somebody else's object, which is read and reported on.
type Observed[T object.Object] struct {
	base    T
	absence Absence
	outputs []Output[T]
}

// Observe declares that the object matters to the component but belongs to
// somebody else. Only its name and namespace are used. If it does not exist the
// component fails, unless a modifier says otherwise; the last one counts.
func Observe[T object.Object](base T) *Observed[T] {
	return &Observed[T]{base: base, absence: AbsenceFails}
}

// BlockOnAbsence waits for the object, and holds back what comes after it.
func (o *Observed[T]) BlockOnAbsence() *Observed[T] {
	o.absence = AbsenceBlocks
	return o
}

// IgnoreIfAbsent goes on without the object.
func (o *Observed[T]) IgnoreIfAbsent() *Observed[T] {
	o.absence = AbsenceIgnored
	return o
}

// Extract takes values out of the object once it is read.
func (o *Observed[T]) Extract(outputs ...Output[T]) *Observed[T] {
	o.outputs = append(o.outputs, outputs...)
	return o
}

// Declaration implements [Resource].
func (o *Observed[T]) Declaration() Declaration {
	if o == nil || object.IsNil(o.base) {
		return Declaration{Mode: ModeObserve}
	}
	return Declaration{
		Object:        o.base,
		Mode:          ModeObserve,
		Participation: Required,
		Absence:       o.absence,
		Problems:      mute(o.outputs),
		Writes:        written(o.outputs),
		Extract:       extractor(o.outputs),
	}
}

// Removed is an object that should not exist.
type Removed[T object.Object] struct {
	base      T
	ownership object.Ownership
	drains    []func(T, time.Time) error
}

// Remove declares that the object should not exist. It is deleted if it is the
// owner's; somebody else's object of the same name is left alone.
func Remove[T object.Object](base T) *Removed[T] { return &Removed[T]{base: base} }

// Declaration implements [Resource].
func (r *Removed[T]) Declaration() Declaration {
	if r == nil || object.IsNil(r.base) {
		return Declaration{Mode: ModeRemove}
	}
	return Declaration{Object: r.base, Mode: ModeRemove, Participation: Required, Ownership: r.ownership, Drain: drainer(r.drains)}
}

// Released is an object that is let go of.
type Released[T object.Object] struct {
	base      T
	ownership object.Ownership
}

// Release declares that the object is no longer the owner's. It stays as it is,
// and outlives the owner.
func Release[T object.Object](base T) *Released[T] { return &Released[T]{base: base} }

// Declaration implements [Resource].
func (r *Released[T]) Declaration() Declaration {
	if r == nil || object.IsNil(r.base) {
		return Declaration{Mode: ModeRelease}
	}
	return Declaration{Object: r.base, Mode: ModeRelease, Participation: Required, Ownership: r.ownership}
}
