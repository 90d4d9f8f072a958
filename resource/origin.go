package resource

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/armature-go/armature/object"
)

// origin says which step put what is at a path of the rendered object there: the
// baseline, or a mutation. Of an item of a list it is the step from which on the list
// has such an item, wherever it stands; of two that are equal, the second is looked for
// as the second. It is empty where it cannot tell.
func (m *Managed[T]) origin(path string) string {
	steps, trees := m.steps()
	if len(trees) == 0 {
		return ""
	}
	list, item, nth := occurrence(trees[len(trees)-1], path)
	if item == nil {
		return ""
	}
	first := len(steps)
	for first > 0 && count(at(trees[first-1], list), item) >= nth {
		first--
	}
	if first == len(steps) {
		return ""
	}
	return steps[first]
}

// steps renders the object step by step: the names of the steps, and the object after
// each. It ends where a step fails.
func (m *Managed[T]) steps() (names []string, trees []any) {
	obj, err := clone(m.base)
	if err != nil {
		return nil, nil
	}
	names, trees = []string{"the baseline"}, []any{encoded(obj)}
	for _, mut := range m.mutations {
		if on, err := mut.gate.Enabled(); err != nil || !on {
			continue
		}
		if mut.run(obj) != nil {
			break
		}
		names, trees = append(names, fmt.Sprintf("mutation %q", mut.name)), append(trees, encoded(obj))
	}
	return names, trees
}

// encoded is a copy of the object as a tree; nil if it cannot be encoded.
func encoded(obj object.Object) any {
	if u, ok := obj.(runtime.Unstructured); ok {
		return runtime.DeepCopyJSON(u.UnstructuredContent())
	}
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil
	}
	return tree
}

// occurrence takes the path of an item of a list apart: the path of the list, the
// item, and which of the items that are equal to it, from 1, it is. For any other path
// the list is the path and the item what is there.
func occurrence(tree any, path string) (list string, item any, nth int) {
	cut := strings.LastIndex(path, "[")
	i, err := strconv.Atoi(strings.TrimSuffix(path[cut+1:], "]"))
	if cut < 0 || !strings.HasSuffix(path, "]") || err != nil {
		return path, at(tree, path), 1
	}
	items, _ := at(tree, path[:cut]).([]any)
	if i >= len(items) {
		return "", nil, 0
	}
	return path[:cut], items[i], count(any(items[:i+1]), items[i])
}

// count returns how many items of a list are equal to one, and 1 or 0 for what is no
// list and is, or is not, equal.
func count(node, item any) int {
	items, ok := node.([]any)
	if !ok {
		items = []any{node}
	}
	n := 0
	for _, other := range items {
		if equality.Semantic.DeepEqual(other, item) {
			n++
		}
	}
	return n
}

// at returns what is at a path such as spec.containers[0].env, nil if nothing is.
func at(node any, path string) any {
	for step := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		switch parent := node.(type) {
		case map[string]any:
			node = parent[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(parent) {
				return nil
			}
			node = parent[i]
		default:
			return nil
		}
	}
	return node
}
