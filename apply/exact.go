package apply

import (
	"fmt"
	"slices"
)

// exact reports whether what is owned in live is what is desired, with the same
// values in the same order, so that applying desired again would change nothing.
// Where it cannot tell it says no, with one exception: a mapping that is owned as a
// whole may be one that somebody applied empty under our name, so that we do not own
// what is in it. As its content is what is desired, and any change of it shows, it
// counts as exact.
func (v view) exact(desired any, live node) bool {
	c := comparison{newWriter()}
	defer c.free()
	c.self = v.self
	return c.exact(v.program, desired, live)
}

// comparison compares what is desired, a tree, with what is live: nodes are the same
// that are written the same.
type comparison struct{ *writer }

func (c comparison) exact(p *program, desired any, live node) bool {
	switch {
	case p.opaque:
		return false
	case p.leaf():
		return c.same(treeNode(desired), live)
	}
	switch d := desired.(type) {
	case map[string]any:
		return live.kind == mapping && len(p.items) == 0 && c.exactFields(p, d, live)
	case []any:
		return live.kind == sequence && len(p.fields) == 0 && c.exactItems(p, d, live)
	default:
		return false
	}
}

func (c comparison) exactFields(p *program, desired map[string]any, live node) bool {
	owned := 0
	for name, d := range desired {
		stored, below := live.field(name), p.under(name)
		switch {
		case below == nil && (stored.kind != null || !nothing(d)):
			return false
		case below == nil: // of an empty list with keys nothing is owned
			continue
		case stored.kind == null && (!blank(d) || !below.leaf()):
			return false
		case stored.kind != null && !c.exact(below, d, stored):
			return false
		}
		owned++ // and, if it is blank, perhaps not stored: hostNetwork: false
	}
	return len(p.fields) == owned
}

func (c comparison) exactItems(p *program, desired []any, live node) bool {
	if len(p.items) != len(desired) {
		return false
	}
	wanted, _ := c.places(p, treeNode(desired))
	places, twice := c.places(p, live)
	order := make([]int, len(desired)) // the places in live, in the order of desired
	for i, at := range wanted {
		if twice || at < 0 || places[i] < 0 || !c.exact(p.items[i].below, desired[at], live.item(places[i])) {
			return false
		}
		order[at] = places[i]
	}
	return slices.IsSorted(order)
}

// places returns where in a list each item of the program is, -1 where it is not,
// and whether any of them is there twice.
func (c comparison) places(p *program, in node) (places []int, twice bool) {
	places = slices.Repeat([]int{-1}, len(p.items))
	for i := range in.len() {
		at := c.match(p, in.item(i))
		switch {
		case at < 0:
		case places[at] < 0:
			places[at] = i
		default:
			twice = true
		}
	}
	return places, twice
}

// unresolved returns the path of something that is owned and desired and that the
// server's answer does not show, or an empty string: what is written under one name
// and stored under another can never be seen to be there.
func (v view) unresolved(desired any, live node) string {
	c := comparison{newWriter()}
	defer c.free()
	c.self = v.self
	return c.unresolved(v.program, desired, live, "")
}

func (c comparison) unresolved(p *program, desired any, live node, path string) string {
	if p.leaf() {
		if live.kind == null && !blank(desired) {
			return path
		}
		return ""
	}
	fields, _ := desired.(map[string]any)
	for _, f := range p.fields {
		if missing := c.unresolved(f.below, fields[f.name], live.field(f.name), path+"."+f.name); missing != "" {
			return missing
		}
	}
	items, _ := desired.([]any)
	wanted, _ := c.places(p, treeNode(items))
	places, _ := c.places(p, live)
	for i, item := range p.items {
		at := fmt.Sprintf("%s[%s]", path, item.raw)
		switch {
		case wanted[i] < 0: // owned for another reason
		case places[i] < 0:
			return at
		default:
			if missing := c.unresolved(item.below, items[wanted[i]], live.item(places[i]), at); missing != "" {
				return missing
			}
		}
	}
	return ""
}

// nothing reports whether a node is a list without items.
func nothing(node any) bool {
	list, ok := node.([]any)
	return ok && len(list) == 0
}

// blank reports whether a node says nothing.
func blank(node any) bool {
	switch v := node.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	case string:
		return v == ""
	case bool:
		return !v
	case int64:
		return v == 0
	case float64:
		return v == 0
	}
	return false
}
