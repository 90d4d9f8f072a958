package component

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-go/armature/api"
	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/feature"
	"github.com/armature-go/armature/kind"
	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/resource"
)

// Ready is the type of the condition that sums up all components of an owner. No
// component may use it.
const Ready = "Ready"

// Owner is a custom resource that is made of components.
type Owner interface {
	object.Object

	// Conditions returns the place of the conditions in the status, never nil.
	Conditions() *[]metav1.Condition
}

// statusOwner is an owner that embeds [api.Status]; then it is remembered there
// which components have started.
type statusOwner interface {
	Owner
	RuntimeStatus() *api.Status
}

// RuntimeStatus returns the status that the owner embeds, or nil if it has none.
func RuntimeStatus(owner Owner) *api.Status {
	if o, ok := owner.(statusOwner); ok {
		return o.RuntimeStatus()
	}
	return nil
}

// Resource is one entry in the list of a component.
type Resource = resource.Resource

// Component is a part of an owner with a condition of its own. A literal is enough
// to make one; it is built anew for every pass.
type Component struct {
	Name      string         // a label value, unique within the owner
	Condition string         // type of its condition, unique within the owner, never Ready
	Gate      feature.Gate   // off: its managed objects are deleted and it is Disabled; the zero value is on
	After     []Prerequisite // what must hold before it starts; not asked again once it has
	Grace     time.Duration  // how long it may take to converge before it is Degraded or Down; 0 means for ever
	Suspend   bool           // stop its workloads and keep its data
	Resources []Resource     // in the order in which they depend on each other
	Err       error          // it could not be built, so that its resources are not looked at; the other components go on
}

// Prerequisite is what a component waits for before it starts.
type Prerequisite interface {
	// Met reports whether the prerequisite holds, given the owner with the
	// conditions known so far, and if not, what is waited for.
	Met(owner Owner) (ok bool, waiting string)
}

// DependsOn waits until the owner's condition of that type is True for the
// current generation.
func DependsOn(conditionType string) Prerequisite { return dependsOn(conditionType) }

type dependsOn string

func (d dependsOn) Met(owner Owner) (ok bool, waiting string) {
	c, found := condition.Find(*owner.Conditions(), string(d))
	switch {
	case !found:
		return false, fmt.Sprintf("waiting for condition %s, which is not there yet", string(d))
	case c.Status != metav1.ConditionTrue:
		return false, fmt.Sprintf("waiting for condition %s to become True (currently %s: %s)", string(d), c.Status, c.Message)
	case c.ObservedGeneration < owner.GetGeneration():
		return false, fmt.Sprintf("waiting for condition %s to be judged anew after the last change", string(d))
	default:
		return true, ""
	}
}

// Applier writes what a pass decides; *apply.Applier is one.
type Applier interface {
	Remover

	Apply(ctx context.Context, owner object.Object, component string, desired object.Object, how ...object.Handling) (apply.Result, error)
	Owned(ctx context.Context, owner object.Object, kinds []schema.GroupVersionKind) ([]object.Object, error)
}

// Remover is the part of an [Applier] that objects go by.
type Remover interface {
	Amend(ctx context.Context, owner, seen, changed object.Object) (apply.Result, error)
	Delete(ctx context.Context, owner, obj object.Object) (apply.Result, error)
	Release(ctx context.Context, owner, obj object.Object) (apply.Result, error)
}

// Observer reads objects that belong to somebody else.
type Observer interface {
	// Observe returns the object, or nil if there is none. A wait says that it
	// is not known yet.
	Observe(ctx context.Context, key object.Key) (object.Object, error)
}

// Env is what a pass works with.
type Env struct {
	Applier  Applier
	Observer Observer // needed only where a component observes
	Scheme   *runtime.Scheme
	Kinds    *kind.Table               // nil means [kind.Builtin]
	Owns     []schema.GroupVersionKind // kinds that may be managed
	Reads    []schema.GroupVersionKind // kinds that may be observed besides
	Now      func() time.Time          // nil means the system clock
}

func (e Env) kinds() *kind.Table {
	if e.Kinds == nil {
		return kind.Builtin()
	}
	return e.Kinds
}

func (e Env) now() time.Time {
	if e.Now == nil {
		return time.Now() //nolint:forbidigo // the system clock is what nil means
	}
	return e.Now()
}

// Change is one write that a pass made.
type Change struct {
	Object object.Object // as it was known last; nil if it never was
	Key    object.Key
	Op     object.Op
	Cause  string // why, in a few words
}

// State is how one object is doing.
type State struct {
	Key       object.Key
	Reason    condition.Reason // empty: nothing to say, which is fine
	Message   string
	Auxiliary bool
}

// Note is something about an object that could not be honoured. It is part of the
// component's message for as long as it holds.
type Note struct {
	apply.Note

	Key object.Key
}

// String is the note as it stands in a message.
func (n Note) String() string { return n.Key.Short() + ": " + n.Message }

// Report is what one pass found out about one component.
type Report struct {
	Name      string
	Condition metav1.Condition // to be stored
	Started   bool             // its prerequisites were met, now or earlier
	States    []State          // in the order of its resources
	Changes   []Change
	Notes     []Note
	After     time.Duration // look again after this time; 0 means that watches suffice
	Err       error         // what failed; waits are no failures
	Took      time.Duration

	complete bool      // nothing was blocked or failed: what it does not render is not wanted
	judged   time.Time // when it was judged by how far it has come; zero if it was not
}

// Result is what one pass found out about an owner.
type Result struct {
	Reports []Report
	Ready   metav1.Condition
	Changes []Change      // of no component: what was pruned
	After   time.Duration // look again after this time; 0 means that watches suffice
	Err     error         // what failed, of all components; retry with back-off
}
