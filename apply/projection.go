package apply

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	stdhash "hash"
	"maps"
	"math"
	"slices"
)

// project is a digest of what a program owns in an object: the values, whether they
// are there at all, and the order of the items among each other. What others own
// does not change it.
func (p *program) project(node any) hash {
	w := writer{sha256.New()}
	w.owned(p, node)
	return hash(w.h.Sum(nil))
}

// writer feeds a digest with nodes so that different trees never read the same: a
// tag for the type, a length where there is one.
type writer struct{ h stdhash.Hash }

func (w writer) tag(t byte, n int) {
	var b [9]byte
	b[0] = t
	binary.BigEndian.PutUint64(b[1:], uint64(n))
	_, _ = w.h.Write(b[:]) // a digest takes everything
}

func (w writer) text(t byte, s string) {
	w.tag(t, len(s))
	_, _ = w.h.Write([]byte(s))
}

func (w writer) owned(p *program, node any) {
	if p.leaf() {
		w.whole(withoutTypesIn(node))
		return
	}
	m, isMap := node.(map[string]any)
	list, isList := node.([]any)
	if len(p.fields) > 0 && !isMap || len(p.items) > 0 && !isList {
		w.tag('!', 0) // not what it was
		w.whole(node)
		return
	}
	for _, f := range p.fields {
		w.text('f', f.name)
		sub, exists := m[f.name]
		if !exists {
			w.tag('-', 0)
			continue
		}
		w.owned(f.below, sub)
	}
	for _, sub := range list { // in the order of the object; duplicates count
		if i := slices.IndexFunc(p.items, func(item itemOf) bool { return item.is(sub) }); i >= 0 {
			w.text('k', p.items[i].raw)
			w.owned(p.items[i].below, sub)
		}
	}
}

// whole writes a node with all that is in it.
func (w writer) whole(node any) {
	switch v := node.(type) {
	case nil:
		w.tag('0', 0)
	case map[string]any:
		w.tag('{', len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			w.text('f', k)
			w.whole(v[k])
		}
	case []any:
		w.tag('[', len(v))
		for _, sub := range v {
			w.whole(sub)
		}
	case string:
		w.text('s', v)
	case bool:
		w.tag('b', map[bool]int{true: 1}[v])
	case int64:
		w.tag('n', int(v))
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 { // 1 and 1.0 are one number
			w.tag('n', int(v))
			return
		}
		w.tag('d', int(math.Float64bits(v))) //nolint:gosec // the bits, not the number
	default:
		w.text('?', fmt.Sprintf("%T %v", v, v))
	}
}
