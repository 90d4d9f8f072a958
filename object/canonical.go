package object

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// row is one line of the table of what the API server makes of built-in kinds: see
// rows.go. What a row says applies to every node that its path leads to.
type row struct {
	at   string // spec.ports[] are the items of a list, spec.hard{} the values of a map
	when string // only where a field has one of these values: kind=User|Group
	bare string // only where nothing but this field is there

	fill    fields    // what is added where it is missing
	inherit [2]string // the entries of a field that another one gets where it has none: to, from
	keys    string    // of list items: the fields that tell them apart, key,key
	oneOf   string    // the members of a union, a,b; * is every field but the name. Of one alone, others are chosen by a field beside it
	scalar  scalar    // how a text is written
}

type fields map[string]any

// scalar is how the API server writes a text.
type scalar int

const (
	asIs     scalar = iota
	quantity        // 1000m is 1, and the number 1 is "1"
	amount          // a quantity of a resource, which is rounded up to thousandths
	encoded         // base64 in one line
)

// mount is a part of a kind that other kinds have, too, such as a pod template.
type mount struct {
	at   string
	rows []row
}

// shape is the table for one kind, as a tree that is walked beside an object.
type shape struct {
	rules  []rule
	below  []part // by name
	each   *shape // the items of a list, or the values of a map
	keys   []string
	oneOf  []string
	lone   bool   // a union of one member
	filled fields // what is added to each item where it is missing, for advice
	scalar scalar
}

type part struct {
	name  string
	shape *shape
}

// rule is a row with its condition taken apart.
type rule struct {
	row

	field  string
	values []string
}

// shapes are the shapes of all kinds in the table.
var shapes = sync.OnceValue(func() map[schema.GroupKind]*shape {
	out := map[schema.GroupKind]*shape{}
	for kind, mounts := range table {
		s := &shape{}
		for _, m := range mounts {
			for _, r := range m.rows {
				s.add(m.at, r)
			}
		}
		out[kind] = s
	}
	return out
})

func (s *shape) add(prefix string, r row) {
	node, list := s, s
	for step := range strings.SplitSeq(strings.Trim(prefix+"."+r.at, "."), ".") {
		name := strings.TrimRight(step, "[]{}")
		if name != "" {
			node = node.field(name)
		}
		for range (len(step) - len(name)) / 2 {
			list = node
			if node.each == nil {
				node.each = &shape{}
			}
			node = node.each
		}
	}
	if r.keys != "" {
		list.keys, list.filled = strings.Split(r.keys, ","), r.fill
	}
	if r.scalar != asIs {
		node.scalar = r.scalar
	}
	if r.oneOf != "" {
		node.oneOf = strings.Split(r.oneOf, ",")
		node.lone = len(node.oneOf) == 1 && r.oneOf != "*"
	}
	if r.fill == nil && r.inherit == [2]string{} {
		return
	}
	field, values, _ := strings.Cut(r.when, "=")
	node.rules = append(node.rules, rule{row: r, field: field, values: strings.Split(values, "|")})
}

func (s *shape) field(name string) *shape {
	i, found := slices.BinarySearchFunc(s.below, name, func(p part, name string) int { return strings.Compare(p.name, name) })
	if !found {
		s.below = slices.Insert(s.below, i, part{name, &shape{}})
	}
	return s.below[i].shape
}

// canonical changes a node in place into what the API server would store of it, and
// returns it. What cannot be read stays as it is: that is for
// the server to refuse.
func (s *shape) canonical(node any) (any, *PayloadError) {
	switch node := node.(type) {
	case map[string]any:
		return node, s.canonicalMap(node)
	case []any:
		return node, s.canonicalList(node)
	default:
		return s.scalar.write(node), nil
	}
}

func (s *shape) canonicalMap(node map[string]any) *PayloadError {
	for _, r := range s.rules {
		r.apply(node)
	}
	for _, p := range s.below {
		sub, ok := node[p.name]
		if !ok {
			continue
		}
		var err *PayloadError
		if node[p.name], err = p.shape.canonical(sub); err != nil {
			return err.within(p.name, sub, p.shape)
		}
	}
	if s.each == nil {
		return nil
	}
	for k, sub := range node {
		var err *PayloadError
		if node[k], err = s.each.canonical(sub); err != nil {
			return err.below(k)
		}
	}
	return nil
}

func (s *shape) canonicalList(list []any) *PayloadError {
	if s.each == nil {
		return nil
	}
	for i, item := range list {
		if err := s.emptyKey(item); err != nil {
			return err.below(index(i))
		}
		var err *PayloadError
		if list[i], err = s.each.canonical(item); err != nil {
			return err.below(index(i))
		}
		for j := range i {
			if s.sameKeys(list[j], item) {
				return &PayloadError{
					Path: index(i), Other: index(j), Problem: "has the same " + s.describe(item),
					Fix: "remove one of the two, or tell them apart",
				}
			}
		}
	}
	return nil
}

