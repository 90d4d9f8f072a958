package apply

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
)

// Amend writes the difference between an object of the owner as it was seen and as it
// should be, and nothing else: a step on the way to its deletion, not something that
// is kept. It holds only for exactly what was seen, by UID and resource version; a
// [*condition.WaitError] says that the object is another now. What is not the owner's,
// or is being deleted, is left as it is.
func (a *Applier) Amend(ctx context.Context, owner, seen, changed object.Object) (Result, error) {
	key, err := object.KeyOf(a.client.Scheme(), seen)
	if err != nil {
		return Result{}, err
	}
	if !a.deletable(owner, seen) || seen.GetDeletionTimestamp() != nil {
		return Result{Op: object.OpNone, Live: seen}, nil
	}
	if changed.GetUID() != seen.GetUID() || changed.GetName() != seen.GetName() || changed.GetNamespace() != seen.GetNamespace() {
		return Result{}, fmt.Errorf("amending %s: the changed object is another one", key.Short())
	}
	live, ok := changed.DeepCopyObject().(object.Object)
	if !ok {
		return Result{}, fmt.Errorf("copying %T: its DeepCopyObject returns another type", changed)
	}
	live.SetResourceVersion(seen.GetResourceVersion())
	err = a.client.Patch(ctx, live, client.MergeFromWithOptions(seen, client.MergeFromWithOptimisticLock{}), client.FieldOwner(a.controller))
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return Result{}, &condition.WaitError{Message: key.Short() + " changed meanwhile", After: conflictRetry}
	case err != nil:
		return Result{}, refusal(err, "patch", key)
	}
	a.records.drop(owner.GetUID(), key)
	return Result{Op: object.OpUpdated, Live: live}, nil
}
