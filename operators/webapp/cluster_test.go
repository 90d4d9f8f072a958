package webapp_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/armaturetest"
	"github.com/armature-go/armature/component"
	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/operator"
	"github.com/armature-go/armature/operators/webapp"
	"github.com/armature-go/armature/operators/webapp/v1alpha1"
	"github.com/armature-go/armature/resource"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// deadline is there against hanging.
const deadline = 60 * time.Second

// fixture is the operator in namespaces of its own.
type fixture struct {
	*testing.T
	client.WithWatch

	cluster *armaturetest.Cluster
	ns      []string
	name    string // of the operator
}

// setUp runs the operator in one or more namespaces.
func setUp(t *testing.T, namespaces int) *fixture {
	t.Helper()
	return setUpWith(t, namespaces, webapp.Components, func(*rest.Config) {})
}

type builder = func(*v1alpha1.WebApp, *resource.Facts) ([]component.Component, error)

// setUpWith runs another operator in its place, or one that reaches the server
// otherwise.
func setUpWith(t *testing.T, namespaces int, build builder, change func(*rest.Config)) *fixture {
	t.Helper()
	t.Parallel()
	cluster := armaturetest.Server(t)
	cluster.InstallCRDs(t, os.DirFS("crd"))
	f := &fixture{T: t, WithWatch: cluster.Client(t, v1alpha1.AddToScheme), cluster: cluster}
	for range namespaces {
		f.ns = append(f.ns, cluster.Namespace(t))
	}
	f.name = "webapp-" + f.ns[0]
	cfg := cluster.Config()
	change(cfg)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- operator.Run(ctx, operator.Options{
			Name:   f.name,
			Scheme: []func(*runtime.Scheme) error{v1alpha1.AddToScheme},
			Controllers: []operator.Controller{operator.For(build, operator.Kinds{
				Owns:  []object.Object{&appsv1.Deployment{}, &appsv1.StatefulSet{}, &corev1.Service{}},
				Reads: []object.Object{&corev1.Secret{}},
			})},
		}, operator.Settings{Config: cfg, Namespaces: f.ns, Resync: 200 * time.Millisecond})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the operator ended with: %v", err)
		}
	})
	return f
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// app makes a WebApp.
func (f *fixture) app(ns, name string, change ...func(*v1alpha1.WebApp)) *v1alpha1.WebApp {
	f.Helper()
	app := shop(change...)
	app.Namespace, app.Name = ns, name
	f.must(f.Create(f.Context(), app))
	return app
}

// edit changes a WebApp as a person does.
func (f *fixture) edit(app *v1alpha1.WebApp, change func(*v1alpha1.WebApp)) {
	f.Helper()
	armaturetest.Eventually(f, deadline, func() string {
		f.must(f.Get(f.Context(), client.ObjectKeyFromObject(app), app))
		change(app)
		err := f.Update(f.Context(), app)
		if apierrors.IsConflict(err) {
			return err.Error()
		}
		f.must(err)
		return ""
	})
}

// is waits until the app's condition reads as wanted, for its current generation.
func (f *fixture) is(app *v1alpha1.WebApp, typ string, reason condition.Reason, message string) {
	f.Helper()
	armaturetest.Eventually(f, deadline, func() string {
		if err := f.Get(f.Context(), client.ObjectKeyFromObject(app), app); err != nil {
			return err.Error()
		}
		c, _ := condition.Find(app.Status.Conditions, typ)
		if c.Reason != string(reason) || !strings.Contains(c.Message, message) || c.ObservedGeneration != app.Generation {
			return fmt.Sprintf("%s of %s is %s/%s: %s; want %s: %s", typ, app.Name, c.Status, c.Reason, c.Message, reason, message)
		}
		return ""
	})
}

// owned lists what belongs to the app directly: its resource versions by kind and name.
func (f *fixture) owned(app *v1alpha1.WebApp) map[string]string {
	f.Helper()
	versions := map[string]string{}
	for kind, list := range map[string]client.ObjectList{"Deployment": &appsv1.DeploymentList{}, "StatefulSet": &appsv1.StatefulSetList{}, "Service": &corev1.ServiceList{}} {
		f.must(f.List(f.Context(), list, client.InNamespace(app.Namespace)))
		items, err := extract(list)
		f.must(err)
		for _, obj := range items {
			if metav1.IsControlledBy(obj, app) {
				versions[kind+" "+obj.GetName()] = obj.GetResourceVersion()
			}
		}
	}
	return versions
}

