package object

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Keys returns the fields that tell the items of a list in a built-in kind apart, as
// server-side apply does. The path is that of the list without the indexes of items:
// spec.containers[].env. Nil means that the list is replaced as a whole, or that
// nothing is known of it. Callers must not change what is returned.
func Keys(kind schema.GroupKind, path string) []string {
	s := shapes()[kind]
	for step := range strings.SplitSeq(path, ".") {
		name := strings.TrimSuffix(step, "[]")
		if s = s.known(name); s != nil && name != step {
			s = s.each
		}
	}
	if s == nil {
		return nil
	}
	return s.keys
}

// known returns the shape of a field, nil if the table says nothing of it.
func (s *shape) known(name string) *shape {
	if s == nil {
		return nil
	}
	for _, p := range s.below {
		if p.name == name {
			return p.shape
		}
	}
	return nil
}
