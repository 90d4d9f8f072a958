package operator_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/armaturetest"
	"github.com/armature-go/armature/component"
	"github.com/armature-go/armature/feature"
	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/operator"
	"github.com/armature-go/armature/resource"
)

var tracking = operator.Kinds{Owns: []object.Object{&corev1.ConfigMap{}, &rbacv1.ClusterRole{}}}

// startIn runs an operator that watches some namespaces, until it is stopped or the test
// ends.
func (f *fixture) startIn(build builder, wrap func(http.RoundTripper) http.RoundTripper, namespaces ...string) (stop func()) {
	f.Helper()
	cfg := f.cluster.Config()
	if wrap != nil {
		cfg.Wrap(wrap)
	}
	ctx, cancel := context.WithCancel(f.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- operator.Run(ctx, operator.Options{
			Name: f.name, Scheme: []func(*runtime.Scheme) error{addThings}, Controllers: []operator.Controller{operator.For(build, tracking)},
		}, operator.Settings{Config: cfg, Namespaces: namespaces, Resync: 500 * time.Millisecond})
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			f.Errorf("the operator ended with: %v", err)
		}
	})
	f.Cleanup(stop)
	return stop
}

func cm(ns, name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Data: map[string]string{"value": value}}
}

// empire is a thing with objects in its own namespace, in two others and in none. The
// value says which of the three there are.
func empire(blue, green string) builder {
	return func(x *thing, _ *resource.Facts) ([]component.Component, error) {
		home := component.Component{Name: "home", Condition: "HomeReady", Resources: []component.Resource{resource.Manage(cm(x.Namespace, x.Name, x.Spec.Value))}}
		abroad := component.Component{Name: "abroad", Condition: "AbroadReady", Gate: feature.When(!strings.Contains(x.Spec.Value, "off"))}
		for _, r := range []struct {
			word string
			res  component.Resource
		}{
			{"blue", resource.Manage(cm(blue, x.Name, x.Spec.Value)).Tracked()},
			{"green", resource.Manage(cm(green, x.Name, x.Spec.Value)).Tracked()},
			{"role", resource.Manage(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: x.Namespace + "-" + x.Name}}).Tracked()},
		} {
			if strings.Contains(x.Spec.Value, r.word) {
				abroad.Resources = append(abroad.Resources, r.res)
			}
		}
		return []component.Component{home, abroad}, nil
	}
}

// eventually waits until what got returns is what is wanted.
func (f *fixture) eventually(want string, got func() string) {
	f.Helper()
	armaturetest.Eventually(f, 20*time.Second, func() string {
		if is := got(); is != want {
			return fmt.Sprintf("it is %q, want %q", is, want)
		}
		return ""
	})
}

// there lists which of the objects, by what they are called in the test, exist.
func (f *fixture) there(objects map[string]client.Object) func() string {
	return func() string {
		var names []string
		for name, obj := range objects {
			err := f.Get(f.Context(), client.ObjectKeyFromObject(obj), obj)
			if err == nil {
				names = append(names, name)
			} else if !apierrors.IsNotFound(err) {
				return err.Error()
			}
		}
		slices.Sort(names)
		return strings.Join(names, " ")
	}
}

func (f *fixture) finalizers(name string) func() string {
	return func() string {
		x := &thing{}
		if err := f.Get(f.Context(), client.ObjectKey{Namespace: f.ns, Name: name}, x); err != nil {
			return err.Error()
		}
		return strings.Join(x.Finalizers, " ")
	}
}