// everything lists what is in the namespace at all and came from an app.
func (f *fixture) everything(ns string) []string {
	f.Helper()
	var all []string
	for _, list := range []client.ObjectList{
		&appsv1.DeploymentList{}, &appsv1.ReplicaSetList{}, &appsv1.StatefulSetList{}, &corev1.ServiceList{}, &corev1.PodList{}, &corev1.PersistentVolumeClaimList{}, &v1alpha1.WebAppList{},
	} {
		f.must(f.List(f.Context(), list, client.InNamespace(ns)))
		items, err := extract(list)
		f.must(err)
		for _, obj := range items {
			all = append(all, fmt.Sprintf("%T %s", obj, obj.GetName()))
		}
	}
	return all
}

func TestUpScaleSuspendResumeUpgrade(t *testing.T) {
	f := setUp(t, 1)
	app := f.app(f.ns[0], "shop", func(app *v1alpha1.WebApp) { app.Spec.Version, app.Spec.Metrics = "1.9.0", true })
	f.is(app, "FrontendReady", condition.Healthy, "")
	f.is(app, "Ready", condition.Healthy, "2 of 2 ready")
	if got := fmt.Sprint(sorted(f.owned(app))); got != "[Deployment shop-exporter Deployment shop-frontend Service shop Service shop-backend StatefulSet shop-backend]" {
		t.Errorf("it owns %s", got)
	}
	frontend := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: app.Namespace, Name: "shop-frontend"}
	f.must(f.Get(t.Context(), key, frontend))
	if env := frontend.Spec.Template.Spec.Containers[0].Env; len(env) != 2 || env[1].Name != "SESSION_STORE" {
		t.Errorf("version 1 has %v", env)
	}

	f.edit(app, func(app *v1alpha1.WebApp) { app.Spec.Version, app.Spec.Replicas, app.Spec.Metrics = "2.0.0", 3, false })
	f.is(app, "Ready", condition.Healthy, "2 of 2 ready")
	f.must(f.Get(t.Context(), key, frontend))
	if env := frontend.Spec.Template.Spec.Containers[0].Env; len(env) != 1 || frontend.Status.ReadyReplicas != 3 {
		t.Errorf("version 2 has %v and %d ready replicas", env, frontend.Status.ReadyReplicas)
	}
	if _, there := f.owned(app)["Deployment shop-exporter"]; there {
		t.Errorf("the exporter is there, with metrics off")
	}

	f.edit(app, func(app *v1alpha1.WebApp) { app.Spec.Suspended = true })
	f.is(app, "Ready", condition.Suspended, "0 of 2 ready, 2 suspended")
	pods := &corev1.PodList{}
	f.must(f.List(t.Context(), pods, client.InNamespace(app.Namespace)))
	claims := &corev1.PersistentVolumeClaimList{}
	f.must(f.List(t.Context(), claims, client.InNamespace(app.Namespace)))
	if len(pods.Items) != 0 || len(claims.Items) != 1 {
		t.Errorf("suspended it has %d pods and %d claims, want none and 1", len(pods.Items), len(claims.Items))
	}
	f.edit(app, func(app *v1alpha1.WebApp) { app.Spec.Suspended = false })
	f.is(app, "Ready", condition.Healthy, "2 of 2 ready")
}

func TestFrontendWaitsForTheSecretAndStartsByItself(t *testing.T) {
	f := setUp(t, 1)
	app := f.app(f.ns[0], "shop", func(app *v1alpha1.WebApp) { app.Spec.TLSSecret = "shop-tls" })
	f.is(app, "BackendReady", condition.Healthy, "")
	f.is(app, "FrontendReady", condition.Blocked, `waiting for Secret "shop-tls" to exist`)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: "shop-tls"}, StringData: map[string]string{"tls.crt": "c"}}
	f.must(f.Create(t.Context(), secret))
	f.is(app, "FrontendReady", condition.Blocked, `waiting for key tls.key in Secret "shop-tls"`)
	secret.StringData = map[string]string{"tls.key": "k"}
	f.must(f.Update(t.Context(), secret))
	f.is(app, "Ready", condition.Healthy, "2 of 2 ready")
}

