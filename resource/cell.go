package resource

import "github.com/armature-go/armature/object"

// Cell carries one value from the live state of an object to the resources that
// come after it in the same component. It starts unset in every pass. Presence is
// not the zero value: an empty string may be set.
//
// A cell belongs to one call of the function that builds components and is not
// safe for concurrent use.
type Cell[V any] struct {
	name  string
	value V
	set   bool
}

// NewCell returns an unset cell. The name is what a user reads while the value
// is waited for, and is unique within the component.
func NewCell[V any](name string) *Cell[V] { return &Cell[V]{name: name} }

// Name returns the name that the cell was made with.
func (c *Cell[V]) Name() string { return c.name }

// IsSet reports whether the cell has a value.
func (c *Cell[V]) IsSet() bool { return c.set }

// Set gives the cell a value. The runtime does so after reading an object; tests
// do so to render what depends on it.
func (c *Cell[V]) Set(v V) { c.value, c.set = v, true }

// Clear takes the value away. The runtime does so at the beginning of a pass.
func (c *Cell[V]) Clear() { *c = Cell[V]{name: c.name} }

func (c *Cell[V]) isNil() bool { return c == nil }

// Output is a value taken from an object after it was applied or read.
type Output[T object.Object] struct {
	cell    Data
	extract func(T)
}

// Into takes a value from the live object into a cell. The function says whether
// there is one; it gets a copy and may change it.
func Into[T object.Object, V any](cell *Cell[V], value func(T) (V, bool)) Output[T] {
	if value == nil {
		return Output[T]{cell: cell}
	}
	return Output[T]{cell: cell, extract: func(live T) {
		if v, ok := value(live); ok {
			cell.Set(v)
		}
	}}
}

// Change is a mutation that needs the value of a cell.
type Change[T object.Object] struct {
	cell   Data
	mutate func(T) error
}

// Using makes a mutation out of a function that needs the value of a cell. As
// long as the cell is unset its resource is blocked, and the function not called.
func Using[T object.Object, V any](cell *Cell[V], mutate func(T, V) error) Change[T] {
	if mutate == nil {
		return Change[T]{cell: cell}
	}
	return Change[T]{cell: cell, mutate: func(obj T) error { return mutate(obj, cell.value) }}
}
