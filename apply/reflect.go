package apply

// Reflection is used here for one thing: to read a typed object as the JSON that the
// server would write of it. Converting the whole object to a tree says the same, but
// takes ten times as long, and nearly every decision needs a small part of it.

import (
	"cmp"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"iter"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/intstr"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// goValue is a Go struct, map, slice or array that JSON knows as a mapping or a
// sequence. Where encoding/json and the converter of apimachinery differ, it is read
// as encoding/json does, which is what the server runs.
type goValue struct {
	v    reflect.Value
	plan *plan // of its type
}

// goNode returns the node of a Go value.
func goNode(value any) node { return read(reflect.ValueOf(value)) }

// read follows pointers and reads what is behind them.
func read(v reflect.Value) node {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return node{}
		}
		v = v.Elem()
	}
	if predeclared(v) {
		return scalar(v)
	}
	plan := planOf(v.Type())
	if plan.encode != nil {
		return plan.encode(v)
	}
	switch v.Kind() {
	case reflect.Struct:
		return node{kind: mapping, value: goValue{addressable(v), plan}}
	case reflect.Map, reflect.Slice:
		if v.IsNil() {
			return node{}
		}
		if v.Kind() == reflect.Map {
			return node{kind: mapping, value: goValue{v, plan}}
		}
		return node{kind: sequence, value: goValue{v, plan}}
	case reflect.Array:
		return node{kind: sequence, value: goValue{v, plan}}
	default:
		return scalar(v)
	}
}

// predeclared reports whether a value is a plain string, number or bool, which most
// are, and about which there is nothing to look up.
func predeclared(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice, reflect.Array:
		return false
	default:
		return v.Type().PkgPath() == ""
	}
}

