package apply

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/armature-go/armature/kind"
	"github.com/armature-go/armature/object"
)

// sending is the target with the tree that is sent in view of what was seen: without
// what is left to others, and with the live values of what the server does not let us
// change.
func (a *Applier) sending(t target, seen object.Object) (target, error) {
	fixed := kind.HasImmutable(t.key.GVK.GroupKind())
	if len(t.yields)+len(t.ignores) == 0 && !fixed {
		return t, nil
	}
	p, err := a.records.program(t.owner.GetUID(), entry(seen, a.Manager(t.owner), ""))
	if err != nil {
		return target{}, err
	}
	live, err := runtime.DefaultUnstructuredConverter.ToUnstructured(seen)
	if err != nil {
		return target{}, fmt.Errorf("encoding %s: %w", t.key.Short(), err)
	}
	owns := p.of(t.owner.GetUID())
	t.tree = concede(t.tree, live, holder{ours: true, owns: owns}, t.yields, t.ignores)
	if fixed {
		owned, _ := owns.part(live).(map[string]any)
		t.tree, t.ignored = kind.Preserve(t.key.GVK, t.tree, kind.Live{Object: live, Owned: owned})
	}
	return t, nil
}

// part is what is owned of a tree: the same tree without the rest. Items of lists keep
// what tells them apart.
func (v view) part(tree any) any {
	if v.program == nil {
		return nil
	}
	w := newWriter()
	defer w.free()
	w.self = v.self
	return w.part(v.program, tree)
}

func (w *writer) part(p *program, tree any) any {
	if p.leaf() {
		return tree
	}
	switch node := tree.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, f := range p.fields {
			if sub, ok := node[f.name]; ok {
				out[f.name] = w.part(f.below, sub)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, item := range node {
			at := w.match(p, treeNode(item))
			if at < 0 {
				continue
			}
			sub := w.part(p.items[at].below, item)
			if m, ok := sub.(map[string]any); ok {
				whole, _ := item.(map[string]any)
				for key := range p.items[at].keys {
					m[key] = whole[key]
				}
			}
			out = append(out, sub)
		}
		return out
	default:
		return tree
	}
}

// told is what is ignored, as notes for people.
func told(ignored []kind.Ignored) []Note {
	var notes []Note
	for _, i := range ignored {
		message := i.Path + " cannot be changed and stays"
		stays, wanted := short(i.Path, i.Live), short(i.Path, i.Desired)
		switch {
		case i.Desired == nil && stays != "":
			message += " " + stays + ", which is no longer desired"
		case i.Desired == nil:
			message += ", though it is no longer desired"
		case i.Live == nil:
			message = i.Path + " cannot be added"
		case stays != "" && wanted != "":
			message += " " + stays + "; " + wanted + " is desired"
		default:
			message += " as it is; something else is desired"
		}
		notes = append(notes, Note{Reason: "ImmutableFieldIgnored", Message: message})
	}
	return notes
}

// short writes a value for a message; empty if it is too long for one, or may be a
// secret, as variables of containers are.
func short(path string, value any) string {
	raw, err := json.Marshal(value)
	if err != nil || len(raw) > 60 || strings.Contains(path, "env") {
		return ""
	}
	return strings.Trim(string(raw), `"`)
}
