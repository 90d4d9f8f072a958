package node

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-go/armature/plane/steer"
)

var start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// bound is a pod on a node, with annotations written as key=value.
func bound(annotations ...string) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "u", Annotations: map[string]string{}},
		Spec: corev1.PodSpec{
			NodeName: "node-0", RestartPolicy: corev1.RestartPolicyAlways,
			Containers: []corev1.Container{{Name: "main", Image: "app:1"}},
		},
	}
	for _, a := range annotations {
		k, v, _ := strings.Cut(a, "=")
		p.Annotations[steer.Prefix+k] = v
	}
	return p
}

func with(p *corev1.Pod, edit func(*corev1.Pod)) *corev1.Pod {
	edit(p)
	return p
}

func policy(r corev1.RestartPolicy) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.RestartPolicy = r }
}

func ofJob(p *corev1.Pod) {
	p.Spec.RestartPolicy = corev1.RestartPolicyNever
	p.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", Controller: new(bool)}}
	*p.OwnerReferences[0].Controller = true
}

func deleted(grace time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		seconds := int64(grace.Seconds())
		p.DeletionGracePeriodSeconds = &seconds
		p.DeletionTimestamp = &metav1.Time{Time: start.Add(grace)}
	}
}

// told sums up what happens to a pod over time: its state at each change, by
// letting every plan's wake-up come true.
func told(p *corev1.Pod, at situation, steps int) string {
	var lines []string
	l, now := life{since: start}, start
	for range steps {
		out := plan(p, l, at, now)
		l, p.Status = out.life, out.status
		lines = append(lines, fmt.Sprintf("%s %s", now.Sub(start), sketch(out)))
		if out.wake == 0 || out.remove {
			break
		}
		now = now.Add(out.wake)
	}
	return strings.Join(lines, "; ")
}

func sketch(out outcome) string {
	s := string(out.status.Phase)
	if out.remove {
		s = strings.TrimSpace(s + " removed")
	}
	if c := condition(&out.status, corev1.PodReady); c != nil && c.Status == corev1.ConditionTrue {
		s += " ready"
	}
	for _, c := range out.status.ContainerStatuses {
		if c.State.Waiting != nil {
			s += " " + c.State.Waiting.Reason
		}
		if c.State.Terminated != nil {
			s += fmt.Sprintf(" exit=%d", c.State.Terminated.ExitCode)
		}
		if c.RestartCount > 0 {
			s += fmt.Sprintf(" restarts=%d", c.RestartCount)
		}
	}
	return s
}

func TestPlan(t *testing.T) {
	for _, row := range []struct {
		name  string
		pod   *corev1.Pod
		steps int
		want  string
	}{
		{"plain", bound(), 3, "0s Running ready"},
		{"late", bound("ready-after=2s"), 3, "0s Running; 2s Running ready"},
		{"held", bound("hold=true"), 3, "0s Running"},
		{"a Job's", with(bound(), ofJob), 3, "0s Succeeded exit=0"},
		{"a Job's that fails", with(bound("exit-code=3"), ofJob), 3, "0s Failed exit=3"},
		{"a Job's that takes time", with(bound("run-for=1m"), ofJob), 3, "0s Running ready; 1m0s Succeeded exit=0"},
		{"a Job's that is held", with(bound("hold=true"), ofJob), 3, "0s Running"},
		{"never restarted", with(bound("run-for=1s", "exit-code=9"), policy(corev1.RestartPolicyNever)), 3, "0s Running ready; 1s Failed exit=9"},
		{"restarted on failure only", with(bound("run-for=1s"), policy(corev1.RestartPolicyOnFailure)), 3, "0s Running ready; 1s Succeeded exit=0"},
		{
			"restarted on failure", with(bound("run-for=1s", "exit-code=2"), policy(corev1.RestartPolicyOnFailure)), 4,
			"0s Running ready; 1s Running CrashLoopBackOff; 1.5s Running ready restarts=1; 2.5s Running CrashLoopBackOff restarts=1",
		},
		{"ready late, ends early", bound("ready-after=3s", "run-for=2s"), 2, "0s Running; 2s Running CrashLoopBackOff"},
		{
			"crashing", bound("crash-loop=true"), 4,
			"0s Running CrashLoopBackOff; 500ms Running CrashLoopBackOff restarts=1; 1.5s Running CrashLoopBackOff restarts=2; 3.5s Running CrashLoopBackOff restarts=3",
		},
		{"no image", bound("pull-fail=true"), 3, "0s Pending ImagePullBackOff"},
		{"not understood", bound("run-for=long"), 3, "0s Pending CreateContainerConfigError"},
		{"deleted", with(bound(), deleted(30*time.Second)), 3, "0s removed"},
		{"deleted slowly", with(bound("stop-after=4s"), deleted(30*time.Second)), 3, "0s; 4s removed"},
		{"deleted too slowly", with(bound("stop-after=1h"), deleted(30*time.Second)), 3, "0s; 30s removed"},
		{"deleted with a finalizer", with(with(bound(), deleted(30*time.Second)), func(p *corev1.Pod) { p.Finalizers = []string{"x/y"} }), 3, "0s Failed removed exit=143"},
		{"deleted and waiting for a finalizer", with(with(bound(), deleted(0)), func(p *corev1.Pod) { p.Finalizers = []string{"x/y"} }), 3, "0s Failed exit=143"},
		{"finished", with(bound(), func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }), 3, "0s Succeeded"},
		{"finished and deleted", with(with(bound(), deleted(time.Second)), func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), 3, "0s Failed removed"},
	} {
		got := strings.ReplaceAll(told(row.pod, situation{hostIP: "10.100.0.1", podIP: "10.244.0.1"}, row.steps), " ;", ";")
		if got != row.want {
			t.Errorf("%s:\n got %s\nwant %s", row.name, got, row.want)
		}
	}
}

