package node

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-go/armature/plane/steer"
)

// stage is what the containers of a pod are doing.
type stage int

const (
	blocked stage = iota // an annotation cannot be understood
	pulling              // the image does not come
	running
	resting // crashed, waiting to be restarted
	ended
)

// life is how far a pod has come. It is kept in memory because the times in a
// status are whole seconds, and steering is finer.
type life struct {
	since   time.Time // start of the current attempt, or of the rest after it
	attempt int32     // restarts so far
	resting bool
}

// situation is what a plan depends on besides the pod and the time.
type situation struct {
	nodeDown bool
	hostIP   string
	podIP    string // for a pod that has none yet
}

// outcome is what to do about a pod now.
type outcome struct {
	life   life
	status corev1.PodStatus
	wake   time.Duration // look again after this time; 0 means on the next change
	remove bool
	event  *event
}

// event is worth telling when the status changes with it.
type event struct{ reason, message string }

// plan decides what a pod that is bound to a node should look like at now.
func plan(pod *corev1.Pod, l life, at situation, now time.Time) outcome {
	out := outcome{life: l, status: *pod.Status.DeepCopy()}
	finished := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	if at.nodeDown {
		if pod.Status.Phase == corev1.PodRunning {
			setCondition(&out.status, pod, now, corev1.PodCondition{
				Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "NodeDown",
				Message: fmt.Sprintf("node %s is down", pod.Spec.NodeName),
			})
		}
		return out
	}
	if finished && pod.DeletionTimestamp == nil {
		return out
	}
	s, problem := steer.ParsePod(pod.Annotations)
	if pod.DeletionTimestamp != nil {
		return stop(pod, s, out, now)
	}
	if isJobs(pod) && !s.Hold {
		s.Exits = true
	}
	st := blocked
	switch {
	case problem != nil:
		out.event = &event{"BadAnnotation", problem.Error()}
	case s.PullFail:
		st = pulling
		out.event = &event{"Failed", pullMessage(pod.Spec.Containers[0].Image)}
	default:
		out.life, st, out.wake = l.advance(s, pod.Spec.RestartPolicy, now)
	}
	b := builder{pod: pod, steer: s, stage: st, life: out.life, at: at, now: now}
	if problem != nil {
		b.problem = problem.Error()
	}
	if st == running {
		b.ready, out.wake = readiness(s, out.life, out.wake, now)
	}
	if st == resting {
		out.event = &event{"BackOff", "back-off restarting a simulated container"}
	}
	out.status = b.status()
	return out
}

// stop ends a pod that is being deleted, when its time has come.
func stop(pod *corev1.Pod, s steer.Pod, out outcome, now time.Time) outcome {
	var grace time.Duration
	if pod.DeletionGracePeriodSeconds != nil {
		grace = time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second
	}
	left := pod.DeletionTimestamp.Add(-grace).Add(min(s.StopAfter, grace)).Sub(now)
	if left > 0 {
		setCondition(&out.status, pod, now, corev1.PodCondition{
			Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "Stopping",
			Message: "the pod is being deleted and stops slowly",
		})
		out.wake = left
		return out
	}
	// With grace 0 the object stays only for its finalizers, which are
	// somebody else's; until they are gone it should look finished.
	if len(pod.Finalizers) > 0 && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
		b := builder{pod: pod, steer: steer.Pod{ExitCode: 143}, stage: ended, life: out.life, now: now, at: situation{
			hostIP: pod.Status.HostIP, podIP: pod.Status.PodIP,
		}}
		out.status = b.status()
	}
	out.remove = pod.DeletionGracePeriodSeconds == nil || *pod.DeletionGracePeriodSeconds > 0
	return out
}

// advance moves a life to now and says what the containers do and when that
// will change by itself.
func (l life) advance(s steer.Pod, policy corev1.RestartPolicy, now time.Time) (life, stage, time.Duration) {
	if l.resting {
		left := l.since.Add(backOff(l.attempt)).Sub(now)
		if s.Exits && left > 0 {
			return l, resting, left
		}
		l = life{since: now, attempt: l.attempt + 1}
	}
	if !s.Exits {
		return l, running, 0
	}
	if left := l.since.Add(s.RunFor).Sub(now); left > 0 {
		return l, running, left
	}
	again := policy == corev1.RestartPolicyAlways || policy == corev1.RestartPolicyOnFailure && s.ExitCode != 0
	if !again {
		return l, ended, 0
	}
	l.since, l.resting = now, true
	return l, resting, backOff(l.attempt)
}

// backOff is how long crashed containers wait before restart number attempt+1:
// half a second at first, doubling up to half a minute. A kubelet waits twenty
// times as long.
func backOff(attempt int32) time.Duration {
	return min(500*time.Millisecond<<min(attempt, 10), 30*time.Second)
}

// readiness says whether running containers are ready, and when to look again
// given that wake is already planned.
func readiness(s steer.Pod, l life, wake time.Duration, now time.Time) (bool, time.Duration) {
	if s.Hold {
		return false, wake
	}
	left := l.since.Add(s.ReadyAfter).Sub(now)
	if left <= 0 {
		return true, wake
	}
	if wake == 0 || left < wake {
		wake = left
	}
	return false, wake
}

// remember rebuilds the life of a pod from its status, for one that is seen
// for the first time since this process started.
func remember(pod *corev1.Pod, now time.Time) life {
	l := life{since: now}
	if len(pod.Status.ContainerStatuses) == 0 {
		return l
	}
	c := pod.Status.ContainerStatuses[0]
	l.attempt = c.RestartCount
	l.resting = c.State.Waiting != nil && c.State.Waiting.Reason == reasonCrashLoop
	if c.State.Running != nil {
		l.since = c.State.Running.StartedAt.Time
	}
	return l
}

func isJobs(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.Kind == "Job"
}
