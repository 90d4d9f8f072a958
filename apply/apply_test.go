package apply_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/armaturetest"
	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
)

const controller = "test-operator"

// fixture is one owner in one namespace, and an applier for it.
type fixture struct {
	*testing.T
	client.WithWatch

	cluster *armaturetest.Cluster
	ns      string
	owner   *unstructured.Unstructured
	applier *apply.Applier
}

func setUp(t *testing.T) *fixture {
	t.Helper()
	t.Parallel()
	cluster := armaturetest.Server(t)
	cluster.InstallCRDs(t, os.DirFS("../testdata/crd"))
	f := &fixture{T: t, WithWatch: cluster.Client(t), cluster: cluster, ns: cluster.Namespace(t)}
	f.owner = f.thing("owner")
	f.applier = apply.New(f.WithWatch, controller, apply.Options{})
	return f
}

// thing makes a custom resource.
func (f *fixture) thing(name string) *unstructured.Unstructured {
	f.Helper()
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"value": "x"}}}
	u.SetAPIVersion("test.armature.dev/v1")
	u.SetKind("Thing")
	u.SetNamespace(f.ns)
	u.SetName(name)
	f.must(f.Create(f.Context(), u))
	return u
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) configMap(name string, data ...string) *corev1.ConfigMap {
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: f.ns, Name: name}}
	for _, kv := range data {
		k, v, _ := strings.Cut(kv, "=")
		if cm.Data == nil {
			cm.Data = map[string]string{}
		}
		cm.Data[k] = v
	}
	return cm
}

func (f *fixture) live(name string) *corev1.ConfigMap {
	f.Helper()
	cm := f.configMap(name)
	f.must(f.Get(f.Context(), client.ObjectKeyFromObject(cm), cm))
	return cm
}

// apply applies for the fixture's owner and expects the operation.
func (f *fixture) apply(obj object.Object, want object.Op) object.Object {
	f.Helper()
	res, err := f.applier.Apply(f.Context(), f.owner, "store", obj)
	if err != nil || res.Op != want {
		f.Fatalf("applying %s: %q, %v; want %q", obj.GetName(), res.Op, err, want)
	}
	return res.Live
}

func TestApplyMakesTheObjectSoAndSaysWhatItDid(t *testing.T) {
	f := setUp(t)
	live := f.apply(f.configMap("a", "k=1", "gone=x"), object.OpCreated)
	if _, typed := live.(*corev1.ConfigMap); !typed {
		t.Errorf("the live object is a %T", live)
	}
	if live.GetLabels()[apply.ComponentLabel] != "store" || !metav1.IsControlledBy(live, f.owner) || *live.GetOwnerReferences()[0].BlockOwnerDeletion != true {
		t.Errorf("labels %v, references %v", live.GetLabels(), live.GetOwnerReferences())
	}
	if m := live.GetManagedFields(); len(m) != 1 || m[0].Manager != controller+"/"+string(f.owner.GetUID()) || m[0].Operation != metav1.ManagedFieldsOperationApply {
		t.Errorf("managers %v", m)
	}
	rv := f.apply(f.configMap("a", "k=1", "gone=x"), object.OpNone).GetResourceVersion()
	if rv != live.GetResourceVersion() {
		t.Errorf("an apply of the same changed the resource version")
	}
	foreign := f.live("a")
	foreign.Data["theirs"] = "y"
	f.must(f.Update(t.Context(), foreign))
	f.apply(f.configMap("a", "k=1", "gone=x"), object.OpNone)
	f.apply(f.configMap("a", "k=2"), object.OpUpdated)
	if got := fmt.Sprint(f.live("a").Data); got != "map[k:2 theirs:y]" {
		t.Errorf("data is %s", got)
	}
}

func TestApplyCorrectsDrift(t *testing.T) {
	f := setUp(t)
	f.apply(f.configMap("a", "k=1"), object.OpCreated)
	drifts := map[string]func(*corev1.ConfigMap){
		"a value":                  func(cm *corev1.ConfigMap) { cm.Data["k"] = "9" },
		"a value, gone":            func(cm *corev1.ConfigMap) { cm.Data = nil },
		"the label":                func(cm *corev1.ConfigMap) { cm.Labels = nil },
		"the controller reference": func(cm *corev1.ConfigMap) { cm.OwnerReferences = nil },
		"managed fields":           func(cm *corev1.ConfigMap) { cm.ManagedFields = []metav1.ManagedFieldsEntry{{}} },
	}
	for name, drift := range drifts {
		t.Run(name, func(t *testing.T) {
			cm := f.live("a")
			drift(cm)
			f.must(f.Update(t.Context(), cm))
			if _, err := f.applier.Apply(t.Context(), f.owner, "store", f.configMap("a", "k=1")); err != nil {
				t.Fatal(err)
			}
			cm = f.live("a")
			if cm.Data["k"] != "1" || cm.Labels[apply.ComponentLabel] != "store" || !metav1.IsControlledBy(cm, f.owner) {
				t.Errorf("after the apply: %v %v %v", cm.Data, cm.Labels, cm.OwnerReferences)
			}
		})
	}
}

