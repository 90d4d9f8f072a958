package apply

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-go/armature/object"
)

// OwnerMark is on every tracked object, where others carry a reference to their owner:
// a label with the owner's UID, and an annotation that names the owner.
const OwnerMark = "armature.dev/owner"

// TrackedBy returns the kind and the name of the owner that is named on a tracked
// object, and false where none is.
func TrackedBy(obj object.Object) (schema.GroupKind, types.NamespacedName, bool) {
	parts := strings.Split(obj.GetAnnotations()[OwnerMark], "/")
	if obj.GetLabels()[OwnerMark] == "" || len(parts) != 3 {
		return schema.GroupKind{}, types.NamespacedName{}, false
	}
	return schema.ParseGroupKind(parts[0]), types.NamespacedName{Namespace: parts[1], Name: parts[2]}, true
}

// signature is how an owner is named on what it tracks.
func signature(owner object.Key) string {
	return fmt.Sprintf("%s/%s/%s", owner.GVK.GroupKind(), owner.Namespace, owner.Name)
}

// mark puts on what is sent that it is the owner's.
func (t target) mark(u *unstructured.Unstructured) {
	ref := *metav1.NewControllerRef(t.owner, t.ownerKey.GVK)
	switch t.how {
	case object.Tracked:
		labels, notes := u.GetLabels(), u.GetAnnotations()
		u.SetLabels(with(labels, OwnerMark, string(t.owner.GetUID())))
		u.SetAnnotations(with(notes, OwnerMark, signature(t.ownerKey)))
		return
	case object.Shared:
		ref.Controller, ref.BlockOwnerDeletion = nil, nil
	case object.Controlled:
	}
	u.SetOwnerReferences(append(u.GetOwnerReferences(), ref))
}

func with(m map[string]string, key, value string) map[string]string {
	out := maps.Clone(m)
	if out == nil {
		out = map[string]string{}
	}
	out[key] = value
	return out
}

// marked reports whether the object says that it is the owner's: by a controller
// reference or, where it has none, by the mark of a tracked object or a reference among
// others.
func marked(owner, obj object.Object) bool {
	if ref := metav1.GetControllerOf(obj); ref != nil {
		return ref.UID == owner.GetUID()
	}
	return tracks(owner, obj) || shares(owner, obj)
}

func tracks(owner, obj object.Object) bool {
	return metav1.GetControllerOf(obj) == nil && obj.GetLabels()[OwnerMark] == string(owner.GetUID())
}

func shares(owner, obj object.Object) bool {
	return metav1.GetControllerOf(obj) == nil && indexOf(obj.GetOwnerReferences(), owner.GetUID()) >= 0
}

// left reports whether the object is tracked by a namesake of the owner that is gone, as
// after a restore: there is one object of a name at a time.
func (a *Applier) left(owner, obj object.Object) bool {
	uid := obj.GetLabels()[OwnerMark]
	if uid == "" || uid == string(owner.GetUID()) || metav1.GetControllerOf(obj) != nil {
		return false
	}
	key, err := object.KeyOf(a.client.Scheme(), owner)
	return err == nil && obj.GetAnnotations()[OwnerMark] == signature(key) && entry(obj, a.controller+"/"+uid, "") != nil
}

// sharers are the other owners of this controller that share the object: they have a
// reference on it, and their field manager.
func (a *Applier) sharers(owner, obj object.Object) []metav1.OwnerReference {
	var others []metav1.OwnerReference
	for _, ref := range obj.GetOwnerReferences() {
		if ref.UID != owner.GetUID() && (ref.Controller == nil || !*ref.Controller) && entry(obj, a.controller+"/"+string(ref.UID), "") != nil {
			others = append(others, ref)
		}
	}
	return others
}

// admits reports whether the target may be applied to what was seen: it is the owner's,
// or shared with it.
func (a *Applier) admits(t target, seen object.Object) bool {
	others := a.sharers(t.owner, seen)
	if t.how != object.Shared {
		return len(others) == 0 && a.owns(t.owner, seen)
	}
	free := metav1.GetControllerOf(seen) == nil && seen.GetLabels()[OwnerMark] == ""
	return a.owns(t.owner, seen) || free && len(others) > 0
}

// claimed reports whether somebody else than the owner says on the object that it is
// theirs.
func (a *Applier) claimed(owner, obj object.Object) bool {
	if ref := metav1.GetControllerOf(obj); ref != nil {
		return ref.UID != owner.GetUID()
	}
	uid := obj.GetLabels()[OwnerMark]
	return uid != "" && uid != string(owner.GetUID()) || len(a.sharers(owner, obj)) > 0
}

// facing is the target in view of what was seen. Of several owners that share an object
// the first one decides what is in it; the others apply without force, which changes
// nothing that another one holds.
func (a *Applier) facing(t target, seen object.Object) target {
	t.rival = ""
	others := a.sharers(t.owner, seen)
	if t.how != object.Shared || len(others) == 0 {
		return t
	}
	refs := seen.GetOwnerReferences()
	if at := indexOf(refs, t.owner.GetUID()); at < 0 || at > indexOf(refs, others[0].UID) {
		t.rival = named(others[0])
	}
	return t
}

func named(ref metav1.OwnerReference) string { return ref.Kind + " " + ref.Name }

// uids are those of all owners that an object has a reference to.
func uids(refs []metav1.OwnerReference) []types.UID {
	var all []types.UID
	for _, ref := range refs {
		all = append(all, ref.UID)
	}
	return slices.Clip(all)
}
