package apply

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
)

// Finalizer is the name of the finalizer that keeps an owner until what it tracks is
// gone.
func (a *Applier) Finalizer() string { return "armature.dev/" + object.Name(0, a.controller) }

// Finalizes reports whether the owner, as it was read, has our finalizer.
func (a *Applier) Finalizes(owner object.Object) bool {
	return slices.Contains(owner.GetFinalizers(), a.Finalizer())
}

// RemoveFinalizer takes our finalizer off the owner, and off the owner as it was read.
// It is no error if the owner is gone or has none. A [*condition.WaitError] says that the
// owner changed meanwhile; nothing was changed then.
func (a *Applier) RemoveFinalizer(ctx context.Context, owner object.Object) error {
	at := slices.Index(owner.GetFinalizers(), a.Finalizer())
	if at < 0 {
		return nil
	}
	path := fmt.Sprintf("/metadata/finalizers/%d", at)
	err := a.finalize(ctx, owner, []patchStep{
		{Op: "test", Path: "/metadata/uid", Value: owner.GetUID()},
		{Op: "test", Path: path, Value: a.Finalizer()},
		{Op: "remove", Path: path},
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// addFinalizer puts our finalizer on the owner, and on the owner as it was read, unless
// it is there.
func (a *Applier) addFinalizer(ctx context.Context, owner object.Object) error {
	if a.Finalizes(owner) {
		return nil
	}
	all := append(slices.Clone(owner.GetFinalizers()), a.Finalizer())
	return a.finalize(ctx, owner, []patchStep{
		{Op: "test", Path: "/metadata/uid", Value: owner.GetUID()},
		{Op: "add", Path: "/metadata/finalizers", Value: all},
		{Op: "replace", Path: "/metadata/resourceVersion", Value: owner.GetResourceVersion()}, // a precondition: these are all that there are
	})
}

// finalize patches the owner and looks at the answer. That the owner is not what was
// read is a wait.
func (a *Applier) finalize(ctx context.Context, owner object.Object, steps []patchStep) error {
	key, err := object.KeyOf(a.client.Scheme(), owner)
	if err != nil {
		return err
	}
	live, err := a.patched(ctx, key, "", steps)
	switch {
	case isStale(err):
		return &condition.WaitError{Message: key.Short() + " changed meanwhile", After: conflictRetry}
	case apierrors.IsNotFound(err):
		return err
	case err != nil:
		return refusal(err, "patch", key)
	case live.GetUID() != owner.GetUID(), a.Finalizes(live) == a.Finalizes(owner):
		return fmt.Errorf("patching the finalizers of %s: the server answered with %v", key.Short(), live.GetFinalizers())
	}
	owner.SetFinalizers(live.GetFinalizers())
	owner.SetResourceVersion(live.GetResourceVersion())
	return nil
}

// hold makes sure that the owner stays until the target is gone, where garbage
// collection does not see to that. For an owner that is being deleted nothing is made.
func (a *Applier) hold(ctx context.Context, t target) error {
	if t.owner.GetDeletionTimestamp() != nil {
		return &condition.WaitError{Message: t.ownerKey.Short() + " is being deleted"}
	}
	if t.how != object.Tracked {
		return nil
	}
	err := a.addFinalizer(ctx, t.owner)
	if apierrors.IsNotFound(err) {
		return &condition.WaitError{Message: t.ownerKey.Short() + " is gone"}
	}
	return err
}
