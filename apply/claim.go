package apply

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-go/armature/object"
)

// Manager returns the field manager under which the owner's objects are applied:
// the controller and the owner's UID, so that two owners are never one writer.
func (a *Applier) Manager(owner object.Object) string {
	return a.controller + "/" + string(owner.GetUID())
}

// Transform is what a cache may do with every object so that it needs less memory
// and the controller can still decide by it: of the managed fields, which are a third
// of an object and more, only those of the controller and of its former managers
// stay. It changes what it is given, and takes what has no metadata as it is.
func Transform(controller string, former []string) func(any) (any, error) {
	return func(in any) (any, error) {
		obj, ok := in.(metav1.Object)
		if !ok || len(obj.GetManagedFields()) == 0 {
			return in, nil
		}
		var kept []metav1.ManagedFieldsEntry
		for _, e := range obj.GetManagedFields() {
			if strings.HasPrefix(e.Manager, controller+"/") || slices.Contains(former, e.Manager) {
				kept = append(kept, e)
			}
		}
		obj.SetManagedFields(kept)
		return in, nil
	}
}

// owns reports whether the object is the owner's to apply: its controller reference
// says so or, where that is missing, the mark of a tracked object or our field manager
// that is on it.
func (a *Applier) owns(owner, obj object.Object) bool {
	if ref := metav1.GetControllerOf(obj); ref != nil {
		return ref.UID == owner.GetUID()
	}
	switch uid := obj.GetLabels()[OwnerMark]; uid {
	case "", string(owner.GetUID()):
		return a.applied(owner, obj) || a.signed(owner, obj)
	default:
		return a.left(owner, obj)
	}
}

// signed reports whether both marks of a tracked object name the owner. The label alone
// may be a copy: controllers give labels of one object to another.
func (a *Applier) signed(owner, obj object.Object) bool {
	key, err := object.KeyOf(a.client.Scheme(), owner)
	return err == nil && tracks(owner, obj) && obj.GetAnnotations()[OwnerMark] == signature(key)
}

// deletable reports whether the object may be deleted on behalf of the owner,
// which takes every mark that we leave.
func (a *Applier) deletable(owner, obj object.Object) bool {
	return marked(owner, obj) && obj.GetLabels()[ComponentLabel] != "" && a.applied(owner, obj)
}

// applied reports whether our field manager is on the object.
func (a *Applier) applied(owner, obj object.Object) bool {
	return entry(obj, a.Manager(owner), "") != nil
}

// mayAdopt reports whether the owner's user has consented to take over an object that
// nobody else claims. What somebody claims is never taken over.
func (a *Applier) mayAdopt(t target, seen object.Object) bool {
	if !a.adoptable(t, seen) {
		return false
	}
	for name := range strings.SplitSeq(t.owner.GetAnnotations()[AdoptAnnotation], ",") {
		if strings.TrimSpace(name) == consent(t.key) {
			return true
		}
	}
	return false
}

// adoptable reports whether the consent of the owner's user is all that it takes. It
// says nothing about other namespaces, where others have their say.
func (a *Applier) adoptable(t target, seen object.Object) bool {
	home := t.owner.GetNamespace()
	return !a.claimed(t.owner, seen) && (home == "" || t.key.Namespace == home)
}

// consent is what the annotation says about an object.
func consent(key object.Key) string { return key.GVK.Kind + "/" + key.Name }

// conflict is the error for an object that is not ours.
func (a *Applier) conflict(t target, seen object.Object) error {
	err := &ConflictError{Key: t.key, Holder: a.holder(seen, t.owner)}
	if a.adoptable(t, seen) {
		err.Consent = fmt.Sprintf("annotate %s with %s=%s", t.ownerKey.Short(), AdoptAnnotation, consent(t.key))
	}
	return err
}

// holder names who else has a hand on the object; empty if nobody.
func (a *Applier) holder(obj, owner object.Object) string {
	if ref := metav1.GetControllerOf(obj); ref != nil && ref.UID != owner.GetUID() {
		return named(*ref)
	}
	if kind, name, ok := TrackedBy(obj); ok && !tracks(owner, obj) {
		return kind.Kind + " " + name.String()
	}
	if others := a.sharers(owner, obj); len(others) > 0 {
		return named(others[0])
	}
	var managers []string
	for _, e := range obj.GetManagedFields() {
		if e.Manager != a.Manager(owner) && e.Subresource == "" && !slices.Contains(managers, e.Manager) {
			managers = append(managers, e.Manager)
		}
	}
	if len(managers) == 0 {
		return ""
	}
	slices.Sort(managers)
	return fmt.Sprintf("field manager %q", managers[0])
}

func entry(obj object.Object, manager, subresource string) *metav1.ManagedFieldsEntry {
	entries := obj.GetManagedFields()
	for i, e := range entries {
		if e.Manager == manager && e.Subresource == subresource && e.Operation == metav1.ManagedFieldsOperationApply {
			return &entries[i]
		}
	}
	return nil
}

// OwnerUIDs returns the UIDs of all that an object names as its owners, by references
// or by the mark of a tracked object. It is the index function behind [OwnerIndex].
func OwnerUIDs(obj object.Object) []string {
	var all []string
	for _, ref := range obj.GetOwnerReferences() {
		all = append(all, string(ref.UID))
	}
	if uid := obj.GetLabels()[OwnerMark]; uid != "" && !slices.Contains(all, uid) {
		all = append(all, uid)
	}
	return all
}

// OwnerIndex is the name of the cache index that [Applier.Owned] lists by.
const OwnerIndex = "armature.dev/owner-uid"

func indexOf(refs []metav1.OwnerReference, uid types.UID) int {
	return slices.IndexFunc(refs, func(ref metav1.OwnerReference) bool { return ref.UID == uid })
}
