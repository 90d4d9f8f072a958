package kind

import (
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
)

// verdicts maps what an integration says about itself to how bad that is by the end
// of the grace period, for kinds where the one decides the other.
type verdicts map[condition.Reason]condition.Reason

func (v verdicts) of(s State) State { return State{v[s.Reason], s.Message} }

// lenient: what has not been provided is missing, and what there is works.
var lenient = verdicts{condition.Operational: condition.Healthy, condition.OperationPending: condition.Degraded, condition.OperationFailing: condition.Down}

func serviceHealth(s *corev1.Service, _ object.Op) State {
	if s.Spec.Type != corev1.ServiceTypeLoadBalancer {
		return State{condition.Operational, "reachable inside the cluster"}
	}
	for _, at := range s.Status.LoadBalancer.Ingress {
		if address := or(at.IP, at.Hostname); address != "" {
			return State{condition.Operational, "reachable at " + address}
		}
	}
	return State{condition.OperationPending, "waiting for the load balancer to get an address"}
}

func serviceGrace(s *corev1.Service) State { return lenient.of(serviceHealth(s, object.OpNone)) }

func ingressHealth(i *networkingv1.Ingress, _ object.Op) State {
	for _, at := range i.Status.LoadBalancer.Ingress {
		if address := or(at.IP, at.Hostname); address != "" {
			return State{condition.Operational, "reachable at " + address}
		}
	}
	return State{condition.OperationPending, "waiting for an ingress controller to give it an address"}
}

func ingressGrace(i *networkingv1.Ingress) State {
	return lenient.of(ingressHealth(i, object.OpNone))
}

// autoscalerHealth: not being able to scale outweighs everything, because it is what
// an autoscaler is for.
func autoscalerHealth(h *autoscalingv2.HorizontalPodAutoscaler, _ object.Op) State {
	able := autoscalerCondition(h, autoscalingv2.AbleToScale)
	active := autoscalerCondition(h, autoscalingv2.ScalingActive)
	switch {
	case able.Status == corev1.ConditionFalse:
		return State{condition.OperationFailing, or(able.Message, "unable to scale its target")}
	case active.Status == corev1.ConditionFalse:
		return State{condition.OperationFailing, or(active.Message, "unable to compute how many replicas are needed")}
	case active.Status == corev1.ConditionTrue:
		return State{condition.Operational, "scaling its target by its metrics"}
	}
	return State{condition.OperationPending, "waiting for the first metrics"}
}

func autoscalerGrace(h *autoscalingv2.HorizontalPodAutoscaler) State {
	return lenient.of(autoscalerHealth(h, object.OpNone))
}

// autoscalerCondition returns the condition of a type, or one that says nothing.
func autoscalerCondition(h *autoscalingv2.HorizontalPodAutoscaler, typ autoscalingv2.HorizontalPodAutoscalerConditionType) autoscalingv2.HorizontalPodAutoscalerCondition {
	i := slices.IndexFunc(h.Status.Conditions, func(c autoscalingv2.HorizontalPodAutoscalerCondition) bool { return c.Type == typ })
	if i < 0 {
		return autoscalingv2.HorizontalPodAutoscalerCondition{}
	}
	return h.Status.Conditions[i]
}

// claimPhases is what a claim's phase means; a phase that is not here is like the
// empty one, which is a claim that nobody has looked at yet.
var claimPhases = map[corev1.PersistentVolumeClaimPhase]condition.Reason{
	corev1.ClaimBound: condition.Operational,
	corev1.ClaimLost:  condition.OperationFailing,
}

func claimHealth(c *corev1.PersistentVolumeClaim, _ object.Op) State {
	switch claimPhases[c.Status.Phase] {
	case condition.Operational:
		return State{condition.Operational, "bound to volume " + c.Spec.VolumeName}
	case condition.OperationFailing:
		return State{condition.OperationFailing, "volume " + or(c.Spec.VolumeName, "of this claim") + " is lost"}
	default:
		return State{condition.OperationPending, "waiting for a volume"}
	}
}

func claimGrace(c *corev1.PersistentVolumeClaim) State {
	return lenient.of(claimHealth(c, object.OpNone))
}

// namespaceHealth: a namespace that is going away refuses everything new in it, so
// what comes after it has to wait.
func namespaceHealth(n *corev1.Namespace, _ object.Op) State {
	if n.DeletionTimestamp != nil || n.Status.Phase == corev1.NamespaceTerminating {
		return State{condition.Blocked, "waiting for the namespace to be gone; it is being deleted"}
	}
	return State{}
}
