package crdtest

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	cmv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	cnpgv1 "github.com/cloudnative-pg/api/pkg/api/v1"
	_ "github.com/cloudnative-pg/cloudnative-pg/pkg/versions" // so that the module is required: it has the CRD
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	_ "github.com/prometheus-operator/prometheus-operator/pkg/versionutil" // as above
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/armature-go/armature/armaturetest"
	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/kind"
	"github.com/armature-go/armature/object"
)

// definitions are the CustomResourceDefinitions, by the module that has them.
var definitions = map[string][]string{
	"github.com/cert-manager/cert-manager": {
		"deploy/crds/cert-manager.io_certificates.yaml",
		"deploy/crds/cert-manager.io_clusterissuers.yaml",
		"deploy/crds/cert-manager.io_issuers.yaml",
	},
	"github.com/cloudnative-pg/cloudnative-pg": {"config/crd/bases/postgresql.cnpg.io_clusters.yaml"},
	"github.com/prometheus-operator/prometheus-operator": {
		"example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml",
		"example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml",
		"example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml",
	},
	"sigs.k8s.io/gateway-api": {
		"config/crd/standard/gateway.networking.k8s.io_gateways.yaml",
		"config/crd/standard/gateway.networking.k8s.io_grpcroutes.yaml",
		"config/crd/standard/gateway.networking.k8s.io_httproutes.yaml",
	},
}

// install has the API server serve all definitions, and returns a client that knows
// the Go types of their authors.
func install(t *testing.T) client.WithWatch {
	t.Helper()
	server := armaturetest.Server(t)
	files := fstest.MapFS{}
	for module, paths := range definitions {
		dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
		if err != nil || len(dir) == 0 {
			t.Fatalf("%s is not in the module cache: %v; fetch it with go mod download", module, err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), path))
			if err != nil {
				t.Fatal(err)
			}
			files[filepath.Base(path)] = &fstest.MapFile{Data: text}
		}
	}
	server.InstallCRDs(t, files)
	return server.Client(t, cmv1.AddToScheme, cnpgv1.AddToScheme, gatewayv1.Install, monitoringv1.AddToScheme)
}

// stage is one moment in the life of an object: what somebody does to it, and what its
// row then says.
type stage struct {
	name          string
	spec, status  func() // what is changed by its author and by its controller, if anything is
	health, grace condition.Reason
}

// play creates an object, goes through its stages, and asks the row at each of them
// about what the server then returns, as its Go type and without.
func play(t *testing.T, c client.WithWatch, obj client.Object, stages []stage) {
	t.Helper()
	gvk, err := object.GVK(c.Scheme(), obj)
	if err != nil {
		t.Fatal(err)
	}
	row, known := kind.Builtin().Lookup(gvk)
	if !known {
		t.Fatalf("no row for %s", gvk)
	}
	if err := c.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	if obj.GetNamespace() == "" {
		t.Cleanup(func() { _ = c.Delete(context.WithoutCancel(t.Context()), obj) })
	}
	op := object.OpCreated
	for _, s := range stages {
		write(t, c, obj, s)
		for _, live := range both(t, c, gvk, obj) {
			health := row.Health(live, op)
			if health.Reason != s.health || health.Message == "" {
				t.Errorf("%s, as a %T: health is %v, want %s", s.name, live, health, s.health)
			}
			if grace := row.Grace(live); grace.Reason != s.grace {
				t.Errorf("%s, as a %T: grace is %v, want %s", s.name, live, grace, s.grace)
			}
			t.Logf("%-24s %T: %v", s.name, live, health)
		}
		op = object.OpNone
	}
	if row.Suspend.Mutate == nil {
		return
	}
	if err := row.Suspend.Mutate(obj); err != nil {
		t.Fatal(err)
	}
	if err := c.Update(t.Context(), obj); err != nil {
		t.Errorf("its resting form is refused: %v", err)
	}
}

func write(t *testing.T, c client.Client, obj client.Object, s stage) {
	t.Helper()
	if s.spec != nil {
		before := obj.GetGeneration()
		s.spec()
		if err := c.Update(t.Context(), obj); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if obj.GetGeneration() == before {
			t.Fatalf("%s: the spec has not changed", s.name)
		}
	}
	if s.status != nil {
		s.status()
		if err := c.Status().Update(t.Context(), obj); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
	}
}

