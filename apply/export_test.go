package apply

import "github.com/armature-go/armature/object"

// Sent is what an apply of the object would send, given what is seen of it.
func (a *Applier) Sent(owner object.Object, component string, desired, seen object.Object) (map[string]any, error) {
	t, err := a.target(owner, component, desired)
	if err != nil {
		return nil, err
	}
	t, err = a.sending(t, seen)
	return t.tree, err
}