func TestRenamedServiceReplacesTheOldOne(t *testing.T) {
	f := setUp(t, 1)
	app := f.app(f.ns[0], "shop")
	f.is(app, "Ready", condition.Healthy, "")
	f.edit(app, func(app *v1alpha1.WebApp) { app.Spec.ServiceName = "storefront" })
	armaturetest.Eventually(t, deadline, func() string {
		owned := f.owned(app)
		if owned["Service storefront"] == "" || owned["Service shop"] != "" {
			return fmt.Sprint(owned)
		}
		return ""
	})
}

// settle takes a converged app through twenty passes, and then through a drift. It
// returns what a program that is not at rest, or does not correct, did wrong.
func settle(f *fixture, app *v1alpha1.WebApp) error {
	f.is(app, "Ready", condition.Healthy, "2 of 2 ready")
	passes := func(n int) {
		at := armaturetest.Passes(f, f.name)
		armaturetest.Eventually(f, deadline, func() string {
			if now := armaturetest.Passes(f, f.name) - at; now < n {
				return fmt.Sprintf("%d of %d passes", now, n)
			}
			return ""
		})
	}
	passes(5) // what was on its way arrives
	before := f.owned(app)
	f.must(f.Get(f.Context(), client.ObjectKeyFromObject(app), app))
	version, at := app.ResourceVersion, armaturetest.Passes(f, f.name)
	n := f.cluster.Count(f, f.name, func() { passes(20) })
	f.Logf("at rest, %d passes over %d objects made %s", armaturetest.Passes(f, f.name)-at, len(before), n)
	f.must(f.Get(f.Context(), client.ObjectKeyFromObject(app), app))
	switch after := f.owned(app); {
	case n.Sum() != 0:
		return fmt.Errorf("requests were made: %s", n)
	case app.ResourceVersion != version || !maps.Equal(before, after):
		return fmt.Errorf("resource versions changed: %v became %v", before, after)
	}
	frontend := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: app.Namespace, Name: app.Name + "-frontend"}
	f.must(f.Get(f.Context(), key, frontend))
	want := frontend.Spec.Template.Spec.Containers[0].Image
	frontend.ResourceVersion = "" // whatever its controller has said about it meanwhile
	frontend.Spec.Template.Spec.Containers[0].Image = "registry.example.com/somebody-elses:1"
	f.must(f.Update(f.Context(), frontend, client.FieldOwner("a-person")))
	passes(5)
	f.must(f.Get(f.Context(), key, frontend))
	if got := frontend.Spec.Template.Spec.Containers[0].Image; got != want {
		return fmt.Errorf("drift was not corrected: the image is %s, not %s", got, want)
	}
	return nil
}

func TestAtRestNothingChangesAndDriftIsCorrected(t *testing.T) {
	f := setUp(t, 1)
	f.must(settle(f, f.app(f.ns[0], "shop")))
}

func TestRestFailsWithDriftCorrectionSwitchedOff(t *testing.T) {
	f := setUpWith(t, 1, webapp.Components, armaturetest.WithoutDriftCorrection)
	if err := settle(f, f.app(f.ns[0], "shop")); err == nil || !strings.Contains(err.Error(), "drift was not corrected") {
		t.Errorf("got %v", err)
	}
}

func TestRestFailsWithOneWriteAPassPlanted(t *testing.T) {
	var passes atomic.Int64
	f := setUpWith(t, 1, func(app *v1alpha1.WebApp, facts *resource.Facts) ([]component.Component, error) {
		components, err := webapp.Components(app, facts)
		components[0].Resources = append(components[0].Resources, resource.Manage(&corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: "planted", Annotations: map[string]string{"pass": fmt.Sprint(passes.Add(1))}},
			Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "example.com"},
		}))
		return components, err
	}, func(*rest.Config) {})
	if err := settle(f, f.app(f.ns[0], "shop")); err == nil || !strings.Contains(err.Error(), "requests were made") {
		t.Errorf("got %v", err)
	}
}

