package kind_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-go/armature/object"
)

// replicaSet writes a ReplicaSet by its numbers.
func replicaSet(desired, replicas, ready int32, change ...func(*appsv1.ReplicaSet)) *appsv1.ReplicaSet {
	r := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Generation: 2},
		Spec:       appsv1.ReplicaSetSpec{Replicas: &desired},
		Status:     appsv1.ReplicaSetStatus{ObservedGeneration: 2, Replicas: replicas, ReadyReplicas: ready},
	}
	for _, c := range change {
		c(r)
	}
	return r
}

func refuse(status corev1.ConditionStatus, message string) func(*appsv1.ReplicaSet) {
	return func(r *appsv1.ReplicaSet) {
		r.Status.Conditions = []appsv1.ReplicaSetCondition{{Type: appsv1.ReplicaSetReplicaFailure, Status: status, Reason: "FailedCreate", Message: message}}
	}
}

func TestReplicaSet(t *testing.T) {
	unobserved := func(r *appsv1.ReplicaSet) { r.Status.ObservedGeneration = 1 }
	checkHealth(t, []live{
		{"all there", replicaSet(3, 3, 3), object.OpNone, "Healthy: 3 of 3 replicas ready", "Healthy"},
		{"just created", replicaSet(3, 0, 0), object.OpCreated, "Creating: 0 of 3 replicas ready", "Down"},
		{"just updated", replicaSet(3, 3, 2), object.OpUpdated, "Updating: 2 of 3 replicas ready", "Degraded"},
		{"a pod was lost", replicaSet(3, 3, 2), object.OpNone, "Scaling: 2 of 3 replicas ready", "Degraded"},
		{"a surplus pod is ending", replicaSet(3, 4, 3), object.OpNone, "Scaling: 3 of 3 replicas ready, waiting for 1 surplus pod to end", "Degraded"},
		{"numbers of an older spec", replicaSet(3, 3, 3, unobserved), object.OpNone, "Updating: waiting for the ReplicaSet controller to observe the latest spec", "Degraded"},
		{"pods are refused", replicaSet(3, 2, 2, refuse(corev1.ConditionTrue, "the quota is used up")), object.OpNone, "Failing: the quota is used up", "Degraded"},
		{"pods are refused, nothing said", replicaSet(3, 0, 0, refuse(corev1.ConditionTrue, "")), object.OpCreated, "Failing: ReplicaFailure: FailedCreate", "Down"},
		{"pods were refused", replicaSet(3, 2, 2, refuse(corev1.ConditionFalse, "")), object.OpNone, "Scaling: 2 of 3 replicas ready", "Degraded"},
		{"refused yesterday, all there today", replicaSet(3, 3, 3, refuse(corev1.ConditionTrue, "")), object.OpNone, "Healthy: 3 of 3 replicas ready", "Healthy"},
		{"refused for an older spec", replicaSet(3, 0, 0, refuse(corev1.ConditionTrue, ""), unobserved), object.OpCreated, "Creating: waiting for the ReplicaSet controller to observe the latest spec", "Down"},
	})
	controller := func(desired, replicas, ready int32, status corev1.ConditionStatus) *corev1.ReplicationController {
		return &corev1.ReplicationController{
			Spec:   corev1.ReplicationControllerSpec{Replicas: &desired},
			Status: corev1.ReplicationControllerStatus{Replicas: replicas, ReadyReplicas: ready, Conditions: []corev1.ReplicationControllerCondition{{Type: corev1.ReplicationControllerReplicaFailure, Status: status, Reason: "FailedCreate"}}},
		}
	}
	checkHealth(t, []live{
		{"a ReplicationController, all there", controller(2, 2, 2, corev1.ConditionTrue), object.OpNone, "Healthy: 2 of 2 replicas ready", "Healthy"},
		{"a ReplicationController, one missing", controller(2, 2, 1, corev1.ConditionFalse), object.OpNone, "Scaling: 1 of 2 replicas ready", "Degraded"},
		{"a ReplicationController, refused", controller(2, 0, 0, corev1.ConditionTrue), object.OpNone, "Failing: ReplicaFailure: FailedCreate", "Down"},
	})
}

var (
	up     = corev1.ContainerStatus{Name: "web", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	coming = corev1.ContainerStatus{Name: "web", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
)

func waits(reason, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: "web", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}
}

func exited(code int32) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: "web", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}}
}

func pod(phase corev1.PodPhase, containers ...corev1.ContainerStatus) *corev1.Pod {
	return &corev1.Pod{Status: corev1.PodStatus{Phase: phase, ContainerStatuses: containers}}
}

