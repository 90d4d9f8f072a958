package object_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/armature-go/armature/object"
)

// fill sets the fields of obj at random, about half of them to zero, and includes
// what is easily confused: nil and empty, a pointer and what it points to.
func fill(rng *rand.Rand, obj object.Object) {
	fillValue(rng, reflect.ValueOf(obj).Elem(), 0)
	obj.GetObjectKind().SetGroupVersionKind(metav1.Unversioned.WithKind(""))
}

// empty returns a new object of the type of obj.
func empty(obj object.Object) object.Object {
	return reflect.New(reflect.TypeOf(obj).Elem()).Interface().(object.Object)
}

func clearStatus(obj object.Object) {
	if status := reflect.ValueOf(obj).Elem().FieldByName("Status"); status.IsValid() {
		status.SetZero()
	}
}

// special are the types whose fields are not free.
var special = map[reflect.Type]func(*rand.Rand) any{
	reflect.TypeFor[metav1.Time]():          func(rng *rand.Rand) any { return metav1.NewTime(time.Unix(1+rng.Int64N(1e9), 0)) },
	reflect.TypeFor[metav1.MicroTime]():     func(rng *rand.Rand) any { return metav1.NewMicroTime(time.Unix(1+rng.Int64N(1e9), 0)) },
	reflect.TypeFor[metav1.FieldsV1]():      func(*rand.Rand) any { return *metav1.NewFieldsV1(`{"f:a":{}}`) },
	reflect.TypeFor[runtime.RawExtension](): func(*rand.Rand) any { return runtime.RawExtension{Raw: []byte(`{"a":"b"}`)} },
	reflect.TypeFor[resource.Quantity]():    func(rng *rand.Rand) any { return resource.MustParse(fmt.Sprint(rng.IntN(3), "Mi")) },
	reflect.TypeFor[apiextensionsv1.JSON](): func(*rand.Rand) any { return apiextensionsv1.JSON{Raw: []byte(`{"a":5}`)} },
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrBool](): func(*rand.Rand) any {
		return apiextensionsv1.JSONSchemaPropsOrBool{Allows: true}
	},
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrArray](): func(*rand.Rand) any {
		return apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{Type: "string"}}
	},
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrStringArray](): func(*rand.Rand) any {
		return apiextensionsv1.JSONSchemaPropsOrStringArray{Property: []string{"a"}}
	},
	reflect.TypeFor[intstr.IntOrString](): func(rng *rand.Rand) any {
		return []any{intstr.FromInt32(rng.Int32N(3)), intstr.FromString("http")}[rng.IntN(2)]
	},
}

// nullIfEmpty are the types whose zero value is encoded as a null.
var nullIfEmpty = map[reflect.Type]bool{
	reflect.TypeFor[apiextensionsv1.JSON]():                         true,
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrStringArray](): true,
}

// keys are fields that tell the items of lists apart; they are never the same, nor
// empty, which trees refuse.
var keys = []string{"name", "mountPath", "devicePath", "ip", "topologyKey", "whenUnsatisfiable", "containerPort", "port"}

// fillKey fills a field that is a key, and reports whether it was one.
func fillKey(rng *rand.Rand, field reflect.StructField, v reflect.Value) bool {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	switch {
	case !slices.Contains(keys, name):
		return false
	case v.Kind() == reflect.String:
		v.SetString(fmt.Sprintf("key-%d", rng.Uint32()))
	case v.Kind() == reflect.Int32:
		v.SetInt(int64(rng.Int32()))
	default:
		return false
	}
	return true
}

func fillValue(rng *rand.Rand, v reflect.Value, depth int) {
	if random, ok := special[v.Type()]; ok {
		if rng.IntN(2) == 0 || nullIfEmpty[v.Type()] {
			v.Set(reflect.ValueOf(random(rng)))
		}
		return
	}
	// The deeper, the emptier: below some depth everything is zero, or empty but there.
	quiet := rng.IntN(16) < depth
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && !fillKey(rng, v.Type().Field(i), v.Field(i)) && (rng.IntN(5) > 1 || v.Type().Field(i).Anonymous) {
				fillValue(rng, v.Field(i), depth+1)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		if random, ok := special[v.Type().Elem()]; ok { // a pointer to a zero time is a null, which nobody writes
			v.Elem().Set(reflect.ValueOf(random(rng)))
		} else if !quiet {
			fillValue(rng, v.Elem(), depth+1)
		}
	case reflect.Slice:
		n := rng.IntN(3)
		if quiet {
			n = 0
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fillValue(rng, v.Index(i), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		n := rng.IntN(3)
		if depth > 12 {
			n = 0
		}
		for range n {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			key.SetString(string(rune('a' + rng.IntN(5))))
			if rng.IntN(4) > 0 || nullIfEmpty[value.Type()] {
				fillValue(rng, value, depth+1)
			}
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		v.SetString([]string{"", "a", "null", "{}", "0"}[rng.IntN(5)])
	case reflect.Bool:
		v.SetBool(rng.IntN(2) == 0)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(rng.Int64N(4) - 1)
	case reflect.Uint8:
		v.SetUint(uint64(rng.IntN(256)))
	case reflect.Float64:
		v.SetFloat(float64(rng.IntN(4)) / 2)
	default:
		panic("a field of a kind that the filler does not know: " + v.Type().String())
	}
}