// Objects in other namespaces and in none are made, kept, left alone at rest, pruned and
// taken along, where the operator watches some namespaces only.
func TestTrackedObjectsAreKeptAndGoWithTheirOwner(t *testing.T) {
	f := setUp(t)
	blue, green := f.cluster.Namespace(t), f.cluster.Namespace(t)
	f.startIn(empire(blue, green), nil, f.ns, blue, green)
	objects := map[string]client.Object{
		"home": cm(f.ns, "a", ""), "blue": cm(blue, "a", ""), "green": cm(green, "a", ""), "role": &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: f.ns + "-a"}},
		"owner": &thing{ObjectMeta: metav1.ObjectMeta{Namespace: f.ns, Name: "a"}},
	}
	rest := func() {
		t.Helper()
		f.passes(4)
		if n := f.cluster.Count(t, f.name, func() { f.passes(8) }); n.Sum() != 0 {
			t.Errorf("at rest there were %s", n)
		}
	}
	ours := "armature.dev/" + f.name

	x := f.create("a", "nothing")
	f.wait("a", "Ready True Healthy")
	f.eventually("home owner", f.there(objects))
	f.eventually("", f.finalizers("a"))

	f.edit(x, "blue green role")
	f.eventually("blue green home owner role", f.there(objects))
	f.wait("a", "Ready True Healthy")
	f.eventually(ours, f.finalizers("a"))
	rest()
	if err := f.Patch(t.Context(), objects["blue"], client.RawPatch(types.MergePatchType, []byte(`{"data":{"value":"drifted"}}`))); err != nil {
		t.Fatal(err)
	}
	if err := f.Delete(t.Context(), objects["role"]); err != nil {
		t.Fatal(err)
	}
	f.eventually("blue green home owner role", f.there(objects))
	f.eventually("blue green role", func() string {
		_ = f.Get(t.Context(), client.ObjectKeyFromObject(objects["blue"]), objects["blue"])
		return objects["blue"].(*corev1.ConfigMap).Data["value"]
	})
	rest()

	f.edit(x, "green")
	f.eventually("green home owner", f.there(objects))
	f.eventually(ours, f.finalizers("a"))
	f.edit(x, "nothing")
	f.eventually("home owner", f.there(objects))
	f.eventually("", f.finalizers("a"))
	f.wait("a", "Ready True Healthy")
	rest()

	f.edit(x, "blue role")
	f.eventually("blue home owner role", f.there(objects))
	f.edit(x, "blue role off") // what it made goes, and the finalizer with it
	f.eventually("home owner", f.there(objects))
	f.eventually("", f.finalizers("a"))
	f.wait("a", "AbroadReady True Disabled")
	f.edit(x, "blue role")
	f.eventually("blue home owner role", f.there(objects))
	if err := f.Delete(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	f.eventually("", f.there(objects))
}

// killer ends an operator right after a write of it has taken effect.
type killer struct {
	http.RoundTripper

	left *atomic.Int64
	kill func()
}

func (k *killer) RoundTrip(req *http.Request) (*http.Response, error) {
	write := req.Method != http.MethodGet && !strings.Contains(req.URL.Path, "/events") && !strings.Contains(req.URL.Path, "selfsubject")
	if write && k.left.Load() <= 0 {
		return nil, context.Canceled // the process is dead
	}
	resp, err := k.RoundTripper.RoundTrip(req)
	if write && k.left.Add(-1) == 0 {
		k.kill()
		return nil, context.Canceled
	}
	return resp, err
}

