package resource_test

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/resource"
)

// How an object belongs to its owner is said where it is declared.
func ExampleManaged_Tracked() {
	elsewhere := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "monitoring", Name: "shop-dashboard"}}
	common := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}

	for _, r := range []resource.Resource{
		resource.Manage(elsewhere).Tracked(), // in another namespace than its owner
		resource.Manage(common).Shared(),     // for all shops of the namespace
	} {
		d := r.Declaration()
		fmt.Println(d.Object.GetName(), "is", d.Ownership)
	}
	// Output:
	// shop-dashboard is tracked
	// web is shared
}

// Fields that others decide about are named, too.
func ExampleManaged_Yield() {
	replicas := int32(2)
	web := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: appsv1.DeploymentSpec{Replicas: &replicas}}

	d := resource.Manage(web).
		Yield("spec.replicas").                                 // two, until an autoscaler wants another number
		Ignore(`metadata.annotations["example.com/injected"]`). // never ours
		Declaration()
	fmt.Println("yielded", d.Yield, "ignored", d.Ignore)
	// Output:
	// yielded [spec.replicas] ignored [metadata.annotations["example.com/injected"]]
}

// An object goes in steps, each of which can be told from what is there.
func ExampleRemoved_Drain() {
	old := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db"}}

	d := resource.Remove(old).
		Drain(func(set *appsv1.StatefulSet, _ time.Time) error {
			set.Spec.Replicas = new(int32)
			return nil
		}).
		Drain(func(set *appsv1.StatefulSet, _ time.Time) error {
			if set.Status.Replicas > 0 {
				return &condition.WaitError{Message: fmt.Sprintf("%d pods are still there", set.Status.Replicas)}
			}
			return nil
		}).
		Declaration()

	live := old.DeepCopy()
	live.Spec.Replicas, live.Status.Replicas = new(int32), 2
	*live.Spec.Replicas = 2
	changed, _ := d.Drain(live, time.Now())
	fmt.Println("replicas become", *changed.(*appsv1.StatefulSet).Spec.Replicas)

	*live.Spec.Replicas = 0
	_, err := d.Drain(live, time.Now())
	fmt.Println("then wait:", err)
	// Output:
	// replicas become 0
	// then wait: 2 pods are still there
}
