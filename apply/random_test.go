package apply

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	kresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// restrictedTypes are those of which not every value can be written.
var restrictedTypes = map[reflect.Type]func(*rand.Rand) any{
	reflect.TypeFor[metav1.Time]():          func(rng *rand.Rand) any { return metav1.NewTime(time.Unix(1+rng.Int64N(1e9), 0)) },
	reflect.TypeFor[metav1.MicroTime]():     func(rng *rand.Rand) any { return metav1.NewMicroTime(time.Unix(1+rng.Int64N(1e9), 5000)) },
	reflect.TypeFor[metav1.FieldsV1]():      func(*rand.Rand) any { return *metav1.NewFieldsV1(`{"f:a":{}}`) },
	reflect.TypeFor[runtime.RawExtension](): func(*rand.Rand) any { return runtime.RawExtension{Raw: []byte(`{"a":["b",1,1.5,null]}`)} },
	reflect.TypeFor[kresource.Quantity](): func(rng *rand.Rand) any {
		return kresource.MustParse([]string{"0", "100m", "1.5Gi", "2000"}[rng.IntN(4)])
	},
	reflect.TypeFor[intstr.IntOrString](): func(rng *rand.Rand) any {
		if rng.IntN(2) == 0 {
			return intstr.FromString("http")
		}
		return intstr.FromInt32(rng.Int32N(4))
	},
}

// random sets a value, and what is in it, to anything, often to nothing. Nil, empty
// and zero are all among it.
func random(rng *rand.Rand, v reflect.Value, depth int) {
	if rng.IntN(20) < depth {
		return
	}
	if pick, ok := restrictedTypes[v.Type()]; ok {
		v.Set(reflect.ValueOf(pick(rng)))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if rng.IntN(3) > 0 && v.Type().Field(i).IsExported() {
				random(rng, v.Field(i), depth+1)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		random(rng, v.Elem(), depth+1)
	case reflect.Slice:
		n := rng.IntN(4)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			random(rng, v.Index(i), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range rng.IntN(4) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			key.SetString([]string{"a", "b", "c/d", "metadata", "kind"}[rng.IntN(5)])
			random(rng, value, depth+1)
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		v.SetString([]string{"", "a", "b", "null", "é<&>\u2028"}[rng.IntN(5)])
	case reflect.Bool:
		v.SetBool(rng.IntN(2) == 0)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(rng.Int64N(5) - 2)
	case reflect.Uint8:
		v.SetUint(rng.Uint64N(256))
	case reflect.Float64:
		v.SetFloat([]float64{0, 1, 1.5, 1e21, -0.25}[rng.IntN(5)])
	default:
		panic("random knows no " + v.Type().String())
	}
}

// someOf is a set of fields of a tree as a server could note it: fields, items by
// some of their keys or by their value, and nodes as a whole.
func someOf(rng *rand.Rand, node any) map[string]any {
	out := map[string]any{}
	if rng.IntN(12) == 0 {
		return out // as a whole
	}
	switch node := node.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(node)) {
			if rng.IntN(3) > 0 {
				out["f:"+name] = someOf(rng, node[name])
			}
		}
		if rng.IntN(8) == 0 {
			out["f:absent"] = map[string]any{}
		}
	case []any:
		keyed := rng.IntN(4) > 0
		for _, item := range node {
			if fields, isMap := item.(map[string]any); isMap && keyed {
				if keys := keysOf(fields); len(keys) > 0 && rng.IntN(4) > 0 {
					out["k:"+encoded(keys)] = someOf(rng, item)
				}
			} else if !isMap && rng.IntN(2) == 0 {
				out["v:"+encoded(item)] = map[string]any{}
			}
		}
	}
	return out
}

// keysOf takes the first two fields of an item that are no trees for its keys.
func keysOf(item map[string]any) map[string]any {
	keys := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(item)) {
		switch item[name].(type) {
		case string, bool, int64:
			if len(keys) < 2 {
				keys[name] = item[name]
			}
		}
	}
	return keys
}

func encoded(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// restricted is what is owned in a tree, told by other means than a program: it is
// what the projection is a digest of, and what its owner has to desire.
func restricted(owned map[string]any, node any) any {
	if len(owned) == 0 {
		return bare(node)
	}
	var names []string
	isFields := false
	for name := range owned {
		isFields = isFields || name[:2] == "f:"
		names = append(names, name)
	}
	slices.Sort(names)
	fields, isMap := node.(map[string]any)
	items, isList := node.([]any)
	switch {
	case isMap && isFields:
		out := map[string]any{}
		for _, name := range names {
			if sub := restricted(owned[name].(map[string]any), fields[name[2:]]); sub != nil {
				out[name[2:]] = sub
			}
		}
		return out
	case isList && !isFields:
		out := []any{}
		for _, item := range items {
			if i := slices.IndexFunc(names, func(name string) bool { return isItem(name, item) }); i >= 0 {
				out = append(out, restricted(owned[names[i]].(map[string]any), item))
			}
		}
		return out
	default:
		return bare(node)
	}
}

func isItem(name string, item any) bool {
	if name[:2] == "v:" {
		return encoded(item) == name[2:]
	}
	var keys map[string]any
	if err := json.Unmarshal([]byte(name[2:]), &keys); err != nil {
		panic(err)
	}
	fields, isMap := item.(map[string]any)
	for key, value := range keys {
		if !isMap || encoded(fields[key]) != encoded(value) {
			return false
		}
	}
	return true
}

// bare is a tree without nulls, and without the kinds of objects inside of it.
func bare(node any) any {
	switch node := node.(type) {
	case map[string]any:
		out := map[string]any{}
		_, isObject := node["metadata"].(map[string]any)
		for name, sub := range node {
			if sub == nil || isObject && (name == "kind" || name == "apiVersion") {
				continue
			}
			out[name] = bare(sub)
		}
		return out
	case []any:
		out := []any{}
		for _, sub := range node {
			out = append(out, bare(sub))
		}
		return out
	default:
		return node
	}
}

// changed is a copy of a tree in which one thing is other: a value, a field that is
// gone, an item that is moved, gone or there twice.
func changed(rng *rand.Rand, tree map[string]any) map[string]any {
	copied := runtime.DeepCopyJSON(tree)
	var places []func()
	var visit func(node any, set func(any))
	visit = func(node any, set func(any)) {
		switch node := node.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(node)) {
				places = append(places, func() { delete(node, name) })
				visit(node[name], func(v any) { node[name] = v })
			}
		case []any:
			for i := range node {
				visit(node[i], func(v any) { node[i] = v })
			}
			if len(node) > 0 {
				places = append(places,
					func() { node[0], node[len(node)-1] = node[len(node)-1], node[0] },
					func() { set(node[1:]) },
					func() { set(append(slices.Clone(node), node[0])) })
			}
		case string:
			places = append(places, func() { set(node + "2") })
		case bool:
			places = append(places, func() { set(!node) })
		case int64:
			places = append(places, func() { set(node + 1) })
		case float64:
			places = append(places, func() { set(node + 1) })
		}
	}
	visit(copied, func(any) {})
	if len(places) > 0 {
		places[rng.IntN(len(places))]()
	}
	return copied
}
