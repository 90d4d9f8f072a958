package kind

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-go/armature/object"
)

// unrolled are the pods of what replaces none when its template changes, so that there
// is no rollout to wait for.
func unrolled(p pods, all int32) pods {
	p.noun, p.surplus, p.rolledOut = "replicas", all-p.desired, true
	return p
}

func replicaSetPods(r *appsv1.ReplicaSet) pods {
	failure := ""
	for _, c := range r.Status.Conditions {
		if c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == corev1.ConditionTrue {
			failure = or(c.Message, string(c.Type)+": "+c.Reason)
		}
	}
	return unrolled(pods{
		controller: "ReplicaSet", stale: r.Status.ObservedGeneration < r.Generation, failure: failure,
		desired: replicas(r.Spec.Replicas), ready: r.Status.ReadyReplicas,
	}, r.Status.Replicas)
}

func replicaSetHealth(r *appsv1.ReplicaSet, op object.Op) State { return replicaSetPods(r).health(op) }
func replicaSetGrace(r *appsv1.ReplicaSet) State                { return replicaSetPods(r).grace() }
func replicaSetToZero(r *appsv1.ReplicaSet)                     { r.Spec.Replicas = new(int32) }
func replicaSetRest(r *appsv1.ReplicaSet) State {
	return scaledDown(replicaSetPods(r), r.Status.Replicas)
}

func replicationPods(r *corev1.ReplicationController) pods {
	failure := ""
	for _, c := range r.Status.Conditions {
		if c.Type == corev1.ReplicationControllerReplicaFailure && c.Status == corev1.ConditionTrue {
			failure = or(c.Message, string(c.Type)+": "+c.Reason)
		}
	}
	return unrolled(pods{
		controller: "ReplicationController", stale: r.Status.ObservedGeneration < r.Generation, failure: failure,
		desired: replicas(r.Spec.Replicas), ready: r.Status.ReadyReplicas,
	}, r.Status.Replicas)
}

func replicationHealth(r *corev1.ReplicationController, op object.Op) State {
	return replicationPods(r).health(op)
}
func replicationGrace(r *corev1.ReplicationController) State { return replicationPods(r).grace() }
func replicationToZero(r *corev1.ReplicationController)      { r.Spec.Replicas = new(int32) }
func replicationRest(r *corev1.ReplicationController) State {
	return scaledDown(replicationPods(r), r.Status.Replicas)
}
