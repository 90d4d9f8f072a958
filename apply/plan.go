package apply

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/kind"
	"github.com/armature-go/armature/object"
)

// Plan is what [Applier.Apply] would do to one object.
type Plan struct {
	Key        object.Key
	Op         object.Op // OpCreated, OpUpdated or OpNone
	Changes    []FieldChange
	Ignored    []kind.Ignored // what is desired otherwise and cannot be changed
	Unverified string         // why the server could not be asked, so that the changes are ours only; empty where it was
}

// FieldChange is one field that an apply would change.
type FieldChange struct {
	Path     string // spec.template.spec.containers[name=web].image
	Old, New any    // nil where there is nothing; [Redacted] for the content of a Secret
	Reason   string // why, for people
}

// Redacted stands for a value that is not shown.
const Redacted = kind.Redacted

// String writes the change on one line.
func (c FieldChange) String() string {
	var b strings.Builder
	b.WriteString(c.Path)
	switch {
	case c.Old == nil:
		fmt.Fprintf(&b, ": %v", c.New)
	case c.New == nil:
		fmt.Fprintf(&b, ": %v is removed", c.Old)
	default:
		fmt.Fprintf(&b, ": %v becomes %v", c.Old, c.New)
	}
	if c.Reason != "" {
		fmt.Fprintf(&b, " (%s)", c.Reason)
	}
	return b.String()
}

// Plan returns what Apply would do for the same arguments, and writes nothing: the
// server is asked by a dry run. Where it cannot be asked, because the namespace or the
// kind is not there yet or a webhook takes no dry run, the changes are computed from
// what is desired alone. It fails where Apply would, and the error tells apart the
// same.
func (a *Applier) Plan(ctx context.Context, owner object.Object, component string, desired object.Object, how ...object.Handling) (Plan, error) {
	t, err := a.target(owner, component, desired, how...)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Key: t.key, Op: object.OpCreated}
	seen, err := a.look(ctx, a.live, t.key)
	switch {
	case meta.IsNoMatchError(err):
		return p.unverified(t, nil, fmt.Sprintf("the cluster does not serve %s yet", t.key.GVK.Kind)), nil
	case err != nil:
		return Plan{}, refusal(err, "get", t.key)
	case seen == nil:
		return a.planCreate(ctx, t, p)
	case !a.admits(t, seen) && !a.mayAdopt(t, seen):
		return Plan{}, a.conflict(t, seen)
	}
	return a.planUpdate(ctx, t, p, seen)
}

func (a *Applier) planCreate(ctx context.Context, t target, p Plan) (Plan, error) {
	t.tree = without(t.tree, t.ignores)
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(t.tree)}
	u.SetResourceVersion(neverStored)
	err := a.send(ctx, u, client.FieldOwner(a.Manager(t.owner)), client.DryRunAll)
	switch {
	case apierrors.IsNotFound(err):
		return p.unverified(t, nil, fmt.Sprintf("namespace %q does not exist yet", t.key.Namespace)), nil
	case apierrors.IsBadRequest(err):
		return p.unverified(t, nil, err.Error()), nil
	case err != nil:
		return Plan{}, a.refused(err, t.key)
	}
	p.Changes = t.difference(nil, t.tree, nil) // what the server fills in is not ours to tell: addresses are made up in a dry run
	return p, nil
}

func (a *Applier) planUpdate(ctx context.Context, t target, p Plan, seen object.Object) (Plan, error) {
	before, err := runtime.DefaultUnstructuredConverter.ToUnstructured(seen)
	if err != nil {
		return Plan{}, err
	}
	holders, err := a.holders(t.owner, seen)
	if err != nil {
		return Plan{}, err
	}
	p.Op = object.OpUpdated
	if t, err = a.sending(t, seen); err != nil {
		return Plan{}, err
	}
	p.Ignored = t.ignored
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(t.tree)}
	u.SetUID(seen.GetUID())
	t = a.facing(t, seen)
	err = a.send(ctx, u, append(a.writer(t), client.DryRunAll)...)
	switch {
	case isRivalry(err):
		return Plan{}, &ConflictError{Key: t.key, Holder: t.rival}
	case apierrors.IsBadRequest(err):
		return p.unverified(t, before, err.Error()), nil
	case apierrors.IsInvalid(err) && len(object.Unions(t.key.GVK.GroupKind(), t.tree, before, refusedFields(err))) > 0:
		return p.unverified(t, before, "another member of a union has to be replaced first"), nil
	case err != nil:
		return Plan{}, a.refused(err, t.key)
	}
	p.Changes = t.difference(before, u.Object, holders)
	if len(p.Changes) == 0 {
		p.Op = object.OpNone
	}
	return p, nil
}

// refused gives the refusal of a dry run its kind.
func (a *Applier) refused(err error, key object.Key) error {
	if isUnreadable(err) {
		return unreadableError(err, key)
	}
	return refusal(err, "patch", key)
}

// unverified computes the changes without the server.
func (p Plan) unverified(t target, live map[string]any, why string) Plan {
	p.Unverified = why
	after, _ := laidOver(live, t.tree).(map[string]any)
	p.Changes = t.difference(live, after, nil)
	return p
}

// laidOver is a live node with what is desired in place of it. Items of lists that have
// names are merged by them, other lists are those that are desired: which of them are
// merged is for the server to know.
func laidOver(live, desired any) any {
	switch d := desired.(type) {
	case map[string]any:
		l, _ := live.(map[string]any)
		out := maps.Clone(l)
		if out == nil {
			out = map[string]any{}
		}
		for name, sub := range d {
			out[name] = laidOver(l[name], sub)
		}
		return out
	case []any:
		was := byName(live)
		if was == nil || byName(desired) == nil {
			return desired
		}
		out := slices.Clone(live.([]any)) //nolint:errcheck // a list, since its items have names
		for _, item := range d {
			name := item.(map[string]any)["name"] //nolint:errcheck // as above
			i := slices.IndexFunc(out, func(other any) bool { return other.(map[string]any)["name"] == name })
			if i < 0 {
				out = append(out, item)
			} else {
				out[i] = laidOver(out[i], item)
			}
		}
		return out
	default:
		return desired
	}
}
