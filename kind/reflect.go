package kind

import (
	"reflect"

	"github.com/armature-go/armature/object"
)

// typeName returns the name of an object's Go type. Every scheme takes it for the kind,
// which objects from a typed client do not tell otherwise. Only reflection knows it.
func typeName(obj object.Object) string {
	return reflect.Indirect(reflect.ValueOf(obj)).Type().Name()
}
