package operator

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/armaturetest"
	"github.com/armature-go/armature/component"
	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/resource"
)

// fleet is a custom resource that owns many objects.
type fleet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Status struct {
		Conditions []metav1.Condition `json:"conditions,omitempty"`
	} `json:"status,omitempty"`
}

func (x *fleet) Conditions() *[]metav1.Condition { return &x.Status.Conditions }

func (x *fleet) DeepCopyObject() runtime.Object {
	c := *x
	x.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	c.Status.Conditions = append([]metav1.Condition(nil), x.Status.Conditions...)
	return &c
}

type fleetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []fleet `json:"items"`
}

func (l *fleetList) DeepCopyObject() runtime.Object {
	c := *l
	c.Items = append([]fleet(nil), l.Items...)
	return &c
}

// ships are the twenty objects of a fleet.
func ships(x *fleet, _ *resource.Facts) ([]component.Component, error) {
	c := component.Component{Name: "ships", Condition: "ShipsReady"}
	for i := range 5 {
		common := metav1.ObjectMeta{Namespace: x.Namespace, Name: fmt.Sprintf("ship-%d", i)}
		labels := map[string]string{"ship": common.Name}
		replicas := int32(0)
		pod := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "ship", Image: "ship:1"}}}}
		c.Resources = append(c.Resources,
			resource.Manage(&corev1.ConfigMap{ObjectMeta: common, Data: map[string]string{"name": common.Name}}),
			resource.Manage(&corev1.Service{ObjectMeta: common, Spec: corev1.ServiceSpec{Selector: labels, Ports: []corev1.ServicePort{{Name: "http", Port: 80, Protocol: corev1.ProtocolTCP}}}}),
			resource.Manage(&appsv1.Deployment{ObjectMeta: common, Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: pod}}),
			resource.Manage(&appsv1.StatefulSet{ObjectMeta: common, Spec: appsv1.StatefulSetSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: pod}}),
		)
	}
	return []component.Component{c}, nil
}

// harness is a reconciler for one fleet, with the cache of a running manager and no
// controller: passes are made by hand.
type harness struct {
	*reconciler

	req   ctrl.Request
	built int // how often the components were built
}

func newHarness(tb testing.TB) *harness {
	tb.Helper()
	ctrl.SetLogger(logr.Discard())
	must := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	cluster := armaturetest.Server(tb)
	cluster.InstallCRDs(tb, os.DirFS("../testdata/crd"))
	gvk := schema.GroupVersionKind{Group: "test.armature.dev", Version: "v1", Kind: "Thing"}
	scheme := runtime.NewScheme()
	must(clientscheme.AddToScheme(scheme))
	scheme.AddKnownTypeWithName(gvk, &fleet{})
	scheme.AddKnownTypeWithName(gvk.GroupVersion().WithKind("ThingList"), &fleetList{})
	metav1.AddToGroupVersion(scheme, gvk.GroupVersion())

	ns := cluster.Namespace(tb)
	opts := Options{Name: "fleet-" + ns}
	mgr, err := ctrl.NewManager(cluster.Config(), managerOptions(opts, Settings{Namespaces: []string{ns}}, scheme))
	must(err)
	h := &harness{}
	build := func(x *fleet, facts *resource.Facts) ([]component.Component, error) {
		h.built++
		return ships(x, facts)
	}
	kinds := Kinds{Owns: []object.Object{&corev1.ConfigMap{}, &corev1.Service{}, &appsv1.Deployment{}, &appsv1.StatefulSet{}}}
	h.reconciler, err = newReconciler(tb.Context(), mgr, opts, For(build, kinds), gvk)
	must(err)
	for _, kind := range h.env.Owns {
		like, err := object.Blank(scheme, kind)
		must(err)
		must(index(tb.Context(), mgr, like, kind))
	}
	_, err = mgr.GetCache().GetInformer(tb.Context(), &fleet{})
	must(err)
	ctx, stop := context.WithCancel(tb.Context())
	ended := make(chan error)
	go func() { ended <- mgr.Start(ctx) }()
	tb.Cleanup(func() {
		stop()
		must(<-ended)
	})
	c, err := client.New(cluster.Config(), client.Options{Scheme: scheme})
	must(err)
	owner := &fleet{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "fleet"}}
	must(c.Create(tb.Context(), owner))
	h.req = ctrl.Request{NamespacedName: client.ObjectKeyFromObject(owner)}
	return h
}

// settle makes passes until one is settled for long: no cache is behind any more.
func (h *harness) settle(tb testing.TB) {
	tb.Helper()
	armaturetest.Eventually(tb, 30*time.Second, func() string {
		before := h.built
		res, err := h.Reconcile(tb.Context(), h.req)
		if err != nil {
			return err.Error()
		}
		if h.built != before || h.built == 0 {
			return "it does not settle"
		}
		if res.RequeueAfter < trusted/2 {
			h.owners[h.req.NamespacedName].settled = sight{} // nothing tells the harness when the cache catches up
			return "it is to be looked at again after " + res.RequeueAfter.String()
		}
		return ""
	})
}

// A settled pass over an owner of twenty objects of four kinds.
func BenchmarkSettledPass(b *testing.B) {
	h := newHarness(b)
	h.settle(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.Reconcile(b.Context(), h.req); err != nil {
			b.Fatal(err)
		}
	}
}

