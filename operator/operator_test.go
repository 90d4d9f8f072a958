package operator_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/armaturetest"
	"github.com/armature-go/armature/component"
	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/feature"
	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/operator"
	"github.com/armature-go/armature/resource"
)

func TestBringsUpAndReports(t *testing.T) {
	f := setUp(t)
	f.run(configMaps, func(x *thing, _ *resource.Facts) ([]component.Component, error) {
		return []component.Component{holding(x, x.Name)}, nil
	})
	x := f.create("a", "one")
	f.wait("a", "Ready True Healthy 1 of 1 ready")
	f.wait("a", "StoreReady True Healthy")
	if err := f.Get(t.Context(), client.ObjectKeyFromObject(x), x); err != nil {
		t.Fatal(err)
	}
	if x.Status.ObservedGeneration != 1 || len(x.Status.Components) != 1 || !x.Status.Components[0].Started {
		t.Errorf("status is %+v", x.Status)
	}
	cm := f.configMap("a")
	if err := f.Get(t.Context(), client.ObjectKeyFromObject(cm), cm); err != nil {
		t.Fatal(err)
	}
	if cm.Data["value"] != "one" || cm.Labels["armature.dev/component"] != "store" || !metav1.IsControlledBy(cm, x) {
		t.Errorf("the ConfigMap is %v %v %v", cm.Data, cm.Labels, cm.OwnerReferences)
	}
	f.edit(x, "two")
	armaturetest.Eventually(t, 10*time.Second, func() string {
		if err := f.Get(t.Context(), client.ObjectKeyFromObject(cm), cm); err != nil {
			return err.Error()
		}
		if cm.Data["value"] != "two" {
			return "the value is " + cm.Data["value"]
		}
		return ""
	})
	f.wait("a", "Ready True Healthy")
}

func TestInvalidComponentsAreRefusedBeforeTheFirstWrite(t *testing.T) {
	f := setUp(t)
	f.run(configMaps, func(x *thing, _ *resource.Facts) ([]component.Component, error) {
		elsewhere := holding(x, "c")
		elsewhere.Resources = append(elsewhere.Resources,
			resource.Manage(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "c"}}),
			resource.Manage((*corev1.ConfigMap)(nil)),
			resource.Manage(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: x.Namespace, Name: "c"}}))
		return []component.Component{holding(x, "a"), holding(x, "a"), elsewhere}, nil
	})
	n := f.cluster.Count(t, f.name, func() {
		f.create("a", "one")
		f.wait("a", `Ready False Invalid component "store": another component has this name`)
	})
	for _, want := range []string{
		`component "store" has condition type StoreReady too`,
		`ConfigMap a: the object is in component "store" too; an object belongs to one component`,
		`resource 3: its object is nil`,
		`it is in namespace "kube-system", and its owner in "` + f.ns + `"; set its namespace to "` + f.ns + `"`,
		`kind ServiceAccount (v1) is not declared; add it to operator.Kinds.Owns`,
	} {
		f.wait("a", "Ready False Invalid "+want)
	}
	if n.Writes != 0 || n.StatusWrites != 1 {
		t.Errorf("invalid components made %s, want one status write and no other", n)
	}
}

func TestAComponentThatCannotBeBuiltLeavesTheOthersAlone(t *testing.T) {
	f := setUp(t)
	f.run(configMaps, func(x *thing, _ *resource.Facts) ([]component.Component, error) {
		broken := component.Component{Name: "broken", Condition: "BrokenReady", Err: &condition.InvalidError{Field: "spec.value", Problem: "it is odd", Fix: "make it even"}}
		panics := component.Component{Name: "panics", Condition: "PanicsReady", Resources: []component.Resource{
			resource.Manage(f.configMap("never")).Guard(func(*corev1.ConfigMap) error { panic("boo") }),
		}}
		return []component.Component{broken, panics, holding(x, "good")}, nil
	})
	f.create("a", "one")
	f.wait("a", "BrokenReady False Invalid spec.value: it is odd; make it even")
	f.wait("a", "PanicsReady False Error panicked: boo")
	f.wait("a", "StoreReady True Healthy")
	f.wait("a", "Ready False Invalid 1 of 3 ready")
}