// emptyKey refuses an item that has an empty text where others have what tells them
// apart: the API server would take it for a new item in every apply.
func (s *shape) emptyKey(item any) *PayloadError {
	m, ok := item.(map[string]any)
	if !ok {
		return nil
	}
	for _, key := range s.keys {
		if v, ok := m[key]; !ok || v != "" {
			continue
		}
		err := &PayloadError{Path: key, Problem: "is empty, but tells the items of the list apart", Fix: "write a value"}
		if value, ok := s.filled[key]; ok {
			err.Fix = fmt.Sprintf("leave it out for %v, or write a value", value)
		}
		return err
	}
	return nil
}

func (s *shape) sameKeys(a, b any) bool {
	x, ok := a.(map[string]any)
	y, okToo := b.(map[string]any)
	if !ok || !okToo || len(s.keys) == 0 {
		return false
	}
	for _, key := range s.keys {
		switch x[key].(type) {
		case string, int64, bool:
			if x[key] != y[key] {
				return false
			}
		default: // no key: that is for the server to refuse
			return false
		}
	}
	return true
}

// describe writes the keys of an item: port 80 and protocol "TCP".
func (s *shape) describe(item any) string {
	m, _ := item.(map[string]any)
	var words []string
	for _, key := range s.keys {
		if v, ok := m[key].(string); ok {
			words = append(words, fmt.Sprintf("%s %q", key, v))
		} else {
			words = append(words, fmt.Sprintf("%s %v", key, m[key]))
		}
	}
	return strings.Join(words, " and ")
}

// within returns the error as it is seen from above the named list or map that sub
// is. Where the item of a list that it is in has a name, that is said.
func (e *PayloadError) within(name string, sub any, s *shape) *PayloadError {
	list, isList := sub.([]any)
	at, _, inside := strings.Cut(strings.TrimPrefix(e.Path, "["), "].")
	if i, err := strconv.Atoi(at); isList && inside && err == nil && slices.Equal(s.keys, []string{"name"}) && i < len(list) {
		m, _ := list[i].(map[string]any)
		if text, ok := m["name"].(string); ok && text != "" {
			e.In = strings.TrimSuffix(fmt.Sprintf("%s %q, %s", strings.TrimSuffix(name, "s"), text, e.In), ", ")
		}
	}
	return e.below(name)
}

// apply does to a map what a rule says, if it applies.
func (r *rule) apply(m map[string]any) {
	if r.field != "" {
		if v, ok := m[r.field].(string); !ok || !slices.Contains(r.values, v) {
			return
		}
	}
	if _, has := m[r.bare]; r.bare != "" && (!has || len(m) > 1) {
		return
	}
	for name, value := range r.fill {
		if v, ok := m[name]; !ok || v == "" {
			m[name] = copied(value)
		}
	}
	to, from := r.inherit[0], r.inherit[1]
	if entries, ok := m[from].(map[string]any); ok && len(entries) > 0 {
		own, ok := m[to].(map[string]any)
		if !ok {
			own = make(map[string]any, len(entries))
			m[to] = own
		}
		for k, v := range entries {
			if _, ok := own[k]; !ok {
				own[k] = v
			}
		}
	}
}

// copied returns a value of the table for a tree to have of its own.
func copied(value any) any {
	switch value := value.(type) {
	case fields:
		out := make(map[string]any, len(value))
		for k, v := range value {
			out[k] = copied(v)
		}
		return out
	case map[string]any:
		return maps.Clone(value)
	default:
		return value
	}
}

// write returns a node as the API server writes it. What cannot be read stays.
func (s scalar) write(node any) any {
	switch s {
	case quantity, amount:
		return s.writeQuantity(node)
	case encoded:
		if text, ok := node.(string); ok && strings.ContainsAny(text, "\r\n") {
			return strings.NewReplacer("\r", "", "\n", "").Replace(text)
		}
	case asIs:
	}
	return node
}

func (s scalar) writeQuantity(node any) any {
	text, ok := node.(string)
	if !ok {
		switch n := node.(type) {
		case int64:
			text = strconv.FormatInt(n, 10)
		case float64:
			text = strconv.FormatFloat(n, 'f', -1, 64)
		default:
			return node
		}
	}
	q, err := resource.ParseQuantity(strings.TrimSpace(text))
	if err != nil {
		return node
	}
	if s == amount {
		q.RoundUp(resource.Milli)
	}
	number, suffix := q.CanonicalizeBytes(make([]byte, 0, 16))
	if out := string(number) + string(suffix); out != text || !ok {
		return out
	}
	return node
}
