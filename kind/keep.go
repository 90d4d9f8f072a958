package kind

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-go/armature/object"
)

// Live is what [Preserve] has to know of a live object. All trees hold what JSON holds,
// with int64 and float64 for numbers.
type Live struct {
	// Object is the live object itself, with its status.
	Object map[string]any

	// Owned is the part of Object that our field manager owns, values included; items
	// of keyed lists have their keys. Nil means that nothing is ours, as in the first
	// apply of an adopted object.
	Owned map[string]any

	// Minor is the minor version of the API server; 0 means the newest one known.
	Minor int
}

// Ignored is a part of a desired object that the API server does not let us change,
// so that the live value stays.
type Ignored struct {
	Path  string // spec.template.spec.containers[name=web].image
	Field string // the immutable field that it is in, as in the table: spec.template

	// Desired and Live are the two values; nil where there is none. What is in the
	// data of a Secret is replaced by Redacted.
	Desired, Live any
}

// Redacted stands for the values of Secrets in [Ignored].
const Redacted = "(redacted)"

// Preserve returns what is sent of a desired object, given the live one, so that the API
// server is not asked for what it refuses for ever, and what of the desired object is
// ignored by that, sorted by path.
//
//   - An immutable field that is desired otherwise is sent with its live value and
//     reported; where there is no live value it is left out and reported.
//   - One that is not desired is not reported: what the server filled in is no change
//     request. It is sent with its live value if it was ours, because not sending is
//     removing. Inside of an immutable field that is desired, leaving out what was
//     ours is a change like any other, and is reported.
//   - Ports, addresses and the like that were allocated, or that we asked for, are kept
//     as long as nothing else is asked for; node ports even where a port is renamed or
//     renumbered.
//   - Pods keep the labels by which they are selected, if the selector is kept.
//   - A StatefulSet mounts the claims that it has: mounts of claims that cannot be
//     added are left out, those of claims that cannot be removed are those of the live
//     template.
//
// Desired is a tree of [object.Tree]. Of kinds without immutable fields it is returned
// as a copy, and so it is where there is no live object. Preserve changes nothing that
// it is given; preserving what it returned changes and ignores nothing.
func Preserve(gvk schema.GroupVersionKind, desired map[string]any, live Live) (sent map[string]any, ignored []Ignored) {
	p := &pass{kind: gvk.GroupKind(), desired: desired, state: live}
	if live.Object == nil {
		sent, _ = copied(desired).(map[string]any)
		return sent, nil
	}
	out, _ := p.node(ruleTrees()[p.kind], spot{how: free}, sides{desired, live.Object, live.Owned}).(map[string]any)
	if finish := finishers[p.kind]; finish != nil {
		finish(p, out)
	}
	slices.SortStableFunc(p.ignored, func(a, b Ignored) int { return strings.Compare(a.Path, b.Path) })
	return out, p.ignored
}

// finishers do what takes more than one field to decide. They change what is sent.
var finishers = map[schema.GroupKind]func(p *pass, sent map[string]any){
	{Group: "apps", Kind: "Deployment"}:  keepSelected,
	{Group: "apps", Kind: "ReplicaSet"}:  keepSelected,
	{Group: "apps", Kind: "DaemonSet"}:   keepSelected,
	{Group: "apps", Kind: "StatefulSet"}: func(p *pass, sent map[string]any) { keepSelected(p, sent); keepMounts(p, sent) },
	{Kind: "Service"}:                    keepNodePorts,
}

// wholes are the maps that server-side apply owns as a whole, wherever they are: the
// ones that are atomic in the schemas of the server, but for those in lists that are
// atomic themselves.
var wholes = []string{
	"claimRef", "configMapKeyRef", "controllerExpandSecretRef", "controllerPublishSecretRef", "dataSource", "fieldRef", "fileKeyRef",
	"labelSelector", "namespaceSelector", "nodeExpandSecretRef", "nodePublishSecretRef", "nodeSelector", "nodeStageSecretRef", "required",
	"requiredDuringSchedulingIgnoredDuringExecution", "resourceFieldRef", "roleRef", "secretKeyRef", "secretRef", "selector",
}

