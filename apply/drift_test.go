package apply_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	kresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/object"
)

// counted counts the requests that an applier makes to objects.
type counted struct {
	client.Client

	applies int
}

func (c *counted) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	c.applies++
	return c.Client.Apply(ctx, obj, opts...)
}

// web is a Deployment with whatever can drift.
func (f *fixture) web(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	replicas, grace, root := int32(1), int64(10), true
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: f.ns, Name: name, Labels: map[string]string{"owned": "label"}, Annotations: map[string]string{"owned": "annotation"},
			Finalizers: []string{"test.armature.dev/owned"},
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": name, "owned": "label"}},
				Spec: corev1.PodSpec{
					TerminationGracePeriodSeconds: &grace,
					SecurityContext:               &corev1.PodSecurityContext{RunAsNonRoot: &root},
					Volumes:                       []corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
					Containers: []corev1.Container{
						{
							Name: "web", Image: "web:1", Args: []string{"--one", "--two"},
							Env:          []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "B", Value: "2"}},
							Resources:    corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: kresource.MustParse("100m")}},
							VolumeMounts: []corev1.VolumeMount{{Name: "tmp", MountPath: "/tmp"}},
						},
						{Name: "side", Image: "side:1"},
					},
				},
			},
		},
	}
}

// scenarioOf is something that somebody does to an object that we have applied.
type scenarioOf struct {
	name  string
	do    func(f *fixture, d *appsv1.Deployment) error
	owned bool // only who owns the fields is changed, not what is in them
}

// update is what kubectl edit does.
func update(change func(*appsv1.Deployment)) func(*fixture, *appsv1.Deployment) error {
	return func(f *fixture, d *appsv1.Deployment) error {
		change(d)
		return f.put(d)
	}
}

// put updates a Deployment, whatever its controller has said about it meanwhile.
func (f *fixture) put(d *appsv1.Deployment) error {
	d.ResourceVersion = ""
	return f.Update(f.Context(), d, client.FieldOwner("a-person"))
}

// patch is a JSON merge patch of somebody else's.
func patch(body string) func(*fixture, *appsv1.Deployment) error {
	return func(f *fixture, d *appsv1.Deployment) error {
		return f.Patch(f.Context(), d, client.RawPatch(types.MergePatchType, []byte(body)), client.FieldOwner("a-person"))
	}
}

