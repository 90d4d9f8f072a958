package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
)

// StatusManager is the field manager of the owner's own status. It does not carry
// the owner's UID: a UID is no precondition on the status subresource, so a late
// write for a deleted namesake must be one that the next pass heals.
func (a *Applier) StatusManager() string { return a.controller + "/status" }

// statusKey is the key of the record of an owner's status.
func statusKey(key object.Key) object.Key {
	key.GVK.Kind += "/status"
	return key
}

// ApplyStatus makes the fields of status those of the owner's status. What was
// applied before and is left out disappears; what others wrote stays. Where owner,
// as it was read, has the status already, nothing is sent. It returns the status
// as the server answered, or nil if nothing was sent.
//
// The first write to an owner never seen before takes the owner's resource version
// as a precondition, so that it does not land on a namesake made anew; a
// [*condition.WaitError] says that the owner changed meanwhile.
func (a *Applier) ApplyStatus(ctx context.Context, owner object.Object, status map[string]any) (map[string]any, error) {
	key, err := object.KeyOf(a.client.Scheme(), owner)
	if err != nil {
		return nil, err
	}
	if heir := (heir{manager: a.StatusManager(), subresource: "status"}); a.succeeds(owner, heir) {
		if owner, err = a.inheritStatus(ctx, key, owner, heir); err != nil || owner == nil {
			return nil, err
		}
	}
	content := digest(status)
	rec, seen := a.records.get(owner.GetUID(), statusKey(key))
	same := seen && rec.content == content
	if lags := seen && a.lags(rec, owner); !lags { // else our own write tells more than what was read
		if same, err = a.statusIs(owner, status); err != nil {
			return nil, err
		}
	}
	if same {
		return nil, nil //nolint:nilnil // nothing was sent
	}
	precondition := ""
	if !seen {
		precondition = owner.GetResourceVersion()
	}
	live, err := a.sendStatus(ctx, key, status, precondition)
	if apierrors.IsInvalid(err) {
		if err := a.retire(ctx, key, owner, status); err != nil {
			return nil, refusal(err, "patch", key)
		}
		live, err = a.sendStatus(ctx, key, status, "")
	}
	switch {
	case apierrors.IsNotFound(err): // the owner is gone, and its status with it
		return nil, nil //nolint:nilnil // nothing to report on
	case apierrors.IsConflict(err):
		return nil, &condition.WaitError{Message: key.Short() + " changed meanwhile", After: conflictRetry}
	case isUnreadable(err):
		return nil, unreadableError(err, statusKey(key))
	case err != nil:
		return nil, refusal(err, "patch", key)
	}
	a.records.put(owner.GetUID(), statusKey(key), record{uid: live.GetUID(), resourceVersion: live.GetResourceVersion(), content: content, written: a.now()})
	got, _, err := unstructured.NestedMap(live.Object, "status")
	return got, err
}

// inheritStatus takes over the status fields of former managers and returns the owner
// as it is then; nil if it is gone.
func (a *Applier) inheritStatus(ctx context.Context, key object.Key, owner object.Object, h heir) (object.Object, error) {
	live, err := a.read(ctx, a.live, key)
	if err != nil || live == nil || live.GetUID() != owner.GetUID() {
		return nil, err
	}
	if a.succeeds(live, h) {
		if live, err = a.inherit(ctx, key, live, h); err != nil {
			return nil, refusal(err, "patch", key)
		}
	}
	return live, nil
}

// StatusNewer reports whether the last status that was written for the owner is
// newer than the owner as it was read, which is then a cache that is behind. That is
// believed for a minute.
func (a *Applier) StatusNewer(owner object.Object) bool {
	key, err := object.KeyOf(a.client.Scheme(), owner)
	if err != nil {
		return false
	}
	rec, ok := a.records.get(owner.GetUID(), statusKey(key))
	return ok && a.lags(rec, owner)
}

// StatusConditions returns the types of the conditions in the owner's status that
// this controller has written.
func (a *Applier) StatusConditions(owner object.Object) ([]string, error) {
	owned, err := a.records.program("", entry(owner, a.StatusManager(), "status"))
	if err != nil {
		return nil, err
	}
	types := owned.under("status", "conditions").keyed("type")
	slices.Sort(types)
	return types, nil
}

func (a *Applier) statusIs(owner object.Object, status map[string]any) (bool, error) {
	owned, err := a.records.program("", entry(owner, a.StatusManager(), "status"))
	if err != nil || owned.under("status") == nil {
		return false, err
	}
	desired, err := normal(status)
	if err != nil {
		return false, err
	}
	return owned.under("status").of("").exact(desired, nodeOf(owner).field("status")), nil
}

// sendStatus applies the status. The resource version is a precondition; empty is none.
func (a *Applier) sendStatus(ctx context.Context, key object.Key, status map[string]any, resourceVersion string) (*unstructured.Unstructured, error) {
	tree, err := normal(status)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: map[string]any{"status": tree}}
	u.SetGroupVersionKind(key.GVK)
	u.SetNamespace(key.Namespace)
	u.SetName(key.Name)
	if resourceVersion != "" {
		u.SetResourceVersion(resourceVersion)
	}
	err = a.client.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(a.StatusManager()), client.ForceOwnership)
	return u, err
}

// retire removes conditions that we no longer report and the server will not drop
// by itself, because somebody else holds a part of them.
func (a *Applier) retire(ctx context.Context, key object.Key, owner object.Object, status map[string]any) error {
	written, err := a.StatusConditions(owner)
	if err != nil {
		return err
	}
	live, err := statusOf(owner)
	if err != nil {
		return err
	}
	reported := conditionTypes(status["conditions"])
	steps := []patchStep{{Op: "test", Path: "/metadata/uid", Value: owner.GetUID()}}
	liveTypes := conditionTypes(live["conditions"])
	for i, t := range slices.Backward(liveTypes) { // from the end, so that indexes stay true
		if slices.Contains(written, t) && !slices.Contains(reported, t) {
			at := fmt.Sprintf("/status/conditions/%d", i)
			steps = append(steps, patchStep{Op: "test", Path: at + "/type", Value: t}, patchStep{Op: "remove", Path: at})
		}
	}
	if len(steps) == 1 {
		return nil
	}
	return a.patch(ctx, key, "status", steps)
}

func conditionTypes(list any) []string {
	var items []struct {
		Type string `json:"type"`
	}
	raw, err := json.Marshal(list)
	if err != nil || json.Unmarshal(raw, &items) != nil {
		return nil
	}
	var types []string
	for _, item := range items {
		types = append(types, item.Type)
	}
	return types
}

func statusOf(owner object.Object) (map[string]any, error) {
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(owner)
	if err != nil {
		return nil, fmt.Errorf("reading the status of %s: %w", owner.GetName(), err)
	}
	live, _, err := unstructured.NestedMap(tree, "status")
	return live, err
}

// normal turns typed values into what JSON knows, with numbers as the server
// decodes them.
func normal(status map[string]any) (map[string]any, error) {
	raw, err := json.Marshal(status)
	if err != nil {
		return nil, err
	}
	var tree map[string]any
	err = utiljson.Unmarshal(raw, &tree)
	return tree, err
}
