package resource

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-go/armature/object"
)

// Facts is what is known about the cluster while components are built. The
// function that builds them asks; what is not known yet is fetched by the
// runtime, which then calls the function again. The result of a call that asked
// for something unknown is thrown away.
//
// Facts is not safe for concurrent use.
type Facts struct {
	scheme *runtime.Scheme
	known  map[object.Key]object.Object
	asked  []object.Key
	err    error
}

// NewFacts returns facts that answer from known; a nil object means that there is
// none of that key. The map is not changed. Tests use it to build components
// without a cluster.
func NewFacts(scheme *runtime.Scheme, known map[object.Key]object.Object) *Facts {
	return &Facts{scheme: scheme, known: known}
}

// Fact returns a copy of the object of that name, or false if there is none. An
// empty namespace means that the kind is cluster-scoped.
func Fact[T object.Object](facts *Facts, name types.NamespacedName) (T, bool) {
	var none T
	want := object.New[T]()
	gvk, err := object.GVK(facts.scheme, want)
	if err != nil {
		facts.fail(fmt.Errorf("asking for fact %q: %w", name, err))
		return none, false
	}
	obj, ok := facts.ask(object.Key{GVK: gvk, Namespace: name.Namespace, Name: name.Name})
	if !ok {
		return none, false
	}
	got, err := typed[T](obj)
	if err != nil {
		facts.fail(fmt.Errorf("asking for fact %q: %w", name, err))
		return none, false
	}
	return got, true
}

func (f *Facts) ask(key object.Key) (object.Object, bool) {
	if !slices.Contains(f.asked, key) {
		f.asked = append(f.asked, key)
	}
	obj := f.known[key]
	return obj, !object.IsNil(obj)
}

func (f *Facts) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// Asked returns the keys that were asked for, in order, each once.
func (f *Facts) Asked() []object.Key { return slices.Clone(f.asked) }

// Unknown returns the keys that were asked for and about which nothing is known.
func (f *Facts) Unknown() []object.Key {
	var unknown []object.Key
	for _, key := range f.asked {
		if _, ok := f.known[key]; !ok {
			unknown = append(unknown, key)
		}
	}
	return unknown
}

// Err returns the first question that could not be asked, for example for a type
// that is in no scheme.
func (f *Facts) Err() error { return f.err }