func TestFactsAreAskedForAndWatched(t *testing.T) {
	f := setUp(t)
	f.run(configMaps, func(x *thing, facts *resource.Facts) ([]component.Component, error) {
		first, ok := resource.Fact[*corev1.Secret](facts, types.NamespacedName{Namespace: x.Namespace, Name: "first"})
		if !ok {
			return []component.Component{{Name: "store", Condition: "StoreReady", Err: &condition.WaitError{Message: "waiting for Secret first"}}}, nil
		}
		second, ok := resource.Fact[*corev1.Secret](facts, types.NamespacedName{Namespace: x.Namespace, Name: string(first.Data["next"])})
		if !ok {
			return []component.Component{{Name: "store", Condition: "StoreReady", Err: &condition.WaitError{Message: "waiting for Secret " + string(first.Data["next"])}}}, nil
		}
		x.Spec.Value = string(second.Data["value"])
		return []component.Component{holding(x, x.Name)}, nil
	})
	f.create("a", "unused")
	f.wait("a", "StoreReady False Blocked waiting for Secret first")
	secret := func(name string, data map[string]string) {
		if err := f.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: f.ns, Name: name}, StringData: data}); err != nil {
			t.Fatal(err)
		}
	}
	secret("first", map[string]string{"next": "second"})
	f.wait("a", "StoreReady False Blocked waiting for Secret second")
	secret("second", map[string]string{"value": "found"})
	f.wait("a", "Ready True Healthy")
	cm := f.configMap("a")
	if err := f.Get(t.Context(), client.ObjectKeyFromObject(cm), cm); err != nil || cm.Data["value"] != "found" {
		t.Errorf("the value is %q, %v", cm.Data["value"], err)
	}
}

func TestUndeclaredAndForeignFactsAreRefused(t *testing.T) {
	f := setUp(t)
	f.run(operator.Kinds{Owns: configMaps.Owns}, func(x *thing, facts *resource.Facts) ([]component.Component, error) {
		if x.Name == "undeclared" {
			resource.Fact[*corev1.Secret](facts, types.NamespacedName{Namespace: x.Namespace, Name: "s"})
		} else {
			resource.Fact[*corev1.ConfigMap](facts, types.NamespacedName{Namespace: "default", Name: "s"})
		}
		return []component.Component{holding(x, x.Name)}, nil
	})
	f.create("undeclared", "")
	f.create("foreign", "")
	f.wait("undeclared", "Ready False Invalid add it to operator.Kinds.Reads")
	f.wait("foreign", `Ready False Invalid in namespace "default"`)
}

