package resource

import (
	"fmt"

	"github.com/armature-go/armature/object"
)

// Tracked owns the object by marks in place of a reference, so that it may be in
// another namespace than its owner, or cluster-scoped where the owner is not. The owner
// gets a finalizer before the object is made, and is gone only after it. The operator
// needs the right to patch the owner, and has to watch the object's namespace.
func (m *Managed[T]) Tracked() *Managed[T] { return m.by(object.Tracked) }

// Shared lets several owners of one controller own the object together. All of them
// declare the same content; where they do not, the first one's holds, and the others
// have a conflict with it. An owner that no longer declares the object, or is suspended,
// lets go of it; the last one deletes it.
func (m *Managed[T]) Shared() *Managed[T] { return m.by(object.Shared) }

func (m *Managed[T]) by(o object.Ownership) *Managed[T] {
	if m.ownership != object.Controlled && m.ownership != o {
		m.problems = append(m.problems, fmt.Sprintf("it is both %s and %s", m.ownership, o))
	}
	m.ownership = o
	return m
}

// Tracked allows for an object in another namespace than its owner, or a cluster-scoped
// one, as [Managed.Tracked] does.
func (r *Removed[T]) Tracked() *Removed[T] {
	r.ownership = object.Tracked
	return r
}

// Tracked allows for an object in another namespace than its owner, or a cluster-scoped
// one, as [Managed.Tracked] does.
func (r *Released[T]) Tracked() *Released[T] {
	r.ownership = object.Tracked
	return r
}
