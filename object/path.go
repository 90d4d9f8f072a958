package object

import (
	"errors"
	"fmt"
	"strings"
)

// Path names a field of an object, or the same field of several items of a list, as
// spec.replicas, spec.template.spec.containers[name=web].resources,
// webhooks[].clientConfig.caBundle and metadata.annotations["example.com/note"] do.
type Path []Step

// Step is one step of a path: a field and, if that is a list, which of its items.
type Step struct {
	Field      string
	List       bool   // the next step is in the items of the list
	Key, Value string // only in items whose field has this value; empty is all items
}

// ParsePath reads a path. The error says what is wrong with it.
func ParsePath(text string) (Path, error) {
	var path Path
	rest := text
	for first := true; rest != ""; first = false {
		var s Step
		var err error
		switch {
		case !first && strings.HasPrefix(rest, `["`):
		case !first && strings.HasPrefix(rest, "."):
			rest = rest[1:]
		case !first:
			return nil, fmt.Errorf("reading path %q: what follows %q is no field", text, strings.TrimSuffix(text, rest))
		}
		if s, rest, err = parseStep(rest); err != nil {
			return nil, fmt.Errorf("reading path %q: %w", text, err)
		}
		path = append(path, s)
	}
	if len(path) == 0 {
		return nil, fmt.Errorf("reading path %q: it names no field", text)
	}
	if path[len(path)-1].List {
		return nil, fmt.Errorf("reading path %q: it ends in the items of a list; name a field of theirs", text)
	}
	return path, nil
}

// parseStep reads a step off the beginning of a path.
func parseStep(text string) (s Step, rest string, err error) {
	if quoted, ok := strings.CutPrefix(text, `["`); ok {
		name, rest, ok := strings.Cut(quoted, `"]`)
		if !ok || name == "" {
			return Step{}, "", fmt.Errorf(`%s has no end, which is "]`, text)
		}
		return Step{Field: name}, rest, nil
	}
	end := strings.IndexAny(text, ".[")
	if end < 0 {
		end = len(text)
	}
	s.Field, rest = text[:end], text[end:]
	switch {
	case s.Field == "":
		return Step{}, "", errors.New("a field has no name")
	case strings.ContainsAny(s.Field, `"]`):
		return Step{}, "", fmt.Errorf(`%s is no name of a field; write ["…"] around it if it is`, s.Field)
	}
	items, ok := strings.CutPrefix(rest, "[")
	if !ok || strings.HasPrefix(items, `"`) {
		return s, rest, nil
	}
	which, rest, ok := strings.Cut(items, "]")
	if !ok {
		return Step{}, "", fmt.Errorf("[%s has no end, which is ]", items)
	}
	s.List = true
	if which == "" {
		return s, rest, nil
	}
	if s.Key, s.Value, ok = strings.Cut(which, "="); !ok || s.Key == "" || s.Value == "" {
		return Step{}, "", fmt.Errorf("[%s] selects no items; write [name=web], or [] for all", which)
	}
	return s, rest, nil
}

// String is the path as [ParsePath] reads it.
func (p Path) String() string {
	var b strings.Builder
	for i, s := range p {
		switch {
		case strings.ContainsAny(s.Field, `.["]`):
			fmt.Fprintf(&b, `["%s"]`, s.Field)
		case i > 0:
			b.WriteString("." + s.Field)
		default:
			b.WriteString(s.Field)
		}
		switch {
		case s.Key != "":
			fmt.Fprintf(&b, "[%s=%s]", s.Key, s.Value)
		case s.List:
			b.WriteString("[]")
		}
	}
	return b.String()
}

// Selects reports whether a step leads into an item of its list.
func (s Step) Selects(item any) bool {
	m, ok := item.(map[string]any)
	return ok && (s.Key == "" || fmt.Sprint(m[s.Key]) == s.Value)
}
