package node

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-go/armature/plane/steer"
)

const (
	reasonCrashLoop = "CrashLoopBackOff"
	reasonPull      = "ImagePullBackOff"
	reasonBlocked   = "CreateContainerConfigError"
)

// builder makes the status of a pod in one stage of its life. What does not
// change is taken from the status that the pod has.
type builder struct {
	pod     *corev1.Pod
	steer   steer.Pod
	stage   stage
	life    life
	ready   bool
	problem string
	at      situation
	now     time.Time
}

func (b *builder) status() corev1.PodStatus {
	s := *b.pod.Status.DeepCopy()
	s.ObservedGeneration = b.pod.Generation
	s.Phase = b.phase()
	s.HostIP = b.at.hostIP
	s.HostIPs = []corev1.HostIP{{IP: s.HostIP}}
	if s.StartTime == nil {
		s.StartTime = &metav1.Time{Time: b.now}
	}
	if s.PodIP == "" && b.stage != blocked {
		s.PodIP = b.at.podIP
	}
	if s.PodIP != "" {
		s.PodIPs = []corev1.PodIP{{IP: s.PodIP}}
	}
	s.ContainerStatuses = each(b.pod.Spec.Containers, s.ContainerStatuses, b.container)
	s.InitContainerStatuses = each(b.pod.Spec.InitContainers, s.InitContainerStatuses, b.initContainer)
	b.conditions(&s)
	return s
}

func (b *builder) phase() corev1.PodPhase {
	switch {
	case b.stage == blocked || b.stage == pulling:
		return corev1.PodPending
	case b.stage == ended && b.steer.ExitCode == 0:
		return corev1.PodSucceeded
	case b.stage == ended:
		return corev1.PodFailed
	default:
		return corev1.PodRunning
	}
}

func (b *builder) conditions(s *corev1.PodStatus) {
	set := func(kind corev1.PodConditionType, ok bool, reason, message string) {
		c := corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue}
		if !ok {
			c.Status, c.Reason, c.Message = corev1.ConditionFalse, reason, message
		}
		setCondition(s, b.pod, b.now, c)
	}
	reason, message := "ContainersNotReady", "containers with unready status: ["+strings.Join(names(b.pod.Spec.Containers), " ")+"]"
	switch b.phase() {
	case corev1.PodSucceeded:
		reason, message = "PodCompleted", ""
	case corev1.PodFailed:
		reason, message = "PodFailed", ""
	default:
	}
	set(corev1.PodReadyToStartContainers, b.stage != blocked, "PodNotStarted", b.problem)
	set(corev1.PodInitialized, b.stage != blocked, "ContainersNotInitialized", b.problem)
	set(corev1.ContainersReady, b.ready, reason, message)
	ready := b.ready
	if missing := closedGates(b.pod, s); ready && len(missing) > 0 {
		ready = false
		reason, message = "ReadinessGatesNotReady", "readiness gates not true: "+strings.Join(missing, ", ")
	}
	set(corev1.PodReady, ready, reason, message)
}

func names(cs []corev1.Container) []string {
	out := make([]string, len(cs))
	for i := range cs {
		out[i] = cs[i].Name
	}
	return out
}

// closedGates lists the readiness gates whose condition is not True.
func closedGates(pod *corev1.Pod, s *corev1.PodStatus) []string {
	var closed []string
	for _, g := range pod.Spec.ReadinessGates {
		if c := condition(s, g.ConditionType); c == nil || c.Status != corev1.ConditionTrue {
			closed = append(closed, string(g.ConditionType))
		}
	}
	return closed
}

func condition(s *corev1.PodStatus, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range s.Conditions {
		if s.Conditions[i].Type == kind {
			return &s.Conditions[i]
		}
	}
	return nil
}

// setCondition stores c; the time of transition changes with the status only.
func setCondition(s *corev1.PodStatus, pod *corev1.Pod, now time.Time, c corev1.PodCondition) {
	c.ObservedGeneration = pod.Generation
	c.LastTransitionTime = metav1.Time{Time: now}
	old := condition(s, c.Type)
	if old == nil {
		s.Conditions = append(s.Conditions, c)
		return
	}
	if old.Status == c.Status {
		c.LastTransitionTime = old.LastTransitionTime
	}
	*old = c
}

