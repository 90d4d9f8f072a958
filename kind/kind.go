package kind

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
)

// Category says what an object's being ready means.
type Category string

// The categories of kinds.
const (
	Workload    Category = "workload"    // its pods run and go on running
	Task        Category = "task"        // its pods run to an end
	Integration Category = "integration" // somebody else provides what it asks for
	Static      Category = "static"      // it is there, which is all
)

// Scope says where objects of a kind live.
type Scope string

// The scopes of kinds.
const (
	Namespaced Scope = "namespaced"
	Cluster    Scope = "cluster"
)

// State is what a rule says about an object. The zero State has nothing to say.
type State struct {
	Reason  condition.Reason
	Message string // for people, without the object's name; may be empty
}

// How says what suspension does to an object. The zero value is nothing: the object
// takes no part and is neither changed nor deleted.
type How string

// What suspension does to an object that takes part.
const (
	Keep   How = "keep"   // stays as it is
	Scale  How = "scale"  // stays, without pods
	Pause  How = "pause"  // stays, and starts nothing more
	Delete How = "delete" // is deleted once it rests, and made anew on resumption
)

// Suspension is how objects of a kind are brought to rest.
type Suspension struct {
	How How

	// Mutate changes the desired object into its resting form; nil changes nothing.
	// It is given a copy that it may change, typed or unstructured.
	Mutate func(desired object.Object) error

	// Status says how far the live object is: Suspending or Suspended. It is set
	// for every How but the zero one.
	Status func(live object.Object) State

	// Spares reports whether suspension leaves this live object alone, because it
	// has nothing left to suspend and would be run again if it were deleted. Nil
	// spares nothing.
	Spares func(live object.Object) bool
}

// Kind is what is special about one kind. Rules take the live object as its Go type
// or as *unstructured.Unstructured; given anything else, they say Error. They change
// nothing, and are safe for concurrent use.
type Kind struct {
	GVK      schema.GroupVersionKind
	Category Category
	Scope    Scope
	Means    string // when it is ready, in a few words for the documentation

	// Health says whether the live object is what was asked for, given what this
	// pass did to it. Nil, or a zero State, means that there is nothing to wait for.
	Health func(live object.Object, op object.Op) State

	// Grace says how bad it is that the object is not ready when the grace period
	// is over: Healthy, Degraded or Down. It is Healthy only where Health is ready.
	// Nil means that the kind has no opinion.
	Grace func(live object.Object) State

	Suspend Suspension
}

// Table is a set of rows, one for each kind. It never changes, and is safe for
// concurrent use; a nil Table is empty.
type Table struct {
	rows map[schema.GroupVersionKind]Kind
}

// Builtin returns the table of the kinds that the library knows.
func Builtin() *Table { return (*Table)(nil).With(builtin()...) }

// Lookup returns the row of exactly this group, version and kind, and whether there
// is one. What a missing row means is the caller's decision; see [Table.Find].
func (t *Table) Lookup(gvk schema.GroupVersionKind) (Kind, bool) {
	if t == nil {
		return Kind{}, false
	}
	k, ok := t.rows[gvk]
	return k, ok
}

// Find returns the row of a kind; where there is none, it returns one that judges
// objects by what they say about themselves, as most custom resources do. Such a row
// has no category and no scope, and takes no part in suspension.
func (t *Table) Find(gvk schema.GroupVersionKind) Kind {
	if k, ok := t.Lookup(gvk); ok {
		return k
	}
	return Kind{GVK: gvk, Means: meansReady, Health: saysItself}
}

// With returns a table with these rows as well. A row replaces the whole row of its
// kind, if there is one; of two for one kind the last wins.
func (t *Table) With(rows ...Kind) *Table {
	out := &Table{rows: map[schema.GroupVersionKind]Kind{}}
	if t != nil {
		maps.Copy(out.rows, t.rows)
	}
	for _, k := range rows {
		out.rows[k.GVK] = k
	}
	return out
}

// Kinds returns the rows sorted by group, kind and version.
func (t *Table) Kinds() []Kind {
	if t == nil {
		return nil
	}
	return slices.SortedFunc(maps.Values(t.rows), func(a, b Kind) int {
		return cmp.Or(
			cmp.Compare(a.GVK.Group, b.GVK.Group),
			cmp.Compare(a.GVK.Kind, b.GVK.Kind),
			cmp.Compare(a.GVK.Version, b.GVK.Version),
		)
	})
}
