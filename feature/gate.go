// Package feature answers: is it on?
//
//	When(spec.tracing) ─┐
//	                    ├─ All ─▶ Gate ──Enabled──▶ on, off, or an error
//	Version("1.9.0", "<2.0.0") ─┘
//
// A [Gate] is a value that is made from a spec and asked later, any number of
// times. There are three answers: a gate that cannot be evaluated is an error and
// never off, because what is off is deleted. The package knows nothing about what
// a gate switches.
package feature

import (
	"errors"
	"strings"
)

// Gate decides whether something is on. The zero value is on. A Gate never changes
// and is safe for concurrent use.
type Gate struct{ node node }

// node is one form of gate.
type node interface {
	// enabled returns whether the gate is on.
	enabled() (bool, error)
	// known returns what can be said without looking at a version, and whether
	// anything can.
	known() (on, decided bool)
	// String says what the gate is, for people.
	String() string
}

// When returns a gate that is on if the condition holds.
func When(condition bool) Gate { return Gate{constant(condition)} }

// All returns a gate that is on if every one of the gates is; All() is on.
//
// What the booleans among the gates decide is decided without looking at a version:
// if one of them is off, so is the whole, whatever the versions are. Otherwise a
// gate that cannot be evaluated makes the whole an error, which names all of them.
// The order of the gates does not matter.
func All(gates ...Gate) Gate { return Gate{group{gates: gates, settles: false}} }

// Any returns a gate that is on if at least one of the gates is; Any() is off. It
// mirrors [All]: a boolean that is on decides, otherwise errors come first.
func Any(gates ...Gate) Gate { return Gate{group{gates: gates, settles: true}} }

// Not returns a gate that is on if the given one is off. What cannot be evaluated
// cannot be negated either.
func Not(gate Gate) Gate { return Gate{negation{gate}} }

// Enabled reports whether the gate is on. With an error it is neither on nor off.
func (g Gate) Enabled() (bool, error) { return g.form().enabled() }

// String says in words what the gate is, such as version 1.9.0 satisfies "<2.0.0".
func (g Gate) String() string { return g.form().String() }

// form returns the gate's node; the zero gate is on.
func (g Gate) form() node {
	if g.node == nil {
		return constant(true)
	}
	return g.node
}

// constant is a gate that is decided when it is made.
type constant bool

func (c constant) enabled() (bool, error) { return bool(c), nil }
func (c constant) known() (bool, bool)    { return bool(c), true }
func (c constant) String() string {
	if c {
		return "on"
	}
	return "off"
}

// negation turns a gate around.
type negation struct{ of Gate }

func (n negation) enabled() (bool, error) {
	on, err := n.of.Enabled()
	return !on && err == nil, err
}

func (n negation) known() (bool, bool) {
	on, decided := n.of.form().known()
	return !on, decided
}

func (n negation) String() string { return "not (" + n.of.String() + ")" }

// group is All, which one gate that is off settles, or Any, which one that is on
// does: settles is the answer of a single gate that is the answer of the whole.
type group struct {
	gates   []Gate
	settles bool
}

func (g group) enabled() (bool, error) {
	if on, decided := g.known(); decided {
		return on, nil
	}
	var errs []error
	on := !g.settles
	for _, gate := range g.gates {
		one, err := gate.Enabled()
		errs = append(errs, err)
		if one == g.settles {
			on = g.settles
		}
	}
	if err := errors.Join(errs...); err != nil {
		return false, err
	}
	return on, nil
}

func (g group) known() (bool, bool) {
	decided := true
	for _, gate := range g.gates {
		one, oneDecided := gate.form().known()
		if oneDecided && one == g.settles {
			return g.settles, true
		}
		decided = decided && oneDecided
	}
	return !g.settles, decided
}

func (g group) String() string {
	word := map[bool]string{false: "all of", true: "any of"}[g.settles]
	texts := make([]string, len(g.gates))
	for i, gate := range g.gates {
		texts[i] = gate.String()
	}
	return word + " (" + strings.Join(texts, "; ") + ")"
}
