package kind

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
)

// podHealth: what has failed is told before what is on its way, because a pod that
// crashes again and again is Running in between.
func podHealth(p *corev1.Pod, op object.Op) State {
	ready, progress := podReady(p)
	failure := podFailure(p)
	switch {
	case observed(p.Status.ObservedGeneration).before(p.Generation):
		return State{condition.Updating, "waiting for the kubelet to observe the latest spec"}
	case p.Status.Phase == corev1.PodSucceeded:
		return State{condition.Healthy, "the pod has ended with success"}
	case failure != "":
		return State{condition.Failing, failure}
	case ready:
		return State{condition.Healthy, progress}
	case op == object.OpUpdated:
		return State{condition.Updating, progress}
	default:
		return State{condition.Creating, progress}
	}
}

func podGrace(p *corev1.Pod) State {
	s := podHealth(p, object.OpNone)
	switch {
	case s.Reason.Ready():
		return State{condition.Healthy, s.Message}
	case p.Status.Phase == corev1.PodRunning:
		return State{condition.Degraded, s.Message}
	default:
		return State{condition.Down, s.Message}
	}
}

// podReady reports whether a pod runs with all containers ready and does not say that
// it is not ready all the same, as it does because of a readiness gate. It also says how
// far the pod is.
func podReady(p *corev1.Pod) (ready bool, progress string) {
	all, up := max(len(p.Spec.Containers), len(p.Status.ContainerStatuses)), 0
	for _, c := range p.Status.ContainerStatuses {
		if c.Ready {
			up++
		}
	}
	said, scheduled := podCondition(p, corev1.PodReady), podCondition(p, corev1.PodScheduled)
	progress = fmt.Sprintf("%d of %d containers ready", up, all)
	switch {
	case scheduled.Status == corev1.ConditionFalse:
		progress = or(scheduled.Message, progress)
	case up == all && said.Status == corev1.ConditionFalse:
		progress = or(said.Message, progress)
	}
	return p.Status.Phase == corev1.PodRunning && up == all && said.Status != corev1.ConditionFalse, progress
}

// stuck are the reasons for which a container waits that do not pass by waiting.
var stuck = map[string]bool{
	"CrashLoopBackOff":           true,
	"ImagePullBackOff":           true,
	"ErrImageNeverPull":          true,
	"InvalidImageName":           true,
	"CreateContainerConfigError": true,
	"CreateContainerError":       true,
}

// podFailure says why a pod will not come up as things are, or nothing.
func podFailure(p *corev1.Pod) string {
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		waiting, ended := c.State.Waiting, c.State.Terminated
		switch {
		case waiting != nil && stuck[waiting.Reason] && waiting.Message != "":
			return fmt.Sprintf("container %s: %s: %s", c.Name, waiting.Reason, waiting.Message)
		case waiting != nil && stuck[waiting.Reason]:
			return fmt.Sprintf("container %s: %s", c.Name, waiting.Reason)
		case ended != nil && ended.ExitCode != 0:
			return fmt.Sprintf("container %s ended with exit code %d", c.Name, ended.ExitCode)
		}
	}
	if p.Status.Phase == corev1.PodFailed {
		return or(p.Status.Message, or(p.Status.Reason, "the pod has failed"))
	}
	return ""
}

// podCondition returns the condition of a type, or one that says nothing.
func podCondition(p *corev1.Pod, typ corev1.PodConditionType) corev1.PodCondition {
	for _, c := range p.Status.Conditions {
		if c.Type == typ {
			return c
		}
	}
	return corev1.PodCondition{}
}
