package object_test

import (
	"strings"
	"testing"

	"github.com/armature-go/armature/object"
)

func TestPaths(t *testing.T) {
	for _, text := range []string{
		"spec", "spec.replicas", "webhooks[].clientConfig.caBundle", "spec.template.spec.containers[name=web].resources",
		`metadata.annotations["example.com/note"]`, `metadata.annotations["a.b/c"].x`, "spec.ports[port=80].nodePort",
	} {
		path, err := object.ParsePath(text)
		if err != nil || path.String() != text {
			t.Errorf("%s is read as %s, %v", text, path, err)
		}
	}
	for text, want := range map[string]string{
		"": "it names no field", "a..b": "a field has no name", ".a": "a field has no name", "a[": "has no end", "a[x].b": "selects no items", "a[]": "name a field of theirs",
		"a[name=x]b": "is no field", `a["b`: "has no end", "a[name=].b": "selects no items",
	} {
		if path, err := object.ParsePath(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is read as %s, %v; want %s", text, path, err, want)
		}
	}
}

// A path that can be read is written the way it is read.
func FuzzParsePath(f *testing.F) {
	for _, seed := range []string{"spec.replicas", "a[].b", `a["b.c"]`, "a[k=v].b", "a[b", `a["]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path, err := object.ParsePath(text)
		if err != nil {
			return
		}
		again, err := object.ParsePath(path.String())
		if err != nil || again.String() != path.String() || len(again) != len(path) {
			t.Errorf("%q is read as %s, and that as %s, %v", text, path, again, err)
		}
	})
}
