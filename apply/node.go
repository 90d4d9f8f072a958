package apply

import (
	"iter"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/armature-go/armature/object"
)

// node is a place in an object, read one level deep. The object is at hand in one of
// two forms, a JSON tree as in an answer of the server, or a Go value as in a typed
// cache, and a node does not show which: what is remembered of the one form is
// compared with the other.
//
// What is absent and what is null are one, the zero node: built-in kinds are never
// stored with a null, desired trees hold none, and whether Go writes a null for an
// empty field or leaves it out differs between the releases of one type. Where a
// custom resource stores a null that somebody else put into a field of ours, the
// field is no longer ours, and that is seen in the managed fields.
type node struct {
	kind   nodeKind
	text   string // of a text; of an unreadable node, its Go type
	number uint64 // the bits of an integer, a fraction or a truth
	tree   any    // of a mapping or a sequence: a map[string]any or a []any; nil if it is a Go value
	value  goValue
}

// nodeKind is what JSON knows of a node. The letters are part of digests.
type nodeKind byte

const (
	null       nodeKind = 0
	truth      nodeKind = 'b'
	integer    nodeKind = 'n'
	fraction   nodeKind = 'd'
	text       nodeKind = 's'
	mapping    nodeKind = '{'
	sequence   nodeKind = '['
	unreadable nodeKind = '?' // equal to nothing that a server says
)

// nodeOf returns the root of an object, which is not changed while it is read.
func nodeOf(obj object.Object) node {
	if u, ok := obj.(runtime.Unstructured); ok {
		return treeNode(u.UnstructuredContent())
	}
	return goNode(obj)
}

// treeNode returns a node of a JSON tree. A Go value inside of one is read as such.
func treeNode(tree any) node {
	switch v := tree.(type) {
	case nil:
		return node{}
	case map[string]any:
		return node{kind: mapping, tree: tree}
	case []any:
		return node{kind: sequence, tree: tree}
	case string:
		return node{kind: text, text: v}
	case bool:
		if v {
			return node{kind: truth, number: 1}
		}
		return node{kind: truth}
	case int64:
		return integerNode(v)
	case float64:
		return fractionNode(v)
	default:
		return goNode(tree)
	}
}

func integerNode(v int64) node { return node{kind: integer, number: uint64(v)} }

// fractionNode is an integer where it can be: 1 and 1.0 are one number.
func fractionNode(v float64) node {
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return integerNode(int64(v))
	}
	return node{kind: fraction, number: math.Float64bits(v)}
}

// field returns a field of a mapping, null if it is none.
func (n node) field(name string) node {
	switch m, isTree := n.tree.(map[string]any); {
	case isTree:
		return treeNode(m[name])
	case n.kind == mapping && n.tree == nil:
		return n.value.field(name)
	}
	return node{}
}

// fields are the fields of a mapping that are not null, sorted by name.
func (n node) fields() iter.Seq2[string, node] {
	m, isTree := n.tree.(map[string]any)
	switch {
	case isTree:
		return fieldsOfMap(m, treeNode)
	case n.kind == mapping && n.tree == nil:
		return n.value.fields()
	}
	return func(func(string, node) bool) {}
}

// fieldsOfMap reads the values of a map in the order of their names.
func fieldsOfMap[V any](m map[string]V, read func(V) node) iter.Seq2[string, node] {
	return func(yield func(string, node) bool) {
		names := make([]string, 0, len(m))
		for name := range m {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			if sub := read(m[name]); sub.kind != null && !yield(name, sub) {
				return
			}
		}
	}
}

// len is the number of items of a sequence; 0 if it is none.
func (n node) len() int {
	items, isTree := n.tree.([]any)
	switch {
	case isTree:
		return len(items)
	case n.kind == sequence:
		return n.value.len()
	}
	return 0
}

// item returns an item of a sequence, which must have that many.
func (n node) item(i int) node {
	if items, isTree := n.tree.([]any); isTree {
		return treeNode(items[i])
	}
	return n.value.item(i)
}