func TestDeletionLeavesNothing(t *testing.T) {
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationForeground, metav1.DeletePropagationBackground} {
		t.Run(string(policy), func(t *testing.T) {
			f := setUp(t, 1)
			app := f.app(f.ns[0], "shop", func(app *v1alpha1.WebApp) { app.Spec.Metrics = true })
			f.is(app, "Ready", condition.Healthy, "2 of 2 ready")
			f.must(f.Delete(t.Context(), app, client.PropagationPolicy(policy)))
			armaturetest.Eventually(t, deadline, func() string {
				if left := f.everything(app.Namespace); len(left) > 0 {
					return fmt.Sprintf("left: %v", left)
				}
				return ""
			})
			time.Sleep(time.Second) // a pass that came late would make something anew
			if left := f.everything(app.Namespace); len(left) > 0 {
				t.Errorf("made anew: %v", left)
			}
		})
	}
}

func TestNeighboursDoNotDisturbEachOther(t *testing.T) {
	f := setUp(t, 2)
	first, other := f.app(f.ns[0], "shop"), f.app(f.ns[0], "bank")
	namesake := f.app(f.ns[1], "shop", func(app *v1alpha1.WebApp) { app.Spec.Replicas = 1 })
	for _, app := range []*v1alpha1.WebApp{first, other, namesake} {
		f.is(app, "Ready", condition.Healthy, "2 of 2 ready")
	}
	before := map[string]map[string]string{"other": f.owned(other), "namesake": f.owned(namesake)}
	f.edit(first, func(app *v1alpha1.WebApp) { app.Spec.Replicas = 4 })
	f.is(first, "Ready", condition.Healthy, "2 of 2 ready")
	f.must(f.Delete(t.Context(), first))
	armaturetest.Eventually(t, deadline, func() string {
		if left := f.owned(first); len(left) > 0 {
			return fmt.Sprintf("left: %v", left)
		}
		return ""
	})
	for name, app := range map[string]*v1alpha1.WebApp{"other": other, "namesake": namesake} {
		if after := f.owned(app); !maps.Equal(before[name], after) {
			t.Errorf("%s was disturbed: %v became %v", name, before[name], after)
		}
	}
}

func TestANameThatIsTakenIsAConflict(t *testing.T) {
	f := setUp(t, 1)
	f.is(f.app(f.ns[0], "shop"), "Ready", condition.Healthy, "")
	taker := f.app(f.ns[0], "shop-backend")
	f.is(taker, "FrontendReady", condition.Conflict, "Service shop-backend belongs to WebApp shop; rename one of the two")
	f.is(taker, "BackendReady", condition.Healthy, "")
	f.edit(taker, func(app *v1alpha1.WebApp) { app.Spec.ServiceName = "bank" })
	f.is(taker, "Ready", condition.Healthy, "")
}

func TestBrokenRulesAreRefusedInTheirOwnWords(t *testing.T) {
	f := setUp(t, 1)
	app := f.app(f.ns[0], "shop")
	tests := []struct {
		name   string
		change func(*v1alpha1.WebApp)
		want   string
	}{
		{"a version of two numbers", func(app *v1alpha1.WebApp) { app.Spec.Version = "2.1" }, "version must have three numbers, as in 2.1.0"},
		{"another size of the volume", func(app *v1alpha1.WebApp) { app.Spec.Backend.Storage.Add(app.Spec.Backend.Storage) }, "storage cannot change"},
		{"the backend's name", func(app *v1alpha1.WebApp) { app.Spec.ServiceName = "shop-backend" }, "serviceName is the name of the backend's Service"},
		{"too many replicas", func(app *v1alpha1.WebApp) { app.Spec.Replicas = 101 }, "should be less than or equal to 100"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			changed := app.DeepCopy()
			tt.change(changed)
			if err := f.Patch(t.Context(), changed, client.MergeFrom(app)); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want it refused with: %s", err, tt.want)
			}
		})
	}
}

func extract(list client.ObjectList) ([]client.Object, error) {
	items, err := meta.ExtractList(list)
	if err != nil {
		return nil, err
	}
	var objects []client.Object
	for _, item := range items {
		objects = append(objects, item.(client.Object))
	}
	return objects, nil
}

func sorted(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
