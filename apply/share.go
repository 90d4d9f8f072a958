package apply

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
)

// leave takes the owner off an object that it shares: the reference goes, and the fields
// become those of the next owner, which drops what it does not declare. The object of a
// last owner is deleted, for nobody would collect it. What is done is decided from a
// live read.
func (a *Applier) leave(ctx context.Context, owner object.Object, key object.Key) (Result, error) {
	live, err := a.read(ctx, a.live, key)
	if err != nil {
		return Result{}, err
	}
	if live == nil || !shares(owner, live) || live.GetDeletionTimestamp() != nil {
		return Result{Op: object.OpNone, Live: live}, nil
	}
	op := object.OpReleased
	if len(live.GetOwnerReferences()) == 1 {
		op = object.OpDeleted
		uid, version := live.GetUID(), live.GetResourceVersion() // nobody has joined since
		err = a.client.Delete(ctx, live, client.Preconditions{UID: &uid, ResourceVersion: &version}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	} else {
		err = a.bequeath(ctx, owner, live, key)
	}
	switch {
	case apierrors.IsNotFound(err):
		return Result{Op: object.OpNone}, nil
	case isStale(err):
		return Result{}, &condition.WaitError{Message: key.Short() + " changed meanwhile", After: conflictRetry}
	case err != nil:
		return Result{}, refusal(err, map[object.Op]string{object.OpDeleted: "delete", object.OpReleased: "patch"}[op], key)
	}
	a.records.drop(owner.GetUID(), key)
	return Result{Op: op, Live: live}, nil
}

// bequeath takes the owner's reference off, and gives its fields to the next owner.
func (a *Applier) bequeath(ctx context.Context, owner, live object.Object, key object.Key) error {
	refs := live.GetOwnerReferences()
	at := indexOf(refs, owner.GetUID())
	steps := releaseReference(owner, live, at)
	if others := a.sharers(owner, live); len(others) > 0 {
		next := heir{manager: a.controller + "/" + string(others[0].UID)}
		for _, uid := range uids(refs) {
			if uid != owner.GetUID() {
				next.living = append(next.living, uid)
			}
		}
		entries, err := a.succession(live.GetManagedFields(), next)
		if err != nil {
			return fmt.Errorf("reading the managed fields of %s: %w", key.Short(), err)
		}
		steps = append(steps, patchStep{Op: "replace", Path: "/metadata/managedFields", Value: entries})
	}
	steps = append(steps, patchStep{Op: "replace", Path: "/metadata/resourceVersion", Value: live.GetResourceVersion()}) // a precondition
	return a.patch(ctx, key, "", steps)
}

// releaseReference are the steps that take the owner's reference, at its index, off.
func releaseReference(owner, seen object.Object, at int) []patchStep {
	ref := fmt.Sprintf("/metadata/ownerReferences/%d", at)
	return []patchStep{
		{Op: "test", Path: "/metadata/uid", Value: seen.GetUID()},
		{Op: "test", Path: ref + "/uid", Value: owner.GetUID()},
		{Op: "remove", Path: ref},
	}
}

// releaseMarks are the steps that take the marks off a tracked object.
func releaseMarks(owner, seen object.Object) []patchStep {
	const mark = "armature.dev~1owner"
	steps := []patchStep{
		{Op: "test", Path: "/metadata/uid", Value: seen.GetUID()},
		{Op: "test", Path: "/metadata/labels/" + mark, Value: owner.GetUID()},
		{Op: "remove", Path: "/metadata/labels/" + mark},
	}
	if _, named := seen.GetAnnotations()[OwnerMark]; named {
		steps = append(steps, patchStep{Op: "remove", Path: "/metadata/annotations/" + mark})
	}
	return steps
}

// isStale reports whether a guarded write was refused because the object is not what was
// seen: its version is another one, or a test of the patch failed, which unlike what is
// invalid has no cause.
func isStale(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsInvalid(err) {
		return apierrors.IsConflict(err)
	}
	return status.Status().Details == nil || len(status.Status().Details.Causes) == 0
}

// isRivalry reports whether an apply without force was refused, because somebody else
// holds one of its fields with another value.
func isRivalry(err error) bool {
	return apierrors.IsConflict(err) && apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict)
}
