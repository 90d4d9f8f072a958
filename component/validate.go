package component

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/resource"
)

// Validate looks for mistakes that the author of the components made, all of them
// at once. The error is a join of [*condition.InvalidError]; nothing is read or
// written.
func Validate(env Env, owner Owner, components []Component) error {
	v := validator{env: env, owner: owner, names: map[string]bool{}, conditions: map[string]string{}, objects: map[object.Key]string{}}
	for i, c := range components {
		v.component(i, c)
	}
	return errors.Join(v.problems...)
}

type validator struct {
	env        Env
	owner      Owner
	names      map[string]bool
	conditions map[string]string     // condition type → component
	objects    map[object.Key]string // object → component
	problems   []error
}

func (v *validator) add(field, problem, fix string) {
	v.problems = append(v.problems, &condition.InvalidError{Field: field, Problem: problem, Fix: fix})
}

func (v *validator) component(i int, c Component) {
	field := fmt.Sprintf("component %q", c.Name)
	switch {
	case c.Name == "":
		field = fmt.Sprintf("component %d", i+1)
		v.add(field, "it has no name", "")
	case v.names[c.Name]:
		v.add(field, "another component has this name", "")
	default:
		for _, msg := range validation.IsValidLabelValue(c.Name) {
			v.add(field, "its name is no label value: "+msg, "")
		}
	}
	v.names[c.Name] = true
	switch other, taken := v.conditions[c.Condition]; {
	case c.Condition == "":
		v.add(field, "it has no condition type", "")
	case c.Condition == Ready:
		v.add(field, "condition type Ready is the sum of all components", "name it after what the component does")
	case taken:
		v.add(field, fmt.Sprintf("component %q has condition type %s too", other, c.Condition), "")
	}
	v.conditions[c.Condition] = c.Name
	if c.Grace < 0 {
		v.add(field, fmt.Sprintf("its grace period is negative: %s", c.Grace), "0 means no limit")
	}
	cells := cellCheck{written: map[resource.Data]bool{}, names: map[string]resource.Data{}}
	for n, r := range c.Resources {
		v.resource(fmt.Sprintf("%s, resource %d", field, n+1), c, r, &cells)
	}
}

func (v *validator) resource(field string, c Component, r Resource, cells *cellCheck) {
	if r == nil {
		v.add(field, "it is nil", "")
		return
	}
	d := r.Declaration()
	if object.IsNil(d.Object) {
		v.add(field, "its object is nil", "")
		return
	}
	key, err := object.KeyOf(v.env.Scheme, d.Object)
	if err != nil {
		v.add(field, err.Error(), "")
		return
	}
	field = fmt.Sprintf("component %q, %s", c.Name, key.Short())
	if d.Object.GetName() == "" {
		v.add(field, "the object has no name", "")
	}
	v.identity(field, c, key)
	v.declared(field, d.Mode, key)
	v.namespace(field, d.Mode, key)
	for _, problem := range d.Problems {
		v.add(field, problem, "")
	}
	if _, err := d.Gate.Enabled(); err != nil {
		v.add(field, err.Error(), "")
	}
	for _, problem := range cells.check(d) {
		v.add(field, problem, "")
	}
}

func (v *validator) identity(field string, c Component, key object.Key) {
	other, taken := v.objects[key]
	switch {
	case taken && other == c.Name:
		v.add(field, "the component has two resources for this object", "")
	case taken:
		v.add(field, fmt.Sprintf("the object is in component %q too", other), "an object belongs to one component")
	}
	v.objects[key] = c.Name
}

func (v *validator) declared(field string, mode resource.Mode, key object.Key) {
	if slices.Contains(v.env.Owns, key.GVK) || mode == resource.ModeObserve && slices.Contains(v.env.Reads, key.GVK) {
		return
	}
	list := "Owns"
	if mode == resource.ModeObserve {
		list = "Reads"
	}
	v.add(field, fmt.Sprintf("kind %s (%s) is not declared", key.GVK.Kind, key.GVK.GroupVersion()), "add it to operator.Kinds."+list)
}

func (v *validator) namespace(field string, mode resource.Mode, key object.Key) {
	home := v.owner.GetNamespace()
	switch {
	case home == "" || key.Namespace == home:
	case key.Namespace == "" && mode == resource.ModeObserve: // cluster-scoped objects may be looked at
	case key.Namespace == "":
		v.add(field, "it has no namespace, and its owner cannot own what is cluster-scoped", fmt.Sprintf("set its namespace to %q", home))
	default:
		v.add(field, fmt.Sprintf("it is in namespace %q, and its owner in %q", key.Namespace, home), fmt.Sprintf("set its namespace to %q", home))
	}
}

// cellCheck follows the data through the resources of a component: each value is
// written before it is read.
type cellCheck struct {
	written map[resource.Data]bool
	names   map[string]resource.Data
}

func (c *cellCheck) check(d resource.Declaration) []string {
	var problems []string
	for _, cell := range slices.Concat(d.Reads, d.Writes) {
		if resource.IsNilData(cell) {
			problems = append(problems, "it names a data cell that is nil")
			continue
		}
		if other, ok := c.names[cell.Name()]; ok && other != cell {
			problems = append(problems, fmt.Sprintf("two data cells are named %q", cell.Name()))
		}
		c.names[cell.Name()] = cell
	}
	for _, cell := range d.Reads {
		if !resource.IsNilData(cell) && !c.written[cell] {
			problems = append(problems, fmt.Sprintf("it uses data %q, which no resource before it extracts", cell.Name()))
		}
	}
	if on, err := d.Gate.Enabled(); err == nil && on && (d.Mode == resource.ModeManage || d.Mode == resource.ModeObserve) {
		for _, cell := range d.Writes {
			if !resource.IsNilData(cell) {
				c.written[cell] = true
			}
		}
	}
	return problems
}

// text writes an error for a condition: joined errors on one line.
func text(err error) string {
	joined, ok := err.(interface{ Unwrap() []error }) //nolint:errorlint // only the outermost join is taken apart
	if !ok {
		return err.Error()
	}
	var parts []string
	for _, e := range joined.Unwrap() {
		parts = append(parts, text(e))
	}
	return strings.Join(parts, "; ")
}
