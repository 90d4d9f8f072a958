package component

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/kind"
	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/resource"
)

// Validate looks for mistakes that the author of the components made, all of them
// at once. The error is a join of [*condition.InvalidError], some of them wrapped in an
// [*apply.ShapeError]; nothing is read or written.
func Validate(env Env, owner Owner, components []Component) error {
	env.Kinds = env.kinds()
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
	objects    map[object.Key]string // object → component, of objects that are not only observed
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
	for n, pre := range c.After {
		if pre == nil {
			v.add(fmt.Sprintf("%s, prerequisite %d", field, n+1), "it is nil", "")
		}
	}
	if c.Err != nil {
		return
	}
	l := list{component: c, field: field, objects: map[object.Key]bool{}, written: map[resource.Data]bool{}, cells: map[string]resource.Data{}}
	for n, r := range c.Resources {
		v.resource(&l, n, r)
	}
}

// list is what is known of the resources of one component, as far as they were
// looked at.
type list struct {
	component Component
	field     string
	objects   map[object.Key]bool
	written   map[resource.Data]bool
	cells     map[string]resource.Data // by name
}

func (v *validator) resource(l *list, n int, r Resource) {
	field := fmt.Sprintf("%s, resource %d", l.field, n+1)
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
	if d.Object.GetName() == "" {
		v.add(field, "the object has no name", "")
	} else {
		field = fmt.Sprintf("%s, %s", l.field, key.Short())
		v.identity(field, l, d.Mode, key)
	}
	v.declared(field, d.Mode, key)
	v.namespace(field, d, key)
	for _, problem := range d.Problems {
		v.add(field, problem, "")
	}
	if _, err := d.Gate.Enabled(); err != nil {
		v.add(field, err.Error(), "")
	}
	for _, problem := range l.data(d) {
		v.add(field, problem, "")
	}
}

// identity: an object belongs to one component. To observe it is no claim to it.
func (v *validator) identity(field string, l *list, mode resource.Mode, key object.Key) {
	other, taken := v.objects[key]
	switch {
	case l.objects[key]:
		v.add(field, "the component has two resources for this object", "")
	case taken && mode != resource.ModeObserve:
		v.add(field, fmt.Sprintf("the object is in component %q too", other), "an object belongs to one component; the others may observe it")
	}
	l.objects[key] = true
	if mode != resource.ModeObserve {
		v.objects[key] = l.component.Name
	}
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

func (v *validator) namespace(field string, d resource.Declaration, key object.Key) {
	home := v.owner.GetNamespace()
	fix := fmt.Sprintf("set its namespace to %q", home)
	if home == "" {
		fix = ""
	}
	row, _ := v.env.Kinds.Lookup(key.GVK)
	switch {
	case row.Scope == kind.Cluster && key.Namespace != "":
		v.add(field, fmt.Sprintf("it has namespace %q, and its kind is cluster-scoped", key.Namespace), "leave its namespace empty")
	case row.Scope == kind.Namespaced && key.Namespace == "":
		v.add(field, "it has no namespace", fix)
	case home == "" || key.Namespace == home || d.Ownership == object.Tracked:
	case key.Namespace == "" && d.Mode == resource.ModeObserve: // cluster-scoped objects may be looked at
	case row.Scope == kind.Cluster:
		v.problems = append(v.problems, apply.NewShapeError(field, key, apply.ClusterScoped, home))
	case key.Namespace == "":
		v.add(field, "it has no namespace, and its owner cannot own what is cluster-scoped", fix+", or let it be tracked: resource.Manage(…).Tracked()")
	case d.Mode == resource.ModeObserve:
		v.add(field, fmt.Sprintf("it is in namespace %q, and its owner in %q", key.Namespace, home), fix)
	default:
		v.problems = append(v.problems, apply.NewShapeError(field, key, apply.OtherNamespace, home))
	}
}

// data follows the data through the resources: each value is written before it is
// read. What is switched off neither writes nor reads.
func (l *list) data(d resource.Declaration) []string {
	var problems []string
	for _, cell := range slices.Concat(d.Reads, d.Writes) {
		if resource.IsNilData(cell) {
			problems = append(problems, "it names a data cell that is nil")
			continue
		}
		if other, ok := l.cells[cell.Name()]; ok && other != cell {
			problems = append(problems, fmt.Sprintf("two data cells are named %q", cell.Name()))
		}
		l.cells[cell.Name()] = cell
	}
	if on, err := d.Gate.Enabled(); err != nil || !on {
		return problems
	}
	for _, cell := range d.Reads {
		if !resource.IsNilData(cell) && !l.written[cell] {
			problems = append(problems, fmt.Sprintf("it uses data %q, which no resource before it extracts", cell.Name()))
		}
	}
	for _, cell := range d.Writes {
		if !resource.IsNilData(cell) {
			l.written[cell] = true
		}
	}
	return problems
}
