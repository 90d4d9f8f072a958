package apply_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
)

// workload is an object with a pod template, of parts written in YAML.
func (f *fixture) workload(kind, name, spec, pod, container string) *unstructured.Unstructured {
	f.Helper()
	text := fmt.Sprintf(`{apiVersion: apps/v1, kind: %s, metadata: {name: %s}, spec: {%s selector: {matchLabels: {a: b}},
		template: {metadata: {labels: {a: b}}, spec: {%s containers: [{name: main, image: "x:1", %s}]}}}}`, kind, name, spec, pod, container)
	u := &unstructured.Unstructured{}
	f.must(yaml.Unmarshal([]byte(text), &u.Object))
	u.SetNamespace(f.ns)
	return u
}

// Somebody else chooses another member of a union. An apply alone cannot take that
// away, and is refused; two writes bring ours back and leave what others wrote beside.
func TestAnotherMemberOfAUnionIsReplaced(t *testing.T) {
	f := setUp(t)
	for i, tt := range []struct{ kind, spec, pod, container, drift string }{
		{"Deployment", "", "volumes: [{name: v, emptyDir: {}}],", "", `{"template":{"spec":{"volumes":[{"name":"v","configMap":{"name":"c"},"emptyDir":null}]}}}`},
		{"Deployment", "", "volumes: [{name: v, configMap: {name: ours}}],", "", `{"template":{"spec":{"volumes":[{"name":"v","secret":{"secretName":"c"},"configMap":null}]}}}`},
		{"Deployment", "", "", "env: [{name: A, value: x}]", `{"template":{"spec":{"containers":[{"name":"main","env":[{"name":"A","value":null,"valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}]}]}}}`},
		{"Deployment", "", "", "env: [{name: A, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]", `{"template":{"spec":{"containers":[{"name":"main","env":[{"name":"A","valueFrom":null,"value":"x"}]}]}}}`},
		{"Deployment", "", "", "livenessProbe: {httpGet: {path: /, port: 80}}", `{"template":{"spec":{"containers":[{"name":"main","livenessProbe":{"httpGet":null,"exec":{"command":["x"]}}}]}}}`},
		{"Deployment", "", "", "lifecycle: {preStop: {exec: {command: [x]}}}", `{"template":{"spec":{"containers":[{"name":"main","lifecycle":{"preStop":{"exec":null,"sleep":{"seconds":1}}}}]}}}`},
		{"Deployment", "strategy: {type: Recreate},", "", "", `{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":2}}}`},
		{"StatefulSet", "updateStrategy: {type: OnDelete},", "", "", `{"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":2}}}`},
	} {
		t.Run(fmt.Sprint(tt.kind, " ", tt.spec, tt.pod, tt.container), func(t *testing.T) {
			obj := f.workload(tt.kind, fmt.Sprint("u", i), tt.spec, tt.pod, tt.container)
			before := f.apply(obj, object.OpCreated).(*unstructured.Unstructured)
			body := fmt.Sprintf(`{"metadata":{"annotations":{"theirs":"kept"}},"spec":%s}`, tt.drift)
			f.must(f.Patch(t.Context(), obj.DeepCopy(), client.RawPatch(types.StrategicMergePatchType, []byte(body)), client.FieldOwner("a-person")))
			w := &writes{Client: f.WithWatch}
			a := apply.New(w, controller, apply.Options{})
			res, err := a.Apply(t.Context(), f.owner, "store", obj)
			if err != nil {
				t.Fatal(err)
			}
			after := res.Live.(*unstructured.Unstructured)
			if got, want := fmt.Sprint(after.Object["spec"]), fmt.Sprint(before.Object["spec"]); got != want {
				t.Errorf("the spec is not what it was:\n%s\n%s", got, want)
			}
			if res.Op != object.OpUpdated || after.GetAnnotations()["theirs"] != "kept" {
				t.Errorf("%q, annotations %v", res.Op, after.GetAnnotations())
			}
			if w.n > 3 { // the first is refused
				t.Errorf("it took %d writes", w.n-1)
			}
			if res, err := a.Apply(t.Context(), f.owner, "store", obj); err != nil || res.Op != object.OpNone || w.n > 3 {
				t.Errorf("again: %q, %v", res.Op, err)
			}
		})
	}
}

// A choice that was never made is the server's, until it is made.
func TestAFirstChoiceReplacesThatOfTheServer(t *testing.T) {
	f := setUp(t)
	for i, tt := range []struct{ kind, spec string }{
		{"Deployment", "strategy: {type: Recreate},"}, {"StatefulSet", "updateStrategy: {type: OnDelete},"}, {"DaemonSet", "updateStrategy: {type: OnDelete},"},
	} {
		name := fmt.Sprint("u", i)
		f.apply(f.workload(tt.kind, name, "", "", ""), object.OpCreated)
		f.apply(f.workload(tt.kind, name, tt.spec, "", ""), object.OpUpdated)
		f.apply(f.workload(tt.kind, name, tt.spec, "", ""), object.OpNone)
	}
}

