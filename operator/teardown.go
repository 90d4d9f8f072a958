package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/armature-go/armature/component"
	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/resource"
)

// end takes an owner that is being deleted through a pass. Garbage collection removes
// what refers to the owner; nothing is made any more. What the owner tracks is deleted,
// and our finalizer keeps the owner until it is gone.
func (r *reconciler) end(ctx context.Context, name types.NamespacedName, owner component.Owner) (ctrl.Result, error) {
	if !r.applier.Finalizes(owner) {
		r.forget(name)
		return ctrl.Result{}, nil
	}
	mem := r.recall(name, owner)
	read, ok := owner.DeepCopyObject().(component.Owner)
	if !ok {
		return ctrl.Result{}, fmt.Errorf("copying %T: its DeepCopyObject returns another type", owner)
	}
	changes, err := r.teardown(ctx, name, owner)
	if err == nil {
		r.forget(name)
		return ctrl.Result{}, nil
	}
	if after, behind := changedMeanwhile(err); behind {
		return ctrl.Result{RequeueAfter: after}, nil
	}
	res := component.Failed(r.env, owner, err)
	res.Changes = changes
	r.report(ctx, read, res, mem)
	_, after, err := r.writeStatus(ctx, read, res, mem)
	if err := errors.Join(res.Err, err); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: shortest(res.After, after)}, nil
}

// teardown deletes what the owner tracks, and takes the finalizer off once all of it is
// gone; a wait says that it is not.
func (r *reconciler) teardown(ctx context.Context, name types.NamespacedName, owner component.Owner) ([]component.Change, error) {
	tracked, err := r.applier.Tracked(ctx, owner, r.env.Owns)
	if err != nil {
		return nil, err
	}
	if len(tracked) == 0 {
		return nil, r.applier.RemoveFinalizer(ctx, owner)
	}
	keys := make([]object.Key, len(tracked))
	objects := map[object.Key]object.Object{}
	for i, obj := range tracked {
		if keys[i], err = object.KeyOf(r.env.Scheme, obj); err != nil {
			return nil, err
		}
		objects[keys[i]] = obj
	}
	sortForRemoval(keys, r.declared(ctx, name, owner))
	var changes []component.Change
	var errs []error
	var left []string
	for _, key := range keys {
		res, err := r.applier.Delete(ctx, owner, objects[key])
		if res.Op == object.OpDeleted {
			changes = append(changes, component.Change{Object: res.Live, Key: key, Op: res.Op, Cause: "its owner is being deleted"})
		}
		errs = append(errs, err)
		left = append(left, key.GVK.Kind+" "+strings.TrimPrefix(key.Namespace+"/"+key.Name, "/"))
	}
	if err := errors.Join(errs...); err != nil {
		return changes, err
	}
	return changes, &condition.WaitError{Message: "being deleted, and waiting until these are gone: " + strings.Join(left, ", ")}
}

// declared returns the objects that the components declare, in their order. It is nil
// where the components cannot be built: an owner is deleted all the same.
func (r *reconciler) declared(ctx context.Context, name types.NamespacedName, owner component.Owner) []object.Key {
	components, err := r.components(ctx, owner, &uses{watches: r.watches, owner: name, reads: map[object.Key]bool{}})
	if err != nil {
		return nil
	}
	var keys []object.Key
	for d := range declarations(components) {
		if key, err := object.KeyOf(r.env.Scheme, d.Object); err == nil {
			keys = append(keys, key)
		}
	}
	return keys
}

// sortForRemoval puts what is not declared first, by name, and what is declared after
// it, the last first.
func sortForRemoval(keys, declared []object.Key) {
	slices.SortFunc(keys, func(a, b object.Key) int {
		at, bt := slices.Index(declared, a), slices.Index(declared, b)
		switch {
		case at < 0 && bt < 0:
			return strings.Compare(a.String(), b.String())
		case at < 0 || bt < 0:
			return cmp.Compare(at, bt)
		default:
			return cmp.Compare(bt, at)
		}
	})
}

// declarations are those of all resources of the components.
func declarations(components []component.Component) iter.Seq[resource.Declaration] {
	return func(yield func(resource.Declaration) bool) {
		for _, c := range components {
			for _, res := range c.Resources {
				if res != nil && !yield(res.Declaration()) {
					return
				}
			}
		}
	}
}

// relieve takes our finalizer off an owner that tracks nothing any more, once a pass
// has got to know that nothing is to be tracked.
func (r *reconciler) relieve(ctx context.Context, owner component.Owner, components []component.Component, res *component.Result) {
	judged := res.Err == nil && len(res.Reports) == len(components)
	if !judged || !r.applier.Finalizes(owner) || mayTrack(components) {
		return
	}
	tracked, err := r.applier.Tracked(ctx, owner, r.env.Owns)
	if err == nil && len(tracked) == 0 {
		err = r.applier.RemoveFinalizer(ctx, owner)
	}
	if after, behind := changedMeanwhile(err); behind {
		res.After = shortest(res.After, after)
		return
	}
	if err != nil {
		failed := component.Failed(r.env, owner, err)
		res.Ready, res.Err, res.After = failed.Ready, failed.Err, shortest(res.After, failed.After)
	}
}

// changedMeanwhile reports whether the owner was not what was read, as where the cache is
// behind, and when to look again. That is nothing to tell anybody.
func changedMeanwhile(err error) (time.Duration, bool) {
	wait, ok := errors.AsType[*condition.WaitError](err)
	if !ok {
		return 0, false
	}
	return wait.After, wait.After > 0
}

// mayTrack reports whether a tracked object is to be there, or may be: who knows what a
// component would declare that could not be built.
func mayTrack(components []component.Component) bool {
	for _, c := range components {
		on, err := c.Gate.Enabled()
		switch {
		case c.Err != nil || err != nil:
			return true
		case !on:
			continue
		}
		for d := range declarations([]component.Component{c}) {
			if on, err := d.Gate.Enabled(); d.Mode == resource.ModeManage && d.Ownership == object.Tracked && (on || err != nil) {
				return true
			}
		}
	}
	return false
}
