package kind

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
)

// The statuses of conditions that rules tell from others.
const (
	isTrue  = "True"
	isFalse = "False"
)

// report is what most controllers say in a status. Kinds of which more is looked at
// have a type of their own, which like this one holds no more than that.
type report struct {
	Metadata metadata `json:"metadata"`
	Status   struct {
		ObservedGeneration observed `json:"observedGeneration"`
		Conditions         reported `json:"conditions"`
	} `json:"status"`
}

// says returns the condition of a type, or one that says nothing.
func (r report) says(typ string) told { return r.Status.Conditions.of(typ) }

type metadata struct {
	Namespace   string            `json:"namespace"`
	Generation  int64             `json:"generation"`
	Annotations map[string]string `json:"annotations"`
}

// observed is the generation that something was said about; 0 means that it was not
// told, because Go types write a 0 where there is nothing.
type observed int64

// before reports whether what was said is out of date.
func (o observed) before(generation int64) bool { return o > 0 && int64(o) < generation }

// told is one condition.
type told struct {
	Type               string   `json:"type"`
	Status             string   `json:"status"`
	Reason             string   `json:"reason"`
	Message            string   `json:"message"`
	ObservedGeneration observed `json:"observedGeneration"`
}

// text is what a condition tells people, which is never nothing.
func (c told) text() string {
	if c.Message != "" {
		return c.Message
	}
	if c.Reason != "" {
		return c.Type + " is " + c.Status + ": " + c.Reason
	}
	return c.Type + " is " + c.Status
}

// or returns the message of a condition, if it has one.
func (c told) or(instead string) string { return or(c.Message, instead) }

type reported []told

// of returns the condition of a type, or one that says nothing.
func (r reported) of(typ string) told {
	i := slices.IndexFunc(r, func(c told) bool { return c.Type == typ })
	if i < 0 {
		return told{}
	}
	return r[i]
}

// answer is the rule of integrations that say in one condition whether they have been
// provided.
func (r report) answer(typ, waiting string) State {
	c := r.says(typ)
	switch {
	case r.Status.ObservedGeneration.before(r.Metadata.Generation), c.ObservedGeneration.before(r.Metadata.Generation):
		return State{condition.OperationPending, unobserved}
	case c.Status == isTrue:
		return State{condition.Operational, c.text()}
	case c.Status == isFalse:
		return State{condition.OperationFailing, c.text()}
	default:
		return State{condition.OperationPending, c.or(waiting)}
	}
}

const unobserved = "waiting for its controller to observe the latest spec"

// shown makes a rule for what T shows of objects of one kind a health rule for any
// object. It is for kinds of which the library has no Go types.
func shown[T any](kind string, rule func(live T, op object.Op) State) func(object.Object, object.Op) State {
	return func(obj object.Object, op object.Op) State {
		return showing(kind, func(live T) State { return rule(live, op) })(obj)
	}
}

// showing makes a rule for what T shows of objects of one kind a rule for any object.
func showing[T any](kind string, rule func(live T) State) func(object.Object) State {
	return func(obj object.Object) State {
		live, err := look[T](kind, obj)
		if err != nil {
			return State{condition.Error, err.Error()}
		}
		return rule(live)
	}
}

const anyKind = ""

// look returns what T shows of an object of a kind, unstructured or of a Go type that
// somebody else has for it.
func look[T any](kind string, obj object.Object) (T, error) {
	var view T
	if object.IsNil(obj) {
		return view, fmt.Errorf("there is no object where a %s is expected", kind)
	}
	var tree map[string]any
	u, ok := obj.(*unstructured.Unstructured)
	switch {
	case ok && kind != anyKind && u.GetKind() != "" && u.GetKind() != kind:
		return view, fmt.Errorf("this is a %s where a %s is expected", u.GetKind(), kind)
	case ok:
		tree = u.Object
	case kind != anyKind && typeName(obj) != kind:
		return view, fmt.Errorf("this is a %T where a %s is expected", obj, kind)
	default:
		var err error
		if tree, err = runtime.DefaultUnstructuredConverter.ToUnstructured(obj); err != nil {
			return view, fmt.Errorf("reading a %T: %w", obj, err)
		}
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(tree, &view); err != nil {
		return view, fmt.Errorf("reading a %s: %w", kind, err)
	}
	return view, nil
}