// applied is a server-side apply of somebody else's, by force.
func applied(spec string) func(*fixture, *appsv1.Deployment) error {
	return func(f *fixture, d *appsv1.Deployment) error {
		u := &unstructured.Unstructured{}
		body := fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"namespace":%q,"name":%q},"spec":%s}`, d.Namespace, d.Name, spec)
		if err := json.Unmarshal([]byte(body), &u.Object); err != nil {
			return err
		}
		return f.WithWatch.Apply(f.Context(), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner("someone"), client.ForceOwnership)
	}
}

// asUs is an apply by another process that has our name.
func asUs(change func(*appsv1.Deployment)) func(*fixture, *appsv1.Deployment) error {
	return func(f *fixture, d *appsv1.Deployment) error {
		desired := f.web(d.Name)
		change(desired)
		return f.force(desired)
	}
}

func container(d *appsv1.Deployment) *corev1.Container { return &d.Spec.Template.Spec.Containers[0] }

// The truth about each scenario comes from the server: would a forced re-apply
// change the object? It is asked of a twin.
func scenarios() []scenarioOf {
	return []scenarioOf{
		{name: "an owned image is changed", do: update(func(d *appsv1.Deployment) { container(d).Image = "web:2" })},
		{name: "an owned label is deleted", do: update(func(d *appsv1.Deployment) { delete(d.Labels, "owned") })},
		{name: "an owned annotation is changed", do: update(func(d *appsv1.Deployment) { d.Annotations["owned"] = "other" })},
		{name: "an owned pod label is changed", do: update(func(d *appsv1.Deployment) { d.Spec.Template.Labels["owned"] = "other" })},
		{name: "an owned atomic list is appended to", do: update(func(d *appsv1.Deployment) { container(d).Args = append(container(d).Args, "--three") })},
		{name: "an owned container is removed", do: update(func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers = d.Spec.Template.Spec.Containers[:1] })},
		{name: "an owned variable is removed", do: update(func(d *appsv1.Deployment) { container(d).Env = container(d).Env[:1] })},
		{name: "an owned security context is emptied", do: update(func(d *appsv1.Deployment) { d.Spec.Template.Spec.SecurityContext = nil })},
		{name: "another manager applies another image by force", do: applied(`{"template":{"spec":{"containers":[{"name":"web","image":"web:3"}]}}}`)},
		{owned: true, name: "all managed fields are reset", do: update(func(d *appsv1.Deployment) { d.ManagedFields = []metav1.ManagedFieldsEntry{{}} })},
		{owned: true, name: "our managed fields are removed", do: func(f *fixture, d *appsv1.Deployment) error {
			var kept []metav1.ManagedFieldsEntry
			for _, e := range d.ManagedFields {
				if e.Manager != f.applier.Manager(f.owner) {
					kept = append(kept, e)
				}
			}
			d.ManagedFields = append(kept, metav1.ManagedFieldsEntry{
				Manager: "filler", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "apps/v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{"f:filler":{}}}}`),
			})
			return f.put(d)
		}},
		{owned: true, name: "a value is changed and changed back", do: func(f *fixture, d *appsv1.Deployment) error {
			for _, image := range []string{"web:9", "web:1"} {
				container(d).Image = image
				if err := f.put(d); err != nil {
					return err
				}
			}
			return nil
		}},
		{owned: true, name: "a label is deleted and added again", do: func(f *fixture, d *appsv1.Deployment) error {
			delete(d.Labels, "owned")
			if err := f.put(d); err != nil {
				return err
			}
			d.Labels["owned"] = "label"
			return f.put(d)
		}},
		{name: "another process applies fewer fields under our name", do: asUs(func(d *appsv1.Deployment) { container(d).Env = container(d).Env[:1] })},
		{name: "another process applies another value under our name", do: asUs(func(d *appsv1.Deployment) { container(d).Image = "web:7" })},
		{name: "containers are reordered", do: update(func(d *appsv1.Deployment) {
			c := d.Spec.Template.Spec.Containers
			c[0], c[1] = c[1], c[0]
		})},
		{name: "variables are reordered", do: update(func(d *appsv1.Deployment) {
			e := container(d).Env
			e[0], e[1] = e[1], e[0]
		})},
		{name: "the scale subresource changes replicas that we own", do: func(f *fixture, d *appsv1.Deployment) error {
			return f.SubResource("scale").Update(f.Context(), d, client.WithSubResourceBody(&autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 3}}))
		}},
		{name: "an owned finalizer is removed", do: update(func(d *appsv1.Deployment) { d.Finalizers = nil })},
		{name: "an owned quantity is changed", do: update(func(d *appsv1.Deployment) {
			container(d).Resources.Requests[corev1.ResourceCPU] = kresource.MustParse("200m")
		})},
		{name: "our controller reference is removed", do: update(func(d *appsv1.Deployment) { d.OwnerReferences = nil })},

		{name: "a sidecar is appended", do: update(func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers = append(d.Spec.Template.Spec.Containers, corev1.Container{Name: "injected", Image: "x:1"})
		})},
		{name: "a sidecar is put in front", do: update(func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers = append([]corev1.Container{{Name: "injected", Image: "x:1"}}, d.Spec.Template.Spec.Containers...)
		})},
		{name: "somebody's annotation and label", do: patch(`{"metadata":{"annotations":{"x":"1"},"labels":{"y":"1"}}}`)},
		{name: "a rollout restart", do: patch(`{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"now"}}}}}`)},
		{name: "somebody's requests key", do: update(func(d *appsv1.Deployment) {
			container(d).Resources.Requests[corev1.ResourceMemory] = kresource.MustParse("1Gi")
		})},
		{name: "a status update", do: func(f *fixture, d *appsv1.Deployment) error {
			d.ResourceVersion, d.Status.ObservedGeneration = "", d.Generation
			d.Status.Conditions = append(d.Status.Conditions, appsv1.DeploymentCondition{Type: "Tested", Status: corev1.ConditionTrue})
			return f.Status().Update(f.Context(), d, client.FieldOwner("a-person"))
		}},
		{name: "somebody's finalizer", do: update(func(d *appsv1.Deployment) { d.Finalizers = append(d.Finalizers, "test.armature.dev/foreign") })},
		{name: "somebody owns the same value, too", do: applied(`{"template":{"spec":{"containers":[{"name":"web","image":"web:1"}]}}}`)},
		{name: "somebody's variable in our container", do: update(func(d *appsv1.Deployment) {
			container(d).Env = append(container(d).Env, corev1.EnvVar{Name: "C", Value: "3"})
		})},
	}
}