func TestRenamedAndRemovedObjectsGo(t *testing.T) {
	f := setUp(t)
	f.run(configMaps, func(x *thing, _ *resource.Facts) ([]component.Component, error) {
		return []component.Component{holding(x, "by-"+x.Spec.Value)}, nil
	})
	foreign := f.configMap("foreign")
	if err := f.Create(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	x := f.create("a", "one")
	f.wait("a", "Ready True Healthy")
	f.edit(x, "two")
	f.gone("by-one")
	f.wait("a", "Ready True Healthy")
	for _, name := range []string{"by-two", "foreign"} {
		if err := f.Get(t.Context(), client.ObjectKeyFromObject(f.configMap(name)), f.configMap(name)); err != nil {
			t.Errorf("ConfigMap %s: %v", name, err)
		}
	}
}

func (f *fixture) gone(name string) {
	f.Helper()
	armaturetest.Eventually(f, 10*time.Second, func() string {
		err := f.Get(f.Context(), client.ObjectKeyFromObject(f.configMap(name)), f.configMap(name))
		if apierrors.IsNotFound(err) {
			return ""
		}
		return fmt.Sprintf("ConfigMap %s is still there (%v)", name, err)
	})
}

func TestReleasedObjectOutlivesItsOwner(t *testing.T) {
	f := setUp(t)
	f.run(configMaps, func(x *thing, _ *resource.Facts) ([]component.Component, error) {
		c := holding(x, x.Name)
		if x.Spec.Value == "release" {
			c.Resources = []component.Resource{resource.Release(f.configMap(x.Name))}
		}
		return []component.Component{c}, nil
	})
	x := f.create("a", "one")
	f.wait("a", "Ready True Healthy")
	f.edit(x, "release")
	f.wait("a", "Ready True Healthy")
	if err := f.Delete(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	cm := f.configMap("a")
	armaturetest.Eventually(t, 10*time.Second, func() string {
		if err := f.Get(t.Context(), client.ObjectKeyFromObject(x), x); !apierrors.IsNotFound(err) {
			return fmt.Sprintf("the owner is still there (%v)", err)
		}
		return ""
	})
	time.Sleep(500 * time.Millisecond) // the garbage collector's chance to be wrong
	if err := f.Get(t.Context(), client.ObjectKeyFromObject(cm), cm); err != nil || len(cm.OwnerReferences) != 0 || cm.Labels["armature.dev/component"] != "" {
		t.Errorf("the released ConfigMap: %v, references %v, labels %v", err, cm.OwnerReferences, cm.Labels)
	}
}

func TestEventsTellChangesAndTurnsOnce(t *testing.T) {
	f := setUp(t)
	f.run(configMaps, func(x *thing, _ *resource.Facts) ([]component.Component, error) {
		c := holding(x, x.Name)
		if x.Spec.Value == "bad" {
			c.Err = &condition.InvalidError{Field: "spec.value", Problem: "it is bad"}
		}
		return []component.Component{c}, nil
	})
	x := f.create("a", "one")
	f.wait("a", "Ready True Healthy")
	f.edit(x, "bad")
	f.wait("a", "Ready False Invalid")
	at := armaturetest.Passes(t, f.name)
	armaturetest.Eventually(t, 20*time.Second, func() string {
		if n := armaturetest.Passes(t, f.name) - at; n < 5 {
			return fmt.Sprintf("only %d more passes", n)
		}
		return ""
	})
	counts := map[string]int{}
	events := &eventsv1.EventList{}
	armaturetest.Eventually(t, 10*time.Second, func() string {
		if err := f.List(t.Context(), events, client.InNamespace(f.ns)); err != nil {
			return err.Error()
		}
		clear(counts)
		for _, e := range events.Items {
			counts[e.Type+" "+e.Reason]++
			if e.Series != nil {
				counts["repeated"]++
			}
		}
		if counts["Warning Invalid"] == 0 {
			return fmt.Sprintf("events so far: %v", counts)
		}
		return ""
	})
	want := map[string]int{"Normal Created": 1, "Normal Healthy": 2, "Warning Invalid": 2}
	if fmt.Sprint(counts) != fmt.Sprint(want) {
		t.Errorf("events %v, want %v", counts, want)
	}
}

func TestStartIsRefused(t *testing.T) {
	f := setUp(t)
	nothing := func(*blunt, *resource.Facts) ([]component.Component, error) { return nil, nil }
	unserved := func(*absent, *resource.Facts) ([]component.Component, error) { return nil, nil }
	tests := []struct {
		name       string
		controller operator.Controller
		want       string
	}{
		{"conditions are no list-map", operator.For(nothing, operator.Kinds{}), "+listType=map"},
		{"the kind is not served", operator.For(unserved, operator.Kinds{}), "install its CustomResourceDefinition"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := operator.Run(t.Context(), operator.Options{
				Name: f.name, Scheme: []func(*runtime.Scheme) error{addThings, addAbsent}, Controllers: []operator.Controller{tt.controller},
			}, operator.Settings{Config: f.cluster.Config()})
			var invalid *condition.InvalidError
			if !errors.As(err, &invalid) || !contains(invalid.Error(), tt.want) {
				t.Errorf("got %v, want an InvalidError that says %q", err, tt.want)
			}
		})
	}
}

// A version of the operator that updated its objects and its status is succeeded by
// one that applies them: what the old one wrote and the new one does not is gone.
func TestAnOperatorSucceedsItsFormerSelf(t *testing.T) {
	f := setUp(t)
	f.former = []string{"thing-operator"}
	x := f.create("a", "one")
	x.Status.Conditions = []metav1.Condition{{Type: "Legacy", Status: "True", Reason: "Old", LastTransitionTime: metav1.Now()}}
	cm := f.configMap("a")
	cm.Data = map[string]string{"value": "zero", "left-over": "old"}
	cm.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(x, schema.GroupVersionKind{Group: "test.armature.dev", Version: "v1", Kind: "Thing"})}
	if err := errors.Join(f.Status().Update(t.Context(), x, client.FieldOwner("thing-operator")), f.Create(t.Context(), cm, client.FieldOwner("thing-operator"))); err != nil {
		t.Fatal(err)
	}
	f.run(configMaps, func(x *thing, _ *resource.Facts) ([]component.Component, error) {
		return []component.Component{holding(x, x.Name)}, nil
	})
	f.wait("a", "Ready True Healthy 1 of 1 ready")
	if err := errors.Join(f.Get(t.Context(), client.ObjectKeyFromObject(x), x), f.Get(t.Context(), client.ObjectKeyFromObject(cm), cm)); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(cm.Data); got != "map[value:one]" {
		t.Errorf("the data is %s", got)
	}
	if _, ok := condition.Find(x.Status.Conditions, "Legacy"); ok || len(x.Status.Conditions) != 2 {
		t.Errorf("the conditions are %v", x.Status.Conditions)
	}
	if n := f.cluster.Count(t, f.name, func() { f.passes(5) }); n.Sum() != 0 {
		t.Errorf("at rest there were %s", n)
	}
}

