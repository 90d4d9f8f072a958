package kind

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Immutables writes the table of immutable fields for people.
func Immutables() string {
	var b strings.Builder
	byName := func(x, y schema.GroupKind) int {
		return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Group, y.Group))
	}
	for _, gk := range slices.SortedFunc(maps.Keys(immutables), byName) {
		fmt.Fprintln(&b, gk.Kind)
		for _, f := range immutables[gk] {
			fmt.Fprintf(&b, "  %-9s %s", f.is, f.at)
			if f.may != nil {
				fmt.Fprintf(&b, ", but for %s", f.may.name)
			}
			if f.when != nil {
				fmt.Fprintf(&b, ", when %s", f.when.name)
			}
			if f.since != 0 {
				fmt.Fprintf(&b, ", since 1.%d", f.since)
			}
			if f.before != 0 {
				fmt.Fprintf(&b, ", before 1.%d", f.before)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// Whole reports whether a map of a kind is taken for one that is owned as a whole, or
// is in nothing that is immutable, so that it does not matter.
func Whole(kind, path string) bool {
	for gk, lines := range immutables {
		if gk.Kind == kind && slices.ContainsFunc(lines, func(f field) bool { return strings.HasPrefix(path+".", f.at+".") }) {
			return spot{pattern: path}.isWhole()
		}
	}
	return true
}