func TestApplyDoesNotTouchWhatIsSomebodyElses(t *testing.T) {
	f := setUp(t)
	other := f.thing("other")
	otherApplier := apply.New(f.WithWatch, controller, apply.Options{})
	_, err := otherApplier.Apply(t.Context(), other, "store", f.configMap("controlled", "k=theirs"))
	f.must(err)
	f.must(f.Create(t.Context(), f.configMap("handmade", "k=theirs"), client.FieldOwner("a-person")))
	tests := []struct{ name, holder string }{
		{"controlled", "Thing other"},
		{"handmade", `field manager "a-person"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := f.live(tt.name)
			_, err := f.applier.Apply(t.Context(), f.owner, "store", f.configMap(tt.name, "k=ours"))
			var conflict *apply.ConflictError
			if !errors.As(err, &conflict) || conflict.Holder != tt.holder || condition.ReasonOf(err) != condition.Conflict {
				t.Errorf("got %v, want a conflict with %s", err, tt.holder)
			}
			if after := f.live(tt.name); after.ResourceVersion != before.ResourceVersion {
				t.Errorf("it was written all the same: %v", after)
			}
			for what, do := range map[string]func() (apply.Result, error){
				"delete":  func() (apply.Result, error) { return f.applier.Delete(t.Context(), f.owner, f.configMap(tt.name)) },
				"release": func() (apply.Result, error) { return f.applier.Release(t.Context(), f.owner, f.configMap(tt.name)) },
			} {
				if res, err := do(); err != nil || res.Op != object.OpNone {
					t.Errorf("%s: %q, %v; want it left alone", what, res.Op, err)
				}
			}
			if after := f.live(tt.name); after.ResourceVersion != before.ResourceVersion {
				t.Errorf("it was written all the same: %v", after)
			}
		})
	}
}

// Consent is given on the owner, by kind and name, and never against a controller.
func TestAdoptionTakesConsent(t *testing.T) {
	f := setUp(t)
	other := f.thing("other")
	_, err := apply.New(f.WithWatch, controller, apply.Options{}).Apply(t.Context(), other, "store", f.configMap("controlled", "k=theirs"))
	f.must(err)
	for _, name := range []string{"wanted", "other"} {
		f.must(f.Create(t.Context(), f.configMap(name, "k=theirs", "more=theirs"), client.FieldOwner("a-person")))
	}
	try := func(name string) error {
		_, err := f.applier.Apply(t.Context(), f.owner, "store", f.configMap(name, "k=ours"))
		return err
	}
	if err := try("wanted"); err == nil || !strings.HasSuffix(err.Error(), "or, to have it taken over, annotate Thing owner with armature.dev/adopt=ConfigMap/wanted") {
		t.Errorf("got %v, which does not say how to consent", err)
	}
	f.owner.SetAnnotations(map[string]string{apply.AdoptAnnotation: "Secret/other, ConfigMap/wanted,ConfigMap/controlled"})
	f.must(try("wanted"))
	cm := f.live("wanted")
	if got := fmt.Sprint(cm.Data); got != "map[k:ours more:theirs]" || !metav1.IsControlledBy(cm, f.owner) || cm.Labels[apply.ComponentLabel] != "store" {
		t.Errorf("taken over it has %s, %v, %v", got, cm.OwnerReferences, cm.Labels)
	}
	f.owner.SetAnnotations(nil)
	f.apply(f.configMap("wanted", "k=ours"), object.OpNone) // what is ours stays ours
	f.owner.SetAnnotations(map[string]string{apply.AdoptAnnotation: "Secret/other,ConfigMap/controlled"})
	for name, holder := range map[string]string{"controlled": "Thing other", "other": `field manager "a-person"`} {
		before := f.live(name)
		var conflict *apply.ConflictError
		if err := try(name); !errors.As(err, &conflict) || conflict.Holder != holder || (conflict.Consent == "") != (name == "controlled") {
			t.Errorf("%s: got %v, want a conflict with %s", name, err, holder)
		}
		if f.live(name).ResourceVersion != before.ResourceVersion {
			t.Errorf("%s was written all the same", name)
		}
	}
}

// meddler does something before, or instead of looking, at the moment of an apply.
type meddler struct {
	client.Client

	beforeApply func()
	beforePatch func()
	get         func(obj client.Object) bool // true: answered
}

func (m *meddler) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	if f := m.beforeApply; f != nil {
		m.beforeApply = nil
		f()
	}
	return m.Client.Apply(ctx, obj, opts...)
}

func (m *meddler) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	if f := m.beforePatch; f != nil {
		m.beforePatch = nil
		f()
	}
	return m.Client.Patch(ctx, obj, patch, opts...)
}

func (m *meddler) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if m.get != nil && m.get(obj) {
		return nil
	}
	return m.Client.Get(ctx, key, obj, opts...)
}

// Between the look and the first apply somebody makes the object. Nothing of theirs
// is touched, whether or not the two agree about the values.
func TestAFirstApplyThatMeetsAnotherCreatorTouchesNothing(t *testing.T) {
	f := setUp(t)
	for _, theirs := range []string{"other=1", "k=theirs", "k=ours"} {
		name := "met-" + strings.ReplaceAll(theirs, "=", "-")
		var before *corev1.ConfigMap
		m := &meddler{Client: f.WithWatch, beforeApply: func() {
			f.must(f.Create(t.Context(), f.configMap(name, theirs), client.FieldOwner("a-person")))
			before = f.live(name)
		}}
		_, err := apply.New(m, controller, apply.Options{}).Apply(t.Context(), f.owner, "store", f.configMap(name, "k=ours"))
		var conflict *apply.ConflictError
		if !errors.As(err, &conflict) || conflict.Holder != `field manager "a-person"` {
			t.Errorf("%s: got %v, want a conflict", theirs, err)
		}
		if after := f.live(name); after.ResourceVersion != before.ResourceVersion {
			t.Errorf("%s: it was written: %v", theirs, after)
		}
	}
}

// The answer to a first apply is lost, and the cache does not show the object yet.
func TestAFirstApplyThatMeetsItselfGoesOn(t *testing.T) {
	f := setUp(t)
	m := &meddler{Client: f.WithWatch, beforeApply: func() { f.apply(f.configMap("a", "k=1"), object.OpCreated) }}
	res, err := apply.New(m, controller, apply.Options{}).Apply(t.Context(), f.owner, "store", f.configMap("a", "k=2"))
	if err != nil || res.Op != object.OpUpdated || f.live("a").Data["k"] != "2" {
		t.Errorf("%q, %v", res.Op, err)
	}
}

func TestAnObjectMadeAnewBehindTheCacheIsDecidedAnew(t *testing.T) {
	f := setUp(t)
	f.apply(f.configMap("a", "k=1"), object.OpCreated)
	stale := f.live("a")
	cache := &meddler{Client: f.WithWatch, get: func(obj client.Object) bool {
		cm, ok := obj.(*corev1.ConfigMap)
		if ok {
			stale.DeepCopyInto(cm)
		}
		return ok
	}}
	behind := apply.New(cache, controller, apply.Options{Live: f.WithWatch})

	f.must(f.Delete(t.Context(), f.configMap("a")))
	res, err := behind.Apply(t.Context(), f.owner, "store", f.configMap("a", "k=2"))
	if err != nil || res.Op != object.OpCreated {
		t.Fatalf("an object that is gone: %q, %v; want it created", res.Op, err)
	}
	f.must(f.Delete(t.Context(), f.configMap("a")))
	f.must(f.Create(t.Context(), f.configMap("a", "theirs=1"), client.FieldOwner("a-person")))
	_, err = behind.Apply(t.Context(), f.owner, "store", f.configMap("a", "k=2"))
	if _, conflict := errors.AsType[*apply.ConflictError](err); !conflict {
		t.Errorf("an object that somebody else made anew: %v; want a conflict", err)
	}
	res, err = behind.Delete(t.Context(), f.owner, f.configMap("a"))
	if err != nil || res.Op != object.OpNone {
		t.Errorf("deleting what somebody else made anew: %q, %v; want it left alone", res.Op, err)
	}
	if cm := f.live("a"); fmt.Sprint(cm.Data) != "map[theirs:1]" {
		t.Errorf("data is %v", cm.Data)
	}
}

func TestRefusalsAreToldApart(t *testing.T) {
	f := setUp(t)
	unserved := &unstructured.Unstructured{}
	unserved.SetAPIVersion("nobody.example.com/v1")
	unserved.SetKind("Gadget")
	unserved.SetNamespace(f.ns)
	unserved.SetName("g")
	_, err := f.applier.Apply(t.Context(), f.owner, "store", unserved)
	var wait *condition.WaitError
	if !errors.As(err, &wait) || wait.After == 0 || !strings.Contains(wait.Message, "does not serve Gadget (nobody.example.com/v1)") {
		t.Errorf("a kind that is not served: %v", err)
	}
	if res, err := f.applier.Delete(t.Context(), f.owner, unserved); err != nil || res.Op != object.OpNone {
		t.Errorf("deleting an object of a kind that is not served: %q, %v; there is none", res.Op, err)
	}

	cfg := f.cluster.Config()
	cfg.Impersonate = rest.ImpersonationConfig{UserName: "nobody"}
	nobody, err := client.New(cfg, client.Options{Scheme: f.Scheme()})
	f.must(err)
	for verb, do := range map[string]func(a *apply.Applier) error{
		"get": func(a *apply.Applier) error {
			_, err := a.Apply(t.Context(), f.owner, "store", f.configMap("a"))
			return err
		},
	} {
		err := do(apply.New(nobody, controller, apply.Options{}))
		var denied *apply.DeniedError
		if !errors.As(err, &denied) || denied.Verb != verb || denied.Resource != "configmaps" || !strings.Contains(denied.Scope, f.ns) {
			t.Errorf("%s without the right: %v", verb, err)
		}
	}
	reads := &splitReader{Client: nobody, reader: f.WithWatch}
	_, err = apply.New(reads, controller, apply.Options{}).Apply(t.Context(), f.owner, "store", f.configMap("a"))
	var denied *apply.DeniedError
	if !errors.As(err, &denied) || denied.Verb != "patch" || condition.ReasonOf(err) != condition.PermissionDenied {
		t.Errorf("patch without the right: %v", err)
	}

	held := f.configMap("held", "k=1")
	held.Finalizers = []string{"test.armature.dev/hold"}
	f.apply(held, object.OpCreated)
	f.must(f.Delete(t.Context(), f.configMap("held")))
	if _, err := f.applier.Apply(t.Context(), f.owner, "store", held); !condition.IsWait(err) {
		t.Errorf("an object that is being deleted: %v, want a wait", err)
	}
	f.must(f.Patch(t.Context(), f.configMap("held"), client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))))
}

// A server that is busy says when to come back, and that is when.
func TestABusyServerIsAWait(t *testing.T) {
	f := setUp(t)
	for _, busy := range []error{apierrors.NewTooManyRequests("busy", 7), apierrors.NewServerTimeout(schema.GroupResource{Resource: "configmaps"}, "patch", 7)} {
		c := &refusing{f.WithWatch, busy}
		_, err := apply.New(c, controller, apply.Options{}).Apply(t.Context(), f.owner, "store", f.configMap("a"))
		var wait *condition.WaitError
		if !errors.As(err, &wait) || wait.After != 7*time.Second || wait.Message != "the API server is busy and asks to wait before applying ConfigMap a" {
			t.Errorf("%v became %v", busy, err)
		}
	}
}

// refusing is a client to a server that refuses every apply.
type refusing struct {
	client.Client

	err error
}

func (c *refusing) Apply(context.Context, runtime.ApplyConfiguration, ...client.ApplyOption) error {
	return c.err
}

// splitReader reads as somebody else than it writes.
type splitReader struct {
	client.Client
	reader client.Reader
}

func (s *splitReader) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	return s.reader.Get(ctx, key, obj, opts...)
}

func TestATerminatingNamespaceIsAWait(t *testing.T) {
	f := setUp(t)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "doomed-"}}
	f.must(f.Create(t.Context(), ns))
	hold := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns.Name, Name: "hold", Finalizers: []string{"test.armature.dev/hold"}}}
	f.must(f.Create(t.Context(), hold))
	f.must(f.Delete(t.Context(), ns))
	owner := f.owner.DeepCopy()
	owner.SetNamespace(ns.Name)
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns.Name, Name: "late"}}
	armaturetest.Eventually(t, 10*time.Second, func() string {
		_, err := f.applier.Apply(t.Context(), owner, "store", cm)
		if !condition.IsWait(err) || !strings.Contains(err.Error(), ns.Name) {
			return fmt.Sprintf("got %v, want a wait that names the namespace", err)
		}
		return ""
	})
	f.must(f.Patch(t.Context(), hold, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))))
}

func TestDeleteAndReleaseTouchOnlyOurs(t *testing.T) {
	f := setUp(t)
	f.apply(f.configMap("a", "k=1"), object.OpCreated)
	f.apply(f.configMap("b", "k=1"), object.OpCreated)
	res, err := f.applier.Release(t.Context(), f.owner, f.configMap("a"))
	if err != nil || res.Op != object.OpReleased {
		t.Fatalf("release: %q, %v", res.Op, err)
	}
	if cm := f.live("a"); len(cm.OwnerReferences) != 0 || len(cm.Labels) != 0 || cm.Data["k"] != "1" {
		t.Errorf("released: %v %v %v", cm.OwnerReferences, cm.Labels, cm.Data)
	}
	for _, name := range []string{"a", "absent"} {
		if res, err := f.applier.Delete(t.Context(), f.owner, f.configMap(name)); err != nil || res.Op != object.OpNone {
			t.Errorf("deleting %s: %q, %v; want nothing done", name, res.Op, err)
		}
		if res, err := f.applier.Release(t.Context(), f.owner, f.configMap(name)); err != nil || res.Op != object.OpNone {
			t.Errorf("releasing %s: %q, %v; want nothing done", name, res.Op, err)
		}
	}
	if res, err := f.applier.Delete(t.Context(), f.owner, f.configMap("b")); err != nil || res.Op != object.OpDeleted {
		t.Errorf("deleting ours: %q, %v", res.Op, err)
	}
	if err := f.Get(t.Context(), client.ObjectKeyFromObject(f.configMap("b")), f.configMap("b")); !apierrors.IsNotFound(err) {
		t.Errorf("it is still there: %v", err)
	}
}

func TestDeleteTakesTheDependentsAlong(t *testing.T) {
	f := setUp(t)
	replicas := int32(1)
	labels := map[string]string{"app": "web"}
	web := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.ns, Name: "web"},
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
		}},
	}
	f.apply(web, object.OpCreated)
	pods := func(want int) {
		t.Helper()
		armaturetest.Eventually(t, 20*time.Second, func() string {
			list := &corev1.PodList{}
			if err := f.List(t.Context(), list, client.InNamespace(f.ns)); err != nil || len(list.Items) != want {
				return fmt.Sprintf("%d pods, want %d (%v)", len(list.Items), want, err)
			}
			return ""
		})
	}
	pods(1)
	if _, err := f.applier.Delete(t.Context(), f.owner, web); err != nil {
		t.Fatal(err)
	}
	pods(0)
}

// A typed object that is read as protobuf lacks what the answer to an apply has:
// the kind of its claim templates. That is no change, whether or not the status
// moved in between.
func TestAnApplyThatChangesNothingIsNotToldAsAChange(t *testing.T) {
	f := setUp(t)
	labels := map[string]string{"app": "db"}
	db := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.ns, Name: "db"},
		Spec: appsv1.StatefulSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "db", Image: "db:1"}}}},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
				ObjectMeta: metav1.ObjectMeta{Name: "data"},
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: kresource.MustParse("1Gi")}},
				},
			}},
		},
	}
	created := f.apply(db, object.OpCreated)
	f.apply(db, object.OpNone)
	armaturetest.Eventually(t, 20*time.Second, func() string {
		live := db.DeepCopy()
		f.must(f.Get(t.Context(), client.ObjectKeyFromObject(db), live))
		if live.Status.ReadyReplicas != 1 || live.ResourceVersion == created.GetResourceVersion() {
			return "it is not ready yet"
		}
		return ""
	})
	f.apply(db, object.OpNone)
	cold := apply.New(f.WithWatch, controller, apply.Options{})
	if res, err := cold.Apply(t.Context(), f.owner, "store", db); err != nil || res.Op != object.OpNone {
		t.Errorf("a new process: %q, %v", res.Op, err)
	}
	db.Spec.Template.Spec.Containers[0].Image = "db:2"
	f.apply(db, object.OpUpdated)
}