func TestDriftIsSeenAndNothingElse(t *testing.T) {
	parent := setUp(t)
	for i, sc := range scenarios() {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			own := *parent
			own.T = t
			f, name := &own, fmt.Sprintf("d%d", i)
			c := &counted{Client: f.WithWatch}
			a := apply.New(c, controller, apply.Options{})
			do := func(obj *appsv1.Deployment) apply.Result {
				t.Helper()
				res, err := a.Apply(t.Context(), f.owner, "store", obj)
				if err != nil {
					t.Fatal(err)
				}
				return res
			}
			twin := name + "-twin"
			for _, n := range []string{name, twin} {
				do(f.web(n))
				live := f.web(n)
				stable(f, live)
				if err := sc.do(f, live); err != nil {
					t.Fatal(err)
				}
			}
			truth := reapply(f, f.web(twin))
			c.applies = 0
			res := do(f.web(name))
			if sent := c.applies > 0; sent != truth {
				t.Errorf("an apply was sent: %t; on the server it would have changed the object: %t", sent, truth)
			}
			if told := res.Op == object.OpUpdated; told != (truth && !sc.owned) {
				t.Errorf("the operation is %q; drift: %t", res.Op, truth)
			}
			if c.applies > 1 {
				t.Errorf("it took %d applies", c.applies)
			}
			if reapply(f, f.web(name)) {
				t.Error("the drift was not corrected: another apply changes the object once more")
			}
			c.applies = 0
			do(f.web(name))
			do(f.web(name))
			if c.applies != 0 {
				t.Errorf("at rest again, and %d applies more", c.applies)
			}
			free(f, name, twin)
		})
	}
}

// stable waits until the controllers have nothing more to say about a Deployment.
func stable(f *fixture, d *appsv1.Deployment) {
	f.Helper()
	for version, since := "", time.Now(); time.Since(since) < 300*time.Millisecond; time.Sleep(20 * time.Millisecond) {
		f.must(f.Get(f.Context(), client.ObjectKeyFromObject(d), d))
		if d.ResourceVersion != version {
			version, since = d.ResourceVersion, time.Now()
		}
	}
}

// reapply applies by force what the applier would, and reports whether that changed
// the object: what is in it, or who owns it. What the controller says about it
// meanwhile does not count.
func reapply(f *fixture, d *appsv1.Deployment) bool {
	f.Helper()
	shape := func() string {
		live := &appsv1.Deployment{}
		f.must(f.Get(f.Context(), client.ObjectKeyFromObject(d), live))
		delete(live.Annotations, "deployment.kubernetes.io/revision")
		var owners []string
		for _, e := range live.ManagedFields {
			if e.Manager != "kube-controller-manager" {
				owners = append(owners, fmt.Sprint(e.Manager, e.Operation, e.Subresource, e.FieldsV1.GetRawString()))
			}
		}
		slices.Sort(owners)
		raw, err := json.Marshal([]any{live.Spec, live.Labels, live.Annotations, live.Finalizers, live.OwnerReferences, owners})
		f.must(err)
		return string(raw)
	}
	before := shape()
	f.must(f.force(d))
	return shape() != before
}

