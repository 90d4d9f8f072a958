package tree_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/armature-go/armature/armaturetest"
	"github.com/armature-go/armature/cmd/armature/tree"
	"github.com/armature-go/armature/kind"
)

// now is when the trees of the test data are looked at.
var now = time.Date(2026, 1, 1, 0, 0, 10, 0, time.UTC)

// testdata/<name>.yaml holds an owner and the objects around it, <name>.txt the tree.
func TestText(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test data: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			objects := read(t, file)
			text := tree.Of(kind.Builtin(), objects[0], objects[1:]).Text(now, tree.NoColour)
			armaturetest.Golden(t, strings.TrimSuffix(file, ".yaml")+".txt", text)
		})
	}
}

// The order in which a server lists is not the order in which a tree is shown.
func TestOrderOfObjectsDoesNotMatter(t *testing.T) {
	objects := read(t, "testdata/waiting.yaml")
	want := tree.Of(kind.Builtin(), objects[0], objects[1:]).Text(now, tree.NoColour)
	for i := 1; i < len(objects); i++ {
		rotated := append(append([]*unstructured.Unstructured{}, objects[i:]...), objects[1:i]...)
		if got := tree.Of(kind.Builtin(), objects[0], rotated).Text(now, tree.NoColour); got != want {
			t.Errorf("rotated by %d:\n%s\nwant:\n%s", i, got, want)
		}
	}
}

// Of a hundred pods those are shown that somebody has to look at.
func TestManyPods(t *testing.T) {
	owner := &unstructured.Unstructured{Object: map[string]any{"kind": "WebApp", "metadata": map[string]any{"name": "shop", "uid": "owner"}}}
	objects := []*unstructured.Unstructured{child("Deployment", "web", "web", "owner")}
	objects[0].SetLabels(map[string]string{"armature.dev/component": "frontend"})
	for i := range 100 {
		pod := child("Pod", fmt.Sprintf("web-%02d", i), types.UID(fmt.Sprint(i)), "web")
		ready := "True"
		if i == 7 || i == 93 {
			ready = "False"
		}
		pod.Object["status"] = map[string]any{"phase": "Running", "conditions": []any{map[string]any{"type": "Ready", "status": ready}}}
		objects = append(objects, pod)
	}
	armaturetest.Golden(t, "testdata/many.txt", tree.Of(nil, owner, objects).Text(now, tree.NoColour))
}

func TestColour(t *testing.T) {
	n := tree.Node{Name: "WebApp shop", Status: "False", Reason: "Error", Parts: []tree.Node{
		{Name: "a", Status: "True", Reason: "Healthy"}, {Name: "b", Status: "False", Reason: "Creating"}, {Name: "c"},
	}}
	coloured := n.Text(now, tree.ANSI)
	for _, want := range []string{"\x1b[31mFalse  Error ", "\x1b[32mTrue   Healthy", "\x1b[33mFalse  Creating"} {
		if !strings.Contains(coloured, want) {
			t.Errorf("%q has no %q", coloured, want)
		}
	}
	if n := strings.Count(coloured, "\x1b[0m"); n != 3 {
		t.Errorf("%d colours end, want 3: what says nothing has none", n)
	}
}

func child(kindName, name string, uid, owner types.UID) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kindName}}
	obj.SetName(name)
	obj.SetUID(uid)
	yes := true
	obj.SetOwnerReferences([]metav1.OwnerReference{{UID: owner, Controller: &yes}})
	return obj
}

// read decodes the documents of a YAML file.
func read(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var objects []*unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(raw), 4096); ; {
		var document runtime.RawExtension
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return objects
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		obj := &unstructured.Unstructured{}
		if err := obj.UnmarshalJSON(document.Raw); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		objects = append(objects, obj)
	}
}