// scalar reads a value that is neither a mapping nor a sequence.
func scalar(v reflect.Value) node {
	switch v.Kind() {
	case reflect.String:
		return node{kind: text, text: v.String()}
	case reflect.Bool:
		return treeNode(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return integerNode(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		u := v.Uint()
		if u > math.MaxInt64 {
			return fractionNode(float64(u)) // as a server's answer is decoded
		}
		return integerNode(int64(u))
	case reflect.Float64:
		return fractionNode(v.Float())
	case reflect.Float32: // 0.1 is written as 0.1, which is not the float64 that is nearest to the float32
		f, _ := strconv.ParseFloat(strconv.FormatFloat(v.Float(), 'g', -1, 32), 64)
		return fractionNode(f)
	default:
		return node{kind: unreadable, text: v.Type().String()}
	}
}

// addressable returns a value of which a pointer can be taken, so that methods of the
// pointer are found.
func addressable(v reflect.Value) reflect.Value {
	if v.CanAddr() {
		return v
	}
	copied := reflect.New(v.Type()).Elem()
	copied.Set(v)
	return copied
}

func (g goValue) len() int { return g.v.Len() }

func (g goValue) item(i int) node { return read(g.v.Index(i)) }

func (g goValue) field(name string) node {
	if g.v.Kind() == reflect.Struct {
		if i, found := slices.BinarySearchFunc(g.plan.fields, name, fieldPlan.compare); found {
			return g.plan.fields[i].in(g.v)
		}
		return node{}
	}
	if m, ok := reflect.TypeAssert[map[string]string](g.v); ok {
		if s, found := m[name]; found {
			return textNode(s)
		}
		return node{}
	}
	if sub := g.v.MapIndex(reflect.ValueOf(name).Convert(g.v.Type().Key())); sub.IsValid() {
		return read(sub)
	}
	return node{}
}

func (g goValue) fields() iter.Seq2[string, node] {
	if g.v.Kind() == reflect.Struct {
		return g.structFields
	}
	if m, ok := reflect.TypeAssert[map[string]string](g.v); ok {
		return fieldsOfMap(m, textNode)
	}
	nodes := make(map[string]node, g.v.Len())
	for it := g.v.MapRange(); it.Next(); {
		nodes[it.Key().String()] = read(it.Value())
	}
	return fieldsOfMap(nodes, func(n node) node { return n })
}

func (g goValue) structFields(yield func(string, node) bool) {
	for _, f := range g.plan.fields {
		if sub := f.in(g.v); sub.kind != null && !yield(f.name, sub) {
			return
		}
	}
}

func textNode(s string) node { return node{kind: text, text: s} }

// plan is what there is to know about a Go type to read its values.
type plan struct {
	encode func(reflect.Value) node // nil if the value is read by its kind
	fields []fieldPlan              // of a struct, sorted by name
}

// fieldPlan is a field of the JSON that a struct is written as.
type fieldPlan struct {
	name      string
	index     []int // the way to it, through embedded structs
	omitEmpty bool
	omitZero  bool
}

func (f fieldPlan) compare(name string) int { return strings.Compare(f.name, name) }

// in returns the field of a struct; null if it is left out.
func (f fieldPlan) in(v reflect.Value) node {
	for _, i := range f.index {
		if v.Kind() == reflect.Pointer { // to an embedded struct
			if v.IsNil() {
				return node{}
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	if f.omitEmpty && isEmpty(v) || f.omitZero && isZero(v) {
		return node{}
	}
	return read(v)
}

// isEmpty is what omitempty means: a struct is never empty.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Map, reflect.Slice, reflect.Array:
		return v.Len() == 0
	case reflect.Struct:
		return false
	default:
		return v.IsZero()
	}
}

// isZero is what omitzero means: a type may say for itself when it is zero.
func isZero(v reflect.Value) bool {
	type zeroer interface{ IsZero() bool }
	asked := v
	if v.Kind() != reflect.Pointer && v.Kind() != reflect.Interface {
		asked = v.Addr() // a pointer has its value's methods, too
	}
	if z, ok := reflect.TypeAssert[zeroer](asked); ok && !asked.IsNil() {
		return z.IsZero()
	}
	return v.IsZero()
}

// plans holds a *plan for every reflect.Type that was read. There are as many as
// there are types in a program.
var plans sync.Map

func planOf(t reflect.Type) *plan {
	if known, ok := plans.Load(t); ok {
		return known.(*plan) //nolint:errcheck // nothing else is in it
	}
	made := &plan{encode: encoderOf(t)}
	if made.encode == nil && t.Kind() == reflect.Struct {
		byName := map[string]fieldPlan{}
		addFields(byName, t, nil)
		for _, f := range byName {
			made.fields = append(made.fields, f)
		}
		slices.SortFunc(made.fields, func(a, b fieldPlan) int { return cmp.Compare(a.name, b.name) })
	}
	plans.Store(t, made)
	return made
}

// addFields adds the fields of a struct, after those of the structs embedded in it,
// which they hide. The index leads to the struct.
func addFields(byName map[string]fieldPlan, t reflect.Type, index []int) {
	var own []fieldPlan
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(slices.Clone(index), i)
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		if embedded := embeddedStruct(f); embedded != nil && name == "" {
			addFields(byName, embedded, at)
			continue
		}
		if !f.IsExported() || tag == "-" {
			continue
		}
		of := strings.Split(options, ",")
		own = append(own, fieldPlan{cmp.Or(name, f.Name), at, slices.Contains(of, "omitempty"), slices.Contains(of, "omitzero")})
	}
	for _, f := range own {
		byName[f.name] = f
	}
}

// embeddedStruct returns the struct that a field embeds, itself or by a pointer; nil
// if it embeds none.
func embeddedStruct(f reflect.StructField) reflect.Type {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if !f.Anonymous || t.Kind() != reflect.Struct {
		return nil
	}
	return t
}

// converter is how types of apimachinery say what their JSON is without writing it.
type converter interface{ ToUnstructured() any }

// encoderOf returns what reads a type that its kind says too little about.
func encoderOf(t reflect.Type) func(reflect.Value) node {
	pointer := reflect.PointerTo(t) // it has its value's methods, too
	switch {
	case t == reflect.TypeFor[intstr.IntOrString]():
		return readIntOrString
	case pointer.Implements(reflect.TypeFor[converter]()):
		return readConverted // a time, a quantity, a duration
	case pointer.Implements(reflect.TypeFor[json.Marshaler]()), pointer.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return readEncoded
	case t.Kind() == reflect.Map && t.Key().Kind() != reflect.String:
		return readEncoded
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return readBytes
	default:
		return nil
	}
}

func readIntOrString(v reflect.Value) node {
	x, ok := reflect.TypeAssert[*intstr.IntOrString](addressable(v).Addr())
	switch {
	case ok && x.Type == intstr.Int:
		return integerNode(int64(x.IntVal))
	case ok && x.Type == intstr.String:
		return textNode(x.StrVal)
	}
	return node{kind: unreadable, text: v.Type().String()}
}

func readConverted(v reflect.Value) node {
	c, ok := reflect.TypeAssert[converter](addressable(v).Addr())
	if !ok {
		return node{kind: unreadable, text: v.Type().String()}
	}
	return treeNode(c.ToUnstructured())
}

// readEncoded takes the long way, by the bytes of the JSON.
func readEncoded(v reflect.Value) node {
	var tree any
	raw, err := json.Marshal(addressable(v).Addr().Interface())
	if err != nil || utiljson.Unmarshal(raw, &tree) != nil {
		return node{kind: unreadable, text: v.Type().String()}
	}
	return treeNode(tree)
}

func readBytes(v reflect.Value) node {
	if v.IsNil() {
		return node{}
	}
	return textNode(base64.StdEncoding.EncodeToString(v.Bytes()))
}