// force applies what the applier would, past it.
func (f *fixture) force(d *appsv1.Deployment) error {
	f.Helper()
	tree, err := object.Tree(f.Scheme(), d)
	f.must(err)
	u := &unstructured.Unstructured{Object: tree}
	u.SetLabels(map[string]string{"owned": "label", apply.ComponentLabel: "store"})
	u.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(f.owner, f.owner.GroupVersionKind())})
	return f.WithWatch.Apply(f.Context(), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(f.applier.Manager(f.owner)), client.ForceOwnership)
}

// free lets go of the finalizers, so that the namespace can go.
func free(f *fixture, names ...string) {
	f.Helper()
	for _, name := range names {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: f.ns, Name: name}}
		f.must(f.Patch(f.Context(), d, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))))
		f.must(f.Delete(f.Context(), d))
	}
}

// What a process knew is gone after a restart. Where the object shows that it is as
// it would be after an apply, none is sent.
func TestARestartCostsNothingWhereTheObjectIsExact(t *testing.T) {
	f := setUp(t)
	f.apply(f.configMap("exact", "k=1"), object.OpCreated)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: f.ns, Name: "secret"}, StringData: map[string]string{"k": "v"}}
	f.apply(secret, object.OpCreated)
	c := &counted{Client: f.WithWatch}
	cold := apply.New(c, controller, apply.Options{})
	for _, obj := range []object.Object{f.configMap("exact", "k=1"), secret} {
		if res, err := cold.Apply(t.Context(), f.owner, "store", obj); err != nil || res.Op != object.OpNone {
			t.Fatalf("%q, %v", res.Op, err)
		}
	}
	if c.applies != 0 {
		t.Errorf("after a restart %d applies were sent", c.applies)
	}
	for name, change := range map[string]func(*corev1.ConfigMap){
		"another value": func(cm *corev1.ConfigMap) { cm.Data["k"] = "2" },
		"no value":      func(cm *corev1.ConfigMap) { cm.Data = nil },
		"no label":      func(cm *corev1.ConfigMap) { cm.Labels = nil },
	} {
		t.Run(name, func(t *testing.T) {
			cm := f.live("exact")
			change(cm)
			f.must(f.Update(t.Context(), cm))
			cold := apply.New(f.WithWatch, controller, apply.Options{})
			if res, err := cold.Apply(t.Context(), f.owner, "store", f.configMap("exact", "k=1")); err != nil || res.Op != object.OpUpdated {
				t.Errorf("%q, %v", res.Op, err)
			}
		})
	}
	if res, err := apply.New(f.WithWatch, controller, apply.Options{}).Apply(t.Context(), f.owner, "store", f.configMap("exact", "other=1")); err != nil || res.Op != object.OpUpdated {
		t.Errorf("another declaration after a restart: %q, %v", res.Op, err)
	}
}

// An inexact object may have been changed by what the object does not show, such as
// a policy that is gone: it is applied again from time to time. An exact one is only
// looked at again.
func TestWhatCannotBeSeenIsVerifiedInTime(t *testing.T) {
	f := setUp(t)
	now := time.Now()
	c := &counted{Client: f.WithWatch}
	a := apply.New(c, controller, apply.Options{Now: func() time.Time { return now }})
	exact := f.configMap("exact", "k=1")
	inexact := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.ns, Name: "inexact"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "of-nobody"}, MaxReplicas: 2,
			Behavior: &autoscalingv2.HorizontalPodAutoscalerBehavior{}, // which the server fills
		},
	}
	pass := func(obj object.Object) int {
		t.Helper()
		c.applies = 0
		if _, err := a.Apply(t.Context(), f.owner, "store", obj); err != nil {
			t.Fatal(err)
		}
		return c.applies
	}
	pass(exact)
	pass(inexact)
	for _, step := range []struct {
		after          time.Duration
		exact, inexact int
	}{{0, 0, 0}, {10 * time.Minute, 0, 0}, {30 * time.Minute, 0, 1}, {time.Minute, 0, 0}, {time.Hour, 0, 1}} {
		now = now.Add(step.after)
		if e, i := pass(exact), pass(inexact); e != step.exact || i != step.inexact {
			t.Errorf("after %s more: %d applies of the exact and %d of the inexact object, want %d and %d", step.after, e, i, step.exact, step.inexact)
		}
	}
}

