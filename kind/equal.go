package kind

import (
	"maps"
	"slices"
	"strings"
)

// isEmpty reports whether a value says no more than leaving it out.
func isEmpty(node any) bool {
	switch node := node.(type) {
	case nil:
		return true
	case string:
		return node == ""
	default:
		return isEmptyList(node)
	}
}

func isEmptyList(node any) bool {
	items, ok := node.([]any)
	return ok && len(items) == 0
}

// equal reports whether two trees are the same. A null is a field that is not there.
func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		other, ok := b.(map[string]any)
		if !ok {
			return false
		}
		for _, name := range union(a, other) {
			if !equal(a[name], other[name]) {
				return false
			}
		}
		return true
	case []any:
		other, ok := b.([]any)
		return ok && slices.EqualFunc(a, other, equal)
	default:
		switch b.(type) {
		case map[string]any, []any:
			return false
		}
		return a == b
	}
}

// same reports whether two values of a field ask for the same, so that there is
// nothing to report.
func (s spot) same(desired, live any) bool {
	if !s.self || len(s.line.filled) == 0 {
		return alike(desired, live)
	}
	d, l := list(desired), list(live)
	return slices.EqualFunc(d, l, func(d, l any) bool {
		for _, path := range s.line.filled {
			if at(d, strings.Split(path, ".")...) == nil {
				l = without(l, strings.Split(path, ".")...)
			}
		}
		return alike(d, l)
	})
}

// alike reports whether two trees say the same: an empty value is one that is not there.
func alike(a, b any) bool {
	x, isMap := a.(map[string]any)
	y, wasMap := b.(map[string]any)
	if isMap && wasMap {
		for _, name := range union(x, y) {
			if !alike(x[name], y[name]) {
				return false
			}
		}
		return true
	}
	p, isList := a.([]any)
	q, wasList := b.([]any)
	if isList && wasList {
		return slices.EqualFunc(p, q, alike)
	}
	return equal(a, b) || nothing(a) && nothing(b)
}

func nothing(node any) bool { return isEmpty(node) || node == false || node == int64(0) }

// without returns a tree without what is at a path. It shares what it can.
func without(node any, path ...string) any {
	m, ok := node.(map[string]any)
	if !ok || m[path[0]] == nil {
		return node
	}
	out := maps.Clone(m)
	if len(path) == 1 {
		delete(out, path[0])
	} else {
		out[path[0]] = without(m[path[0]], path[1:]...)
	}
	return out
}

// copied returns a tree that shares nothing with the given one, without the nulls in
// its maps.
func copied(node any) any {
	switch node := node.(type) {
	case map[string]any:
		if node == nil {
			return nil
		}
		out := make(map[string]any, len(node))
		for k, v := range node {
			if v != nil {
				out[k] = copied(v)
			}
		}
		return out
	case []any:
		out := make([]any, len(node))
		for i, v := range node {
			out[i] = copied(v)
		}
		return out
	default:
		return node
	}
}
