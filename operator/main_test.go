package operator

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/armature-go/armature/armaturetest"
	"github.com/armature-go/armature/component"
	"github.com/armature-go/armature/object"
)

func TestCommandLine(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	refused := filepath.Join(t.TempDir(), "refused")
	if err := os.WriteFile(refused, []byte(`{"apiVersion":"v1","kind":"Config","current-context":"x","contexts":[{"name":"x","context":{"cluster":"x","user":"x"}}],
		"clusters":[{"name":"x","cluster":{"server":"https://127.0.0.1:1"}}],"users":[{"name":"x","user":{}}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	opts := Options{Name: "demo-operator", Version: "1.2.3"}
	tests := []struct {
		args   string
		exit   int
		stdout string
		stderr string
	}{
		{"version", exitDone, "demo-operator 1.2.3\n", ""},
		{"", exitDone, "run         Run until interrupted", ""},
		{"fly", exitUsage, "", `there is no command "fly"; see demo-operator --help`},
		{"version now", exitUsage, "", `demo-operator version takes no argument, and got "now"`},
		{"run --speed 3", exitUsage, "", "unknown flag: --speed; see demo-operator run --help"},
		{"run --resync often", exitUsage, "", "see demo-operator run --help"},
		{"run", exitNoCluster, "", "no Kubernetes API answers at any known address; start one with plane up, or name another with --kubeconfig"},
		{"run --kubeconfig /does/not/exist", exitInvalid, "", "--kubeconfig /does/not/exist: "},
		{"run --kubeconfig " + refused, exitNoCluster, "", "no Kubernetes API answers at https://127.0.0.1:1"},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			opts := opts
			if strings.HasSuffix(tt.args, refused) {
				opts.Scheme = []func(*runtime.Scheme) error{addStub} // the first question is about its kind
				opts.Controllers = []Controller{{owner: func() component.Owner { return &stub{} }}}
			}
			var stdout, stderr bytes.Buffer
			if exit := execute(t.Context(), opts, strings.Fields(tt.args), &stdout, &stderr); exit != tt.exit {
				t.Errorf("exit %d, want %d; it said %s", exit, tt.exit, stderr.String())
			}
			if !strings.Contains(stdout.String(), tt.stdout) || !strings.Contains(stderr.String(), tt.stderr) || tt.stderr == "" && stderr.Len() > 0 {
				t.Errorf("stdout %q, stderr %q; want %q, %q", stdout.String(), stderr.String(), tt.stdout, tt.stderr)
			}
		})
	}
}

// stub is a kind that is never reconciled.
type stub struct{ corev1.ConfigMap }

func (*stub) Conditions() *[]metav1.Condition { return nil }

func addStub(scheme *runtime.Scheme) error {
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "test.armature.dev", Version: "v1", Kind: "Stub"}, &stub{})
	return nil
}

func TestMetricNamesAreAPI(t *testing.T) {
	var b strings.Builder
	descs := make(chan *prometheus.Desc, 10)
	c := newCollectors()
	c.changes.Describe(descs)
	c.condition.Describe(descs)
	c.duration.Describe(descs)
	close(descs)
	for d := range descs {
		b.WriteString(d.String() + "\n")
	}
	armaturetest.Golden(t, "testdata/metrics.txt", b.String())
}

// TestEndpointsAndElection runs two instances of an operator with nothing to do.
func TestEndpointsAndElection(t *testing.T) {
	cluster := armaturetest.Server(t)
	ns := cluster.Namespace(t)
	name := "idle-" + ns
	instance := func() (health, metricsAt string, stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		health, metricsAt = freeAddress(t), freeAddress(t)
		ended := make(chan error, 1)
		go func() {
			ended <- Run(ctx, Options{Name: name}, Settings{Config: cluster.Config(), LeaseIn: ns, Health: health, Metrics: metricsAt})
		}()
		return health, metricsAt, func() {
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("the operator ended with: %v", err)
			}
		}
	}
	health, metricsAt, stopFirst := instance()
	for _, url := range []string{health + "/healthz", health + "/readyz", metricsAt + "/metrics"} {
		armaturetest.Eventually(t, 20*time.Second, func() string { return get(t, "http://"+url) })
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
	holder := func() string {
		if err := cluster.Client(t).Get(t.Context(), client.ObjectKeyFromObject(lease), lease); err != nil || lease.Spec.HolderIdentity == nil {
			return ""
		}
		return *lease.Spec.HolderIdentity
	}
	var first string
	armaturetest.Eventually(t, 20*time.Second, func() string {
		if first = holder(); first == "" {
			return "nobody holds the lease"
		}
		return ""
	})
	_, _, stopSecond := instance()
	defer stopSecond()
	stopFirst()
	armaturetest.Eventually(t, 20*time.Second, func() string {
		if now := holder(); now == first || now == "" {
			return "the lease was not handed over"
		}
		return ""
	})
}

func get(t *testing.T, url string) (problem string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		return err.Error()
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		return res.Status + " " + string(body)
	}
	return ""
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// sample reads one series of the process; false if there is none.
func sample(t *testing.T, name string, labels map[string]string) (float64, bool) {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			got := map[string]string{}
			for _, l := range m.GetLabel() {
				got[l.GetName()] = l.GetValue()
			}
			if maps.Equal(got, labels) {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount()), true
			}
		}
	}
	return 0, false
}

func TestMetricsFollowThePass(t *testing.T) {
	m := metricsFor("metrics-test", "Stub")
	owner := &stub{}
	owner.Namespace, owner.Name = "ns", "a"
	changes := map[string]string{"controller": "metrics-test", "owner_kind": "Stub", "kind": "ConfigMap", "action": "created"}
	ready := map[string]string{"controller": "metrics-test", "owner_kind": "Stub", "namespace": "ns", "name": "a", "condition": "Ready"}
	took := map[string]string{"controller": "metrics-test", "owner_kind": "Stub", "component": "store"}
	changesBefore, _ := sample(t, "armature_changes_total", changes) // the registry outlives a test that runs twice
	tookBefore, _ := sample(t, "armature_component_duration_seconds", took)
	m.changed(component.Change{Key: object.Key{GVK: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Name: "x"}, Op: object.OpCreated})
	m.took("store", time.Millisecond)
	for _, want := range []struct {
		status metav1.ConditionStatus
		value  float64
	}{{metav1.ConditionFalse, 0}, {metav1.ConditionTrue, 1}} {
		m.condition(owner, metav1.Condition{Type: "Ready", Status: want.status})
		if got, ok := sample(t, "armature_condition", ready); !ok || got != want.value {
			t.Errorf("Ready %s is %v (%t)", want.status, got, ok)
		}
	}
	if got, _ := sample(t, "armature_changes_total", changes); got-changesBefore != 1 {
		t.Errorf("one change is counted as %v", got-changesBefore)
	}
	if got, _ := sample(t, "armature_component_duration_seconds", took); got-tookBefore != 1 {
		t.Errorf("one duration is counted as %v", got-tookBefore)
	}
	m.forget(types.NamespacedName{Namespace: "ns", Name: "a"})
	if _, ok := sample(t, "armature_condition", ready); ok {
		t.Error("the conditions of an owner that is gone are still there")
	}
}
