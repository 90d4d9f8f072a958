package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
)

// What an earlier writer owns is never removed by an apply of ours, although we do
// not declare it any more: the server keeps what somebody owns. Where the earlier
// writer was the same controller, by another name or for an earlier UID of the
// owner, its fields are made ours once, and the next apply removes what is left over.
// The server allows managed fields to be written by a patch of the main resource
// only; on a subresource it answers 200 and changes nothing.

// heir is who takes over: a field manager, of the object itself or of its status.
type heir struct {
	manager, subresource string
	living               []types.UID // other owners that are known to live, whom nobody succeeds
}

func (a *Applier) heirOf(owner, obj object.Object) heir {
	return heir{manager: a.Manager(owner), living: uids(obj.GetOwnerReferences())}
}

// inherits reports whether the object is the owner's by what is marked on it and has
// fields to take over. Whoever else has a reference on it lives, and shares it.
func (a *Applier) inherits(owner, obj object.Object) bool {
	return (marked(owner, obj) || a.left(owner, obj)) && a.succeeds(obj, a.heirOf(owner, obj))
}

func (a *Applier) succeeds(obj object.Object, h heir) bool {
	return slices.ContainsFunc(obj.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return a.isFormer(e, h) })
}

// isFormer reports whether an entry is of somebody whom the heir succeeds: a manager
// that was named as such, or this controller for another owner.
func (a *Applier) isFormer(e metav1.ManagedFieldsEntry, h heir) bool {
	if e.Subresource != h.subresource || e.Manager == h.manager || fieldsOf(&e) == "" {
		return false
	}
	if slices.Contains(a.former, e.Manager) {
		return true
	}
	uid, ours := strings.CutPrefix(e.Manager, a.controller+"/")
	return ours && h.subresource == "" && e.Operation == metav1.ManagedFieldsOperationApply && len(uid) == uidLength && !slices.Contains(h.living, types.UID(uid))
}

const uidLength = 36 // of a UUID

// inherit makes the fields of all former managers the heir's. The object is as it was
// read live; what the server answers is returned. A [*condition.WaitError] says that it
// was written meanwhile; nothing was changed then.
func (a *Applier) inherit(ctx context.Context, key object.Key, live object.Object, h heir) (object.Object, error) {
	entries, err := a.succession(live.GetManagedFields(), h)
	if err != nil {
		return nil, fmt.Errorf("reading the managed fields of %s: %w", key.Short(), err)
	}
	after, err := a.patched(ctx, key, "", []patchStep{
		{Op: "replace", Path: "/metadata/managedFields", Value: entries},
		{Op: "replace", Path: "/metadata/resourceVersion", Value: live.GetResourceVersion()}, // a precondition
	})
	if apierrors.IsConflict(err) {
		return nil, &condition.WaitError{Message: key.Short() + " changed meanwhile", After: conflictRetry}
	}
	return after, err
}

// succession is the managed fields after it: the heir has all that it and the former
// managers had, and they have nothing.
func (a *Applier) succession(entries []metav1.ManagedFieldsEntry, h heir) ([]metav1.ManagedFieldsEntry, error) {
	var kept []metav1.ManagedFieldsEntry
	var all map[string]any
	ours := metav1.ManagedFieldsEntry{Manager: h.manager, Subresource: h.subresource, Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1"}
	for _, e := range entries {
		own := e.Manager == h.manager && e.Subresource == h.subresource && e.Operation == metav1.ManagedFieldsOperationApply
		if !own && !a.isFormer(e, h) {
			kept = append(kept, e)
			continue
		}
		var fields map[string]any
		if err := json.Unmarshal([]byte(fieldsOf(&e)), &fields); err != nil {
			return nil, err
		}
		all = union(all, fields)
		if own || ours.APIVersion == "" {
			ours.APIVersion, ours.Time = e.APIVersion, e.Time
		}
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	ours.FieldsV1 = metav1.NewFieldsV1(string(raw))
	return append(kept, ours), nil
}

// union adds one set of fields to another. Sets are trees whose nodes are all maps.
func union(a, b map[string]any) map[string]any {
	if a == nil {
		return b
	}
	for name, sub := range b {
		was, _ := a[name].(map[string]any)
		more, _ := sub.(map[string]any)
		a[name] = union(was, more)
	}
	return a
}
