package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/armature-go/armature/armaturetest"
)

var (
	webapps     = schema.GroupVersionResource{Group: "examples.armature.dev", Version: "v1alpha1", Resource: "webapps"}
	configmaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

// deadline is there against hanging.
const deadline = 30 * time.Second

// treeFixture is a WebApp that nobody but the test looks after.
type treeFixture struct {
	*testing.T

	dynamic    dynamic.Interface
	kubeconfig string
	ns         string
	uid        types.UID
}

func newTree(t *testing.T) *treeFixture {
	t.Helper()
	cluster := armaturetest.Server(t)
	cluster.InstallCRDs(t, os.DirFS(filepath.Join("..", "..", "operators", "webapp", "crd")))
	client, err := dynamic.NewForConfig(cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	f := &treeFixture{T: t, dynamic: client, kubeconfig: cluster.Kubeconfig(), ns: cluster.Namespace(t)}
	f.uid = f.create(webapps, map[string]any{
		"apiVersion": "examples.armature.dev/v1alpha1", "kind": "WebApp", "metadata": map[string]any{"name": "shop"},
		"spec": map[string]any{"version": "1.9.0"},
	})
	return f
}

func (f *treeFixture) create(resource schema.GroupVersionResource, object map[string]any) types.UID {
	f.Helper()
	obj, err := f.dynamic.Resource(resource).Namespace(f.ns).Create(f.Context(), &unstructured.Unstructured{Object: object}, metav1.CreateOptions{})
	if err != nil {
		f.Fatal(err)
	}
	return obj.GetUID()
}

// child is the metadata of an object that an operator would have made.
func (f *treeFixture) child(name, component string) map[string]any {
	return map[string]any{
		"name": name, "labels": map[string]any{"armature.dev/component": component},
		"ownerReferences": []any{map[string]any{
			"apiVersion": "examples.armature.dev/v1alpha1", "kind": "WebApp", "name": "shop", "uid": string(f.uid), "controller": true,
		}},
	}
}

// report writes the status, as an operator would.
func (f *treeFixture) report(conditions ...any) {
	f.Helper()
	status := map[string]any{"conditions": conditions, "components": []any{
		map[string]any{"name": "backend", "condition": "BackendReady"}, map[string]any{"name": "frontend", "condition": "FrontendReady"},
	}}
	body, err := (&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "examples.armature.dev/v1alpha1", "kind": "WebApp", "status": status,
	}}).MarshalJSON()
	if err != nil {
		f.Fatal(err)
	}
	if _, err := f.dynamic.Resource(webapps).Namespace(f.ns).Patch(f.Context(), "shop", types.MergePatchType, body, metav1.PatchOptions{}, "status"); err != nil {
		f.Fatal(err)
	}
}

func condition(typ, status, reason, message string) map[string]any {
	return map[string]any{"type": typ, "status": status, "reason": reason, "message": message, "observedGeneration": int64(1), "lastTransitionTime": "2026-01-01T00:00:00Z"}
}

// run runs the command in the fixture's namespace.
func (f *treeFixture) run(args ...string) (code int, stdout, stderr string) {
	f.Helper()
	return run(f.T, append([]string{"tree", "--kubeconfig", f.kubeconfig, "-n", f.ns}, args...)...)
}

func TestTree(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	f.create(configmaps, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": f.child("settings", "backend")})
	f.create(configmaps, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "foreign", "labels": map[string]any{"armature.dev/component": "backend"}}})
	labels := map[string]any{"app": "web"}
	f.create(deployments, map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": f.child("web", "frontend"), "spec": map[string]any{
		"replicas": int64(2), "selector": map[string]any{"matchLabels": labels},
		"template": map[string]any{"metadata": map[string]any{"labels": labels}, "spec": map[string]any{"containers": []any{map[string]any{"name": "web", "image": "web"}}}},
	}})
	f.report(condition("Ready", "False", "Blocked", `1 of 2 ready; frontend: waiting for Secret "tls" to exist`),
		condition("BackendReady", "True", "Healthy", "Component is healthy."), condition("FrontendReady", "False", "Blocked", `waiting for Secret "tls" to exist`))
	armaturetest.Eventually(t, deadline, func() string {
		if _, stdout, stderr := f.run("webapp/shop"); !strings.Contains(stdout, "2 of 2 replicas ready") || strings.Count(stdout, "1 of 1 containers ready") != 2 {
			return stdout + stderr
		}
		return ""
	})
	var first string
	for _, kind := range []string{"webapp", "webapps", "WebApp", "webapps.examples.armature.dev", "webapps.v1alpha1.examples.armature.dev"} {
		got := stable(transcript(f.run(kind + "/shop")))
		if first == "" {
			first = got
			armaturetest.Golden(t, "testdata/tree.txt", got)
		}
		if got != first {
			t.Errorf("%s says\n%s\nand webapp said\n%s", kind, got, first)
		}
	}
}

