package kind

import (
	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
)

const meansReady = "its condition `Ready` is True, of its latest generation, and `Stalled` and `Reconciling` are not"

// saysItself is the health rule of kinds without a row. An object that cannot be read
// so, and one that says nothing, is nothing to wait for.
func saysItself(obj object.Object, op object.Op) State {
	live, err := look[report](anyKind, obj)
	if err != nil {
		return State{}
	}
	return live.health(op)
}

// health reads conditions as kstatus does: Stalled and Reconciling are abnormal where
// they are True. An object that is not ready is on its way, unless it says that it is
// stuck: Ready alone does not tell what is not yet from what never will be.
func (r report) health(op object.Op) State {
	working := condition.Updating
	if op == object.OpCreated {
		working = condition.Creating
	}
	ready, stalled, reconciling := r.says("Ready"), r.says("Stalled"), r.says("Reconciling")
	switch {
	case r.Status.ObservedGeneration.before(r.Metadata.Generation), ready.ObservedGeneration.before(r.Metadata.Generation):
		return State{working, unobserved}
	case stalled.Status == isTrue && !stalled.ObservedGeneration.before(r.Metadata.Generation):
		return State{condition.Failing, stalled.text()}
	case reconciling.Status == isTrue && !reconciling.ObservedGeneration.before(r.Metadata.Generation):
		return State{working, reconciling.text()}
	case ready.Status == isTrue:
		return State{condition.Healthy, ready.text()}
	case ready.Type != "":
		return State{working, ready.text()}
	}
	return State{}
}