// pass is one call of Preserve.
type pass struct {
	kind    schema.GroupKind
	desired map[string]any
	state   Live
	ignored []Ignored
}

// sides are three views of one node; nil where there is none.
type sides struct{ desired, live, owned any }

func (s sides) field(name string) sides {
	return sides{at(s.desired, name), at(s.live, name), at(s.owned, name)}
}

// spot is where a walk is.
type spot struct {
	how  how
	line *field // that says so; nil at the root
	self bool   // the line is about this very node, not about one above it

	path    string // for people
	pattern string // without what tells items apart
}

func (s spot) below(name string) spot {
	s.self = false
	s.path, s.pattern = strings.TrimPrefix(s.path+"."+name, "."), strings.TrimPrefix(s.pattern+"."+name, ".")
	return s
}

// node returns what is sent of a node, nil for nothing.
func (p *pass) node(n *rules, s spot, v sides) any {
	if n != nil {
		for _, line := range n.lines {
			if p.applies(line) {
				s.how, s.line, s.self = line.is, line, true
				break
			}
		}
	}
	switch s.how {
	case free:
		return p.open(n, s, v)
	case allocated:
		if isEmpty(v.desired) && v.owned != nil {
			return copied(v.owned)
		}
		return copied(v.desired)
	default:
		return p.closed(n, s, v)
	}
}

func (p *pass) applies(line *field) bool {
	minor := p.state.Minor
	switch {
	case line.before != 0 && (minor == 0 || minor >= line.before):
		return false
	case line.since != 0 && minor != 0 && minor < line.since:
		return false
	}
	return line.when == nil || line.when.holds(p)
}

// open is a node that may be changed, but perhaps not all that is in it.
func (p *pass) open(n *rules, s spot, v sides) any {
	switch d := v.desired.(type) {
	case map[string]any, nil:
		if _, isMap := v.live.(map[string]any); isMap && n != nil && (d != nil || v.owned != nil) {
			return p.openMap(n, s, v)
		}
	case []any:
		if keys := object.Keys(p.kind, s.pattern); n.item() != nil && len(keys) > 0 {
			out := make([]any, 0, len(d))
			for _, item := range d {
				out = append(out, p.node(n.item(), s.item(keys, item), sides{item, find(v.live, keys, item), find(v.owned, keys, item)}))
			}
			return out
		}
	}
	return copied(v.desired)
}

// openMap is an open map of which there are rules.
func (p *pass) openMap(n *rules, s spot, v sides) any {
	out, _ := copied(v.desired).(map[string]any)
	if out == nil {
		out = map[string]any{}
	}
	for name, below := range n.below {
		if kept := p.node(below, s.below(name), v.field(name)); kept == nil {
			delete(out, name)
		} else {
			out[name] = kept
		}
	}
	if v.desired == nil && len(out) == 0 {
		return nil
	}
	return out
}

// closed is a node that may not be changed, but perhaps something in it.
func (p *pass) closed(n *rules, s spot, v sides) any {
	if s.self && isEmpty(v.live) && !s.line.states {
		v.live = nil // some kinds write out what they do not have
	}
	if may := s.line.may; may != nil && s.self && (v.desired != nil || v.owned != nil) {
		if out, ok := may.accept(p, v.desired, v.live); ok {
			return copied(out)
		}
	}
	d, isMap := v.desired.(map[string]any)
	_, wasMap := v.live.(map[string]any)
	switch {
	case s.unstated(v):
		return p.omitted(s, v)
	case isMap && !s.isWhole() && (wasMap || v.live == nil && n != nil && n.below != nil):
		return p.closedMap(n, s, v, d)
	case v.live == nil:
		p.report(s, v.desired, nil)
		return nil
	}
	if keys := object.Keys(p.kind, s.pattern); len(keys) > 0 && v.desired != nil {
		return p.closedItems(n, s, v, keys)
	}
	if equal(v.desired, v.live) {
		return copied(v.desired)
	}
	if !s.same(v.desired, v.live) {
		p.report(s, v.desired, v.live)
	}
	return copied(v.live)
}

