package apply

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-go/armature/object"
)

// holder is a field manager of an object, and what it owns at the node that is looked
// at and below.
type holder struct {
	name string
	ours bool
	owns view // its program is nil where it owns nothing there
}

// holders are the field managers of an object.
func (a *Applier) holders(owner, obj object.Object) ([]holder, error) {
	var all []holder
	for _, e := range obj.GetManagedFields() {
		if e.Subresource != "" {
			continue
		}
		p, err := a.records.program(owner.GetUID(), &e)
		if err != nil {
			return nil, err
		}
		ours := e.Manager == a.Manager(owner) && e.Operation == metav1.ManagedFieldsOperationApply
		all = append(all, holder{e.Manager, ours, p.of(owner.GetUID())})
	}
	return all, nil
}

// field is the holder one field further down.
func (h holder) field(name string) holder {
	if h.owns.program != nil && !h.owns.leaf() { // what is owned as a whole is owned below
		h.owns.program = h.owns.under(name)
	}
	return h
}

// item is the holder at an item of a list.
func (h holder) item(item any) holder {
	if h.owns.program == nil || h.owns.leaf() {
		return h
	}
	w := newWriter()
	defer w.free()
	w.self = h.owns.self
	at := w.match(h.owns.program, treeNode(item))
	if at < 0 {
		h.owns.program = nil
		return h
	}
	h.owns.program = h.owns.items[at].below
	return h
}

func each(holders []holder, step func(holder) holder) []holder {
	out := make([]holder, len(holders))
	for i, h := range holders {
		out[i] = step(h)
	}
	return out
}

// difference lists what changes from one tree of the object to another: sorted, down to
// texts, numbers and lists that are replaced at once.
func (t target) difference(before, after map[string]any, holders []holder) []FieldChange {
	d := difference{fresh: holders == nil, secret: t.key.GVK.GroupKind() == schema.GroupKind{Kind: "Secret"}}
	d.walk("", stripped(before), stripped(after), declared(t.tree), holders)
	return d.changes
}

// stripped is a tree without what the server keeps about it.
func stripped(tree map[string]any) any {
	if tree == nil {
		return nil
	}
	out := declared(tree)
	delete(out, "status")
	if metadata, ok := out["metadata"].(map[string]any); ok {
		metadata = maps.Clone(metadata)
		for _, name := range []string{"managedFields", "resourceVersion", "generation", "creationTimestamp"} {
			delete(metadata, name)
		}
		out["metadata"] = metadata
	}
	return out
}

type difference struct {
	fresh   bool // there is nothing that anybody has written, as far as is known
	secret  bool
	changes []FieldChange
}

func (d *difference) walk(path string, before, after, desired any, holders []holder) {
	if equality.Semantic.DeepEqual(before, after) {
		return
	}
	old, wasMap := before.(map[string]any)
	now, isMap := after.(map[string]any)
	if (wasMap || before == nil) && (isMap || after == nil) && len(old)+len(now) > 0 {
		want, _ := desired.(map[string]any)
		names := slices.Sorted(maps.Keys(now))
		for name := range old {
			if i, found := slices.BinarySearch(names, name); !found {
				names = slices.Insert(names, i, name)
			}
		}
		for _, name := range names {
			d.walk(step(path, name), old[name], now[name], want[name], each(holders, func(h holder) holder { return h.field(name) }))
		}
		return
	}
	if d.items(path, before, after, desired, holders) {
		return
	}
	d.add(path, before, after, desired, holders)
}

// items walks two lists whose items have names, and reports whether they are such.
func (d *difference) items(path string, before, after, desired any, holders []holder) bool {
	old, now := byName(before), byName(after)
	if len(old) == 0 && len(now) == 0 || old == nil && before != nil || now == nil && after != nil {
		return false
	}
	want := byName(desired)
	for _, name := range slices.Compact(slices.Sorted(func(yield func(string) bool) {
		for name := range old {
			if !yield(name) {
				return
			}
		}
		for name := range now {
			if !yield(name) {
				return
			}
		}
	})) {
		item := old[name]
		if item == nil {
			item = now[name]
		}
		d.walk(fmt.Sprintf("%s[name=%s]", path, name), old[name], now[name], want[name], each(holders, func(h holder) holder { return h.item(item) }))
	}
	return true
}

// byName are the items of a list by their names; nil if not every item has one of its
// own.
func byName(node any) map[string]any {
	list, ok := node.([]any)
	if !ok {
		return nil
	}
	out := map[string]any{}
	for _, item := range list {
		m, _ := item.(map[string]any)
		name, ok := m["name"].(string)
		if _, twice := out[name]; !ok || twice {
			return nil
		}
		out[name] = item
	}
	return out
}

// add notes a change, if it is one of ours: what we neither desire nor own is written
// by others meanwhile, or filled in by the server.
func (d *difference) add(path string, before, after, desired any, holders []holder) {
	others, ours := writersOf(holders)
	if desired == nil && !ours {
		return
	}
	c := FieldChange{Path: path, Old: before, New: after}
	switch {
	case d.fresh:
	case after == nil:
		c.Reason = "no longer desired"
	case before == nil:
		c.Reason = "it is not there"
	case !ours && len(others) > 0:
		c.Reason = writtenBy + strings.Join(others, ", ")
	default:
		c.Reason = "desired changed"
	}
	if d.secret && (strings.HasPrefix(path, "data") || strings.HasSuffix(path, lastApplied)) {
		c.Old, c.New = redacted(before), redacted(after)
	}
	d.changes = append(d.changes, c)
}

// lastApplied is the end of the path of an annotation that holds a whole object.
const lastApplied = `last-applied-configuration"]`

func redacted(value any) any {
	if value == nil {
		return nil
	}
	return Redacted
}

// writtenBy begins the reason of a change of what others wrote.
const writtenBy = "written by "

// writersOf returns the other managers that own a node, and whether we do.
func writersOf(holders []holder) (others []string, ours bool) {
	for _, h := range holders {
		switch {
		case h.owns.program == nil:
		case h.ours:
			ours = true
		default:
			others = append(others, fmt.Sprintf("%q", h.name))
		}
	}
	return others, ours
}

// step writes one step of a path.
func step(path, name string) string {
	if strings.ContainsAny(name, "./") {
		return fmt.Sprintf("%s[%q]", path, name)
	}
	return strings.TrimPrefix(path+"."+name, ".")
}
