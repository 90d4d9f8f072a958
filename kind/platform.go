package kind

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
)

// volumePhases is what a volume's phase means; any other is like the empty one, which
// is a volume that nobody has looked at yet.
var volumePhases = map[corev1.PersistentVolumePhase]State{
	corev1.VolumeAvailable: {condition.Operational, "free to be claimed"},
	corev1.VolumeBound:     {condition.Operational, "bound to its claim"},
	corev1.VolumeReleased:  {condition.OperationFailing, "its claim is gone, and the volume is not free again"},
	corev1.VolumeFailed:    {condition.OperationFailing, "it could not be reclaimed"},
}

func volumeHealth(v *corev1.PersistentVolume, _ object.Op) State {
	s, known := volumePhases[v.Status.Phase]
	switch {
	case !known:
		return State{condition.OperationPending, "waiting for the volume controller"}
	case s.Reason == condition.OperationFailing:
		return State{s.Reason, or(v.Status.Message, s.Message)}
	}
	return s
}

func volumeGrace(v *corev1.PersistentVolume) State {
	return lenient.of(volumeHealth(v, object.OpNone))
}

// definitionHealth is the rule of CustomResourceDefinitions. Names that are taken
// outweigh that it is served, under names that it had before.
func definitionHealth(live report) State {
	if names := live.says("NamesAccepted"); names.Status == isFalse {
		return State{condition.OperationFailing, names.text()}
	}
	if c := live.says("Established"); c.Status == isTrue {
		return State{condition.Operational, c.text()}
	}
	return State{condition.OperationPending, "waiting for the API server to establish it"}
}

// definitionGrace: what is established goes on working while new names are taken.
func definitionGrace(live report) State {
	s := definitionHealth(live)
	if s.Reason == condition.OperationFailing && live.says("Established").Status == isTrue {
		return State{condition.Degraded, s.Message}
	}
	return lenient.of(s)
}

func apiHealth(live report) State {
	return live.answer("Available", "waiting for the API server to find it available")
}

// leniently makes the grace rule that goes with the health rule of an integration.
func leniently[T any](kind string, rule func(live T) State) func(object.Object) State {
	return showing(kind, func(live T) State { return lenient.of(rule(live)) })
}