// That nothing was seen to change is not believed for ever.
func TestASettledOwnerIsLookedAtAgain(t *testing.T) {
	h := newHarness(t)
	var late time.Duration
	h.env.Now = func() time.Time { return now().Add(late) }
	h.settle(t)
	again := func(want bool) {
		t.Helper()
		before := h.built
		res, err := h.Reconcile(t.Context(), h.req)
		if err != nil {
			t.Fatal(err)
		}
		if (h.built > before) != want {
			t.Errorf("%s later, components were built %d times", late, h.built-before)
		}
		if res.RequeueAfter <= 0 || res.RequeueAfter > trusted*5/4 {
			t.Errorf("it is to be looked at again after %s", res.RequeueAfter)
		}
	}
	late = trusted * 3 / 4 * 9 / 10
	again(false)
	late = trusted * 5 / 4
	again(true)
	again(false)
}

// An owner is told apart by the kind and the scope of its own kind; news of the same
// object is no change.
func TestChangesAreNotedForTheOwnerOfAnObject(t *testing.T) {
	gvk := schema.GroupVersionKind{Group: "test.armature.dev", Version: "v1", Kind: "Thing"}
	child := func(kind, name string) *corev1.ConfigMap {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "cm"}}
		if kind != "" {
			yes := true
			cm.OwnerReferences = []metav1.OwnerReference{{APIVersion: "test.armature.dev/v1beta1", Kind: kind, Name: name, Controller: &yes}}
		}
		return cm
	}
	ours, other := child("Thing", "a"), child("Thing", "b")
	tracked := func(by string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: "far", Name: "cm", Labels: map[string]string{apply.OwnerMark: "uid"}, Annotations: map[string]string{apply.OwnerMark: by},
		}}
	}
	shared := child("", "")
	for _, name := range []string{"a", "b"} {
		shared.OwnerReferences = append(shared.OwnerReferences, metav1.OwnerReference{APIVersion: "test.armature.dev/v1", Kind: "Thing", Name: name})
	}
	update := func(from, to client.Object) func(handler.EventHandler, queue) {
		return func(h handler.EventHandler, q queue) {
			h.Update(t.Context(), event.UpdateEvent{ObjectOld: from, ObjectNew: to}, q)
		}
	}
	tests := []struct {
		name  string
		scope meta.RESTScope
		event func(handler.EventHandler, queue)
		want  string // changes of a and of b, and what is queued
	}{
		{"made", meta.RESTScopeNamespace, func(h handler.EventHandler, q queue) {
			h.Create(t.Context(), event.CreateEvent{Object: ours}, q)
		}, "1 0 [ns/a]"},
		{"gone", meta.RESTScopeNamespace, func(h handler.EventHandler, q queue) {
			h.Delete(t.Context(), event.DeleteEvent{Object: ours}, q)
		}, "1 0 [ns/a]"},
		{"written", meta.RESTScopeNamespace, update(child("Thing", "a"), ours), "2 0 [ns/a]"},
		{"shown again", meta.RESTScopeNamespace, update(ours, ours), "0 0 [ns/a]"},
		{"handed over", meta.RESTScopeNamespace, update(ours, other), "1 1 [ns/a ns/b]"},
		{"let go", meta.RESTScopeNamespace, update(ours, child("", "")), "1 0 [ns/a]"},
		{"of another kind", meta.RESTScopeNamespace, update(child("Other", "a"), child("Other", "a")), "0 0 []"},
		{"of a cluster-scoped owner", meta.RESTScopeRoot, update(child("Thing", "a"), ours), "0 0 [/a]"},
		{"shared", meta.RESTScopeNamespace, update(shared, shared.DeepCopy()), "2 2 [ns/a ns/b]"},
		{"tracked", meta.RESTScopeNamespace, update(tracked("Thing.test.armature.dev/ns/a"), tracked("Thing.test.armature.dev/ns/b")), "1 1 [ns/a ns/b]"},
		{"tracked by a cluster-scoped owner", meta.RESTScopeRoot, update(child("", ""), tracked("Thing.test.armature.dev//a")), "0 0 [/a]"},
		{"tracked by another kind", meta.RESTScopeNamespace, update(child("", ""), tracked("Thing.example.com/ns/a")), "0 0 []"},
		{"tracked where nobody watches", meta.RESTScopeNamespace, update(child("", ""), tracked("Thing.test.armature.dev/other/a")), "0 0 []"},
		{"tracked by something of the wrong scope", meta.RESTScopeNamespace, update(child("", ""), tracked("Thing.test.armature.dev//a")), "0 0 []"},
		{"tracked by nonsense", meta.RESTScopeNamespace, update(child("", ""), tracked("a")), "0 0 []"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &changes{namespaces: []string{"ns"}}
			a, b := types.NamespacedName{Namespace: "ns", Name: "a"}, types.NamespacedName{Namespace: "ns", Name: "b"}
			c.count(a)
			c.count(b)
			q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
			defer q.ShutDown()
			tt.event(c.ownedBy(&meta.RESTMapping{GroupVersionKind: gvk, Scope: tt.scope}), q)
			queued := []string{}
			for q.Len() > 0 {
				req, _ := q.Get()
				queued = append(queued, req.String())
			}
			if got := fmt.Sprint(c.count(a), c.count(b), queued); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
