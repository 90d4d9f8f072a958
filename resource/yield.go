package resource

import (
	"github.com/armature-go/armature/object"
)

// Yield leaves fields to others once they set them: the replicas that an autoscaler
// decides about. A field is made as declared when the object is created, and kept so
// until somebody else sets it to something else; from then on it is theirs. Where it is
// not declared, what we set earlier stays as it is until then. Paths are written as
// [object.ParsePath] reads them. While the component is suspended nothing is yielded.
func (m *Managed[T]) Yield(paths ...string) *Managed[T] {
	m.yields = append(m.yields, m.paths("yields", paths)...)
	return m
}

// Ignore leaves fields to others altogether: a caBundle that is injected. They are not
// set, whatever is declared. What we set before they were ignored stays as it is until
// somebody else sets it.
func (m *Managed[T]) Ignore(paths ...string) *Managed[T] {
	m.ignores = append(m.ignores, m.paths("ignores", paths)...)
	return m
}

// Whole says that lists are all ours: where an item that somebody else has put there
// keeps ours from being applied, such as a port of the same name under another
// protocol, the list is replaced. Without it the component says what is in the way, and
// items of others that do no harm stay in any case.
func (m *Managed[T]) Whole(lists ...string) *Managed[T] {
	m.whole = append(m.whole, m.paths("owns", lists)...)
	return m
}

// Recreate deletes the object and makes it anew where it cannot be changed as declared,
// with all that hangs on it. Otherwise what cannot be changed stays as it is, and the
// component says so.
func (m *Managed[T]) Recreate() *Managed[T] {
	m.recreate = true
	return m
}

func (m *Managed[T]) paths(verb string, texts []string) []object.Path {
	var paths []object.Path
	for _, text := range texts {
		path, err := object.ParsePath(text)
		if err != nil {
			m.problems = append(m.problems, "it "+verb+" a field that cannot be: "+err.Error())
			continue
		}
		paths = append(paths, path)
	}
	return paths
}
