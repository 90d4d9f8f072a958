package object

import (
	"fmt"
	"strings"
)

// PayloadError says that the content of an object cannot be sent as it is: the API
// server would refuse it, or would store something else for ever. Values are never
// part of it, but for the keys of list items, such as names and ports.
type PayloadError struct {
	Path    string // where, such as spec.template.spec.containers[0].env[3]
	In      string // the named items around it, such as container "web"; empty if there are none
	Problem string // what is wrong there
	Other   string // for a duplicate: the path of the first of the two
	Fix     string // what to do about it
}

// Error returns one line for people: where, what, and what to do.
func (e *PayloadError) Error() string {
	var b strings.Builder
	b.WriteString(e.Path)
	if e.In != "" {
		fmt.Fprintf(&b, " (%s)", e.In)
	}
	fmt.Fprintf(&b, ": %s", e.Problem)
	if e.Other != "" {
		fmt.Fprintf(&b, " as %s", e.Other)
	}
	if e.Fix != "" {
		fmt.Fprintf(&b, "; %s", e.Fix)
	}
	return b.String()
}

// below returns the error as it is seen from one step further up. Paths are only
// written where there is an error, from the inside out.
func (e *PayloadError) below(step string) *PayloadError {
	e.Path = join(step, e.Path)
	if e.Other != "" {
		e.Other = join(step, e.Other)
	}
	return e
}

// join writes a path the way people do: spec.rules[0].host.
func join(step, path string) string {
	if path == "" || strings.HasPrefix(path, "[") {
		return step + path
	}
	return step + "." + path
}

// index is the step to an item of a list.
func index(i int) string { return fmt.Sprintf("[%d]", i) }