// closedMap is a map of which what is below is decided field by field.
func (p *pass) closedMap(n *rules, s spot, v sides, desired map[string]any) any {
	out := map[string]any{}
	owned, _ := v.owned.(map[string]any)
	for _, name := range union(desired, owned) {
		if kept := p.node(n.field(name), s.below(name), v.field(name)); kept != nil {
			out[name] = kept
		}
	}
	if v.live == nil && len(out) == 0 {
		return nil
	}
	return out
}

// closedItems are the items of a keyed list, in the order in which they are live.
func (p *pass) closedItems(n *rules, s spot, v sides, keys []string) any {
	var out []any
	for _, item := range list(v.live) {
		three := sides{find(v.desired, keys, item), item, find(v.owned, keys, item)}
		if kept := p.node(n.item(), s.item(keys, item), three); kept != nil {
			out = append(out, kept)
		}
	}
	for _, item := range list(v.desired) {
		if find(v.live, keys, item) == nil {
			p.report(s.item(keys, item), item, nil)
		}
	}
	if out == nil {
		return nil
	}
	return out
}

// unstated reports whether nothing is asked of a node.
func (s spot) unstated(v sides) bool {
	switch {
	case v.desired == nil:
		return true
	case s.line.states:
		return s.self && isEmptyList(v.desired) && length(v.live) > 0
	case v.live == nil:
		return nothing(v.desired)
	default:
		return s.self && isEmpty(v.desired)
	}
}

// omitted is what is sent where nothing is desired.
func (p *pass) omitted(s spot, v sides) any {
	switch {
	case v.live == nil && v.desired != nil: // it says nothing, in so many words
		return copied(v.desired)
	case s.self && s.line.states && length(v.live) > 0:
		p.report(s, nil, v.live)
		return copied(v.live)
	case v.owned == nil || v.live == nil || isEmptyList(v.owned):
		return nil
	case !s.self:
		p.report(s, nil, v.live)
	}
	if s.isWhole() {
		return copied(v.live)
	}
	return copied(v.owned)
}

func (s spot) isWhole() bool {
	name := s.pattern[strings.LastIndex(s.pattern, ".")+1:]
	return slices.Contains(wholes, name)
}

func (p *pass) report(s spot, desired, live any) {
	row := Ignored{Path: s.path, Field: s.line.at, Desired: copied(desired), Live: copied(live)}
	if p.kind == (schema.GroupKind{Kind: "Secret"}) && (s.path == "data" || strings.HasPrefix(s.path, "data.")) {
		row.Desired, row.Live = hide(desired), hide(live)
	}
	p.ignored = append(p.ignored, row)
}

func hide(value any) any {
	if value == nil {
		return nil
	}
	return Redacted
}

// item is the spot of an item of a keyed list.
func (s spot) item(keys []string, item any) spot {
	words := make([]string, 0, len(keys))
	for _, key := range keys {
		words = append(words, fmt.Sprintf("%s=%v", key, at(item, key)))
	}
	s.self = false
	s.path += "[" + strings.Join(words, ",") + "]"
	s.pattern += "[]"
	return s
}

// find returns the item of a keyed list that has the same keys as another item.
func find(items any, keys []string, item any) any {
	for _, other := range list(items) {
		if !slices.ContainsFunc(keys, func(key string) bool { return !equal(at(other, key), at(item, key)) }) {
			return other
		}
	}
	return nil
}

func union(a, b map[string]any) []string {
	names := slices.Concat(slices.Collect(maps.Keys(a)), slices.Collect(maps.Keys(b)))
	slices.Sort(names)
	return slices.Compact(names)
}