// A cache may be behind our own write. That lasts a moment; an object that stays
// older than our write comes from a store that was restored.
func TestACacheBehindOurOwnWriteIsBelievedForAWhile(t *testing.T) {
	f := setUp(t)
	now := time.Now()
	f.applier = apply.New(f.WithWatch, controller, apply.Options{})
	f.apply(f.configMap("a", "k=1"), object.OpCreated)
	stale := f.live("a")
	cache := &meddler{Client: f.WithWatch}
	c := &counted{Client: cache}
	a := apply.New(c, controller, apply.Options{Live: f.WithWatch, Now: func() time.Time { return now }})
	if _, err := a.Apply(t.Context(), f.owner, "store", f.configMap("a", "k=2")); err != nil {
		t.Fatal(err)
	}
	cache.get = func(obj client.Object) bool {
		cm, ok := obj.(*corev1.ConfigMap)
		if ok {
			stale.DeepCopyInto(cm)
		}
		return ok
	}
	for _, step := range []struct {
		after time.Duration
		want  int
	}{{0, 0}, {59 * time.Second, 0}, {2 * time.Second, 1}} {
		now = now.Add(step.after)
		c.applies = 0
		res, err := a.Apply(t.Context(), f.owner, "store", f.configMap("a", "k=2"))
		if err != nil {
			t.Fatal(err)
		}
		if step.want == 0 && res.Again == 0 {
			t.Errorf("after %s more: nobody would look again at an object that is behind", step.after)
		}
		if c.applies != step.want {
			t.Errorf("after %s more: %d applies, want %d", step.after, c.applies, step.want)
		}
	}
}

// A cache that drops all managed fields leaves resource versions to decide by: drift
// is corrected, every write of somebody else costs an apply, and it is said once.
func TestWithoutManagedFieldsAnEqualVersionDecides(t *testing.T) {
	f := setUp(t)
	var said []string
	ctx := logr.NewContext(t.Context(), funcr.New(func(_, args string) { said = append(said, args) }, funcr.Options{}))
	c := &counted{Client: &stripping{f.WithWatch}}
	a := apply.New(c, controller, apply.Options{Live: f.WithWatch})
	pass := func(want int) {
		t.Helper()
		for range 3 {
			for _, name := range []string{"a", "b"} {
				if _, err := a.Apply(ctx, f.owner, "store", f.configMap(name, "k=1")); err != nil {
					t.Fatal(err)
				}
			}
		}
		if c.applies != want {
			t.Errorf("%d applies, want %d", c.applies, want)
		}
		c.applies = 0
	}
	pass(2)
	pass(0)
	for _, body := range []string{`{"data":{"k":"9"}}`, `{"data":{"theirs":"9"}}`} {
		f.must(f.Patch(ctx, f.configMap("a"), client.RawPatch(types.MergePatchType, []byte(body)), client.FieldOwner("a-person")))
		pass(1)
	}
	if got := fmt.Sprint(f.live("a").Data); got != "map[k:1 theirs:9]" {
		t.Errorf("the data is %s", got)
	}
	if len(said) != 1 || !strings.Contains(said[0], "apply.Transform") {
		t.Errorf("said: %q", said)
	}
}

// stripping is a client that reads objects without managed fields.
type stripping struct{ client.Client }

func (c *stripping) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	err := c.Client.Get(ctx, key, obj, opts...)
	obj.SetManagedFields(nil)
	return err
}