// A refusal for any other reason stays one, and nothing is changed.
func TestOtherRefusalsAreNotRepaired(t *testing.T) {
	f := setUp(t)
	f.apply(f.workload("Deployment", "d", "", "volumes: [{name: v, emptyDir: {}}],", ""), object.OpCreated)
	drift := `{"spec":{"template":{"spec":{"volumes":[{"name":"v","configMap":{"name":"c"},"emptyDir":null}]}}}}`
	u := f.workload("Deployment", "d", "", "", "")
	f.must(f.Patch(t.Context(), u, client.RawPatch(types.StrategicMergePatchType, []byte(drift)), client.FieldOwner("a-person")))
	w := &writes{Client: f.WithWatch}
	_, err := apply.New(w, controller, apply.Options{}).Apply(t.Context(), f.owner, "store", f.workload("Deployment", "d", "replicas: -1,", "", ""))
	if !apierrors.IsInvalid(err) || w.n != 1 || !strings.Contains(err.Error(), "spec.replicas") {
		t.Errorf("%d writes, %v", w.n, err)
	}
	f.must(f.Get(t.Context(), client.ObjectKeyFromObject(u), u))
	if volumes, _, _ := unstructured.NestedSlice(u.Object, "spec", "template", "spec", "volumes"); fmt.Sprint(volumes) != "[map[configMap:map[defaultMode:420 name:c] name:v]]" {
		t.Errorf("the volumes are %v", volumes)
	}
}

// The process may end at any of the writes.
func TestACrashWhileRepairingIsHealed(t *testing.T) {
	f := setUp(t)
	for _, after := range []bool{false, true} {
		for n, hit := 1, true; hit; n++ {
			obj := f.workload("Deployment", fmt.Sprintf("d-%d-%t", n, after), "", "volumes: [{name: v, emptyDir: {}}],", "")
			f.apply(obj, object.OpCreated)
			drift := `{"spec":{"template":{"spec":{"volumes":[{"name":"v","configMap":{"name":"c"},"emptyDir":null}]}}}}`
			f.must(f.Patch(t.Context(), obj.DeepCopy(), client.RawPatch(types.StrategicMergePatchType, []byte(drift)), client.FieldOwner("a-person")))
			c := &faulty{Client: f.WithWatch, n: n, after: after}
			_, err := apply.New(c, controller, apply.Options{Live: f.WithWatch}).Apply(t.Context(), f.owner, "store", obj)
			if hit = c.hit; !hit && (err != nil || n != 4) {
				t.Fatalf("%d writes, the first of them refused, %v", n-1, err)
			}
			res, err := apply.New(f.WithWatch, controller, apply.Options{}).Apply(t.Context(), f.owner, "store", obj)
			if err != nil {
				t.Fatal(err)
			}
			live := res.Live.(*unstructured.Unstructured)
			if volumes, _, _ := unstructured.NestedSlice(live.Object, "spec", "template", "spec", "volumes"); fmt.Sprint(volumes) != "[map[emptyDir:map[] name:v]]" {
				t.Errorf("write %d broke: the volumes are %v", n, volumes)
			}
			if !metav1.IsControlledBy(live, f.owner) {
				t.Errorf("write %d broke: it is no longer ours", n)
			}
		}
	}
}

// Somebody changes the key of an item of ours, which is then an item of theirs with our
// name. That is told and not tried again and again, or put right where the list is all
// ours.
func TestAnItemInTheWay(t *testing.T) {
	f := setUp(t)
	service := f.yaml(`{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {ports: [{name: web, port: 80, protocol: TCP}]}}`)
	f.apply(service, object.OpCreated)
	body := client.RawPatch(types.JSONPatchType, []byte(`[{"op":"replace","path":"/spec/ports/0/protocol","value":"UDP"}]`))
	f.must(f.Patch(t.Context(), service.DeepCopy(), body, client.FieldOwner("a-person")))
	w := &writes{Client: f.WithWatch}
	a := apply.New(w, controller, apply.Options{})
	_, err := a.Apply(t.Context(), f.owner, "store", service)
	var invalid *condition.InvalidError
	if !errors.As(err, &invalid) || invalid.After == 0 || !strings.Contains(err.Error(), `let the list be all ours: resource.Manage(…).Whole("spec.ports")`) {
		t.Errorf("got %v", err)
	}
	w.n = 0
	res, err := a.Apply(t.Context(), f.owner, "store", service, object.Handling{Whole: []object.Path{f.path("spec.ports")}})
	if err != nil {
		t.Fatal(err)
	}
	ports, _, _ := unstructured.NestedSlice(res.Live.(*unstructured.Unstructured).Object, "spec", "ports")
	if got := fmt.Sprint(ports); got != "[map[name:web port:80 protocol:TCP targetPort:80]]" || w.n != 3 { // the first was refused
		t.Errorf("the ports are %s after %d writes", got, w.n)
	}
	if res, err := a.Apply(t.Context(), f.owner, "store", service, object.Handling{Whole: []object.Path{f.path("spec.ports")}}); err != nil || res.Op != object.OpNone || w.n != 3 {
		t.Errorf("again: %q, %v", res.Op, err)
	}
}
