package apply

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/armature-go/armature/object"
)

// A field that is yielded is ours until somebody else sets it; one that is ignored was
// never ours to set. What we own, though, has to go on being sent: the server takes what
// a writer stops to send for a removal, and puts a default in its place.

// texts are paths as they are written.
func texts(paths []object.Path) []any {
	var out []any
	for _, p := range paths {
		out = append(out, p.String())
	}
	return out
}

// concede is the tree that is sent for a desired one, given the live object and what we
// own of it. Neither tree is changed.
func concede(desired, live map[string]any, ours holder, yields, ignores []object.Path) map[string]any {
	if len(yields)+len(ignores) == 0 {
		return desired
	}
	out := runtime.DeepCopyJSON(desired)
	for _, path := range yields {
		descend(out, live, ours, path, func(fields map[string]any, name string, live any, owned bool) {
			_, desired := fields[name]
			switch {
			case live == nil, owned && desired: // nobody else has set it
			case owned:
				fields[name] = runtime.DeepCopyJSONValue(live)
			default:
				delete(fields, name)
			}
		})
	}
	for _, path := range ignores {
		descend(out, live, ours, path, func(fields map[string]any, name string, live any, owned bool) {
			if owned && live != nil {
				fields[name] = runtime.DeepCopyJSONValue(live)
			} else {
				delete(fields, name)
			}
		})
	}
	return out
}

// descend calls a function for each field of a desired tree that a path leads to: with
// the map that has it or could have it, what is live there, and whether we own that.
func descend(desired, live any, ours holder, path object.Path, do func(fields map[string]any, name string, live any, owned bool)) {
	d, ok := desired.(map[string]any)
	if !ok {
		return
	}
	l, _ := live.(map[string]any)
	step, below := path[0], ours.field(path[0].Field)
	switch {
	case len(path) == 1:
		do(d, step.Field, l[step.Field], below.owns.program != nil)
	case !step.List:
		descend(d[step.Field], l[step.Field], below, path[1:], do)
	default:
		items, _ := d[step.Field].([]any)
		others, _ := l[step.Field].([]any)
		for i, item := range items {
			if !step.Selects(item) {
				continue
			}
			descend(item, counterpart(others, item, i), below.item(item), path[1:], do)
		}
	}
}

// counterpart is the live item for a desired one: that of its name or, where it has
// none, that at its place.
func counterpart(others []any, item any, at int) any {
	name := item.(map[string]any)["name"] //nolint:errcheck // it was selected by a field
	if name == nil {
		if at < len(others) {
			return others[at]
		}
		return nil
	}
	i := slices.IndexFunc(others, func(other any) bool {
		m, ok := other.(map[string]any)
		return ok && m["name"] == name
	})
	if i < 0 {
		return nil
	}
	return others[i]
}

// without is a tree without the fields that are ignored, as it is for an object that
// does not exist.
func without(desired map[string]any, ignores []object.Path) map[string]any {
	return concede(maps.Clone(desired), nil, holder{}, nil, ignores)
}
