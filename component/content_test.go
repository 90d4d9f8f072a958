package component

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-go/armature/condition"
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

// What is to go is drained first: step by step, over as many passes as it takes, each
// of them as from a new process.
func TestDrain(t *testing.T) {
	c := newCluster(t)
	down := resource.Remove(config("old")).
		Drain(func(cm *corev1.ConfigMap, now time.Time) error {
			if cm.Data["since"] == "" {
				cm.Data = map[string]string{"since": now.Format(time.RFC3339)}
			}
			return nil
		}).
		Drain(func(cm *corev1.ConfigMap, now time.Time) error {
			since, err := time.Parse(time.RFC3339, cm.Data["since"])
			if err != nil {
				return err
			}
			if left := since.Add(time.Minute).Sub(now); left > 0 {
				return &condition.WaitError{Message: "its pods are going", After: left}
			}
			return nil
		})
	components := []Component{with("web", resource.Manage(config("new")), down)}
	c.owned[c.key(config("old"))] = config("old")
	owner := newShop()
	for _, step := range []struct {
		at    time.Duration
		calls string
		says  string
		after time.Duration
	}{
		{0, "apply ConfigMap new; amend ConfigMap old", "False/Blocked: ConfigMap old is being drained", 0},
		{time.Second, "apply ConfigMap new", "False/Blocked: ConfigMap old: its pods are going", 59 * time.Second},
		{time.Minute, "apply ConfigMap new; delete ConfigMap old", "True/Healthy: Component is healthy.", 0},
		{2 * time.Minute, "apply ConfigMap new; delete ConfigMap old", "True/Healthy: Component is healthy.", 0},
	} {
		res := Run(t.Context(), c.env(noon.Add(step.at)), owner, components)
		if got := strings.Join(c.takeCalls(), "; "); got != step.calls {
			t.Errorf("at %s: %s, want %s", step.at, got, step.calls)
		}
		if got := said(res.Reports[0]); got != step.says || res.After != step.after || res.Err != nil {
			t.Errorf("at %s: %s, look again in %s, %v; want %s", step.at, got, res.After, res.Err, step.says)
		}
	}
	down.Drain(func(*corev1.ConfigMap, time.Time) error { return errBoom })
	c.owned[c.key(config("old"))] = &corev1.ConfigMap{ObjectMeta: config("old").ObjectMeta, Data: map[string]string{"since": noon.Format(time.RFC3339)}}
	if res := Run(t.Context(), c.env(noon.Add(time.Hour)), owner, components); said(res.Reports[0]) != "False/Error: ConfigMap old: draining it: boom" {
		t.Errorf("a step that fails: %s", said(res.Reports[0]))
	}
	if _, there := c.owned[c.key(config("old"))]; !there {
		t.Error("what could not be drained is deleted")
	}
}
