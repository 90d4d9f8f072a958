package component

import (
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
	if on, err := c.Gate.Enabled(); err != nil || !on {
		return nil, err
	}
	var objects []object.Object
	for _, r := range c.Resources {
		d := r.Declaration()
		e := entry{Declaration: d}
		if d.Mode != resource.ModeManage || e.off() {
			continue
		}
		key, err := object.KeyOf(scheme, d.Object)
		if err != nil {
			return nil, fmt.Errorf("component %q: %w", c.Name, err)
		}
		if missing := unset(d.Reads); missing != "" {
			return nil, fmt.Errorf("component %q, %s: it needs data %s; set the cell first", c.Name, key.Short(), missing)
		}
		obj, err := d.Render()
		if err != nil {
			return nil, fmt.Errorf("component %q, %s: %w", c.Name, key.Short(), err)
		}
		obj.GetObjectKind().SetGroupVersionKind(key.GVK)
		objects = append(objects, obj)
	}
	return objects, nil
}
