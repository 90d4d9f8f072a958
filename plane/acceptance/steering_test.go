package acceptance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const prefix = "plane.armature.dev/"

func (w *world) annotate(t *testing.T, pod, patch string) {
	t.Helper()
	body := []byte(`{"metadata":{"annotations":` + patch + `}}`)
	if _, err := w.CoreV1().Pods(w.ns).Patch(t.Context(), pod, "application/merge-patch+json", body, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (w *world) get(t *testing.T, pod string) *corev1.Pod {
	t.Helper()
	p, err := w.CoreV1().Pods(w.ns).Get(t.Context(), pod, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestReadyAfter(t *testing.T) {
	w := setup(t)
	w.pod(t, "late", map[string]string{prefix + "ready-after": "3s"}, nil)
	w.awaitPod(t, "late", "running and not ready", func(p *corev1.Pod) bool {
		return p.Status.Phase == corev1.PodRunning && !isReady(p)
	})
	w.awaitPod(t, "late", "ready", isReady)
}

func TestHoldAndLetGo(t *testing.T) {
	w := setup(t)
	w.pod(t, "held", map[string]string{prefix + "hold": "true"}, nil)
	w.awaitPod(t, "held", "running", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	stays(t, "a held pod", func() error {
		if isReady(w.get(t, "held")) {
			return errors.New("it is ready")
		}
		return nil
	})
	w.annotate(t, "held", `{"plane.armature.dev/hold":null}`)
	w.awaitPod(t, "held", "ready", isReady)
	w.annotate(t, "held", `{"plane.armature.dev/hold":"true"}`)
	w.awaitPod(t, "held", "not ready again", func(p *corev1.Pod) bool { return !isReady(p) })
}

func TestRunForAndExitCode(t *testing.T) {
	w := setup(t)
	never := func(p *corev1.Pod) { p.Spec.RestartPolicy = corev1.RestartPolicyNever }
	w.pod(t, "fine", map[string]string{prefix + "run-for": "3s"}, never)
	w.pod(t, "fails", map[string]string{prefix + "run-for": "10ms", prefix + "exit-code": "42"}, never)
	w.pod(t, "again", map[string]string{prefix + "run-for": "200ms"}, nil)
	w.awaitPod(t, "fine", "running", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	w.awaitPod(t, "fine", "succeeded", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded })
	p := w.awaitPod(t, "fails", "failed", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodFailed })
	if end := p.Status.ContainerStatuses[0].State.Terminated; end == nil || end.ExitCode != 42 {
		t.Errorf("the container ended with %+v, want exit code 42", end)
	}
	p = w.awaitPod(t, "again", "restarted, because its policy is Always", func(p *corev1.Pod) bool {
		return len(p.Status.ContainerStatuses) > 0 && p.Status.ContainerStatuses[0].RestartCount > 0
	})
	if end := p.Status.ContainerStatuses[0].LastTerminationState.Terminated; end == nil || end.ExitCode != 0 {
		t.Errorf("the container ended before with %+v, want exit code 0", end)
	}
}

func TestCrashLoop(t *testing.T) {
	w := setup(t)
	w.pod(t, "crashing", map[string]string{prefix + "crash-loop": "true"}, nil)
	restarted := func(n int32) func(*corev1.Pod) bool {
		return func(p *corev1.Pod) bool {
			return waitingReason(p) == "CrashLoopBackOff" && p.Status.ContainerStatuses[0].RestartCount >= n && !isReady(p)
		}
	}
	w.awaitPod(t, "crashing", "in CrashLoopBackOff", restarted(0))
	p := w.awaitPod(t, "crashing", "restarted twice", restarted(2))
	if end := p.Status.ContainerStatuses[0].LastTerminationState.Terminated; end == nil || end.ExitCode != 1 {
		t.Errorf("the last end is %+v, want exit code 1", end)
	}
	w.annotate(t, "crashing", `{"plane.armature.dev/crash-loop":null}`)
	w.awaitPod(t, "crashing", "ready once it may be", isReady)
}

func TestPullFail(t *testing.T) {
	w := setup(t)
	w.pod(t, "pulling", map[string]string{prefix + "pull-fail": "true"}, nil)
	p := w.awaitPod(t, "pulling", "in ImagePullBackOff", func(p *corev1.Pod) bool { return waitingReason(p) == "ImagePullBackOff" })
	if p.Status.Phase != corev1.PodPending {
		t.Errorf("its phase is %s, want Pending", p.Status.Phase)
	}
	contains(t, "the message", p.Status.ContainerStatuses[0].State.Waiting.Message, "example.com/app:1", prefix+"pull-fail")
	w.annotate(t, "pulling", `{"plane.armature.dev/pull-fail":null}`)
	w.awaitPod(t, "pulling", "ready once the image is there", isReady)
}

func TestStopAfter(t *testing.T) {
	w := setup(t)
	w.pod(t, "slow", map[string]string{prefix + "stop-after": "5s"}, nil)
	w.pod(t, "quick", nil, nil)
	for _, name := range []string{"slow", "quick"} {
		w.awaitPod(t, name, "ready", isReady)
		if err := w.CoreV1().Pods(w.ns).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the quick pod to go", func() error {
		_, err := w.CoreV1().Pods(w.ns).Get(t.Context(), "quick", metav1.GetOptions{})
		return gone(err)
	})
	w.awaitPod(t, "slow", "deleted but there, and not ready", func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil && !isReady(p) })
	eventually(t, "the slow pod to go", func() error {
		_, err := w.CoreV1().Pods(w.ns).Get(t.Context(), "slow", metav1.GetOptions{})
		return gone(err)
	})
}

func TestReadinessGates(t *testing.T) {
	w := setup(t)
	w.pod(t, "gated", nil, func(p *corev1.Pod) {
		p.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/served"}}
	})
	p := w.awaitPod(t, "gated", "ready but for its gate", func(p *corev1.Pod) bool {
		return podCondition(p, corev1.ContainersReady).Status == corev1.ConditionTrue
	})
	if c := podCondition(p, corev1.PodReady); c.Status != corev1.ConditionFalse || !strings.Contains(c.Message, "example.com/served") {
		t.Errorf("Ready is %+v, want False with a message that names the gate", c)
	}
	patch := []byte(`{"status":{"conditions":[{"type":"example.com/served","status":"True"}]}}`)
	if _, err := w.CoreV1().Pods(w.ns).Patch(t.Context(), "gated", "application/strategic-merge-patch+json", patch, metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	w.awaitPod(t, "gated", "ready", isReady)
}

func TestSidecarsAndInitContainers(t *testing.T) {
	w := setup(t)
	w.pod(t, "many", nil, func(p *corev1.Pod) {
		p.Spec.InitContainers = []corev1.Container{
			{Name: "init", Image: "example.com/init:1"},
			{Name: "sidecar", Image: "example.com/sidecar:1", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)},
		}
	})
	p := w.awaitPod(t, "many", "ready", isReady)
	if got := p.Status.InitContainerStatuses; len(got) != 2 || got[0].State.Terminated == nil || got[1].State.Running == nil {
		t.Errorf("init containers are %+v, want one that ended and one that runs", got)
	}
}

func TestBadAnnotationIsExplained(t *testing.T) {
	w := setup(t)
	w.pod(t, "typo", map[string]string{prefix + "ready-after": "soon"}, nil)
	p := w.awaitPod(t, "typo", "blocked", func(p *corev1.Pod) bool { return waitingReason(p) == "CreateContainerConfigError" })
	contains(t, "the container's message", p.Status.ContainerStatuses[0].State.Waiting.Message, prefix+"ready-after", `"soon"`, "1.5s")
	eventually(t, "an event that says so", func() error {
		events, err := w.CoreV1().Events(w.ns).List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=typo"})
		if err != nil {
			return err
		}
		for _, e := range events.Items {
			if e.Reason == "BadAnnotation" && strings.Contains(e.Message, prefix+"ready-after") {
				return nil
			}
		}
		return fmt.Errorf("%d other events", len(events.Items))
	})
	w.annotate(t, "typo", `{"plane.armature.dev/ready-after":"10ms"}`)
	w.awaitPod(t, "typo", "ready once it is understood", isReady)
}

func TestHeldJobRuns(t *testing.T) {
	w := setup(t)
	if _, err := w.BatchV1().Jobs(w.ns).Create(t.Context(), job("held", map[string]string{prefix + "hold": "true"}), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a running pod", func() error {
		j, err := w.BatchV1().Jobs(w.ns).Get(t.Context(), "held", metav1.GetOptions{})
		if err == nil && j.Status.Active != 1 {
			return fmt.Errorf("status is %+v", j.Status)
		}
		return err
	})
	stays(t, "a held job", func() error {
		j, err := w.BatchV1().Jobs(w.ns).Get(t.Context(), "held", metav1.GetOptions{})
		if err == nil && j.Status.Active != 1 {
			return fmt.Errorf("status is %+v", j.Status)
		}
		return err
	})
}

func nodeReady(n *corev1.Node) corev1.ConditionStatus {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status
		}
	}
	return ""
}

