package kind_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/armature-go/armature/armaturetest"
	"github.com/armature-go/armature/kind"
	"github.com/armature-go/armature/object"
)

func ExamplePreserve() {
	desired := map[string]any{"spec": map[string]any{"serviceName": "new", "replicas": int64(3)}}
	live := map[string]any{"spec": map[string]any{"serviceName": "old", "replicas": int64(1)}}
	sent, ignored := kind.Preserve(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "StatefulSet"}, desired, kind.Live{Object: live})
	fmt.Println(sent)
	fmt.Println(ignored[0].Path, ignored[0].Desired, ignored[0].Live)
	// Output:
	// map[spec:map[replicas:3 serviceName:old]]
	// spec.serviceName new old
}

// TestImmutableTable shows the table, which TestSweep holds against the API server.
func TestImmutableTable(t *testing.T) {
	armaturetest.Golden(t, "testdata/immutable.golden.txt", kind.Immutables())
}

// TestPreserve runs the cases of testdata/preserve. A case has the desired object, the
// live one and, where it is not nothing, what of that is ours, and the server's minor
// version in its comment. It holds what is sent and what is ignored.
func TestPreserve(t *testing.T) {
	files, err := filepath.Glob("testdata/preserve/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			given := map[string]map[string]any{}
			kept := archive.Files[:0]
			for _, f := range archive.Files {
				if f.Name != "sent" && f.Name != "ignored" {
					given[f.Name], kept = parsed(t, f.Data), append(kept, f)
				}
			}
			live := kind.Live{Object: given["live"], Owned: given["owned"]}
			_, _ = fmt.Sscanf(string(archive.Comment), "minor %d", &live.Minor)
			desired := treeOf(t, given["desired"])
			sent, ignored := kind.Preserve((&unstructured.Unstructured{Object: desired}).GroupVersionKind(), desired, live)
			laws(t, desired, live, sent, ignored)
			var lines strings.Builder
			for _, i := range ignored {
				fmt.Fprintf(&lines, "%s (%s): %v, stays %v\n", i.Path, i.Field, i.Desired, i.Live)
			}
			out, err := yaml.Marshal(sent)
			if err != nil {
				t.Fatal(err)
			}
			archive.Files = append(kept, txtar.File{Name: "sent", Data: out}, txtar.File{Name: "ignored", Data: []byte(lines.String())})
			armaturetest.Golden(t, file, string(txtar.Format(archive)))
		})
	}
}

