package resource_test

import (
	"testing"

	"github.com/armature-go/armature/resource"
)

// Whether a cell is set does not depend on what it is set to.
func TestCell(t *testing.T) {
	text, number, pointer := resource.NewCell[string]("text"), resource.NewCell[int]("number"), resource.NewCell[*int]("pointer")
	set := map[resource.Data]func(){
		text:    func() { text.Set("") },
		number:  func() { number.Set(0) },
		pointer: func() { pointer.Set(nil) },
	}
	for cell, fill := range set {
		name := cell.Name()
		for range 2 {
			if cell.IsSet() {
				t.Errorf("%s is set from the beginning", name)
			}
			fill()
			if !cell.IsSet() {
				t.Errorf("%s is not set by its zero value", name)
			}
			cell.Clear()
		}
		if cell.IsSet() || cell.Name() != name || resource.IsNilData(cell) {
			t.Errorf("%s is called %q and set (%v) after it was cleared", name, cell.Name(), cell.IsSet())
		}
	}
}

func TestIsNilData(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   resource.Data
		want bool
	}{
		{"nothing", nil, true},
		{"a nil pointer", (*resource.Cell[int])(nil), true},
		{"an unset cell", resource.NewCell[int]("n"), false},
		{"a cell that nobody named", new(resource.Cell[int]), false},
	} {
		if got := resource.IsNilData(tc.in); got != tc.want {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
}

// Two cells are two pieces of data, whatever they are called.
func TestCellIdentity(t *testing.T) {
	var a, b resource.Data = resource.NewCell[int]("n"), resource.NewCell[int]("n")
	if a == b {
		t.Error("cells of one name are one")
	}
}