// What only the author can mend is told with where it comes from, is not tried again
// and again, and leaves the rest of the owner alone.
func TestContentThatTheServerWouldRefuseIsInvalid(t *testing.T) {
	f := setUp(t)
	kinds := operator.Kinds{Owns: []object.Object{&corev1.ConfigMap{}, &corev1.PodTemplate{}, untyped("test.armature.dev/v1", "Gadget")}}
	variable := func(p *corev1.PodTemplate) error {
		c := &p.Template.Spec.Containers[0]
		c.Env = append(c.Env, corev1.EnvVar{Name: "MODE", Value: "b"})
		return nil
	}
	f.run(kinds, func(x *thing, _ *resource.Facts) ([]component.Component, error) {
		meta := metav1.ObjectMeta{Namespace: x.Namespace, Name: x.Name}
		pod := &corev1.PodTemplate{ObjectMeta: meta}
		pod.Template.Labels = map[string]string{"a": "b"}
		pod.Template.Spec.Containers = []corev1.Container{{Name: "web", Image: "web:1", Env: []corev1.EnvVar{{Name: "MODE", Value: "a"}}}}
		cell := resource.NewCell[string]("name")
		uid := resource.Into(cell, func(cm *corev1.ConfigMap) (string, bool) { return string(cm.UID), true })
		late := component.Component{Name: "late", Condition: "LateReady", Resources: []component.Resource{
			resource.Manage(&corev1.ConfigMap{ObjectMeta: meta}).Extract(uid),
			resource.Manage(pod).
				Mutate("override", feature.When(true), variable).
				MutateUsing("known late", feature.When(true), resource.Using(cell, func(*corev1.PodTemplate, string) error { return nil })),
		}}
		gadget := untyped("test.armature.dev/v1", "Gadget")
		gadget.SetNamespace(x.Namespace)
		gadget.SetName(x.Name)
		gadget.Object["spec"] = map[string]any{"wrong": "x"}
		unknown := component.Component{Name: "unknown", Condition: "UnknownReady", Resources: []component.Resource{resource.Manage(gadget)}}
		fine := component.Component{Name: "fine", Condition: "FineReady", Resources: []component.Resource{resource.Manage(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: x.Namespace, Name: x.Name + "-fine"}})}}
		return []component.Component{late, unknown, fine}, nil
	})
	f.create("a", "one")
	f.wait("a", `LateReady False Invalid PodTemplate a: template.spec.containers[0].env[1] (container "web"): has the same name "MODE" as template.spec.containers[0].env[0] (the first is from the baseline, the second from mutation "override")`)
	f.wait("a", `UnknownReady False Invalid Gadget a: the API server cannot read it`)
	f.wait("a", `UnknownReady False Invalid .spec.wrong: field not declared in schema`)
	f.wait("a", "FineReady True Healthy")
	f.wait("a", "Ready False Invalid")
	f.passes(5)
	if n := f.cluster.Count(t, f.name, func() { f.passes(5) }); n.Sum() != 0 {
		t.Errorf("with nothing to do but to wait for the author there were %s", n)
	}
}

