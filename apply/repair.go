package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
)

// renew applies a target to an object of ours. Where the server refuses that because
// of what somebody else has put there, another member of a union or an item of a list
// that is all ours, theirs is replaced first by a patch: an apply can add, and never
// take away what is another's.
func (a *Applier) renew(ctx context.Context, t target, uid types.UID) (*unstructured.Unstructured, error) {
	live, err := a.force(ctx, t, uid)
	if !apierrors.IsInvalid(err) || isGone(err) || t.rival != "" {
		return live, err
	}
	repaired, failed := a.repair(ctx, t, uid, refusedFields(err))
	if failed != nil {
		return nil, failed
	}
	if !repaired {
		return nil, inTheWay(err, t)
	}
	return a.force(ctx, t, uid)
}

// inTheWay tells, of a refusal, where an item of somebody else's may keep ours from
// being applied, which no repetition mends. Any other refusal stays as it is.
func inTheWay(err error, t target) error {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return err
	}
	for _, cause := range status.Status().Details.Causes {
		path, _, _ := strings.Cut(cause.Field, "[")
		if cause.Type == metav1.CauseTypeFieldValueDuplicate && len(object.Keys(t.key.GVK.GroupKind(), path)) > 0 {
			return &condition.InvalidError{
				Field: t.key.Short(), Problem: fmt.Sprintf("an item of %s that somebody else has put there keeps ours from being applied: %v", path, err),
				Fix: fmt.Sprintf("remove it, or let the list be all ours: resource.Manage(…).Whole(%q)", path), After: unreadableRetry,
			}
		}
	}
	return err
}

// force applies a target, whoever owns its fields, unless that is an owner which shares
// them and comes first. The UID is a precondition.
func (a *Applier) force(ctx context.Context, t target, uid types.UID) (*unstructured.Unstructured, error) {
	live := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(t.tree)}
	live.SetUID(uid)
	err := a.send(ctx, live, a.writer(t)...)
	if isRivalry(err) {
		err = &ConflictError{Key: t.key, Holder: t.rival}
	}
	return live, err
}

// writer is as whom a target is applied to an object that exists.
func (a *Applier) writer(t target) []client.ApplyOption {
	if t.rival != "" {
		return []client.ApplyOption{client.FieldOwner(a.Manager(t.owner))}
	}
	return []client.ApplyOption{client.FieldOwner(a.Manager(t.owner)), client.ForceOwnership}
}

// refusedFields are the fields that the server named in a refusal.
func refusedFields(err error) []string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	var fields []string
	for _, cause := range status.Status().Details.Causes {
		fields = append(fields, cause.Field)
	}
	return fields
}

// repair replaces members of unions that others have chosen, and lists that are all
// ours, by what is desired, and reports whether there were any.
func (a *Applier) repair(ctx context.Context, t target, uid types.UID, refused []string) (bool, error) {
	seen, err := a.read(ctx, a.live, t.key)
	if err != nil || seen == nil || seen.GetUID() != uid {
		return false, err
	}
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(seen)
	if err != nil {
		return false, err
	}
	replacements := object.Unions(t.key.GVK.GroupKind(), t.tree, tree, refused)
	lists := object.Lists(t.key.GVK.GroupKind(), t.tree, tree, refused)
	for _, path := range t.whole {
		if r, ok := lists[path.String()]; ok {
			replacements = append(replacements, r)
		}
	}
	if len(replacements) == 0 {
		return false, nil
	}
	steps := []patchStep{{Op: "test", Path: "/metadata/uid", Value: uid}}
	for _, r := range replacements {
		steps = append(steps, patchStep{Op: "test", Path: r.Pointer, Value: r.Live}, patchStep{Op: "replace", Path: r.Pointer, Value: r.Value})
	}
	err = a.patch(ctx, t.key, "", steps)
	if apierrors.IsInvalid(err) { // it changed meanwhile, or something else is wrong: the refusal stands
		return false, nil
	}
	return err == nil, err
}