// The operator may die after any write of a teardown: the next one ends it.
func TestAnOperatorThatDiesDuringTeardownLeavesNothing(t *testing.T) {
	f := setUp(t)
	blue, green := f.cluster.Namespace(t), f.cluster.Namespace(t)
	build := empire(blue, green)
	for n := int64(1); ; n++ {
		name := fmt.Sprintf("a%d", n)
		x := f.create(name, "blue green role")
		stop := f.startIn(build, nil, f.ns, blue, green)
		f.wait(name, "Ready True Healthy")
		stop()
		if err := f.Delete(t.Context(), x); err != nil {
			t.Fatal(err)
		}
		objects := map[string]client.Object{"blue": cm(blue, name, ""), "green": cm(green, name, ""), "role": &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: f.ns + "-" + name}}, "owner": x}
		var left atomic.Int64
		left.Store(n)
		dead := make(chan struct{})
		kill := sync.OnceFunc(func() { close(dead) })
		stop = f.startIn(build, func(rt http.RoundTripper) http.RoundTripper { return &killer{rt, &left, kill} }, f.ns, blue, green)
		survived := false
		select {
		case <-dead:
		case <-time.After(20 * time.Second):
			t.Fatalf("write %d never came, %s there", n, f.there(objects)())
		case <-f.untilGone(client.ObjectKeyFromObject(x)):
			survived = left.Load() > 0
		}
		stop()
		stop = f.startIn(build, nil, f.ns, blue, green)
		f.eventually("", f.there(objects))
		stop()
		if survived {
			if n < 5 {
				t.Errorf("there were only %d writes", n-1)
			}
			return
		}
	}
}

