package component

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/resource"
)

// Preview renders the objects that a component would apply, in order, without a
// cluster: those of managed resources that are switched on. Guards are not asked.
// A resource that needs data from a live object can be rendered only if its cell
// has been set. Kind and API version are filled in from the scheme.
func Preview(scheme *runtime.Scheme, c Component) ([]object.Object, error) {
	if c.Err != nil {
		return nil, fmt.Errorf("component %q: %w", c.Name, c.Err)
	}
	on, err := c.Gate.Enabled()
	if err != nil {
		return nil, fmt.Errorf("component %q: %w", c.Name, err)
	}
	if !on {
		return nil, nil
	}
	var objects []object.Object
	for n, r := range c.Resources {
		obj, err := preview(scheme, r)
		if err != nil {
			return nil, fmt.Errorf("component %q, resource %d: %w", c.Name, n+1, err)
		}
		if obj != nil {
			objects = append(objects, obj)
		}
	}
	return objects, nil
}

// preview renders one resource; nil if it would not be applied.
func preview(scheme *runtime.Scheme, r Resource) (object.Object, error) {
	if r == nil {
		return nil, errors.New("it is nil")
	}
	e := entry{Declaration: r.Declaration()}
	if e.Mode != resource.ModeManage {
		return nil, nil //nolint:nilnil // it is not applied
	}
	var err error
	if e.key, err = object.KeyOf(scheme, e.Object); err != nil {
		return nil, err
	}
	if on, err := e.Gate.Enabled(); err != nil || !on {
		return nil, err
	}
	if missing := unset(e.Reads); missing != "" {
		return nil, fmt.Errorf("%s: it needs data %s; set the cell first", e.key.Short(), missing)
	}
	return e.render()
}