// stable replaces what differs between two runs.
func stable(text string) string {
	text = regexp.MustCompile(`web-[a-z0-9]+-[a-z0-9]{5}\b`).ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat("x", len(s)) })
	text = regexp.MustCompile(` {2}\d+s +`).ReplaceAllString(text, "  0s   ")
	text = regexp.MustCompile(` {2}\d+s\n`).ReplaceAllString(text, "  0s\n")
	return regexp.MustCompile(`test-[a-z0-9]{5}`).ReplaceAllString(text, "test-12345")
}

func TestTreeOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	for _, test := range []struct{ name, arg string }{
		{"unknown-kind", "webap/shop"},
		{"unknown-kind-like-no-other", "spaceship/shop"},
		{"unknown-name", "webapp/shpo"},
		{"unknown-name-of-none", "deployment/shop"},
	} {
		armaturetest.Golden(t, filepath.Join("testdata", test.name+".txt"), stable(transcript(f.run(test.arg))))
	}
}

// An operator of another make keeps no list of components.
func TestTreeWithoutReports(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	f.create(configmaps, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": f.child("settings", "backend")})
	armaturetest.Golden(t, "testdata/tree-without-reports.txt", stable(transcript(f.run("webapp/shop"))))
}

func TestTreeWatch(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	ctx, interrupt := context.WithCancel(t.Context())
	var out, errs lockedBuffer
	ended := make(chan int, 1)
	go func() {
		ended <- execute(ctx, []string{"tree", "webapp/shop", "--watch", "--kubeconfig", f.kubeconfig, "-n", f.ns}, &out, &errs)
	}()
	shows := func(text string) {
		t.Helper()
		armaturetest.Eventually(t, deadline, func() string {
			if strings.Contains(out.String(), text) {
				return ""
			}
			return "the tree does not show " + text + ":\n" + out.String() + errs.String()
		})
	}
	shows("no operator has reported on it yet")
	f.report(condition("Ready", "False", "Creating", "0 of 2 ready"))
	shows("0 of 2 ready")
	f.create(configmaps, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": f.child("settings", "backend")})
	f.report(condition("Ready", "True", "Healthy", "2 of 2 ready"))
	shows("2 of 2 ready")
	shows("ConfigMap settings")
	if !strings.Contains(out.String(), "\n\nNAME") || strings.Contains(out.String(), "\x1b") {
		t.Errorf("where there is no terminal the next tree comes below, after an empty line:\n%q", out.String())
	}
	interrupt()
	if code := <-ended; code != exitDone || errs.String() != "" {
		t.Errorf("exit status %d, want %d; remarks: %s", code, exitDone, errs.String())
	}
}

func TestTreeWatchEndsWithItsObject(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	var out, errs lockedBuffer
	ended := make(chan int, 1)
	go func() {
		ended <- execute(t.Context(), []string{"tree", "webapp/shop", "-w", "--kubeconfig", f.kubeconfig, "-n", f.ns}, &out, &errs)
	}()
	armaturetest.Eventually(t, deadline, func() string {
		if out.String() == "" {
			return "nothing is shown"
		}
		return ""
	})
	if err := f.dynamic.Resource(webapps).Namespace(f.ns).Delete(t.Context(), "shop", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if code := <-ended; code != exitDone || errs.String() != "WebApp shop was deleted\n" {
		t.Errorf("exit status %d, remarks %q", code, errs.String())
	}
}

// lockedBuffer is written by the program while the test reads it.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
