package demo

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/jsonpath"
)

// field is something to look at in the objects of a subject.
type field struct {
	name string
	// read returns the value, and whether it is about the present: a condition that
	// was judged before the last change is not.
	read func(objects []*unstructured.Unstructured) (value string, current bool)
}

// none is the value of a field that is not there.
const none = "none"

// of makes a field of a question about one object.
func of(name string, read func(obj *unstructured.Unstructured) (string, bool)) field {
	return field{name, func(objects []*unstructured.Unstructured) (string, bool) {
		if len(objects) == 0 {
			return none, true
		}
		value, current := read(objects[0])
		return cmp.Or(value, none), current
	}}
}

// path is a field as kubectl -o jsonpath prints it.
func path(expression string) field { return named(expression, expression) }

// named is [path] under a shorter name.
func named(name, expression string) field {
	return of(name, func(obj *unstructured.Unstructured) (string, bool) {
		parser := jsonpath.New(name).AllowMissingKeys(true)
		if err := parser.Parse("{" + expression + "}"); err != nil {
			return err.Error(), false
		}
		var out bytes.Buffer
		if err := parser.Execute(&out, obj.Object); err != nil {
			return err.Error(), false
		}
		return out.String(), true
	})
}

// uid is the object's uid, as much of it as a person can compare.
func uid() field {
	return of("uid", func(obj *unstructured.Unstructured) (string, bool) {
		start, _, _ := strings.Cut(string(obj.GetUID()), "-")
		return start, true
	})
}

// image is the image of the first container, without its registry.
func image() field {
	whole := path(".spec.template.spec.containers[0].image")
	return field{"image", func(objects []*unstructured.Unstructured) (string, bool) {
		value, current := whole.read(objects)
		return value[strings.LastIndex(value, "/")+1:], current
	}}
}

// count is how many objects there are.
func count() field {
	return field{"count", func(objects []*unstructured.Unstructured) (string, bool) {
		return strconv.Itoa(len(objects)), true
	}}
}

// state is status and reason of a condition.
func state(condition string) field {
	return of(condition, func(obj *unstructured.Unstructured) (string, bool) {
		return conditionOf(obj, condition, func(c map[string]any) string {
			return text(c, "status") + " " + text(c, "reason")
		})
	})
}

// message is what a condition says.
func message(condition string) field {
	return of("its message", func(obj *unstructured.Unstructured) (string, bool) {
		return conditionOf(obj, condition, func(c map[string]any) string { return text(c, "message") })
	})
}

func conditionOf(obj *unstructured.Unstructured, condition string, read func(map[string]any) string) (string, bool) {
	for _, c := range conditions(obj) {
		if text(c, "type") == condition {
			generation, _, _ := unstructured.NestedInt64(c, "observedGeneration")
			return read(c), generation >= obj.GetGeneration()
		}
	}
	return "", false
}

func conditions(obj *unstructured.Unstructured) []map[string]any {
	list, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	var out []map[string]any
	for _, item := range list {
		if c, ok := item.(map[string]any); ok {
			out = append(out, c)
		}
	}
	return out
}

// lastCondition is the condition of an object that changed last, as a sentence.
func lastCondition(obj *unstructured.Unstructured) string {
	all := conditions(obj)
	if len(all) == 0 {
		return "it has no conditions"
	}
	c := slices.MaxFunc(all, func(a, b map[string]any) int {
		return cmp.Or(strings.Compare(text(a, "lastTransitionTime"), text(b, "lastTransitionTime")), strings.Compare(text(a, "type"), text(b, "type")))
	})
	return "its last condition is " + text(c, "type") + " " + text(c, "status") + " " + text(c, "reason") + ": " + text(c, "message")
}

func text(c map[string]any, field string) string {
	s, _, _ := unstructured.NestedString(c, field)
	return s
}

// goal is what a field has to become, given all values that it has had since before
// the command.
type goal struct {
	text string
	met  func(values []string) bool
}

// becomes: it has this value now.
func becomes(value string) goal {
	return goal{value, func(values []string) bool { return last(values) == value }}
}

// undone: somebody changed it, and it has the value of before now.
func undone() goal {
	return goal{"what it was", func(values []string) bool { return len(values) > 2 && last(values) == values[0] }}
}

// changes: somebody changed it, and somebody else did so after that.
func changes() goal {
	return goal{"changed twice", func(values []string) bool { return len(values) > 2 }}
}

// returns: it was there, and is there again, as another.
func returns() goal {
	return goal{"another", func(values []string) bool { return last(values) != none && last(values) != values[0] }}
}

// appears: it was not there, and is now.
func appears() goal {
	return goal{"there", func(values []string) bool { return values[0] == none && last(values) != none }}
}

// stays: nobody touched it.
func stays() goal {
	return goal{"untouched", func(values []string) bool { return len(values) == 1 && values[0] != none }}
}

func last(values []string) string { return values[len(values)-1] }
