package kind

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
)

// cluster is what is looked at of a Cluster of CloudNativePG. It does not tell which
// generation its status is about.
type cluster struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		Instances int32 `json:"instances"`
	} `json:"spec"`
	Status struct {
		ReadyInstances int32    `json:"readyInstances"`
		Phase          string   `json:"phase"`
		PhaseReason    string   `json:"phaseReason"`
		Conditions     reported `json:"conditions"`
	} `json:"status"`
}

// clusterAtRest is the phase of a cluster that has nothing to do.
const clusterAtRest = "Cluster in healthy state"

// clusterStuck are the phases of a cluster that waits for somebody to mend something.
var clusterStuck = map[string]bool{
	"Cluster cannot proceed to reconciliation due to an unknown plugin being required":        true,
	"Cluster cannot proceed to reconciliation due to an error while interacting with plugins": true,
	"Cluster has incomplete or invalid image catalog":                                         true,
	"Cluster is unrecoverable and needs manual intervention":                                  true,
	"Cluster cannot execute instance online upgrade due to missing architecture binary":       true,
	"Unable to create required cluster objects":                                               true,
	"Invalid cluster definition":                                                              true,
}

func clusterHealth(live cluster, op object.Op) State {
	desired, ready := live.Spec.Instances, live.Status.ReadyInstances
	switch {
	case clusterStuck[live.Status.Phase]:
		return State{condition.Failing, or(live.Status.PhaseReason, live.Status.Phase)}
	case live.healthy():
		return State{condition.Healthy, live.progress()}
	case op == object.OpCreated:
		return State{condition.Creating, live.progress()}
	case op == object.OpUpdated, ready == desired:
		return State{condition.Updating, live.progress()}
	default:
		return State{condition.Scaling, live.progress()}
	}
}

func clusterGrace(live cluster) State {
	s := clusterHealth(live, object.OpNone)
	switch {
	case s.Reason.Ready():
		return State{condition.Healthy, s.Message}
	case live.Status.ReadyInstances == 0:
		return State{condition.Down, s.Message}
	default:
		return State{condition.Degraded, s.Message}
	}
}

func (c cluster) healthy() bool {
	return c.Status.Phase == clusterAtRest && c.Status.ReadyInstances == c.Spec.Instances && c.Status.Conditions.of("Ready").Status == isTrue
}

func (c cluster) progress() string {
	numbers := fmt.Sprintf("%d of %d instances ready", c.Status.ReadyInstances, c.Spec.Instances)
	if c.Status.Phase == "" || c.Status.Phase == clusterAtRest {
		return numbers
	}
	return numbers + ": " + c.Status.Phase
}

// hibernation is the annotation that takes the pods away and leaves the data, and the
// condition that tells how far that is.
const hibernation = "cnpg.io/hibernation"

// hibernate brings a cluster to rest, typed or unstructured.
func hibernate(desired object.Object) error {
	if _, err := look[cluster](clusterKind, desired); err != nil {
		return err
	}
	if u, ok := desired.(*unstructured.Unstructured); ok {
		if u.Object == nil {
			u.Object = map[string]any{}
		}
		return unstructured.SetNestedField(u.Object, "on", "metadata", "annotations", hibernation)
	}
	annotations := map[string]string{hibernation: "on"}
	for name, value := range desired.GetAnnotations() {
		if name != hibernation {
			annotations[name] = value
		}
	}
	desired.SetAnnotations(annotations)
	return nil
}

const clusterKind = "Cluster"

func clusterRest(live cluster) State {
	c := live.Status.Conditions.of(hibernation)
	switch {
	case live.Metadata.Annotations[hibernation] != "on":
		return State{condition.Suspending, "waiting for the annotation " + hibernation + " to be set"}
	case c.Status == isTrue:
		return State{condition.Suspended, "hibernated, with its data"}
	default:
		return State{condition.Suspending, c.or("waiting for the hibernation to begin")}
	}
}
