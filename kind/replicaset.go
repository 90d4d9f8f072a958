package kind

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-go/armature/object"
)

// replicaSetPods: a ReplicaSet replaces no pods, so there is no rollout to wait for.
func replicaSetPods(r *appsv1.ReplicaSet) pods {
	desired := replicas(r.Spec.Replicas)
	p := pods{
		controller: "ReplicaSet",
		noun:       "replicas",
		stale:      r.Status.ObservedGeneration < r.Generation,
		desired:    desired,
		ready:      r.Status.ReadyReplicas,
		surplus:    r.Status.Replicas - desired,
		rolledOut:  true,
	}
	for _, c := range r.Status.Conditions {
		if c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == corev1.ConditionTrue {
			p.failure = or(c.Message, string(c.Type)+": "+c.Reason)
		}
	}
	return p
}

func replicaSetHealth(r *appsv1.ReplicaSet, op object.Op) State { return replicaSetPods(r).health(op) }
func replicaSetGrace(r *appsv1.ReplicaSet) State                { return replicaSetPods(r).grace() }
func replicaSetToZero(r *appsv1.ReplicaSet)                     { r.Spec.Replicas = new(int32) }
func replicaSetRest(r *appsv1.ReplicaSet) State {
	return scaledDown(replicaSetPods(r), r.Status.Replicas)
}

// replicationPods: what came before the ReplicaSet, and reports the same.
func replicationPods(r *corev1.ReplicationController) pods {
	desired := replicas(r.Spec.Replicas)
	p := pods{
		controller: "ReplicationController",
		noun:       "replicas",
		stale:      r.Status.ObservedGeneration < r.Generation,
		desired:    desired,
		ready:      r.Status.ReadyReplicas,
		surplus:    r.Status.Replicas - desired,
		rolledOut:  true,
	}
	for _, c := range r.Status.Conditions {
		if c.Type == corev1.ReplicationControllerReplicaFailure && c.Status == corev1.ConditionTrue {
			p.failure = or(c.Message, string(c.Type)+": "+c.Reason)
		}
	}
	return p
}

func replicationHealth(r *corev1.ReplicationController, op object.Op) State {
	return replicationPods(r).health(op)
}
func replicationGrace(r *corev1.ReplicationController) State { return replicationPods(r).grace() }
func replicationToZero(r *corev1.ReplicationController)      { r.Spec.Replicas = new(int32) }
func replicationRest(r *corev1.ReplicationController) State {
	return scaledDown(replicationPods(r), r.Status.Replicas)
}
