package object

// Reflection is used here for three things that Go cannot say otherwise: to see a
// nil pointer inside an interface, to make a value of a type parameter's element
// type, and to tell a struct held by value from one behind a pointer, which are the
// same once they are encoded.

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// IsNil reports whether obj is nil or holds a nil pointer, which is not the same
// to Go and always the same mistake to us.
func IsNil(obj Object) bool {
	if obj == nil {
		return true
	}
	v := reflect.ValueOf(obj)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// New returns a new zero object of the pointer type T, such as *corev1.Secret. For
// an interface type there is nothing to make, and it returns the nil of that type.
func New[T Object]() T {
	var zero T
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Pointer {
		return zero
	}
	made, _ := reflect.TypeAssert[T](reflect.New(t.Elem())) // always holds: a pointer to T's element is a T
	return made
}

// pruneObject is prune for a whole object.
func pruneObject(obj Object, tree map[string]any) { prune(reflect.ValueOf(obj), tree) }

// prune removes from tree, the encoding of v, what the author did not write: nulls,
// and every blank struct that v holds by value in a field that may be omitted.
// Behind a pointer an empty struct is a statement and stays; so does one in a
// required field, such as a NetworkPolicy's podSelector, where empty means everything.
func prune(v reflect.Value, tree any) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			prune(v.Elem(), tree)
		}
	case reflect.Slice, reflect.Array:
		items, ok := tree.([]any)
		if !ok || len(items) != v.Len() { // bytes, or something that encodes itself
			return
		}
		for i := range items {
			prune(v.Index(i), items[i])
		}
	case reflect.Map:
		if fields, ok := tree.(map[string]any); ok && v.Type().Key().Kind() == reflect.String {
			pruneMap(v, fields)
		}
	case reflect.Struct:
		if fields, ok := tree.(map[string]any); ok && !typeOf(v).encodesItself {
			pruneStruct(v, fields)
		}
	default: // scalars hold no structs
	}
}

// pruneMap is prune for the values of a map. A key of a Secret's data whose bytes
// are nil was written all the same: it holds nothing, and stays.
func pruneMap(v reflect.Value, tree map[string]any) {
	bytes := reflect.TypeFor[[]byte]()
	for it := v.MapRange(); it.Next(); {
		key := it.Key().String()
		sub, present := tree[key]
		switch {
		case !present:
		case sub == nil && v.Type().Elem() == bytes:
			tree[key] = ""
		case sub == nil:
			delete(tree, key)
		default:
			prune(it.Value(), sub)
		}
	}
}

// pruneStruct is prune for the fields of a struct.
func pruneStruct(v reflect.Value, tree map[string]any) {
	if len(tree) == 0 {
		return
	}
	for i, field := range typeOf(v).fields {
		value := v.Field(i)
		if field.inline {
			prune(value, tree)
			continue
		}
		if !field.exported {
			delete(tree, field.name) // apimachinery encodes it, encoding/json does not
			continue
		}
		sub, present := tree[field.name]
		if !present {
			continue
		}
		prune(value, sub)
		if sub == nil || field.mayOmit && field.held && (isEmpty(sub) || blank(value)) {
			delete(tree, field.name)
		}
	}
}

// blank reports whether a struct encodes as the zero value of its type does. Other
// values are not blank: encoding them decides whether they appear.
func blank(v reflect.Value) bool {
	if v.Kind() != reflect.Struct || v.IsZero() || typeOf(v).encodesItself {
		return v.Kind() == reflect.Struct && v.IsZero()
	}
	for i, field := range typeOf(v).fields {
		value := v.Field(i)
		unsaid := (value.Kind() == reflect.Map || value.Kind() == reflect.Slice) && field.mayOmit && value.Len() == 0
		if !value.IsZero() && !unsaid && !blank(value) {
			return false
		}
	}
	return true
}

// isEmpty reports whether a node is a map or a list that holds nothing.
func isEmpty(node any) bool {
	switch node := node.(type) {
	case map[string]any:
		return len(node) == 0
	case []any:
		return len(node) == 0
	}
	return false
}

// jsonField reads a field's JSON tag: its name, whether it may be left out when it
// has nothing to say, and whether its own fields are part of the parent's.
func jsonField(f reflect.StructField) (name string, mayOmit, inline bool) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	for o := range strings.SplitSeq(options, ",") {
		mayOmit = mayOmit || o == "omitempty" || o == "omitzero"
	}
	inline = name == "" && f.Anonymous
	if name == "" {
		name = f.Name
	}
	return name, mayOmit, inline
}

// structType is what there is to know about a type of struct. It is found out once:
// reading tags takes longer than all the rest.
type structType struct {
	// encodesItself is true of a type that brings its own encoding, so that its Go
	// fields say nothing about its tree.
	encodesItself bool
	fields        []structField
}

type structField struct {
	name     string
	exported bool
	mayOmit  bool // see jsonField
	inline   bool
	held     bool // a struct, map or list by value
}

var structTypes sync.Map // of *structType by reflect.Type

func typeOf(v reflect.Value) *structType {
	known, ok := structTypes.Load(v.Type())
	if !ok {
		known, _ = structTypes.LoadOrStore(v.Type(), newStructType(v.Type()))
	}
	made, _ := known.(*structType) // nothing else is stored
	return made
}

func newStructType(t reflect.Type) *structType {
	type marshaler interface{ MarshalJSON() ([]byte, error) }
	made := &structType{encodesItself: reflect.PointerTo(t).Implements(reflect.TypeFor[marshaler]())} // a pointer has its value's methods too
	for f := range t.Fields() {
		name, mayOmit, inline := jsonField(f)
		held := slices.Contains([]reflect.Kind{reflect.Struct, reflect.Map, reflect.Slice}, f.Type.Kind())
		made.fields = append(made.fields, structField{name, f.IsExported(), mayOmit, inline, held})
	}
	return made
}