// both reads an object in both forms.
func both(t *testing.T, c client.Client, gvk schema.GroupVersionKind, obj client.Object) []object.Object {
	t.Helper()
	fresh, err := c.Scheme().New(gvk)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	var out []object.Object
	for _, into := range []client.Object{u, fresh.(client.Object)} {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(obj), into); err != nil {
			t.Fatal(err)
		}
		out = append(out, into)
	}
	return out
}

// Each row of a group that is installed here is of a kind that is served, and of its
// scope.
func TestRowsAreServed(t *testing.T) {
	c := install(t)
	installed := map[string]bool{"cert-manager.io": true, "gateway.networking.k8s.io": true, "monitoring.coreos.com": true, "postgresql.cnpg.io": true}
	served := 0
	for _, row := range kind.Builtin().Kinds() {
		if !installed[row.GVK.Group] {
			continue
		}
		served++
		mapping, err := c.RESTMapper().RESTMapping(row.GVK.GroupKind(), row.GVK.Version)
		if err != nil {
			t.Errorf("%s: %v", row.GVK, err)
			continue
		}
		if scope := map[meta.RESTScopeName]kind.Scope{meta.RESTScopeNameNamespace: kind.Namespaced, meta.RESTScopeNameRoot: kind.Cluster}[mapping.Scope.Name()]; scope != row.Scope {
			t.Errorf("%s is %s, and its row says %s", row.GVK, scope, row.Scope)
		}
	}
	if want := 10; served != want {
		t.Errorf("%d rows, want %d", served, want)
	}
}

// What is ready by being there is accepted by the server, and its row has no rules.
func TestMonitors(t *testing.T) {
	c := install(t)
	home := metav1.ObjectMeta{Name: "web", Namespace: armaturetest.Server(t).Namespace(t)}
	for _, obj := range []client.Object{
		&monitoringv1.ServiceMonitor{ObjectMeta: home, Spec: monitoringv1.ServiceMonitorSpec{Endpoints: []monitoringv1.Endpoint{{Port: "http"}}}},
		&monitoringv1.PodMonitor{ObjectMeta: home, Spec: monitoringv1.PodMonitorSpec{PodMetricsEndpoints: []monitoringv1.PodMetricsEndpoint{{}}}},
		&monitoringv1.PrometheusRule{ObjectMeta: home, Spec: monitoringv1.PrometheusRuleSpec{Groups: []monitoringv1.RuleGroup{{Name: "web"}}}},
	} {
		gvk, err := object.GVK(c.Scheme(), obj)
		if err != nil {
			t.Fatal(err)
		}
		if row, known := kind.Builtin().Lookup(gvk); !known || row.Health != nil || row.Category != kind.Static {
			t.Errorf("%s: %v", gvk, row)
		}
		if err := c.Create(t.Context(), obj); err != nil {
			t.Errorf("%s: %v", gvk, err)
		}
	}
}

// The definitions themselves, and the API services that come with them, have rows too.
func TestDefinitions(t *testing.T) {
	c := install(t)
	says := func(gvk schema.GroupVersionKind, name string, want condition.Reason) {
		t.Helper()
		row, _ := kind.Builtin().Lookup(gvk)
		armaturetest.Eventually(t, 20*time.Second, func() string {
			u := &unstructured.Unstructured{}
			u.SetGroupVersionKind(gvk)
			if err := c.Get(t.Context(), client.ObjectKey{Name: name}, u); err != nil {
				return err.Error()
			}
			if s := row.Health(u, object.OpNone); s.Reason != want {
				return name + ": " + string(s.Reason) + " " + s.Message
			}
			return ""
		})
	}
	definition := schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}
	says(definition, "certificates.cert-manager.io", condition.Operational)
	says(schema.GroupVersionKind{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"}, "v1.cert-manager.io", condition.Operational)

	twin := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "twins.cert-manager.io"},
		"spec": map[string]any{
			"group": "cert-manager.io", "scope": "Namespaced",
			"names":    map[string]any{"kind": "Certificate", "plural": "twins"},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}}}},
		},
	}}
	twin.SetGroupVersionKind(definition)
	if err := c.Create(t.Context(), twin); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Delete(context.WithoutCancel(t.Context()), twin) })
	says(definition, "twins.cert-manager.io", condition.OperationFailing)
}

// said writes a condition as a controller does that has seen the latest spec.
func said[T ~string](obj client.Object, typ T, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{
		Type: string(typ), Status: status, Reason: cmp.Or(reason, "AsExpected"), Message: message,
		ObservedGeneration: obj.GetGeneration(), LastTransitionTime: metav1.Now(),
	}
}
