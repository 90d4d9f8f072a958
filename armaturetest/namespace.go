package armaturetest

import (
	"context"
	"io/fs"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// Client returns a client that reads from the server itself, never from a cache.
func (c *Cluster) Client(tb testing.TB, add ...func(*runtime.Scheme) error) client.WithWatch {
	tb.Helper()
	cl, err := client.NewWithWatch(c.Config(), client.Options{Scheme: Scheme(tb, add...)})
	if err != nil {
		tb.Fatalf("making a client: %v", err)
	}
	return cl
}

// Namespace makes a namespace for the test and deletes it, without waiting, when
// the test ends.
func (c *Cluster) Namespace(tb testing.TB) string {
	tb.Helper()
	cl := c.Client(tb)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := cl.Create(tb.Context(), ns); err != nil {
		tb.Fatalf("making a namespace: %v", err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), 10*time.Second)
		defer cancel()
		if err := cl.Delete(ctx, ns); err != nil {
			tb.Errorf("deleting namespace %s: %v", ns.Name, err)
		}
	})
	return ns.Name
}

// InstallCRDs applies every CustomResourceDefinition among the YAML files of dir
// and waits until the server serves them. Tests of one binary may install the same
// one at once.
func (c *Cluster) InstallCRDs(tb testing.TB, dir fs.FS) {
	tb.Helper()
	files, err := fs.Glob(dir, "*.yaml")
	if err != nil || len(files) == 0 {
		tb.Fatalf("no CustomResourceDefinitions to install: %v", err)
	}
	cl := c.Client(tb, apiextensionsv1.AddToScheme)
	for _, file := range files {
		raw, err := fs.ReadFile(dir, file)
		if err != nil {
			tb.Fatal(err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(raw, crd); err != nil {
			tb.Fatalf("%s: %v", file, err)
		}
		if err := cl.Patch(tb.Context(), crd, client.RawPatch("application/apply-patch+yaml", raw), client.FieldOwner("armaturetest"), client.ForceOwnership); err != nil {
			tb.Fatalf("installing %s: %v", file, err)
		}
		Eventually(tb, 30*time.Second, func() string {
			if err := cl.Get(tb.Context(), client.ObjectKeyFromObject(crd), crd); err != nil {
				return err.Error()
			}
			for _, cond := range crd.Status.Conditions {
				if cond.Type == apiextensionsv1.Established && cond.Status == apiextensionsv1.ConditionTrue {
					return ""
				}
			}
			return crd.Name + " is not established yet"
		})
	}
}

// Eventually calls check until it returns an empty string. If that takes longer
// than the timeout, which is there against hanging, the test fails with what check
// said last.
func Eventually(tb testing.TB, timeout time.Duration, check func() (missing string)) {
	tb.Helper()
	deadline := time.Now().Add(timeout) //nolint:forbidigo // a test waits for a real cluster
	for {
		missing := check()
		if missing == "" {
			return
		}
		if time.Now().After(deadline) { //nolint:forbidigo // as above
			tb.Fatalf("after %s: %s", timeout, missing)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