// Somebody writes a field of ours again and again. That is told once, with a name, and
// does not become a stream of writes.
func TestAFightIsReportedOnce(t *testing.T) {
	f := setUp(t)
	f.run(configMaps, func(x *thing, _ *resource.Facts) ([]component.Component, error) {
		return []component.Component{holding(x, x.Name)}, nil
	})
	f.create("a", "one")
	f.wait("a", "Ready True Healthy")
	const note = `ConfigMap a: "another-operator" keeps changing data.value; it is corrected less and less often`
	body := client.RawPatch(types.MergePatchType, []byte(`{"data":{"value":"theirs"}}`))
	n := f.cluster.Count(t, f.name, func() {
		for range 60 {
			if err := f.Patch(t.Context(), f.configMap("a"), body, client.FieldOwner("another-operator")); err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond) // the other operator's pace
		}
	})
	if n.Writes != 5 {
		t.Errorf("there were %s; five corrections and then a truce were to be expected", n)
	}
	f.wait("a", "StoreReady True Healthy "+note)
	f.passes(3)
	events := &eventsv1.EventList{}
	if err := f.List(t.Context(), events, client.InNamespace(f.ns)); err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, e := range events.Items {
		if e.Reason == "Contested" && e.Type == corev1.EventTypeWarning && e.Note == note {
			told++
			if e.Series != nil {
				told += int(e.Series.Count)
			}
		}
	}
	if told != 1 {
		t.Errorf("it was told %d times", told)
	}
}

// A Deployment that is no longer wanted is scaled down, and deleted once its pods are
// gone, by an operator that is started anew at every step.
func TestDrainsBeforeItDeletes(t *testing.T) {
	f := setUp(t)
	web := func(x *thing) *appsv1.Deployment {
		replicas, labels := int32(2), map[string]string{"app": x.Name}
		return &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: x.Namespace, Name: x.Name},
			Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
			}},
		}
	}
	build := func(x *thing, _ *resource.Facts) ([]component.Component, error) { //nolint:unparam // the signature is the author's
		c := component.Component{Name: "web", Condition: "WebReady", Resources: []component.Resource{resource.Manage(web(x))}}
		if x.Spec.Value == "gone" {
			c.Resources = []component.Resource{resource.Remove(web(x)).
				Drain(func(d *appsv1.Deployment, _ time.Time) error { d.Spec.Replicas = new(int32); return nil }).
				Drain(func(d *appsv1.Deployment, _ time.Time) error {
					if d.Status.Replicas > 0 || d.Status.ObservedGeneration < d.Generation {
						return &condition.WaitError{Message: "its pods are going"}
					}
					return nil
				})}
		}
		return []component.Component{c}, nil
	}
	kinds := operator.Kinds{Owns: []object.Object{&appsv1.Deployment{}}}
	x := f.create("a", "there")
	stop := f.start(kinds, build)
	f.wait("a", "Ready True Healthy")
	stop()
	f.edit(x, "gone")
	d := web(x)
	steps, life := map[string]bool{}, 300*time.Millisecond
	armaturetest.Eventually(t, 90*time.Second, func() string {
		stop := f.start(kinds, build)
		defer stop()
		time.Sleep(life) // of a process that is killed again and again
		life += life / 4 // on a slow machine it takes longer until it gets to do anything
		err := f.Get(t.Context(), client.ObjectKeyFromObject(d), d)
		if apierrors.IsNotFound(err) {
			return ""
		}
		steps[fmt.Sprint(*d.Spec.Replicas)] = true
		return fmt.Sprintf("it is there with %d replicas, %v", *d.Spec.Replicas, err)
	})
	f.run(kinds, build)
	f.wait("a", "Ready True Healthy")
	t.Logf("seen with replicas %v before it was gone", steps)
}