func TestPod(t *testing.T) {
	unscheduled := pod(corev1.PodPending)
	unscheduled.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0 of 3 nodes fit"}}
	gated := pod(corev1.PodRunning, up)
	gated.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "ReadinessGatesNotReady", Message: "the load balancer does not know it"}}
	evicted := pod(corev1.PodFailed)
	evicted.Status.Reason, evicted.Status.Message = "Evicted", "the node was low on memory"
	unborn := pod(corev1.PodRunning, up)
	unborn.Spec.Containers = make([]corev1.Container, 2)
	preparing := pod(corev1.PodPending)
	preparing.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "init", State: waits("CrashLoopBackOff", "").State}}
	resized := pod(corev1.PodRunning, up)
	resized.Generation, resized.Status.ObservedGeneration = 2, 1
	untold := pod(corev1.PodRunning, up)
	untold.Generation = 2
	checkHealth(t, []live{
		{"nobody has looked at it", pod(""), object.OpCreated, "Creating: 0 of 0 containers ready", "Down"},
		{"up", pod(corev1.PodRunning, up, up), object.OpNone, "Healthy: 2 of 2 containers ready", "Healthy"},
		{"one container is not up", pod(corev1.PodRunning, up, coming), object.OpNone, "Creating: 1 of 2 containers ready", "Degraded"},
		{"one container is not told of", unborn, object.OpNone, "Creating: 1 of 2 containers ready", "Degraded"},
		{"made anew by an update", pod(corev1.PodPending, waits("ContainerCreating", "")), object.OpUpdated, "Updating: 0 of 1 containers ready", "Down"},
		{"no node takes it", unscheduled, object.OpNone, "Creating: 0 of 3 nodes fit", "Down"},
		{"all is up, and a gate is closed", gated, object.OpNone, "Creating: the load balancer does not know it", "Degraded"},
		{"it crashes", pod(corev1.PodRunning, up, waits("CrashLoopBackOff", "back-off 5m0s")), object.OpNone, "Failing: container web: CrashLoopBackOff: back-off 5m0s", "Degraded"},
		{"it has crashed", pod(corev1.PodRunning, exited(3)), object.OpCreated, "Failing: container web ended with exit code 3", "Degraded"},
		{"it has ended well", pod(corev1.PodRunning, exited(0)), object.OpNone, "Creating: 0 of 1 containers ready", "Degraded"},
		{"its image is not there", pod(corev1.PodPending, waits("ImagePullBackOff", "")), object.OpCreated, "Failing: container web: ImagePullBackOff", "Down"},
		{"it crashes before it begins", preparing, object.OpNone, "Failing: container init: CrashLoopBackOff", "Down"},
		{"done", pod(corev1.PodSucceeded, exited(0)), object.OpNone, "Healthy: the pod has ended with success", "Healthy"},
		{"done, and its helper was killed", pod(corev1.PodSucceeded, exited(137)), object.OpNone, "Healthy: the pod has ended with success", "Healthy"},
		{"evicted", evicted, object.OpNone, "Failing: the node was low on memory", "Down"},
		{"failed without a word", pod(corev1.PodFailed), object.OpNone, "Failing: the pod has failed", "Down"},
		{"of an older spec", resized, object.OpUpdated, "Updating: waiting for the kubelet to observe the latest spec", "Degraded"},
		{"from a kubelet that does not tell", untold, object.OpNone, "Healthy: 1 of 1 containers ready", "Healthy"},
	})
}

func volume(phase corev1.PersistentVolumePhase, message string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{Status: corev1.PersistentVolumeStatus{Phase: phase, Message: message}}
}

func TestPersistentVolume(t *testing.T) {
	checkHealth(t, []live{
		{"nobody has looked at it", volume("", ""), object.OpCreated, "OperationPending: waiting for the volume controller", "Degraded"},
		{"pending", volume(corev1.VolumePending, ""), object.OpNone, "OperationPending: waiting for the volume controller", "Degraded"},
		{"free", volume(corev1.VolumeAvailable, ""), object.OpNone, "Operational: free to be claimed", "Healthy"},
		{"bound", volume(corev1.VolumeBound, ""), object.OpNone, "Operational: bound to its claim", "Healthy"},
		{"released", volume(corev1.VolumeReleased, ""), object.OpNone, "OperationFailing: its claim is gone, and the volume is not free again", "Down"},
		{"failed", volume(corev1.VolumeFailed, "no such disk"), object.OpNone, "OperationFailing: no such disk", "Down"},
	})
}
