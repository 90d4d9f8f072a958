package object

import (
	"slices"
	"strings"
)

// Rows returns what the table adds and rewrites: kind and path, one for each row. A
// pod is the same in all kinds, and a container in all its lists.
func Rows() []string {
	var out []string
	for kind, mounts := range table {
		for _, m := range mounts {
			name, prefix := kind.Kind, m.at
			if &m.rows[0] == &podRows[0] {
				name, prefix = "pod", ""
			}
			for _, r := range m.rows {
				for _, effect := range r.effects() {
					at := strings.Trim(strings.ReplaceAll(prefix+"."+r.at+effect, "..", "."), ".")
					at = strings.NewReplacer("initContainers", "containers", "ephemeralContainers", "containers").Replace(at)
					out = append(out, name+" "+at)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (r row) effects() []string {
	var out []string
	for name := range r.fill {
		out = append(out, "."+name)
	}
	if r.inherit[0] != "" {
		out = append(out, "."+r.inherit[0]+"{}")
	}
	if r.scalar == quantity || r.scalar == amount {
		out = append(out, " quantity")
	}
	return out
}
