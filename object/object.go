package object

import (
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Object is anything with Kubernetes metadata and a kind: the pointer types of
// generated API packages and *unstructured.Unstructured. Its method set is that
// of controller-runtime's client.Object, so values pass from one to the other.
type Object interface {
	metav1.Object
	runtime.Object
}

// Op is what was done to one object in a pass.
type Op string

// What can be done to an object.
const (
	OpNone     Op = "none"     // nothing was written: it was already so, or it is only observed
	OpCreated  Op = "created"  // it did not exist before
	OpUpdated  Op = "updated"  // it existed, and its content changed
	OpDeleted  Op = "deleted"  // its deletion was accepted
	OpReleased Op = "released" // it stays, and is no longer ours
)

// Key is the identity of an object within one cluster. Two objects are the same
// object exactly if their keys are equal; it is comparable and so can index a map.
// A cluster-scoped object has no namespace.
type Key struct {
	GVK       schema.GroupVersionKind
	Namespace string
	Name      string
}

// String returns the whole identity, such as apps/v1/Deployment/shop/web,
// v1/ConfigMap/shop/settings, or v1/Namespace/shop for a cluster-scoped object.
func (k Key) String() string {
	parts := []string{k.GVK.GroupVersion().String(), k.GVK.Kind, k.Namespace, k.Name}
	if k.Namespace == "" {
		parts = []string{parts[0], parts[1], parts[3]}
	}
	return strings.Join(parts, "/")
}

// Short returns kind and name, such as "StatefulSet db": what a person calls the
// object when the namespace is plain from the context. Without a name it is the kind.
func (k Key) Short() string { return strings.TrimSuffix(k.GVK.Kind+" "+k.Name, " ") }

// GVK returns the kind of obj: the one it carries itself, else the one under
// which scheme knows its Go type. It is an error if obj is nil, if neither knows
// the kind, or if scheme knows several. A nil scheme knows nothing.
func GVK(scheme *runtime.Scheme, obj Object) (schema.GroupVersionKind, error) {
	if IsNil(obj) {
		return schema.GroupVersionKind{}, errors.New("reading the kind of an object: the object is nil")
	}
	if own := obj.GetObjectKind().GroupVersionKind(); own.Kind != "" && own.Version != "" {
		return own, nil
	}
	if scheme == nil {
		return schema.GroupVersionKind{}, fmt.Errorf("reading the kind of %T: it carries none, and there is no scheme to ask", obj)
	}
	gvks, _, err := scheme.ObjectKinds(obj)
	switch {
	case runtime.IsNotRegisteredError(err):
		return schema.GroupVersionKind{}, fmt.Errorf("reading the kind of %T: the scheme does not know this type; register its API group (AddToScheme)", obj)
	case err != nil:
		return schema.GroupVersionKind{}, fmt.Errorf("reading the kind of %T: %w", obj, err)
	case len(gvks) != 1:
		return schema.GroupVersionKind{}, fmt.Errorf("reading the kind of %T: the scheme knows it as %v; set apiVersion and kind on the object", obj, gvks)
	}
	return gvks[0], nil
}

// Blank returns a new, empty object of a kind: of the Go type under which scheme
// knows the kind, else unstructured. That is also how a cache holds it. A nil scheme
// knows nothing.
func Blank(scheme *runtime.Scheme, gvk schema.GroupVersionKind) (Object, error) {
	if scheme == nil || !scheme.Recognizes(gvk) {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(gvk)
		return u, nil
	}
	made, err := scheme.New(gvk)
	if err != nil {
		return nil, err
	}
	obj, ok := made.(Object)
	if !ok {
		return nil, fmt.Errorf("making a %s: %T is no object with metadata", gvk.Kind, made)
	}
	return obj, nil
}

// KeyOf returns the identity of obj. It fails where [GVK] fails.
func KeyOf(scheme *runtime.Scheme, obj Object) (Key, error) {
	gvk, err := GVK(scheme, obj)
	if err != nil {
		return Key{}, err
	}
	return Key{GVK: gvk, Namespace: obj.GetNamespace(), Name: obj.GetName()}, nil
}
