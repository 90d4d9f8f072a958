package operator_test

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/armaturetest"
	"github.com/armature-go/armature/component"
	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/operator"
	"github.com/armature-go/armature/resource"
)

// Replicas that an autoscaler has set are its own, at no cost; suspension takes them
// to zero all the same, and resumption to what is declared, for the autoscaler to go on
// from.
func TestYieldedReplicasSurviveSuspension(t *testing.T) {
	f := setUp(t)
	f.run(operator.Kinds{Owns: []object.Object{&appsv1.Deployment{}}}, func(x *thing, _ *resource.Facts) ([]component.Component, error) {
		replicas, labels := int32(2), map[string]string{"app": x.Name}
		web := &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: x.Namespace, Name: x.Name},
			Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
			}},
		}
		return []component.Component{{
			Name: "web", Condition: "WebReady", Suspend: x.Spec.Value == "suspended",
			Resources: []component.Resource{resource.Manage(web).Yield("spec.replicas")},
		}}, nil
	})
	x := f.create("a", "running")
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: f.ns, Name: "a"}}
	replicas := func(want int32) {
		t.Helper()
		armaturetest.Eventually(t, 20*time.Second, func() string {
			if err := f.Get(t.Context(), client.ObjectKeyFromObject(d), d); err != nil || *d.Spec.Replicas != want || d.Status.ReadyReplicas != want {
				return fmt.Sprintf("%v replicas, %d ready, want %d (%v)", d.Spec.Replicas, d.Status.ReadyReplicas, want, err)
			}
			return ""
		})
	}
	replicas(2)
	f.wait("a", "Ready True Healthy")
	n := f.cluster.Count(t, f.name, func() {
		body := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":5}}`))
		if err := f.SubResource("scale").Patch(t.Context(), d, body, client.WithSubResourceBody(&autoscalingv1.Scale{}), client.FieldOwner("autoscaler")); err != nil {
			t.Fatal(err)
		}
		replicas(5)
		f.wait("a", "Ready True Healthy 1 of 1 ready")
		f.passes(3)
	})
	if n.Reads+n.Writes != 0 {
		t.Errorf("scaling cost %s", n)
	}
	replicas(5)
	f.edit(x, "suspended")
	replicas(0)
	f.wait("a", "Ready True Suspended")
	f.edit(x, "running")
	replicas(2)
}
