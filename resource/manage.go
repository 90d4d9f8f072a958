package resource

import (
	"errors"
	"fmt"
	"slices"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/feature"
	"github.com/armature-go/armature/kind"
	"github.com/armature-go/armature/object"
)

// Managed is an object that is made and kept as declared.
type Managed[T object.Object] struct {
	base                   T
	gates                  []feature.Gate
	participation          Participation
	guards                 []func(T) error
	mutations              []mutation[T]
	outputs                []Output[T]
	health                 func(T, object.Op) kind.State
	problems               []string
	ownership              object.Ownership
	yields, ignores, whole []object.Path
	recreate               bool
}

type mutation[T object.Object] struct {
	name   string
	gate   feature.Gate
	reads  Data // nil: needs no cell
	mutate func(T) error
}

// Manage declares that the object exists and is as given. The object is never
// changed; give it to one resource only.
func Manage[T object.Object](base T) *Managed[T] {
	return &Managed[T]{base: base, participation: Required}
}

// Mutate changes the object where the gate is on. Mutations run in the order in
// which they are added, each on the result of the one before; a name is unique
// within the resource. The function must not depend on anything but its argument
// and what it closed over when the component was built.
func (m *Managed[T]) Mutate(name string, gate feature.Gate, mutate func(T) error) *Managed[T] {
	m.mutations = append(m.mutations, mutation[T]{name: name, gate: gate, mutate: mutate})
	return m
}

// MutateUsing is [Managed.Mutate] for a change that needs the value of a cell; see [Using].
func (m *Managed[T]) MutateUsing(name string, gate feature.Gate, change Change[T]) *Managed[T] {
	if change.cell == nil || change.cell.isNil() {
		m.problems = append(m.problems, fmt.Sprintf("mutation %q uses no cell", name))
		return m
	}
	m.mutations = append(m.mutations, mutation[T]{name: name, gate: gate, reads: change.cell, mutate: change.mutate})
	return m
}

// GatedBy makes the existence of the object depend on a gate: where it is off, the
// object is deleted. Of several gates all must be on.
func (m *Managed[T]) GatedBy(gate feature.Gate) *Managed[T] {
	m.gates = append(m.gates, gate)
	return m
}

// Auxiliary leaves the health of the object out of the component's condition.
// Errors still count.
func (m *Managed[T]) Auxiliary() *Managed[T] {
	m.participation = Auxiliary
	return m
}

// Guard adds a precondition. It gets a copy of the baseline. A
// [condition.WaitError] blocks this resource and what comes after it; any other
// error fails the component.
func (m *Managed[T]) Guard(guard func(T) error) *Managed[T] {
	if guard == nil {
		m.problems = append(m.problems, "a guard has no function")
		return m
	}
	m.guards = append(m.guards, guard)
	return m
}

// Extract takes values out of the live object after it was applied.
func (m *Managed[T]) Extract(outputs ...Output[T]) *Managed[T] {
	m.outputs = append(m.outputs, outputs...)
	return m
}

// Health replaces the rule by which the kind decides how the object is doing.
func (m *Managed[T]) Health(rule func(live T, op object.Op) kind.State) *Managed[T] {
	m.health = rule
	return m
}

// Declaration implements [Resource].
func (m *Managed[T]) Declaration() Declaration {
	if m == nil || object.IsNil(m.base) {
		return Declaration{Mode: ModeManage}
	}
	d := Declaration{
		Object:        m.base,
		Mode:          ModeManage,
		Gate:          feature.All(m.gates...),
		Participation: m.participation,
		Ownership:     m.ownership,
		Yield:         m.yields,
		Ignore:        m.ignores,
		Whole:         m.whole,
		Recreate:      m.recreate,
		Problems:      slices.Concat(mistaken(m.mutations), m.problems, mute(m.outputs)),
		Guard:         m.guard,
		Render:        m.render,
		Extract:       extractor(m.outputs),
		Health:        health(m.health),
		Origin:        m.origin,
	}
	for _, mut := range m.mutations {
		d.Mutations = append(d.Mutations, Mutation{Name: mut.name, Gate: mut.gate})
		if on, err := mut.gate.Enabled(); mut.reads != nil && (on || err != nil) {
			d.Reads = append(d.Reads, mut.reads)
		}
	}
	d.Writes = written(m.outputs)
	return d
}

func (m *Managed[T]) guard() error {
	for _, guard := range m.guards {
		c, err := clone(m.base)
		if err != nil {
			return err
		}
		if err := guard(c); err != nil {
			return err
		}
	}
	return nil
}

func (m *Managed[T]) render() (object.Object, error) {
	obj, err := clone(m.base)
	if err != nil {
		return nil, err
	}
	for _, mut := range m.mutations {
		on, err := mut.gate.Enabled()
		if err != nil {
			return nil, fmt.Errorf("mutation %q: %w", mut.name, err)
		}
		if !on {
			continue
		}
		if err := mut.run(obj); err != nil {
			return nil, fmt.Errorf("mutation %q: %w", mut.name, err)
		}
	}
	return obj, nil
}

func (m mutation[T]) run(obj T) error {
	switch {
	case m.mutate == nil:
		return errors.New("it has no function")
	case m.reads != nil && !m.reads.IsSet():
		return &condition.WaitError{Message: fmt.Sprintf("waiting for data %q", m.reads.Name())}
	default:
		return m.mutate(obj)
	}
}

// mistaken says what is wrong with the declaration of mutations.
func mistaken[T object.Object](mutations []mutation[T]) []string {
	var problems []string
	seen := map[string]bool{}
	for _, m := range mutations {
		switch {
		case m.name == "":
			problems = append(problems, "a mutation has no name")
		case seen[m.name]:
			problems = append(problems, fmt.Sprintf("two mutations are named %q", m.name))
		}
		seen[m.name] = true
		if m.mutate == nil {
			problems = append(problems, fmt.Sprintf("mutation %q has no function", m.name))
		}
	}
	return problems
}

// mute finds the outputs that could never say anything.
func mute[T object.Object](outputs []Output[T]) []string {
	var problems []string
	for _, out := range outputs {
		if !IsNilData(out.cell) && out.extract == nil {
			problems = append(problems, fmt.Sprintf("no function extracts data %q", out.cell.Name()))
		}
	}
	return problems
}

func clone[T object.Object](obj T) (T, error) {
	c, ok := obj.DeepCopyObject().(T)
	if !ok {
		return c, fmt.Errorf("copying %T: its DeepCopyObject returns another type", obj)
	}
	return c, nil
}

// typed gives a rule a copy of the live object as its own type.
func typed[T object.Object](live object.Object) (T, error) {
	t, ok := live.(T)
	if !ok {
		var want T
		return want, fmt.Errorf("the live object is a %T, not a %T", live, want)
	}
	return clone(t)
}

func extractor[T object.Object](outputs []Output[T]) func(object.Object) error {
	if len(outputs) == 0 {
		return nil
	}
	return func(live object.Object) error {
		for _, out := range outputs {
			t, err := typed[T](live)
			if err != nil {
				return err
			}
			out.extract(t)
		}
		return nil
	}
}

func health[T object.Object](rule func(T, object.Op) kind.State) func(object.Object, object.Op) kind.State {
	if rule == nil {
		return nil
	}
	return func(live object.Object, op object.Op) kind.State {
		t, err := typed[T](live)
		if err != nil {
			return kind.State{Reason: condition.Error, Message: err.Error()}
		}
		return rule(t, op)
	}
}

func written[T object.Object](outputs []Output[T]) []Data {
	var cells []Data
	for _, out := range outputs {
		cells = append(cells, out.cell)
	}
	return cells
}
