package apply_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/armaturetest"
	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
)

func (f *fixture) yaml(text string) *unstructured.Unstructured {
	f.Helper()
	u := &unstructured.Unstructured{}
	f.must(yaml.Unmarshal([]byte(text), &u.Object))
	u.SetNamespace(f.ns)
	return u
}

const claim = `volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}],`

// What cannot be changed stays and is told, in every pass and for nothing; what can be
// changed beside it is.
func TestImmutableFieldsStayAndAreTold(t *testing.T) {
	f := setUp(t)
	service := `{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {%s}}`
	job := `{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {suspend: false, parallelism: %s, template: {spec: {restartPolicy: Never, nodeSelector: {no: where}, containers: [{name: main, image: "%s"}]}}}}`
	for _, tt := range []struct {
		name        string
		first, then *unstructured.Unstructured
		told        string // with the path and both values; empty if nothing is
		changed     string // path=value of what changes all the same
	}{
		{
			"a StatefulSet's service", f.workload("StatefulSet", "a", "serviceName: old,", "", ""), f.workload("StatefulSet", "a", "serviceName: new, replicas: 0,", "", ""),
			"spec.serviceName cannot be changed and stays old; new is desired", "spec.replicas=0",
		},
		{
			"its claims", f.workload("StatefulSet", "b", claim, "", ""), f.workload("StatefulSet", "b", strings.Replace(claim, "1Gi", "2Gi", 1)+"replicas: 0,", "", ""),
			"spec.volumeClaimTemplates cannot be changed and stays as it is; something else is desired", "spec.replicas=0",
		},
		{
			"a Deployment's selector", f.workload("Deployment", "c", "replicas: 0,", "", ""),
			f.yaml(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: c}, spec: {replicas: 0, paused: true, selector: {matchLabels: {a: other}}, template: {metadata: {labels: {a: other}}, spec: {containers: [{name: main, image: "x:1"}]}}}}`),
			`spec.selector cannot be changed and stays {"matchLabels":{"a":"b"}}; {"matchLabels":{"a":"other"}} is desired`, "spec.paused=true",
		},
		{
			"a Job that was started", f.yaml(fmt.Sprintf(job, "1", "x:1")), f.yaml(fmt.Sprintf(job, "2", "y:1")),
			"spec.template.spec.containers[name=main].image cannot be changed and stays x:1; y:1 is desired", "spec.parallelism=2",
		},
		{
			"a Service that is renamed keeps its node port", f.yaml(fmt.Sprintf(service, `type: NodePort, ports: [{name: http, port: 80, nodePort: 31234}]`)), f.yaml(fmt.Sprintf(service, `type: NodePort, ports: [{name: web, port: 80}]`)),
			"", "spec.ports=[map[name:web nodePort:31234 port:80 protocol:TCP targetPort:80]]",
		},
		{
			"a sealed ConfigMap", f.yaml(`{apiVersion: v1, kind: ConfigMap, metadata: {name: m}, immutable: true, data: {k: a}}`), f.yaml(`{apiVersion: v1, kind: ConfigMap, metadata: {name: m, labels: {x: z}}, immutable: true, data: {k: b}}`),
			"data.k cannot be changed and stays a; b is desired", "metadata.labels.x=z",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &writes{Client: f.WithWatch}
			a := apply.New(w, controller, apply.Options{Live: f.WithWatch})
			_, err := a.Apply(t.Context(), f.owner, "store", tt.first)
			f.must(err)
			f.eventuallyStarted(tt.first)
			_, err = a.Apply(t.Context(), f.owner, "store", tt.then)
			f.must(err)
			w.n = 0
			for _, again := range []*apply.Applier{a, apply.New(w, controller, apply.Options{Live: f.WithWatch})} {
				res, err := again.Apply(t.Context(), f.owner, "store", tt.then)
				f.must(err)
				var notes []string
				for _, n := range res.Notes {
					notes = append(notes, n.Message)
				}
				if got := strings.Join(notes, "\n"); !strings.HasPrefix(got, tt.told) || tt.told == "" && got != "" || len(res.Ignored) != len(notes) {
					t.Errorf("told is\n%s\nwant\n%s", got, tt.told)
				}
				if res.Op != object.OpNone || w.n != 0 {
					t.Errorf("at rest: %q, %d writes", res.Op, w.n)
				}
				path, want, _ := strings.Cut(tt.changed, "=")
				got, _, _ := unstructured.NestedFieldNoCopy(res.Live.(*unstructured.Unstructured).Object, strings.Split(path, ".")...)
				if fmt.Sprint(got) != want {
					t.Errorf("%s is %v, want %s", path, got, want)
				}
			}
		})
	}
}

// eventuallyStarted waits until a Job has been started.
func (f *fixture) eventuallyStarted(obj *unstructured.Unstructured) {
	f.Helper()
	if obj.GetKind() != "Job" {
		return
	}
	armaturetest.Eventually(f, 20*time.Second, func() string {
		live := obj.DeepCopy()
		f.must(f.Get(f.Context(), client.ObjectKeyFromObject(obj), live))
		if _, started, _ := unstructured.NestedString(live.Object, "status", "startTime"); !started {
			return "it is not started"
		}
		return ""
	})
}

// What cannot be changed now may be accepted later, without a change of what is desired.
func TestWhatBecomesChangeableIsChanged(t *testing.T) {
	f := setUp(t)
	claim := func(size string) *unstructured.Unstructured {
		return f.yaml(`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {storageClassName: none, accessModes: [ReadWriteOnce], resources: {requests: {storage: ` + size + `}}}}`)
	}
	c := &claims{Client: f.WithWatch}
	asked := &counted{Client: c}
	a := apply.New(asked, controller, apply.Options{Live: c})
	pass := func(size string) (apply.Result, error) {
		asked.applies = 0
		return a.Apply(t.Context(), f.owner, "store", claim(size))
	}
	_, err := pass("1Gi")
	f.must(err)
	for range 2 {
		res, err := pass("2Gi")
		if err != nil || len(res.Ignored) != 1 || res.Ignored[0].Path != "spec.resources.requests.storage" || res.Ignored[0].Live != "1Gi" {
			t.Fatalf("an unbound claim: %v, %v", res.Ignored, err)
		}
	}
	c.bound = true
	if _, err := pass("2Gi"); err == nil || condition.IsWait(err) || asked.applies == 0 {
		t.Errorf("a bound claim: %v after %d applies, want what the server says about growing it", err, asked.applies)
	}
}

// claims is a client that shows claims as bound from some time on, as the next version
// of what they were.
type claims struct {
	client.Client

	bound bool
}

func (c *claims) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	err := c.Client.Get(ctx, key, obj, opts...)
	if pvc, ok := obj.(*corev1.PersistentVolumeClaim); ok && c.bound && err == nil {
		pvc.Status.Phase = corev1.ClaimBound
		pvc.ResourceVersion += "0"
	}
	return err
}

// An object may be made anew where it cannot be changed, if its author says so.
func TestRecreateIsAnOptIn(t *testing.T) {
	f := setUp(t)
	then := f.yaml(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {replicas: 0, selector: {matchLabels: {a: other}}, template: {metadata: {labels: {a: other}}, spec: {containers: [{name: main, image: "x:1"}]}}}}`)
	first := f.apply(f.workload("Deployment", "d", "replicas: 0,", "", ""), object.OpCreated)
	cold := apply.New(f.WithWatch, controller, apply.Options{}) // a process that ended before it got to do it
	_, err := cold.Apply(t.Context(), f.owner, "store", then, object.Handling{Recreate: true})
	if !condition.IsWait(err) || !strings.Contains(err.Error(), "made anew, as spec.selector cannot be changed") {
		t.Fatalf("got %v, want a wait", err)
	}
	armaturetest.Eventually(t, 20*time.Second, func() string {
		res, err := f.applier.Apply(t.Context(), f.owner, "store", then, object.Handling{Recreate: true})
		if condition.IsWait(err) {
			return err.Error()
		}
		f.must(err)
		if res.Live.GetUID() == first.GetUID() || len(res.Ignored) > 0 {
			return "it is the old one"
		}
		return ""
	})
	if err := f.Get(t.Context(), client.ObjectKeyFromObject(then), then); apierrors.IsNotFound(err) {
		t.Error("it was not made anew")
	}
}
