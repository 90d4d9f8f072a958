package armaturetest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/armature-go/armature/component"
	"github.com/armature-go/armature/object"
)

var update = flag.Bool("update", false, "rewrite golden files with what the tests got")

// Scheme returns the scheme of the built-in kinds with more types added.
func Scheme(tb testing.TB, add ...func(*runtime.Scheme) error) *runtime.Scheme {
	tb.Helper()
	scheme := runtime.NewScheme()
	for _, f := range append([]func(*runtime.Scheme) error{clientscheme.AddToScheme}, add...) {
		if err := f(scheme); err != nil {
			tb.Fatalf("registering API types: %v", err)
		}
	}
	return scheme
}

// Render returns the objects that the components would apply, in order, as YAML
// documents. What only Go's encoding produces is left out, keys are sorted.
func Render(tb testing.TB, scheme *runtime.Scheme, components ...component.Component) string {
	tb.Helper()
	var docs []string
	for _, c := range components {
		objects, err := component.Preview(scheme, c)
		if err != nil {
			tb.Fatal(err)
		}
		for _, obj := range objects {
			tree, err := object.Tree(scheme, obj)
			if err != nil {
				tb.Fatal(err)
			}
			doc, err := yaml.Marshal(tree)
			if err != nil {
				tb.Fatal(err)
			}
			docs = append(docs, "# component "+c.Name+"\n"+string(doc))
		}
	}
	return strings.Join(docs, "---\n")
}

// Golden fails the test, showing the difference, if got is not what the file holds.
// With the flag -update it writes the file instead.
func Golden(tb testing.TB, file, got string) {
	tb.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			tb.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		tb.Fatalf("%s does not exist; if what follows is right, write it with -update:\n%s", file, got)
	}
	if err != nil {
		tb.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		tb.Errorf("%s differs (- file, + got); if the new text is right, write it with -update:\n%s", file, diff)
	}
}
