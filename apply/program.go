package apply

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// program is the set of fields that a manager owns, made ready to be walked beside
// objects. Whether a list is replaced as a whole, keyed or a set is read off it, so
// no schema is needed. A program never changes and is shared between all objects
// that have the same fields.
type program struct {
	fields []fieldOf // of a map, sorted by name
	items  []itemOf  // of a keyed list or of a set, sorted by how the server writes them
	opaque bool      // something in it is not understood

	keys  [][]string     // by which keys items are told apart; nil is by their value
	known map[string]int // the place in items, by what the writer makes of their identity
}

// selfKey stands for the UID of the owner in what tells items of a list apart: its
// reference in ownerReferences would make the fields of every owner others.
const selfKey = "$owner"

// view is a program as it is about the objects of one owner.
type view struct {
	*program

	self string // the owner's UID; empty where no item is told apart by it
}

func (p *program) of(owner types.UID) view { return view{p, string(owner)} }

type fieldOf struct {
	name  string
	below *program
}

// itemOf is an item of a list: of a keyed list by its keys, of a set by its value.
type itemOf struct {
	raw   string
	keys  map[string]any
	value any // of a set, where keys is nil
	below *program
}

// self is as much of the item as is known of it.
func (i itemOf) self() node {
	if i.keys == nil {
		return treeNode(i.value)
	}
	return treeNode(i.keys)
}

// leaf reports whether the node is owned as a whole.
func (p *program) leaf() bool { return len(p.fields) == 0 && len(p.items) == 0 }

// compile reads a set of fields as the server writes it (FieldsV1): a tree whose
// keys name fields ("f:spec"), items by their keys (`k:{"name":"web"}`), items by
// their value (`v:"a"`) and the node itself ("."). What is written otherwise makes
// the program opaque.
func compile(raw []byte) (*program, error) {
	var tree map[string]json.RawMessage
	if err := json.Unmarshal(raw, &tree); err != nil {
		return nil, fmt.Errorf("reading a set of fields: %w", err)
	}
	p := &program{}
	for name, sub := range tree {
		if name == "." {
			continue
		}
		below, err := compile(sub)
		if err != nil {
			return nil, err
		}
		p.add(name, below)
	}
	slices.SortFunc(p.fields, func(a, b fieldOf) int { return strings.Compare(a.name, b.name) })
	slices.SortFunc(p.items, func(a, b itemOf) int { return strings.Compare(a.raw, b.raw) })
	p.opaque = p.opaque || len(p.fields) > 0 && len(p.items) > 0
	p.index()
	return p, nil
}

// index makes it quick to find out which item of the program an item of a list is.
func (p *program) index() {
	p.known = make(map[string]int, len(p.items))
	for i, item := range p.items {
		var names []string
		if item.keys != nil {
			names = slices.Sorted(maps.Keys(item.keys))
		}
		if !slices.ContainsFunc(p.keys, func(keys []string) bool { return slices.Equal(keys, names) }) {
			p.keys = append(p.keys, names)
		}
		w := writer{}
		w.identity(names, item.self())
		p.known[string(w.buf)] = i
	}
}

func (p *program) add(name string, below *program) {
	p.opaque = p.opaque || below.opaque
	sign, rest, _ := strings.Cut(name, ":")
	switch sign {
	case "f":
		p.fields = append(p.fields, fieldOf{rest, below})
	case "k":
		var keys map[string]any
		if utiljson.Unmarshal([]byte(rest), &keys) != nil || len(keys) == 0 {
			p.opaque = true
		}
		p.items = append(p.items, itemOf{raw: name, keys: keys, below: below})
	case "v":
		var value any
		if utiljson.Unmarshal([]byte(rest), &value) != nil {
			p.opaque = true
		}
		p.items = append(p.items, itemOf{raw: name, value: value, below: below})
	default: // an index, or something newer than this code
		p.opaque = true
	}
}

// fieldsOf returns the fields of an entry as the server wrote them, empty where there
// is no entry. All access to their encoding is here.
func fieldsOf(entry *metav1.ManagedFieldsEntry) string {
	if entry == nil || entry.FieldsV1 == nil {
		return ""
	}
	return entry.FieldsV1.GetRawString()
}

// fieldsHash is a digest of the fields of an entry.
func fieldsHash(entry *metav1.ManagedFieldsEntry) hash { return sha256.Sum256([]byte(fieldsOf(entry))) }

// under returns what is owned below a field, nil if nothing is.
func (p *program) under(names ...string) *program {
	for _, name := range names {
		if p == nil {
			return nil
		}
		i, found := slices.BinarySearchFunc(p.fields, name, func(f fieldOf, name string) int { return strings.Compare(f.name, name) })
		if !found {
			return nil
		}
		p = p.fields[i].below
	}
	return p
}

// keyed returns the values that the items of a keyed list have for one key.
func (p *program) keyed(key string) []string {
	if p == nil {
		return nil
	}
	var values []string
	for _, item := range p.items {
		if v, ok := item.keys[key]; ok {
			values = append(values, fmt.Sprint(v))
		}
	}
	return values
}