// untilGone is closed when there is no such thing any more.
func (f *fixture) untilGone(key client.ObjectKey) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		for f.Context().Err() == nil {
			if err := f.Get(f.Context(), key, &thing{}); apierrors.IsNotFound(err) {
				time.Sleep(300 * time.Millisecond) // what is still on its way
				close(done)
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	return done
}

// Whatever the operator does over an owner that is being deleted, it makes nothing, and
// waits for what it deletes; what is declared last goes first. It says what it waits for.
func TestNothingIsMadeForAnOwnerThatIsBeingDeleted(t *testing.T) {
	f := setUp(t)
	blue, green := f.cluster.Namespace(t), f.cluster.Namespace(t)
	var mu sync.Mutex
	var sent []string
	watch := func(rt http.RoundTripper) http.RoundTripper {
		return roundTrip(func(req *http.Request) (*http.Response, error) {
			if req.Method == http.MethodDelete || req.Method == http.MethodPatch && !strings.Contains(req.URL.Path, "/events") {
				mu.Lock()
				defer mu.Unlock()
				sent = append(sent, req.Method+" "+strings.NewReplacer(blue, "blue", green, "green", f.ns, "home").Replace(req.URL.Path[strings.LastIndex(strings.TrimSuffix(req.URL.Path, "/a"), "/")+1:]+" in "+req.URL.Path))
			}
			return rt.RoundTrip(req)
		})
	}
	stop := f.startIn(empire(blue, green), watch, f.ns, blue, green)
	x := f.create("a", "blue green role")
	f.wait("a", "Ready True Healthy")
	hold := func(obj client.Object, body string) {
		t.Helper()
		if err := f.Patch(t.Context(), obj, client.RawPatch(types.MergePatchType, []byte(body))); err != nil {
			t.Fatal(err)
		}
	}
	hold(x, `{"metadata":{"finalizers":["armature.dev/`+f.name+`","example.com/theirs"]}}`)
	hold(cm(blue, "a", ""), `{"metadata":{"finalizers":["example.com/slow"]}}`)
	f.passes(4)
	mu.Lock()
	sent = nil
	mu.Unlock()
	if err := f.Delete(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	f.wait("a", "Ready False Blocked ConfigMap "+blue+"/a")
	objects := map[string]client.Object{"home": cm(f.ns, "a", ""), "blue": cm(blue, "a", ""), "green": cm(green, "a", ""), "role": &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: f.ns + "-a"}}}
	f.eventually("blue home", f.there(objects))
	f.passes(2)
	stop()
	stop = f.startIn(empire(blue, green), watch, f.ns, blue, green)
	f.passes(2)
	f.eventually("armature.dev/"+f.name+" example.com/theirs", f.finalizers("a"))
	if err := f.Delete(t.Context(), cm(f.ns, "a", "")); err != nil {
		t.Fatal(err)
	}
	f.passes(2)
	hold(cm(blue, "a", ""), `{"metadata":{"finalizers":null}}`)
	f.eventually("example.com/theirs", f.finalizers("a"))
	f.passes(3)
	f.eventually("", f.there(objects))
	stop()
	mu.Lock()
	defer mu.Unlock()
	var deletes []string
	for _, s := range sent {
		if strings.HasPrefix(s, "DELETE") {
			deletes = append(deletes, s)
		} else if !strings.Contains(s, "/things/") {
			t.Errorf("it wrote: %s", s)
		}
	}
	for i, want := range []string{"clusterroles", "green", "blue"} {
		if len(deletes) != 3 || !strings.Contains(deletes[i], want) {
			t.Fatalf("deleted %v", deletes)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// What cannot be deleted keeps its owner, which says why.
func TestAnErrorKeepsTheFinalizer(t *testing.T) {
	f := setUp(t)
	blue := f.cluster.Namespace(t)
	var forbidden atomic.Bool
	forbidden.Store(true)
	f.startIn(func(x *thing, facts *resource.Facts) ([]component.Component, error) {
		if x.DeletionTimestamp != nil {
			panic("it cannot be built any more")
		}
		return empire(blue, blue)(x, facts)
	}, func(rt http.RoundTripper) http.RoundTripper {
		return roundTrip(func(req *http.Request) (*http.Response, error) {
			if req.Method != http.MethodDelete || !forbidden.Load() {
				return rt.RoundTrip(req)
			}
			body := `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"details":{"kind":"configmaps"}}`
			return &http.Response{StatusCode: http.StatusForbidden, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewBufferString(body)), Request: req}, nil
		})
	}, f.ns, blue)
	x := f.create("a", "blue")
	f.wait("a", "Ready True Healthy")
	if err := f.Delete(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	f.wait("a", `Ready False PermissionDenied may not delete configmaps in namespace "`+blue)
	f.eventually("armature.dev/"+f.name, f.finalizers("a"))
	forbidden.Store(false)
	f.eventually("", f.there(map[string]client.Object{"blue": cm(blue, "a", ""), "owner": x}))
}

// A namespace that the operator does not watch is no place to track something in.
func TestWhatIsNotWatchedIsNotTracked(t *testing.T) {
	f := setUp(t)
	blue := f.cluster.Namespace(t)
	f.startIn(empire(blue, blue), nil, f.ns)
	f.create("a", "blue")
	f.wait("a", "Ready False Error")
	f.eventually("", f.finalizers("a"))
	f.eventually("", f.there(map[string]client.Object{"blue": cm(blue, "a", "")}))
}

// Whoever came second has a conflict, and takes nothing along when it goes; what the
// first one tracks is kept as before.
func TestTheSecondOwnerOfATrackedObjectTakesNothingAlong(t *testing.T) {
	f := setUp(t)
	blue := f.cluster.Namespace(t)
	one := cm(blue, "one", "")
	f.startIn(func(x *thing, _ *resource.Facts) ([]component.Component, error) {
		return []component.Component{{Name: "store", Condition: "StoreReady", Resources: []component.Resource{resource.Manage(cm(blue, "one", x.Spec.Value)).Tracked()}}}, nil
	}, nil, f.ns, blue)
	first := f.create("first", "1")
	f.wait("first", "Ready True Healthy")
	second := f.create("second", "2")
	f.wait("second", "StoreReady False Conflict ConfigMap one belongs to Thing "+f.ns+"/first; rename one of the two")
	f.eventually("", f.finalizers("second"))
	if err := f.Delete(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	f.eventually("", f.there(map[string]client.Object{"second": second}))
	if err := f.Delete(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	f.eventually("one", f.there(map[string]client.Object{"one": one}))
	if one.Data["value"] != "1" {
		t.Errorf("the object is %v", one.Data)
	}
	if err := f.Delete(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	f.eventually("", f.there(map[string]client.Object{"first": first, "one": one}))
}

// Two things share an object, in all orders of deletion; the garbage collector takes it
// after the last. At rest they send nothing, and the object goes on being corrected.
func TestThingsShareAnObject(t *testing.T) {
	f := setUp(t)
	f.startIn(func(x *thing, _ *resource.Facts) ([]component.Component, error) {
		name, how, _ := strings.Cut(x.Spec.Value, " ")
		c := component.Component{Name: "store", Condition: "StoreReady"}
		if how != "without" {
			c.Resources = []component.Resource{resource.Manage(cm(x.Namespace, name, "shared")).Shared()}
		}
		return []component.Component{c}, nil
	}, nil, f.ns)
	owners := map[string]*thing{}
	for _, name := range []string{"p1", "p2", "q1", "q2", "r1", "r2"} {
		owners[name] = f.create(name, name[:1])
	}
	for name := range owners {
		f.wait(name, "Ready True Healthy")
	}
	rest := func() {
		t.Helper()
		f.passes(15)
		if n := f.cluster.Count(t, f.name, func() { f.passes(24) }); n.Sum() != 0 {
			t.Errorf("at rest there were %s", n)
		}
	}
	rest()
	correct := func(name, value string) {
		t.Helper()
		if err := f.Patch(t.Context(), cm(f.ns, name, ""), client.RawPatch(types.MergePatchType, []byte(`{"data":{"value":"drifted"}}`))); err != nil {
			t.Fatal(err)
		}
		f.eventually(value, func() string {
			got := cm(f.ns, name, "")
			if err := f.Get(t.Context(), client.ObjectKeyFromObject(got), got); err != nil {
				return err.Error()
			}
			return fmt.Sprintf("%s %d", got.Data["value"], len(got.OwnerReferences))
		})
	}
	correct("p", "shared 2")
	remove := func(name string) {
		t.Helper()
		if err := f.Delete(t.Context(), owners[name]); err != nil {
			t.Fatal(err)
		}
		f.eventually("", f.there(map[string]client.Object{"owner": owners[name]}))
	}
	shared := map[string]client.Object{"p": cm(f.ns, "p", ""), "q": cm(f.ns, "q", ""), "r": cm(f.ns, "r", "")}
	remove("p1")
	remove("q2")
	f.edit(owners["r1"], "r without") // it lets go, and stays
	f.wait("r1", "Ready True Healthy")
	for _, name := range []string{"p", "q", "r"} {
		f.eventually("1", func() string {
			_ = f.Get(t.Context(), client.ObjectKeyFromObject(shared[name]), shared[name])
			return fmt.Sprint(len(shared[name].GetOwnerReferences()))
		})
		correct(name, "shared 1")
	}
	for _, name := range []string{"p2", "q1", "r2", "r1"} {
		f.wait(name, "Ready True Healthy")
	}
	rest()
	f.eventually("p q r", f.there(shared))
	remove("p2")
	remove("q1")
	f.edit(owners["r2"], "r without")
	f.eventually("", f.there(shared))
}

// What differs is a conflict that names the other owner, and heals when it is gone.
func TestThingsThatDifferHaveAConflict(t *testing.T) {
	f := setUp(t)
	f.startIn(func(x *thing, _ *resource.Facts) ([]component.Component, error) {
		return []component.Component{{Name: "store", Condition: "StoreReady", Resources: []component.Resource{resource.Manage(cm(x.Namespace, "shared", x.Spec.Value)).Shared()}}}, nil
	}, nil, f.ns)
	a := f.create("a", "one")
	f.wait("a", "Ready True Healthy")
	f.create("b", "two")
	f.wait("b", "StoreReady False Conflict ConfigMap shared belongs to Thing a")
	f.wait("a", "Ready True Healthy")
	if err := f.Delete(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	f.wait("b", "Ready True Healthy")
	f.eventually("two", func() string {
		got := cm(f.ns, "shared", "")
		_ = f.Get(t.Context(), client.ObjectKeyFromObject(got), got)
		return got.Data["value"]
	})
}