// each makes the statuses of a list of containers from their old ones.
func each(cs []corev1.Container, old []corev1.ContainerStatus, status func(*corev1.Container, corev1.ContainerStatus) corev1.ContainerStatus) []corev1.ContainerStatus {
	var out []corev1.ContainerStatus
	for i := range cs {
		var prev corev1.ContainerStatus
		for j := range old {
			if old[j].Name == cs[i].Name {
				prev = old[j]
			}
		}
		out = append(out, status(&cs[i], prev))
	}
	return out
}

// initContainer has done its work as soon as the pod is not blocked, unless it
// is one that is restarted always: that lives like the others.
func (b *builder) initContainer(c *corev1.Container, prev corev1.ContainerStatus) corev1.ContainerStatus {
	sidecar := c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	if sidecar || b.stage == blocked {
		return b.container(c, prev)
	}
	return b.completed(c, prev)
}

func (b *builder) base(c *corev1.Container) corev1.ContainerStatus {
	s := corev1.ContainerStatus{Name: c.Name, Image: c.Image}
	if b.stage != blocked && b.stage != pulling {
		s.ImageID = "simulated://" + c.Image
		s.ContainerID = fmt.Sprintf("simulated://%s/%s/%d", b.pod.UID, c.Name, b.life.attempt)
		s.Resources = c.Resources.DeepCopy()
		s.AllocatedResources = c.Resources.DeepCopy().Requests
	}
	return s
}

func (b *builder) completed(c *corev1.Container, prev corev1.ContainerStatus) corev1.ContainerStatus {
	s := b.base(c)
	s.Ready = true
	s.Started = new(bool)
	s.State = prev.State
	if prev.State.Terminated == nil {
		s.State = corev1.ContainerState{Terminated: b.terminated(0, b.now, s.ContainerID)}
	}
	return s
}

func (b *builder) container(c *corev1.Container, prev corev1.ContainerStatus) corev1.ContainerStatus {
	s := b.base(c)
	s.RestartCount = b.life.attempt
	s.LastTerminationState = prev.LastTerminationState
	started := b.stage == running
	s.Started = &started
	switch b.stage {
	case blocked:
		s.State.Waiting = &corev1.ContainerStateWaiting{Reason: reasonBlocked, Message: b.problem}
	case pulling:
		s.State.Waiting = &corev1.ContainerStateWaiting{Reason: reasonPull, Message: pullMessage(c.Image)}
	case running:
		s.Ready = b.ready
		s.State = b.runningState(prev)
	case resting:
		s.State.Waiting = &corev1.ContainerStateWaiting{
			Reason:  reasonCrashLoop,
			Message: fmt.Sprintf("back-off %s restarting simulated container %s", backOff(b.life.attempt), c.Name),
		}
		if prev.State.Waiting == nil || prev.State.Waiting.Reason != reasonCrashLoop || prev.RestartCount != b.life.attempt {
			s.LastTerminationState = corev1.ContainerState{Terminated: b.terminated(b.steer.ExitCode, b.startOf(prev), s.ContainerID)}
		}
	case ended:
		s.State.Terminated = b.terminated(b.steer.ExitCode, b.startOf(prev), s.ContainerID)
	}
	return s
}

// runningState keeps the start of an attempt that was already running.
func (b *builder) runningState(prev corev1.ContainerStatus) corev1.ContainerState {
	if prev.State.Running != nil && prev.RestartCount == b.life.attempt {
		return prev.State
	}
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Time{Time: b.life.since}}}
}

func (b *builder) startOf(prev corev1.ContainerStatus) time.Time {
	if prev.State.Running != nil {
		return prev.State.Running.StartedAt.Time
	}
	return b.life.since
}

func (b *builder) terminated(code int32, started time.Time, id string) *corev1.ContainerStateTerminated {
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	return &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, ContainerID: id,
		StartedAt: metav1.Time{Time: started}, FinishedAt: metav1.Time{Time: b.now},
	}
}

func pullMessage(image string) string {
	return fmt.Sprintf("pulling image %q fails because annotation %s asks for it", cmp.Or(image, "(none)"), steer.PullFail)
}
