package component

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-go/armature/feature"
	"github.com/armature-go/armature/resource"
)

func addMode(value string) func(*appsv1.Deployment) error {
	return func(d *appsv1.Deployment) error {
		c := &d.Spec.Template.Spec.Containers[0]
		c.Env = append(c.Env, corev1.EnvVar{Name: "MODE", Value: value})
		return nil
	}
}

// Content that the server would refuse is found before anything is applied, and told
// with both of the places that it comes from; values are not told.
func TestDuplicatesAreFoundBeforeTheFirstWrite(t *testing.T) {
	web := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
		Spec:       appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web"}}}}},
	}
	managed := resource.Manage(web).Mutate("defaults", feature.When(true), addMode("secret-a")).Mutate("override", feature.When(true), addMode("secret-b"))
	const want = `False/Invalid: Deployment web: spec.template.spec.containers[0].env[1] (container "web"): has the same name "MODE" as spec.template.spec.containers[0].env[0]` +
		` (the first is from mutation "defaults", the second from mutation "override"); remove one of the two, or tell them apart`
	c := newCluster(t)
	env := c.env(noon)
	env.Owns = append(env.Owns, appsv1.SchemeGroupVersion.WithKind("Deployment"))
	res := Run(t.Context(), env, newShop(), []Component{with("web", resource.Manage(config("first")), managed)})
	if got := said(res.Reports[0]); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	applies := slices.DeleteFunc(c.takeCalls(), func(call string) bool { return !strings.HasPrefix(call, "apply") })
	if len(applies) > 0 || res.Err != nil {
		t.Errorf("calls %q, error %v", applies, res.Err)
	}
}
