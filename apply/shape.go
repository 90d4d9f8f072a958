package apply

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/kind"
	"github.com/armature-go/armature/object"
)

// Shape says why an object may not carry a reference to its owner.
type Shape string

// The shapes that the garbage collector takes for a missing owner, sooner or later.
const (
	OtherNamespace Shape = "other namespace" // the owner is in one namespace, and the object in another
	ClusterScoped  Shape = "cluster-scoped"  // the owner is in a namespace, and the object in none
)

// ShapeError says that the object may not carry a reference to its owner. It wraps an
// [*condition.InvalidError].
type ShapeError struct {
	Key   object.Key
	Shape Shape

	invalid condition.InvalidError
}

func (e *ShapeError) Error() string { return e.invalid.Error() }

func (e *ShapeError) Unwrap() error { return &e.invalid }

// NewShapeError returns the error for an object of an owner in the given namespace.
// The field is what the object is called where it is declared.
func NewShapeError(field string, key object.Key, shape Shape, home string) *ShapeError {
	const track = "or let it be tracked: resource.Manage(…).Tracked()"
	invalid := condition.InvalidError{
		Field: field, Problem: fmt.Sprintf("it is in namespace %q, and its owner in %q", key.Namespace, home), Fix: fmt.Sprintf("set its namespace to %q, %s", home, track),
	}
	if shape == ClusterScoped {
		invalid.Problem = "it is cluster-scoped, and its owner is not, so that it cannot own it"
		invalid.Fix = "observe it, leave it to a cluster-scoped owner, " + track
	}
	return &ShapeError{Key: key, Shape: shape, invalid: invalid}
}

// builtin says which of the known kinds are cluster-scoped.
var builtin = kind.Builtin()

// wellShaped refuses a reference that the garbage collector would not understand. What
// is tracked has none.
func (a *Applier) wellShaped(t target) error {
	home := t.owner.GetNamespace()
	if t.how == object.Tracked || home == "" {
		return nil
	}
	clusterScoped, err := a.clusterScoped(t.key.GVK)
	switch {
	case err != nil:
		return err
	case clusterScoped:
		return NewShapeError(t.key.Short(), t.key, ClusterScoped, home)
	case t.key.Namespace != home:
		return NewShapeError(t.key.Short(), t.key, OtherNamespace, home)
	default:
		return nil
	}
}

func (a *Applier) clusterScoped(gvk schema.GroupVersionKind) (bool, error) {
	if row, known := builtin.Lookup(gvk); known {
		return row.Scope == kind.Cluster, nil
	}
	mapping, err := a.client.RESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version)
	switch {
	case meta.IsNoMatchError(err):
		return false, nil // nothing of it can be applied, and the server says so
	case err != nil:
		return false, fmt.Errorf("asking for the scope of %s: %w", gvk.Kind, err)
	default:
		return mapping.Scope.Name() == meta.RESTScopeNameRoot, nil
	}
}
