package acceptance

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestStatefulSetWithClaims(t *testing.T) {
	w := setup(t)
	sets := w.AppsV1().StatefulSets(w.ns)
	if _, err := sets.Create(t.Context(), statefulSet(3), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	ready := func(n int32) func() error {
		return func() error {
			s, err := sets.Get(t.Context(), "db", metav1.GetOptions{})
			if err != nil {
				return err
			}
			if s.Status.ReadyReplicas != n || s.Status.Replicas != n {
				return fmt.Errorf("%d of %d ready", s.Status.ReadyReplicas, s.Status.Replicas)
			}
			return nil
		}
	}
	eventually(t, "three ready replicas", ready(3))
	claims, err := w.CoreV1().PersistentVolumeClaims(w.ns).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(claims.Items) != 3 {
		t.Fatalf("%d claims, %v", len(claims.Items), err)
	}
	for _, c := range claims.Items {
		if c.Status.Phase != corev1.ClaimBound {
			t.Errorf("claim %s is %s", c.Name, c.Status.Phase)
		}
	}
	if _, err := sets.Patch(t.Context(), "db", "application/merge-patch+json", []byte(`{"spec":{"replicas":1}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "one replica", ready(1))

	if err := sets.Delete(t.Context(), "db", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationForeground)}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the set to go", func() error {
		_, err := sets.Get(t.Context(), "db", metav1.GetOptions{})
		return gone(err)
	})
	eventually(t, "claims and volumes to go", func() error {
		for _, c := range claims.Items {
			if _, err := w.CoreV1().PersistentVolumeClaims(w.ns).Get(t.Context(), c.Name, metav1.GetOptions{}); gone(err) != nil {
				return fmt.Errorf("claim %s: %w", c.Name, gone(err))
			}
			if _, err := w.CoreV1().PersistentVolumes().Get(t.Context(), c.Spec.VolumeName, metav1.GetOptions{}); gone(err) != nil {
				return fmt.Errorf("volume %s: %w", c.Spec.VolumeName, gone(err))
			}
		}
		return nil
	})
}

func TestDeploymentRollsOut(t *testing.T) {
	w := setup(t)
	sets := w.AppsV1().Deployments(w.ns)
	if _, err := sets.Create(t.Context(), deployment(3), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	done := func() error {
		d, err := sets.Get(t.Context(), "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		s := d.Status
		if s.ObservedGeneration != d.Generation || s.UpdatedReplicas != 3 || s.AvailableReplicas != 3 || s.Replicas != 3 {
			return fmt.Errorf("status is %+v", s)
		}
		return nil
	}
	eventually(t, "the first rollout", done)
	patch := []byte(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"example.com/app:2"}]}}}}`)
	if _, err := sets.Patch(t.Context(), "web", "application/strategic-merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the second rollout", done)
	pods, err := w.CoreV1().Pods(w.ns).List(t.Context(), metav1.ListOptions{LabelSelector: "app=web"})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, p := range pods.Items {
		if p.DeletionTimestamp == nil && p.Status.ContainerStatuses[0].Image != "example.com/app:2" {
			t.Errorf("pod %s still reports %s", p.Name, p.Status.ContainerStatuses[0].Image)
		}
		if seen[p.Status.PodIP] || p.Status.PodIP == "" {
			t.Errorf("pod %s has no address of its own: %q", p.Name, p.Status.PodIP)
		}
		seen[p.Status.PodIP] = true
	}
}

func TestServiceHasEndpoints(t *testing.T) {
	w := setup(t)
	svc := &corev1.Service{ObjectMeta: meta("web"), Spec: corev1.ServiceSpec{
		Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{{Port: 80}},
	}}
	if _, err := w.CoreV1().Services(w.ns).Create(t.Context(), svc, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.pod(t, "web", nil, nil)
	eventually(t, "a ready endpoint", func() error {
		list, err := w.DiscoveryV1().EndpointSlices(w.ns).List(t.Context(), metav1.ListOptions{LabelSelector: "kubernetes.io/service-name=web"})
		if err != nil {
			return err
		}
		for _, s := range list.Items {
			for _, e := range s.Endpoints {
				if e.Conditions.Ready != nil && *e.Conditions.Ready {
					return nil
				}
			}
		}
		return fmt.Errorf("slices are %+v", list.Items)
	})
}

func TestDaemonSetIsOnEveryNode(t *testing.T) {
	w := setup(t)
	ds := &appsv1.DaemonSet{ObjectMeta: meta("agent"), Spec: appsv1.DaemonSetSpec{
		Selector: selector("agent"), Template: template("agent", nil),
	}}
	// The node that another test takes down is no place to wait for.
	ds.Spec.Template.Spec.NodeSelector = map[string]string{"kubernetes.io/hostname": "node-0"}
	if _, err := w.AppsV1().DaemonSets(w.ns).Create(t.Context(), ds, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	ready := func(n int32) func() error {
		return func() error {
			d, err := w.AppsV1().DaemonSets(w.ns).Get(t.Context(), "agent", metav1.GetOptions{})
			if err != nil {
				return err
			}
			if s := d.Status; s.DesiredNumberScheduled != n || s.NumberReady != n {
				return fmt.Errorf("%d of %d ready", s.NumberReady, s.DesiredNumberScheduled)
			}
			return nil
		}
	}
	eventually(t, "a pod on one node", ready(1))
	patch := []byte(`{"spec":{"template":{"spec":{"nodeSelector":{"kubernetes.io/hostname":null,"node-role.kubernetes.io/node":""}}}}}`)
	if _, err := w.AppsV1().DaemonSets(w.ns).Patch(t.Context(), "agent", "application/strategic-merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a pod on each node", ready(3))
}

func TestJobs(t *testing.T) {
	w := setup(t)
	for name, row := range map[string]struct {
		annotations map[string]string
		want        batchv1.JobConditionType
	}{
		"good": {nil, batchv1.JobComplete},
		"bad":  {map[string]string{"plane.armature.dev/exit-code": "3"}, batchv1.JobFailed},
		"slow": {map[string]string{"plane.armature.dev/run-for": "300ms"}, batchv1.JobComplete},
	} {
		if _, err := w.BatchV1().Jobs(w.ns).Create(t.Context(), job(name, row.annotations), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "job "+name+" to be "+string(row.want), func() error {
			j, err := w.BatchV1().Jobs(w.ns).Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			for _, c := range j.Status.Conditions {
				if c.Type == row.want && c.Status == corev1.ConditionTrue {
					return nil
				}
			}
			return fmt.Errorf("status is %+v", j.Status)
		})
	}
}

func TestEvictionRespectsTheBudget(t *testing.T) {
	w := setup(t)
	least := intstr.FromInt32(1)
	pdb := &policyv1.PodDisruptionBudget{ObjectMeta: meta("web"), Spec: policyv1.PodDisruptionBudgetSpec{
		MinAvailable: &least, Selector: selector("web"),
	}}
	if _, err := w.PolicyV1().PodDisruptionBudgets(w.ns).Create(t.Context(), pdb, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	allowed := func(n int32) func() error {
		return func() error {
			b, err := w.PolicyV1().PodDisruptionBudgets(w.ns).Get(t.Context(), "web", metav1.GetOptions{})
			if err != nil {
				return err
			}
			if b.Status.CurrentHealthy == 0 || b.Status.DisruptionsAllowed != n {
				return fmt.Errorf("status is %+v", b.Status)
			}
			return nil
		}
	}
	evict := func(name string) error {
		return w.PolicyV1().Evictions(w.ns).Evict(t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: w.ns}})
	}
	w.pod(t, "one", nil, func(p *corev1.Pod) { p.Labels["app"] = "web" })
	w.pod(t, "two", nil, func(p *corev1.Pod) { p.Labels["app"] = "web" })
	eventually(t, "room for one disruption", allowed(1))
	if err := evict("one"); err != nil {
		t.Fatalf("the first eviction: %v", err)
	}
	eventually(t, "the evicted pod to go", func() error {
		_, err := w.CoreV1().Pods(w.ns).Get(t.Context(), "one", metav1.GetOptions{})
		return gone(err)
	})
	eventually(t, "room for none", allowed(0))
	if err := evict("two"); !apierrors.IsTooManyRequests(err) {
		t.Fatalf("the second eviction: %v, want 429", err)
	}
}
