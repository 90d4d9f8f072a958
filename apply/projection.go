package apply

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"sync"
)

// project is a digest of what a program owns in an object: the values, whether they
// are there at all, and the order of the items among each other. What others own
// does not change it, and neither does the form in which the object is read.
func (v view) project(root node) hash {
	w := newWriter()
	defer w.free()
	w.self = v.self
	w.owned(v.program, root)
	return w.sum()
}

// digest is a hash of a whole tree, kinds and versions inside of it included.
func digest(tree any) hash {
	w := newWriter()
	defer w.free()
	w.withTypes = true
	w.whole(treeNode(tree))
	return w.sum()
}

// writer writes nodes so that different ones never read the same: a letter for the
// kind, a length where there is one, an end where there is none.
type writer struct {
	buf []byte

	// The kind and version of an object inside of an object are left out otherwise: a
	// typed object that was read as protobuf has lost them, for example in a claim
	// template.
	withTypes bool

	self string // what stands for selfKey in what tells items of a list apart; empty is nothing
}

// writers are kept for the next one, as most decisions need one of a few kilobytes.
var writers = sync.Pool{New: func() any { return &writer{} }}

// newWriter returns an empty writer. It has to be freed.
func newWriter() *writer {
	w := writers.Get().(*writer) //nolint:errcheck // nothing else is in it
	w.buf, w.withTypes, w.self = w.buf[:0], false, ""
	return w
}

func (w *writer) free() {
	if cap(w.buf) <= 64<<10 { // the few large ones are not worth their room
		writers.Put(w)
	}
}

func (w *writer) sum() hash { return sha256.Sum256(w.buf) }

func (w *writer) tag(t byte) { w.buf = append(w.buf, t) }

func (w *writer) text(t byte, s string) {
	w.buf = binary.AppendUvarint(append(w.buf, t), uint64(len(s)))
	w.buf = append(w.buf, s...)
}

// owned writes what a program owns in a node. A node that is not what it was, such
// as a list that became a mapping, is written as it is.
func (w *writer) owned(p *program, n node) {
	switch {
	case len(p.fields) > 0 && len(p.items) == 0 && n.kind == mapping:
		for _, f := range p.fields {
			w.text('f', f.name)
			w.owned(f.below, n.field(f.name))
		}
	case len(p.items) > 0 && len(p.fields) == 0 && n.kind == sequence:
		for i := range n.len() { // in the order of the object; duplicates count
			item := n.item(i)
			if at := w.match(p, item); at >= 0 {
				w.text('k', p.items[at].raw)
				w.owned(p.items[at].below, item)
			}
		}
		w.tag(']')
	default:
		w.whole(n)
	}
}

// whole writes a node with all that is in it.
func (w *writer) whole(n node) {
	switch n.kind {
	case mapping:
		w.tag('{')
		bare := !w.withTypes && n.field("metadata").kind == mapping
		for name, sub := range n.fields() {
			if bare && (name == "apiVersion" || name == "kind") {
				continue
			}
			w.text('f', name)
			w.whole(sub)
		}
		w.tag('}')
	case sequence:
		w.tag('[')
		for i := range n.len() {
			w.whole(n.item(i))
		}
		w.tag(']')
	case text, unreadable:
		w.text(byte(n.kind), n.text)
	default:
		w.buf = binary.BigEndian.AppendUint64(append(w.buf, byte(n.kind)), n.number)
	}
}

// match returns which item of a program an item of a list is, or -1. What it writes to
// tell is taken back.
func (w *writer) match(p *program, item node) int {
	start := len(w.buf)
	defer func() { w.buf = w.buf[:start] }()
	for _, keys := range p.keys {
		w.buf = w.buf[:start]
		w.identity(keys, item)
		if at, ok := p.known[string(w.buf[start:])]; ok {
			return at
		}
	}
	return -1
}

// identity writes what tells an item of a list from the others: the values of its
// keys, or all of it where there are none, as in a set.
func (w *writer) identity(keys []string, item node) {
	if keys == nil {
		w.whole(item)
		return
	}
	for _, key := range keys {
		w.text('k', key)
		value := item.field(key)
		if w.self != "" && value.kind == text && value.text == w.self {
			value.text = selfKey
		}
		w.whole(value)
	}
}

// same reports whether two nodes say the same, as far as a server stores them.
func (w *writer) same(a, b node) bool {
	start := len(w.buf)
	defer func() { w.buf = w.buf[:start] }()
	w.whole(a)
	end := len(w.buf)
	w.whole(b)
	return bytes.Equal(w.buf[start:end], w.buf[end:])
}
