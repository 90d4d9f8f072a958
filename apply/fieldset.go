package apply

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fieldset is the set of fields that a manager owns, as the server records it: a
// tree whose keys name fields ("f:spec"), list items by their keys
// (`k:{"type":"Ready"}`) or by value ("v:…"), and the node itself (".").
type fieldset map[string]fieldset

// fieldsOf reads the fields of an entry. All access to the encoding is here.
func fieldsOf(entry *metav1.ManagedFieldsEntry) (fieldset, error) {
	if entry == nil || entry.FieldsV1 == nil {
		return nil, nil //nolint:nilnil // no entry owns no field
	}
	var set fieldset
	if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &set); err != nil {
		return nil, fmt.Errorf("reading the fields of manager %q: %w", entry.Manager, err)
	}
	return set, nil
}

// exact reports whether the fields that we own in live are those of desired, with
// the same values, so that applying desired again would change nothing. Where it
// cannot tell it says no.
func exact(owned fieldset, desired, live any) bool {
	if len(owned) == 0 || len(owned) == 1 && owned["."] != nil {
		return equality.Semantic.DeepEqual(desired, live)
	}
	switch d := desired.(type) {
	case map[string]any:
		l, ok := live.(map[string]any)
		return ok && exactFields(owned, d, l)
	case []any:
		l, ok := live.([]any)
		return ok && exactItems(owned, d, l)
	default:
		return false
	}
}

func exactFields(owned fieldset, desired, live map[string]any) bool {
	fields := 0
	for name, below := range owned {
		field, ok := strings.CutPrefix(name, "f:")
		if name == "." {
			continue
		}
		d, declared := desired[field]
		if !ok || !declared || !exact(below, d, live[field]) {
			return false
		}
		fields++
	}
	return fields == len(desired)
}

// exactItems compares the items of a keyed list, in the order of desired.
func exactItems(owned fieldset, desired, live []any) bool {
	last := -1
	for _, d := range desired {
		below, at := locate(owned, d, live)
		if at <= last || !exact(below, d, live[at]) {
			return false
		}
		last = at
	}
	items := len(owned)
	if _, itself := owned["."]; itself {
		items--
	}
	return items == len(desired)
}

// locate finds the entry of the fieldset that names an item, and the place of the
// item in live; -1 if either is missing.
func locate(owned fieldset, item any, live []any) (fieldset, int) {
	for name, below := range owned {
		raw, ok := strings.CutPrefix(name, "k:")
		var keys map[string]any
		if !ok || json.Unmarshal([]byte(raw), &keys) != nil || !has(item, keys) {
			continue
		}
		for i, l := range live {
			if has(l, keys) {
				return below, i
			}
		}
	}
	return nil, -1
}

func has(item any, keys map[string]any) bool {
	m, ok := item.(map[string]any)
	if !ok {
		return false
	}
	for k, v := range keys {
		if fmt.Sprint(m[k]) != fmt.Sprint(v) {
			return false
		}
	}
	return true
}

// keys returns the values that a keyed list's items have for one key, in a fieldset.
func (f fieldset) keys(key string) []string {
	var values []string
	for name := range f {
		raw, ok := strings.CutPrefix(name, "k:")
		var keys map[string]any
		if ok && json.Unmarshal([]byte(raw), &keys) == nil && keys[key] != nil {
			values = append(values, fmt.Sprint(keys[key]))
		}
	}
	return values
}
