package apply

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/object"
)

// Delete deletes the object if it is the owner's: controller reference or mark, component
// label and field manager all say so. One that the owner shares with others is released. Only the name of obj is used. An object that
// does not exist, is being deleted already or is somebody else's is left as it is,
// and no error; so is a kind that the cluster does not serve. Dependents go in the
// background.
func (a *Applier) Delete(ctx context.Context, owner, obj object.Object) (Result, error) {
	key, err := object.KeyOf(a.client.Scheme(), obj)
	if err != nil {
		return Result{}, err
	}
	seen, err := a.look(ctx, a.client, key)
	if meta.IsNoMatchError(err) || err == nil && seen == nil {
		return Result{Op: object.OpNone}, nil
	}
	if err != nil {
		return Result{}, refusal(err, "get", key)
	}
	if seen.GetDeletionTimestamp() != nil || !a.deletable(owner, seen) {
		return Result{Op: object.OpNone, Live: seen}, nil
	}
	if shares(owner, seen) {
		return a.leave(ctx, owner, key)
	}
	uid := seen.GetUID()
	err = a.client.Delete(ctx, seen, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err): // gone, or another of that name: the next pass sees it
		return Result{Op: object.OpNone}, nil
	case err != nil:
		return Result{}, refusal(err, "delete", key)
	}
	a.records.drop(owner.GetUID(), key)
	return Result{Op: object.OpDeleted, Live: seen}, nil
}

// Release takes the owner's reference, or the marks of a tracked object, and the
// component label off the object, so that it outlives the owner. Only the name of obj is used; an object that does not
// exist or has no such reference is left as it is.
func (a *Applier) Release(ctx context.Context, owner, obj object.Object) (Result, error) {
	key, err := object.KeyOf(a.client.Scheme(), obj)
	if err != nil {
		return Result{}, err
	}
	seen, err := a.read(ctx, a.client, key)
	if err != nil || seen == nil {
		return Result{Op: object.OpNone}, err
	}
	var steps []patchStep
	switch at := indexOf(seen.GetOwnerReferences(), owner.GetUID()); {
	case len(a.sharers(owner, seen)) > 0 && shares(owner, seen):
		return a.leave(ctx, owner, key)
	case at >= 0:
		steps = releaseReference(owner, seen, at)
	case tracks(owner, seen):
		steps = releaseMarks(owner, seen)
	default:
		return Result{Op: object.OpNone, Live: seen}, nil
	}
	if _, labelled := seen.GetLabels()[ComponentLabel]; labelled {
		steps = append(steps, patchStep{Op: "remove", Path: "/metadata/labels/armature.dev~1component"})
	}
	if err := a.patch(ctx, key, "", steps); err != nil {
		return Result{}, refusal(err, "patch", key)
	}
	a.records.drop(owner.GetUID(), key)
	return Result{Op: object.OpReleased, Live: seen}, nil
}

// Owned lists the owner's objects of the given kinds from the cache, in all namespaces
// that it has: those that [Applier.Delete] would delete or release. The cache needs the index [OwnerIndex].
func (a *Applier) Owned(ctx context.Context, owner object.Object, kinds []schema.GroupVersionKind) ([]object.Object, error) {
	var owned []object.Object
	for _, gvk := range kinds {
		list, err := a.list(gvk)
		if err != nil {
			return nil, err
		}
		err = a.client.List(ctx, list, client.MatchingFields{OwnerIndex: string(owner.GetUID())})
		if meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return nil, refusal(err, "list", object.Key{GVK: gvk, Namespace: owner.GetNamespace()})
		}
		items, err := meta.ExtractList(list)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			if obj, ok := item.(object.Object); ok && a.deletable(owner, obj) {
				owned = append(owned, obj)
			}
		}
	}
	return owned, nil
}

// Tracked lists those of the objects of [Applier.Owned] that garbage collection does not
// take along with the owner. What this process has made, and the cache does not show yet,
// is looked for live.
func (a *Applier) Tracked(ctx context.Context, owner object.Object, kinds []schema.GroupVersionKind) ([]object.Object, error) {
	owned, err := a.Owned(ctx, owner, kinds)
	if err != nil {
		return nil, err
	}
	shown := map[object.Key]bool{}
	var tracked []object.Object
	for _, obj := range owned {
		key, err := object.KeyOf(a.client.Scheme(), obj)
		if err != nil {
			return nil, err
		}
		if tracks(owner, obj) {
			shown[key] = true
			tracked = append(tracked, obj)
		}
	}
	for _, key := range a.records.tracked(owner.GetUID()) {
		if shown[key] {
			continue
		}
		live, err := a.read(ctx, a.live, key)
		switch {
		case err != nil:
			return nil, err
		case live != nil && tracks(owner, live) && a.deletable(owner, live):
			tracked = append(tracked, live)
		default:
			a.records.drop(owner.GetUID(), key)
		}
	}
	return tracked, nil
}

func (a *Applier) list(gvk schema.GroupVersionKind) (client.ObjectList, error) {
	if !a.client.Scheme().Recognizes(gvk) {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		return list, nil
	}
	fresh, err := a.client.Scheme().New(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	if err != nil {
		return nil, err
	}
	list, ok := fresh.(client.ObjectList)
	if !ok {
		return nil, fmt.Errorf("%T is no list of objects", fresh)
	}
	return list, nil
}

// patchStep is one operation of a JSON patch (RFC 6902).
type patchStep struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// patch sends a small guarded patch to the named object: its tests make the server
// refuse it where the object is not what was seen. The subresource is empty or status.
func (a *Applier) patch(ctx context.Context, key object.Key, subresource string, steps []patchStep) error {
	_, err := a.patched(ctx, key, subresource, steps)
	return err
}

// patched is patch, with the object that the server answers.
func (a *Applier) patched(ctx context.Context, key object.Key, subresource string, steps []patchStep) (object.Object, error) {
	raw, err := json.Marshal(steps)
	if err != nil {
		return nil, err
	}
	target, err := object.Blank(a.client.Scheme(), key.GVK)
	if err != nil {
		return nil, err
	}
	target.SetName(key.Name)
	target.SetNamespace(key.Namespace)
	patch := client.RawPatch(types.JSONPatchType, raw)
	if subresource == "" {
		return target, a.client.Patch(ctx, target, patch, client.FieldOwner(a.controller))
	}
	return target, a.client.SubResource(subresource).Patch(ctx, target, patch, client.FieldOwner(a.controller))
}
