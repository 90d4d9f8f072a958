package apply_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/object"
)

func (f *fixture) path(text string) object.Path {
	f.Helper()
	path, err := object.ParsePath(text)
	f.must(err)
	return path
}

// replicas follows the replicas of a Deployment: every value that it ever has.
func (f *fixture) replicas(name string) (seen func() []int64) {
	f.Helper()
	w, err := f.Watch(f.Context(), &appsv1.DeploymentList{}, client.InNamespace(f.ns))
	f.must(err)
	var mu sync.Mutex
	var values []int64
	go func() {
		for e := range w.ResultChan() {
			if d, ok := e.Object.(*appsv1.Deployment); ok && d.Name == name {
				mu.Lock()
				values = append(values, int64(*d.Spec.Replicas))
				mu.Unlock()
			}
		}
	}()
	f.Cleanup(w.Stop)
	return func() []int64 {
		mu.Lock()
		defer mu.Unlock()
		return slices.Compact(slices.Clone(values))
	}
}

// An autoscaler takes the replicas, keeps them, and gives them back, and they are never
// anything else than what one of the two wants.
func TestReplicasAreYielded(t *testing.T) {
	f := setUp(t)
	seen := f.replicas("web")
	c := &counted{Client: &gate{Client: f.WithWatch}}
	a := apply.New(c, controller, apply.Options{Live: f.WithWatch})
	yield, none := object.Handling{Yield: []object.Path{f.path("spec.replicas")}}, object.Handling{}
	scale := func(n int32) {
		t.Helper()
		web := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: f.ns, Name: "web"}}
		body := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, n))
		f.must(f.SubResource("scale").Patch(t.Context(), web, body, client.WithSubResourceBody(&autoscalingv1.Scale{}), client.FieldOwner("autoscaler")))
	}
	for i, step := range []struct {
		what    string
		do      func()
		spec    string
		how     object.Handling
		want    int64
		applies int
	}{
		{"it is made as declared", nil, "replicas: 2,", yield, 2, 1},
		{"and left alone", nil, "replicas: 2,", yield, 2, 0},
		{"another wish counts as long as nobody else has one", nil, "replicas: 3,", yield, 3, 1},
		{"an autoscaler takes it", func() { scale(5) }, "replicas: 3,", yield, 5, 0},
		{"and moves it", func() { scale(7) }, "replicas: 3,", yield, 7, 0},
		{"what else changes is applied beside it", nil, "replicas: 3, paused: true,", yield, 7, 1},
		{"it is taken back", nil, "replicas: 4, paused: true,", none, 4, 1},
		{"and handed over: for now it stays", nil, "replicas: 4, paused: true,", yield, 4, 1},
		{"even if it is no longer declared", nil, "paused: true,", yield, 4, 1},
		{"until the autoscaler wants another", func() { scale(6) }, "paused: true,", yield, 6, 0},
	} {
		if step.do != nil {
			step.do()
		}
		for n, want := range []int{step.applies, 0} {
			c.applies = 0
			res, err := a.Apply(t.Context(), f.owner, "store", f.workload("Deployment", "web", step.spec, "", ""), step.how)
			if err != nil {
				t.Fatalf("%s: %v", step.what, err)
			}
			got, _, _ := unstructured.NestedInt64(res.Live.(*unstructured.Unstructured).Object, "spec", "replicas")
			if got != step.want || c.applies != want {
				t.Errorf("step %d, %s: %d replicas with %d applies, want %d with %d (%d)", i, step.what, got, c.applies, step.want, want, n)
			}
		}
	}
	if got := fmt.Sprint(seen()); got != "[2 3 5 7 4 6]" {
		t.Errorf("the replicas were %s", got)
	}
}

// What others inject is theirs, whatever is declared, and what was ours stays until
// they set it.
func TestIgnoredFieldsAreLeftToOthers(t *testing.T) {
	f := setUp(t)
	ignore := object.Handling{Ignore: []object.Path{f.path("data.ca"), f.path("data.was")}}
	as := func(how object.Handling, want object.Op, data ...string) string {
		t.Helper()
		res, err := f.applier.Apply(t.Context(), f.owner, "store", f.configMap("cm", data...), how)
		if err != nil || res.Op != want {
			t.Errorf("%v: %q, %v; want %q", data, res.Op, err, want)
		}
		return fmt.Sprint(f.live("cm").Data)
	}
	if got := as(ignore, object.OpCreated, "k=1", "ca=placeholder"); got != "map[k:1]" {
		t.Errorf("made as %s", got)
	}
	body := client.RawPatch(types.MergePatchType, []byte(`{"data":{"ca":"injected"}}`))
	f.must(f.Patch(t.Context(), f.configMap("cm"), body, client.FieldOwner("injector")))
	if got := as(ignore, object.OpUpdated, "k=2", "ca=placeholder"); got != "map[ca:injected k:2]" {
		t.Errorf("after an injection: %s", got)
	}
	as(object.Handling{}, object.OpUpdated, "k=2", "was=ours")
	if got := as(ignore, object.OpNone, "k=2"); got != "map[ca:injected k:2 was:ours]" {
		t.Errorf("what was ours: %s", got)
	}
	if got := as(object.Handling{}, object.OpUpdated, "k=2"); got != "map[ca:injected k:2]" {
		t.Errorf("no longer ignored, and not declared: %s", got)
	}
}