func parsed(t *testing.T, data []byte) map[string]any {
	t.Helper()
	raw, err := yaml.YAMLToJSON(data)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := utiljson.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func treeOf(t *testing.T, content map[string]any) map[string]any {
	t.Helper()
	out, err := object.Tree(nil, &unstructured.Unstructured{Object: content})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// laws hold whatever is preserved.
func laws(t *testing.T, desired map[string]any, live kind.Live, sent map[string]any, ignored []kind.Ignored) {
	t.Helper()
	gvk := (&unstructured.Unstructured{Object: desired}).GroupVersionKind()
	again, more := kind.Preserve(gvk, sent, live)
	if diff := cmp.Diff(sent, again); diff != "" || len(more) > 0 {
		t.Errorf("preserved once more, it is another: %v\n%s", more, diff)
	}
	if !slices.IsSortedFunc(ignored, func(a, b kind.Ignored) int { return strings.Compare(a.Path, b.Path) }) {
		t.Errorf("what is ignored is not sorted: %v", ignored)
	}
	if !made(sent, desired, live.Object) {
		t.Errorf("what is sent holds what is neither desired nor live\n%v", sent)
	}
}

// made reports whether all that is in a tree is in one of two others.
func made(node, a, b any) bool {
	switch node := node.(type) {
	case map[string]any:
		x, isX := a.(map[string]any)
		y, isY := b.(map[string]any)
		for k, v := range node {
			if !made(v, x[k], y[k]) {
				return false
			}
		}
		return isX || isY
	case []any:
		x, isX := a.([]any)
		y, isY := b.([]any)
		for _, item := range node {
			from := func(other any) bool {
				return made(item, other, nil) || slices.ContainsFunc(y, func(second any) bool { return made(item, other, second) })
			}
			if !slices.ContainsFunc(x, from) && !slices.ContainsFunc(y, func(other any) bool { return made(item, nil, other) }) {
				return false
			}
		}
		return isX || isY
	default:
		return node == a || node == b
	}
}

// TestPreserveLaws changes desired and live objects at random: whatever the two are,
// what is sent is of them, is what it was when it is preserved again, and no argument
// is changed. An object that is desired as it was applied is sent as it is.
func TestPreserveLaws(t *testing.T) {
	files, err := filepath.Glob("testdata/sweep/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	rounds := 300
	if testing.Short() {
		rounds = 30
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sample := treeOf(t, parsed(t, raw))
			gvk := (&unstructured.Unstructured{Object: sample}).GroupVersionKind()
			sent, ignored := kind.Preserve(gvk, sample, kind.Live{Object: sample, Owned: sample})
			if diff := cmp.Diff(sample, sent); diff != "" || len(ignored) > 0 {
				t.Errorf("what is so already is changed: %v\n%s", ignored, diff)
			}
			for seed := range uint64(rounds) {
				rng := rand.New(rand.NewPCG(seed, 1))
				desired, live := garbled(rng, sample), garbled(rng, sample)
				owned := live
				if rng.IntN(2) == 0 {
					owned = nil
				}
				desired["apiVersion"], desired["kind"] = sample["apiVersion"], sample["kind"]
				wasDesired, wasLive := runtime.DeepCopyJSON(desired), runtime.DeepCopyJSON(live)
				state := kind.Live{Object: live, Owned: owned, Minor: pickOne(rng, 0, 30, 35, 36)}
				sent, ignored := kind.Preserve(gvk, desired, state)
				laws(t, desired, state, sent, ignored)
				if !cmp.Equal(wasDesired, desired) || !cmp.Equal(wasLive, live) {
					t.Error("an argument was changed")
				}
				if t.Failed() {
					t.Fatalf("seed %d\ndesired %v\nlive %v\nowned %v", seed, desired, live, owned != nil)
				}
			}
		})
	}
}

func pickOne[T any](rng *rand.Rand, from ...T) T { return from[rng.IntN(len(from))] }

// garbled is a copy of a tree with a few random changes.
func garbled(rng *rand.Rand, tree map[string]any) map[string]any {
	out := runtime.DeepCopyJSON(tree)
	for range rng.IntN(4) {
		garble(rng, out)
	}
	return out
}

func garble(rng *rand.Rand, node any) any {
	switch node := node.(type) {
	case map[string]any:
		if len(node) == 0 {
			node["new"] = "x"
			return node
		}
		name := pickOne(rng, slices.Sorted(maps.Keys(node))...)
		switch rng.IntN(6) {
		case 0:
			delete(node, name)
		case 1:
			node["extra"] = pickOne[any](rng, "x", int64(0), false, "", []any{}, map[string]any{"a": "b"})
		default:
			node[name] = garble(rng, node[name])
		}
		return node
	case []any:
		switch {
		case len(node) == 0 || rng.IntN(5) == 0:
			return append(node, pickOne[any](rng, map[string]any{"name": "other"}, "x"))
		case rng.IntN(5) == 0:
			return slices.Delete(node, 0, 1)
		}
		i := rng.IntN(len(node))
		node[i] = garble(rng, node[i])
		return node
	case string:
		return pickOne(rng, node+"x", "", "ExternalName", "NodePort", "5Gi")
	case int64:
		return pickOne(rng, node+1, 0, max(node-1, 0))
	case bool:
		return !node
	default:
		return node
	}
}
