package acceptance

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name}}
}

func selector(name string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
}

// template makes pods with one container and the given annotations.
func template(name string, annotations map[string]string) corev1.PodTemplateSpec {
	m := meta(name)
	m.Annotations = annotations
	return corev1.PodTemplateSpec{ObjectMeta: m, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "main", Image: "example.com/app:1"}},
	}}
}

// deployment is called web.
func deployment(replicas int32) *appsv1.Deployment {
	const name = "web"
	return &appsv1.Deployment{ObjectMeta: meta(name), Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: selector(name), Template: template(name, nil),
	}}
}

// statefulSet is called db and has a claim for each pod.
func statefulSet(replicas int32) *appsv1.StatefulSet {
	const name = "db"
	return &appsv1.StatefulSet{ObjectMeta: meta(name), Spec: appsv1.StatefulSetSpec{
		Replicas: &replicas, Selector: selector(name), Template: template(name, nil), ServiceName: name,
		PersistentVolumeClaimRetentionPolicy: &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
			WhenDeleted: appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
			WhenScaled:  appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
		},
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{*claim("data", "1Gi")},
	}}
}

func claim(name, size string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: meta(name), Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}},
	}}
}

func job(name string, annotations map[string]string) *batchv1.Job {
	t := template(name, annotations)
	t.Spec.RestartPolicy = corev1.RestartPolicyNever
	return &batchv1.Job{ObjectMeta: meta(name), Spec: batchv1.JobSpec{BackoffLimit: new(int32(0)), Template: t}}
}

// pod creates a pod with annotations; edit may be nil.
func (w *world) pod(t *testing.T, name string, annotations map[string]string, edit func(*corev1.Pod)) *corev1.Pod {
	t.Helper()
	tpl := template(name, annotations)
	p := &corev1.Pod{ObjectMeta: tpl.ObjectMeta, Spec: tpl.Spec}
	if edit != nil {
		edit(p)
	}
	p, err := w.CoreV1().Pods(w.ns).Create(t.Context(), p, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// awaitPod waits until a pod looks as wanted and returns it.
func (w *world) awaitPod(t *testing.T, name, what string, ok func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	var last *corev1.Pod
	eventually(t, "pod "+name+" to be "+what, func() error {
		p, err := w.CoreV1().Pods(w.ns).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if last = p; !ok(p) {
			return fmt.Errorf("its status is %+v", p.Status)
		}
		return nil
	})
	return last
}

func podCondition(p *corev1.Pod, kind corev1.PodConditionType) corev1.PodCondition {
	for _, c := range p.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return corev1.PodCondition{}
}

func isReady(p *corev1.Pod) bool {
	return podCondition(p, corev1.PodReady).Status == corev1.ConditionTrue
}

func waitingReason(p *corev1.Pod) string {
	if len(p.Status.ContainerStatuses) == 0 || p.Status.ContainerStatuses[0].State.Waiting == nil {
		return ""
	}
	return p.Status.ContainerStatuses[0].State.Waiting.Reason
}
