package kind

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
)

// on makes a health rule for T one for any object.
func on[T object.Object](rule func(live T, op object.Op) State) func(object.Object, object.Op) State {
	return func(obj object.Object, op object.Op) State {
		live, err := typed[T](obj)
		if err != nil {
			return State{condition.Error, err.Error()}
		}
		return rule(live, op)
	}
}

// of makes a rule for T one for any object.
func of[T object.Object](rule func(live T) State) func(object.Object) State {
	return func(obj object.Object) State {
		live, err := typed[T](obj)
		if err != nil {
			return State{condition.Error, err.Error()}
		}
		return rule(live)
	}
}

// holds makes a question about T one about any object. What is not a T is answered no.
func holds[T object.Object](question func(live T) bool) func(object.Object) bool {
	return func(obj object.Object) bool {
		live, err := typed[T](obj)
		return err == nil && question(live)
	}
}

// assign makes a change of one field of T one of any object: change does it in a T,
// value and path say the same for an unstructured object, which must not gain the
// fields that a detour through T would add.
func assign[T object.Object](change func(desired T), value any, path ...string) func(object.Object) error {
	return func(obj object.Object) error {
		if u, ok := obj.(*unstructured.Unstructured); ok && u != nil {
			if u.Object == nil {
				u.Object = map[string]any{}
			}
			return unstructured.SetNestedField(u.Object, value, path...)
		}
		desired, err := typed[T](obj)
		if err != nil {
			return err
		}
		change(desired)
		return nil
	}
}

// rests says that whatever is there is at rest, and why.
func rests(message string) func(object.Object) State {
	return func(object.Object) State { return State{condition.Suspended, message} }
}

// typed returns obj as a T. An unstructured object is decoded into a new one.
func typed[T object.Object](obj object.Object) (T, error) {
	var none T
	if object.IsNil(obj) {
		return none, fmt.Errorf("there is no object where a %T is expected", none)
	}
	if t, ok := obj.(T); ok {
		return t, nil
	}
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return none, fmt.Errorf("this is a %T where a %T is expected", obj, none)
	}
	t := object.New[T]()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, t); err != nil {
		return none, fmt.Errorf("reading a %s as %T: %w", u.GetKind(), none, err)
	}
	return t, nil
}
