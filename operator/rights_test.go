package operator_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/armaturetest"
	"github.com/armature-go/armature/component"
	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/resource"
)

// as makes the operator somebody with just these rights in the test's namespace.
func (f *fixture) as(rules ...rbacv1.PolicyRule) func(*rest.Config) {
	f.Helper()
	meta := metav1.ObjectMeta{Namespace: f.ns, Name: f.name}
	subject := rbacv1.Subject{Kind: rbacv1.UserKind, Name: f.name, APIGroup: rbacv1.GroupName}
	for _, obj := range []client.Object{
		&rbacv1.Role{ObjectMeta: meta, Rules: rules},
		&rbacv1.RoleBinding{ObjectMeta: meta, Subjects: []rbacv1.Subject{subject}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: f.name}},
	} {
		if err := f.Create(f.Context(), obj); err != nil {
			f.Fatal(err)
		}
	}
	return func(cfg *rest.Config) {
		cfg.Impersonate = rest.ImpersonationConfig{UserName: f.name, Groups: []string{"system:authenticated"}}
	}
}

func may(group, res string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{res}, Verbs: verbs}
}

// An operator may know one Secret without the right to list the others, and says
// which right is missing for the next.
func TestOneNameNeedsTheRightToOneName(t *testing.T) {
	f := setUp(t)
	named := may("", "secrets", "get", "list", "watch")
	named.ResourceNames = []string{"known"}
	rights := f.as(named,
		may("test.armature.dev", "things", "get", "list", "watch"), may("test.armature.dev", "things/status", "patch"),
		may("", "configmaps", "get", "list", "watch", "patch", "create", "delete"), may("events.k8s.io", "events", "create", "patch"))
	f.runWith(configMaps, func(x *thing, facts *resource.Facts) ([]component.Component, error) {
		secret, ok := resource.Fact[*corev1.Secret](facts, types.NamespacedName{Namespace: x.Namespace, Name: x.Spec.Value})
		if !ok {
			return nil, &condition.WaitError{Message: "waiting for Secret " + x.Spec.Value}
		}
		x.Spec.Value = string(secret.Data["value"])
		return []component.Component{holding(x, x.Name)}, nil
	}, rights)
	f.create("good", "known")
	f.create("bad", "unknown")
	f.wait("good", "Ready False Blocked waiting for Secret known")
	f.wait("bad", `Ready False PermissionDenied may not get, list and watch Secret unknown in namespace "`+f.ns+`"`)
	if err := f.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: f.ns, Name: "known"}, StringData: map[string]string{"value": "v"}}); err != nil {
		t.Fatal(err)
	}
	f.wait("good", "Ready True Healthy")
}

func TestAMissingRightIsNamed(t *testing.T) {
	f := setUp(t)
	rights := f.as(may("test.armature.dev", "things", "get", "list", "watch"), may("test.armature.dev", "things/status", "patch"),
		may("", "configmaps", "get", "list", "watch"), may("events.k8s.io", "events", "create", "patch"))
	f.runWith(configMaps, func(x *thing, _ *resource.Facts) ([]component.Component, error) {
		return []component.Component{holding(x, x.Name)}, nil
	}, rights)
	f.create("a", "one")
	f.wait("a", `StoreReady False PermissionDenied may not patch configmaps in namespace "`+f.ns+`"`)
}

// What changes is only the text of a condition: the first change is written at
// once, those that follow closely are not written one by one.
func TestChangesOfTextAreNotAStreamOfWrites(t *testing.T) {
	f := setUp(t)
	f.run(configMaps, func(x *thing, facts *resource.Facts) ([]component.Component, error) {
		secret, _ := resource.Fact[*corev1.Secret](facts, types.NamespacedName{Namespace: x.Namespace, Name: "progress"})
		done := "nothing"
		if secret != nil {
			done = string(secret.Data["done"])
		}
		return []component.Component{{Name: "store", Condition: "StoreReady", Err: &condition.WaitError{Message: "done so far: " + done}}}, nil
	})
	f.create("a", "one")
	f.wait("a", "StoreReady False Blocked done so far: nothing")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: f.ns, Name: "progress"}}
	if err := f.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	const steps = 10
	n := f.cluster.Count(t, f.name, func() {
		for i := range steps {
			at := armaturetest.Passes(t, f.name)
			secret.Data = map[string][]byte{"done": fmt.Appendf(nil, "step %d", i)}
			if err := f.Update(t.Context(), secret); err != nil {
				t.Fatal(err)
			}
			armaturetest.Eventually(t, 10*time.Second, func() string {
				if armaturetest.Passes(t, f.name) == at {
					return "no pass"
				}
				return ""
			})
		}
		f.wait("a", fmt.Sprintf("StoreReady False Blocked done so far: step %d", steps-1))
	})
	if n.StatusWrites == 0 || n.StatusWrites > steps/2 {
		t.Errorf("%d changes of text made %d status writes", steps, n.StatusWrites)
	}
}