func TestPlanIsAtRest(t *testing.T) {
	for _, annotation := range []string{"", "hold=true", "pull-fail=true", "ready-after=1s", "crash-loop=true", "run-for=nonsense"} {
		pod := bound(annotation)
		first := plan(pod, life{since: start}, situation{hostIP: "h", podIP: "i"}, start)
		pod.Status = first.status
		again := plan(pod, first.life, situation{hostIP: "h", podIP: "other"}, start.Add(time.Millisecond))
		if !equality.Semantic.DeepEqual(first.status, again.status) {
			t.Errorf("%q: the status changes by itself from\n%v to\n%v", annotation, first.status, again.status)
		}
	}
}

func TestNodeDown(t *testing.T) {
	pod := bound()
	out := plan(pod, life{since: start}, situation{}, start)
	pod.Status = out.status
	down := plan(pod, out.life, situation{nodeDown: true}, start.Add(time.Minute))
	c := condition(&down.status, corev1.PodReady)
	if c.Status != corev1.ConditionFalse || !c.LastTransitionTime.Time.Equal(start.Add(time.Minute)) || !strings.Contains(c.Message, "node-0") {
		t.Errorf("Ready is %+v", c)
	}
	deleted(time.Second)(pod)
	if gone := plan(pod, out.life, situation{nodeDown: true}, start.Add(time.Hour)); gone.remove {
		t.Error("a node that is down removes a pod")
	}
}

func TestRemember(t *testing.T) {
	pod := bound("crash-loop=true")
	out := plan(pod, life{since: start}, situation{}, start)
	out = plan(with(pod, func(p *corev1.Pod) { p.Status = out.status }), out.life, situation{}, start.Add(time.Second))
	pod.Status = out.status
	if got := remember(pod, start); got.attempt != 1 || !got.resting {
		t.Errorf("remembered %+v, want one restart and a rest", got)
	}
}

func TestBackOff(t *testing.T) {
	for attempt, want := range map[int32]time.Duration{0: 500 * time.Millisecond, 1: time.Second, 5: 16 * time.Second, 6: 30 * time.Second, 1 << 30: 30 * time.Second} {
		if got := backOff(attempt); got != want {
			t.Errorf("back-off %d is %s, want %s", attempt, got, want)
		}
	}
}

func TestAddresses(t *testing.T) {
	a := addresses{given: map[types.UID]string{}}
	a.skip("10.244.1.2")
	if one, two, again := a.of("one"), a.of("two"), a.of("one"); one != "10.244.1.3" || two != "10.244.1.4" || again != one {
		t.Errorf("got %s, %s, %s", one, two, again)
	}
	for name, want := range map[string]string{"node-0": "10.100.0.1", "node-12": "10.100.0.13"} {
		if got := addressOf(name); got != want {
			t.Errorf("%s has %s, want %s", name, got, want)
		}
	}
	if got := addressOf("other"); !strings.HasPrefix(got, "10.101.") {
		t.Errorf("other has %s", got)
	}
}

func TestTaints(t *testing.T) {
	mine := corev1.Taint{Key: "example.com/mine"}
	down := shut(shut([]corev1.Taint{mine}))
	if len(down) != 2 || down[1].Key != corev1.TaintNodeUnreachable {
		t.Errorf("down: %v", down)
	}
	if up := open(down); len(up) != 1 || up[0] != mine {
		t.Errorf("up again: %v", up)
	}
}

func TestBinderKnowsWherePodsMayGo(t *testing.T) {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1", Annotations: map[string]string{}}}
	pod := bound()
	if !admits(n, pod) {
		t.Error("a plain pod is refused")
	}
	n.Spec.Unschedulable = true
	if admits(n, pod) {
		t.Error("a cordoned node takes a pod")
	}
	pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: "In", Values: []string{"node-1"}}}}},
	}}}
	if !admits(n, pod) {
		t.Error("a DaemonSet's pod is refused by the node it is for")
	}
	n.Name = "node-2"
	if admits(n, pod) {
		t.Error("a DaemonSet's pod goes to another node")
	}
}
