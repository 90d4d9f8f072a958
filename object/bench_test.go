package object_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-go/armature/object"
)

// A Deployment of the usual size: three containers, each with ports, variables,
// resources and mounts.
func BenchmarkTree(b *testing.B) {
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Labels: map[string]string{"app": "web"}},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}},
		},
	}
	pod := &d.Spec.Template.Spec
	for _, name := range []string{"web", "cache", "log"} {
		pod.Volumes = append(pod.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
		pod.Containers = append(pod.Containers, corev1.Container{
			Name: name, Image: "shop/" + name + ":1", Args: []string{"--one", "--two"},
			Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 80}, {Name: "admin", ContainerPort: 81}},
			Env: []corev1.EnvVar{
				{Name: "A", Value: "1"},
				{Name: "B", Value: "2"},
				{Name: "NODE", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}},
			},
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi"),
			}},
			VolumeMounts: []corev1.VolumeMount{{Name: name, MountPath: "/" + name}},
		})
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := object.Tree(scheme, d); err != nil {
			b.Fatal(err)
		}
	}
}