func TestNodeGoesDownAndComesBack(t *testing.T) {
	w := setup(t)
	// A node of this test's own, so that others keep theirs.
	name := "down-" + w.ns
	if _, err := w.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{"kubernetes.io/hostname": name},
	}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = w.CoreV1().Nodes().Delete(context.WithoutCancel(t.Context()), name, metav1.DeleteOptions{})
	})
	status := func(want corev1.ConditionStatus) func() error {
		return func() error {
			n, err := w.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
			if err == nil && nodeReady(n) != want {
				return fmt.Errorf("Ready is %s, want %s", nodeReady(n), want)
			}
			return err
		}
	}
	here := func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"kubernetes.io/hostname": name} }
	turn := func(value string) {
		body := []byte(`{"metadata":{"annotations":{"plane.armature.dev/down":` + value + `}}}`)
		if _, err := w.CoreV1().Nodes().Patch(t.Context(), name, "application/merge-patch+json", body, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the node to be ready", status(corev1.ConditionTrue))
	w.pod(t, "before", nil, here)
	w.awaitPod(t, "before", "ready", isReady)

	turn(`"true"`)
	eventually(t, "the node to be lost", status(corev1.ConditionUnknown))
	w.awaitPod(t, "before", "not ready", func(p *corev1.Pod) bool { return !isReady(p) })
	w.pod(t, "after", nil, here)
	if err := w.CoreV1().Pods(w.ns).Delete(t.Context(), "before", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	stays(t, "nothing happens on a node that is down", func() error {
		if w.get(t, "before").DeletionTimestamp == nil {
			return errors.New("the pod is not being deleted")
		}
		if n := w.get(t, "after").Spec.NodeName; n != "" {
			return fmt.Errorf("a pod was placed on %s", n)
		}
		return nil
	})

	turn(`null`)
	eventually(t, "the node to be back", status(corev1.ConditionTrue))
	w.awaitPod(t, "after", "ready", isReady)
	eventually(t, "the deleted pod to go", func() error {
		_, err := w.CoreV1().Pods(w.ns).Get(t.Context(), "before", metav1.GetOptions{})
		return gone(err)
	})

	turn(`"perhaps"`)
	eventually(t, "an event about a bad value", func() error {
		events, err := w.CoreV1().Events("default").List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=" + name})
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(events.Items, func(e corev1.Event) bool { return strings.Contains(e.Message, prefix+"down") }) {
			return fmt.Errorf("%d other events", len(events.Items))
		}
		return nil
	})
}

func TestLogsSaySomethingAndExecRefuses(t *testing.T) {
	w := setup(t)
	w.pod(t, "web", map[string]string{prefix + "ready-after": "1ms"}, nil)
	w.awaitPod(t, "web", "ready", isReady)
	logs := must(t, "kubectl", "--dir", w.plane.dir, "logs", "-n", w.ns, "web")
	contains(t, "the log", logs, "main", "simulated", "example.com/app:1", prefix+"ready-after=1ms")
	code, _, errs := plane(t, "kubectl", "--dir", w.plane.dir, "exec", "-n", w.ns, "web", "--", "true")
	if code == 0 {
		t.Error("exec succeeded")
	}
	contains(t, "the refusal of exec", errs, "simulates")
}

// TestPlaneAtRestWritesNothing compares resource versions over a while; the
// tests of the library count on it.
func TestPlaneAtRestWritesNothing(t *testing.T) {
	w := setup(t)
	if _, err := w.AppsV1().StatefulSets(w.ns).Create(t.Context(), statefulSet(1), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.pod(t, "plain", nil, nil)
	w.pod(t, "held", map[string]string{prefix + "hold": "true"}, nil)
	w.pod(t, "pulling", map[string]string{prefix + "pull-fail": "true"}, nil)
	w.awaitPod(t, "db-0", "ready", isReady)
	w.awaitPod(t, "plain", "ready", isReady)
	w.awaitPod(t, "held", "running", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	w.awaitPod(t, "pulling", "in ImagePullBackOff", func(p *corev1.Pod) bool { return waitingReason(p) == "ImagePullBackOff" })
	versions := func() map[string]string {
		out := map[string]string{}
		pods, err := w.CoreV1().Pods(w.ns).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pods.Items {
			out["pod "+p.Name] = p.ResourceVersion
		}
		claims, err := w.CoreV1().PersistentVolumeClaims(w.ns).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range claims.Items {
			out["claim "+c.Name] = c.ResourceVersion
		}
		node, err := w.CoreV1().Nodes().Get(t.Context(), "node-0", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		out["node node-0"] = node.ResourceVersion
		return out
	}
	time.Sleep(time.Second) // for what the controllers still have to say
	// A change that means nothing makes the simulation look at each pod again.
	for _, name := range []string{"db-0", "plain", "held", "pulling"} {
		w.annotate(t, name, `{"example.com/look":"again"}`)
	}
	before := versions()
	stays(t, "a plane at rest", func() error {
		if now := versions(); !maps.Equal(before, now) {
			return fmt.Errorf("resource versions went from %v to %v", before, now)
		}
		return nil
	})
}

func TestPodsThatEndKeepTheirTimes(t *testing.T) {
	w := setup(t)
	begin := time.Now().Add(-time.Second).Truncate(time.Second)
	w.pod(t, "short", map[string]string{prefix + "exit-code": "0"}, func(p *corev1.Pod) { p.Spec.RestartPolicy = corev1.RestartPolicyNever })
	p := w.awaitPod(t, "short", "succeeded", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded })
	end := p.Status.ContainerStatuses[0].State.Terminated
	if end == nil || end.FinishedAt.Before(&end.StartedAt) || end.StartedAt.Time.Before(begin) {
		t.Errorf("the container's end is %+v", end)
	}
}
