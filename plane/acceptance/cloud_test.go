package acceptance

import (
	"errors"
	"fmt"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestClaimsGrow(t *testing.T) {
	w := setup(t)
	claims := w.CoreV1().PersistentVolumeClaims(w.ns)
	if _, err := claims.Create(t.Context(), claim("data", "1Gi"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	capacity := func(want string) func() error {
		return func() error {
			c, err := claims.Get(t.Context(), "data", metav1.GetOptions{})
			if err != nil {
				return err
			}
			got := c.Status.Capacity[corev1.ResourceStorage]
			if c.Status.Phase != corev1.ClaimBound || got.String() != want {
				return fmt.Errorf("%s with %s", c.Status.Phase, got.String())
			}
			return nil
		}
	}
	eventually(t, "a bound claim of 1Gi", capacity("1Gi"))
	patch := []byte(`{"spec":{"resources":{"requests":{"storage":"3Gi"}}}}`)
	c, err := claims.Patch(t.Context(), "data", "application/merge-patch+json", patch, metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the claim to have grown", capacity("3Gi"))
	pv, err := w.CoreV1().PersistentVolumes().Get(t.Context(), c.Spec.VolumeName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := pv.Spec.Capacity[corev1.ResourceStorage]; got.String() != "3Gi" {
		t.Errorf("the volume has %s, want 3Gi", got.String())
	}
}

func loadBalancer(name string) *corev1.Service {
	return &corev1.Service{ObjectMeta: meta(name), Spec: corev1.ServiceSpec{
		Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 80}},
	}}
}

func TestLoadBalancersGetAddresses(t *testing.T) {
	w := setup(t)
	services := w.CoreV1().Services(w.ns)
	seen := map[string]string{}
	for _, name := range []string{"one", "two"} {
		if _, err := services.Create(t.Context(), loadBalancer(name), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "an address for "+name, func() error {
			s, err := services.Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if len(s.Status.LoadBalancer.Ingress) != 1 {
				return errors.New("there is none")
			}
			ip := s.Status.LoadBalancer.Ingress[0].IP
			if other, taken := seen[ip]; taken {
				t.Fatalf("%s has the address of %s: %s", name, other, ip)
			}
			seen[ip] = name
			return nil
		})
	}
	patch := []byte(`{"spec":{"type":"ClusterIP"}}`)
	if _, err := services.Patch(t.Context(), "one", "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the address to be taken back", func() error {
		s, err := services.Get(t.Context(), "one", metav1.GetOptions{})
		if err == nil && len(s.Status.LoadBalancer.Ingress) > 0 {
			return errors.New("it is still there")
		}
		return err
	})
}

func autoscaler(target string) *autoscalingv2.HorizontalPodAutoscaler {
	return &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: meta(target), Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: target},
		MinReplicas:    new(int32(2)), MaxReplicas: 5,
	}}
}

func TestAutoscalersAreActive(t *testing.T) {
	w := setup(t)
	hpas := w.AutoscalingV2().HorizontalPodAutoscalers(w.ns)
	condition := func(name string, kind autoscalingv2.HorizontalPodAutoscalerConditionType, want corev1.ConditionStatus) func() error {
		return func() error {
			h, err := hpas.Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			for _, c := range h.Status.Conditions {
				if c.Type == kind && c.Status == want {
					return nil
				}
			}
			return fmt.Errorf("status is %+v", h.Status)
		}
	}
	for _, name := range []string{"web", "nobody"} {
		if _, err := hpas.Create(t.Context(), autoscaler(name), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.AppsV1().Deployments(w.ns).Create(t.Context(), deployment(1), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "AbleToScale", condition("web", autoscalingv2.AbleToScale, corev1.ConditionTrue))
	eventually(t, "ScalingActive", condition("web", autoscalingv2.ScalingActive, corev1.ConditionTrue))
	eventually(t, "a target that is missing to show", condition("nobody", autoscalingv2.AbleToScale, corev1.ConditionFalse))
	eventually(t, "the least number of replicas", func() error {
		h, err := hpas.Get(t.Context(), "web", metav1.GetOptions{})
		if err == nil && h.Status.CurrentReplicas != 2 {
			return fmt.Errorf("status is %+v", h.Status)
		}
		return err
	})
}
