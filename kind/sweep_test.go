package kind_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-go/armature/armaturetest"
	"github.com/armature-go/armature/kind"
	"github.com/armature-go/armature/object"
)

const manager = "sweep"

// class is what the API server makes of a change.
type class string

const (
	accepted    class = "accepted"
	immutable   class = "immutable"
	dropped     class = "without effect"     // the server accepts it, and stores what was there
	noAlternate class = "no valid alternate" // that we know of: a new object is refused as well
)

// sweep is one live sample of a kind, all of whose leaves are changed.
type sweep struct {
	client.Client
	schemas

	ctx    context.Context //nolint:containedctx // that of the test
	name   string
	tree   map[string]any // what was applied
	live   *unstructured.Unstructured
	partly bool
	class  map[string]class
	kept   int // fields that cannot be taken away again
}

// TestSweep holds the table of immutable fields against the API server. For every leaf
// of its schemas it asks whether the server accepts another value for a live object;
// where it does not, but accepts the value for a new object, the leaf is immutable, and
// exactly then Preserve has to ignore it. What Preserve sends instead has to be
// accepted, and to change nothing.
func TestSweep(t *testing.T) {
	files, err := filepath.Glob("testdata/sweep/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	cluster := armaturetest.Server(t)
	ns := cluster.Namespace(t)
	aVolume(t, cluster.Client(t), ns, "claim-bound")
	sweeps := make([]*sweep, len(files))
	t.Run("sample", func(t *testing.T) {
		for i, file := range files {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
				t.Parallel()
				s := newSweep(t, cluster, ns, file)
				for _, l := range s.leaves(s.kind(t, s.live.GroupVersionKind())) {
					if !s.partly || !slices.ContainsFunc(elsewhere, func(part string) bool { return strings.Contains(l.String(), part) }) {
						s.class[l.String()] = s.sort(t, l)
					}
				}
				s.omit(t, s.tree, nil)
				for path := range s.whole {
					inList := strings.HasSuffix(path, "[]") || strings.HasSuffix(path, "[].preference")
					if !inList && !kind.Whole(s.live.GetKind(), path) {
						t.Errorf("%s is owned as a whole; add its name to wholes", path)
					}
				}
				sweeps[i] = s
			})
		}
	})
	if !t.Failed() {
		armaturetest.Golden(t, "testdata/sweep.golden.txt", summary(t, sweeps))
	}
}

// summary is what the sweeps found: of every sample what is not accepted, and of every
// kind what is unknown.
func summary(t *testing.T, sweeps []*sweep) string {
	t.Helper()
	var b strings.Builder
	unknown, known := map[string][]string{}, map[string]map[string]bool{}
	for _, s := range sweeps {
		n := map[class]int{}
		k := s.live.GetKind()
		if known[k] == nil {
			known[k] = map[string]bool{}
		}
		for l, c := range s.class {
			n[c]++
			known[k][l] = known[k][l] || c != noAlternate
		}
		fmt.Fprintf(&b, "%s %s: %d accepted, %d immutable, %d without effect, %d without a valid alternate; %d cannot be taken away\n",
			k, s.name, n[accepted], n[immutable], n[dropped], n[noAlternate], s.kept)
		for _, l := range slices.Sorted(maps.Keys(s.class)) {
			if c := s.class[l]; c == immutable || c == dropped {
				fmt.Fprintf(&b, "  %s: %s\n", c, l)
			}
		}
	}
	t.Log(b.String())
	for _, k := range slices.Sorted(maps.Keys(known)) {
		for _, l := range slices.Sorted(maps.Keys(known[k])) {
			if !known[k][l] {
				unknown[k] = append(unknown[k], l)
			}
		}
		fmt.Fprintf(&b, "%s: of %d leaves, %d without a valid alternate\n", k, len(known[k]), len(unknown[k]))
		for _, l := range unknown[k] {
			fmt.Fprintf(&b, "  %s\n", l)
		}
		if len(unknown[k])*100 > len(known[k])*mostWithoutAlternate {
			t.Errorf("%s: %d of %d leaves have no valid alternate, more than %d%%; add values to overrides", k, len(unknown[k]), len(known[k]), mostWithoutAlternate)
		}
	}
	return b.String()
}

// mostWithoutAlternate is how much of a kind may be left unknown, in percent.
const mostWithoutAlternate = 25

func newSweep(t *testing.T, cluster *armaturetest.Cluster, ns, file string) *sweep {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(raw, &u.Object); err != nil {
		t.Fatal(err)
	}
	u.SetNamespace(ns)
	if clusterScoped[u.GetKind()] {
		u.SetNamespace("")
	}
	tree, err := object.Tree(nil, u)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimSuffix(filepath.Base(file), ".yaml")
	s := &sweep{
		Client: cluster.Client(t), schemas: readSchemas(t, cluster, u.GroupVersionKind().GroupVersion()),
		ctx: t.Context(), name: name, tree: tree, partly: slices.Contains(partly, name), class: map[string]class{},
	}
	s.live, err = s.apply(tree)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if u.GetNamespace() == "" {
			_ = s.Delete(context.WithoutCancel(s.ctx), s.live)
		}
	})
	if phase := lookup(u.Object, []string{"status", "phase"}); phase != nil {
		armaturetest.Eventually(t, 30*time.Second, func() string {
			err := s.Get(s.ctx, client.ObjectKeyFromObject(s.live), s.live)
			if now := lookup(s.live.Object, []string{"status", "phase"}); err != nil || now != phase {
				return fmt.Sprintf("%v is %v, not %v: %v", s.name, now, phase, err)
			}
			return ""
		})
	}
	return s
}

// aVolume makes a volume for a claim, of a class whose volumes can grow.
func aVolume(t *testing.T, c client.Client, ns, claim string) {
	t.Helper()
	expands := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "expands"}, Provisioner: "example.com/none", AllowVolumeExpansion: new(true)}
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "of-" + ns}, Spec: corev1.PersistentVolumeSpec{
		Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}, StorageClassName: expands.Name,
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, ClaimRef: &corev1.ObjectReference{Namespace: ns, Name: claim},
		PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/none"}},
	}}
	for _, obj := range []client.Object{expands, volume} {
		if err := c.Create(t.Context(), obj); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
}

// apply sends a tree, and returns what comes of it.
func (s *sweep) apply(tree map[string]any, opts ...client.ApplyOption) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(tree)}
	return u, s.Apply(s.ctx, client.ApplyConfigurationFromUnstructured(u), append(opts, client.FieldOwner(manager), client.ForceOwnership)...)
}

// sort finds out what the server makes of a change of one leaf, and holds the table
// against it.
func (s *sweep) sort(t *testing.T, l leaf) class {
	t.Helper()
	var refusal error
	for _, value := range s.alternates(l) {
		desired := s.with(s.tree, l, value)
		after, refused := s.change(l, value)
		if refused != nil {
			fresh := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(desired)}
			rename(fresh)
			if err := s.Create(s.ctx, fresh, client.DryRunAll); err != nil {
				refusal = err
				continue
			}
		}
		result := accepted
		switch {
		case refused != nil:
			result = immutable
		case cmp.Equal(content(after), content(s.live)):
			result = dropped
		}
		s.judge(t, l, desired, result, refused)
		return result
	}
	if os.Getenv("SWEEP") != "" {
		t.Logf("%s: %v", l, refusal)
	}
	return noAlternate
}

// change asks the server for a change of the live object. Controllers write to some.
func (s *sweep) change(l leaf, value any) (*unstructured.Unstructured, error) {
	for {
		updated := &unstructured.Unstructured{Object: s.with(s.live.Object, l, value)}
		err := s.Update(s.ctx, updated, client.DryRunAll)
		if !apierrors.IsConflict(err) {
			return updated, err
		}
		if err := s.Get(s.ctx, client.ObjectKeyFromObject(s.live), s.live); err != nil {
			return nil, err
		}
	}
}

// omit leaves out every field of what was applied, one after the other. Where the
// server accepts a new object without it but refuses to take it away, Preserve has to
// go on sending it.
func (s *sweep) omit(t *testing.T, node any, path []string) {
	t.Helper()
	if items, ok := node.([]any); ok && len(items) > 0 {
		s.omit(t, items[0], append(slices.Clone(path), "[]"))
	}
	fields, _ := node.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if len(path) == 0 && slices.Contains([]string{"apiVersion", "kind", "metadata"}, name) || slices.ContainsFunc(elsewhere, func(part string) bool { return strings.Contains(pattern(path), part) }) {
			continue
		}
		at := append(slices.Clone(path), name)
		desired := runtime.DeepCopyJSON(s.tree)
		delete(lookup(desired, path).(map[string]any), name)
		s.omit(t, fields[name], at)
		if _, err := s.apply(desired, client.DryRunAll); !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) {
			continue
		}
		fresh := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(desired)}
		rename(fresh)
		if s.Create(s.ctx, fresh, client.DryRunAll) != nil {
			continue
		}
		s.kept++
		sent, _ := kind.Preserve(s.live.GroupVersionKind(), desired, kind.Live{Object: s.live.Object, Owned: s.tree})
		if after, err := s.apply(sent, client.DryRunAll); err != nil || !cmp.Equal(content(s.live), content(after)) {
			t.Errorf("%s: left out, what is sent is refused, or changes something: %v", pattern(at), err)
		}
	}
}

// judge compares what the table says with how the server took a change.
func (s *sweep) judge(t *testing.T, l leaf, desired map[string]any, result class, refused error) {
	t.Helper()
	tree, err := object.Tree(nil, &unstructured.Unstructured{Object: desired})
	if err != nil {
		t.Fatalf("%s: %v", l, err)
	}
	before, live := runtime.DeepCopyJSON(tree), kind.Live{Object: s.live.Object, Owned: s.tree}
	sent, ignored := kind.Preserve(s.live.GroupVersionKind(), tree, live)
	again, more := kind.Preserve(s.live.GroupVersionKind(), sent, live)
	if diff := cmp.Diff(sent, again); diff != "" || len(more) > 0 {
		t.Errorf("%s: preserved once more, it is another: %v\n%s", l, more, diff)
	}
	if diff := cmp.Diff(before, tree); diff != "" {
		t.Errorf("%s: what was desired has changed:\n%s", l, diff)
	}
	switch {
	case result == accepted && len(ignored) > 0:
		t.Errorf("%s: the server accepts it, the table does not: %+v", l, ignored)
	case result == immutable && len(ignored) == 0 && !excused[s.live.GetKind()+" "+l.String()]:
		t.Errorf("%s: the table says nothing, the server refuses it: %v", l, refused)
	case len(ignored) > 0:
		s.unchanged(t, l, sent)
	}
}

// unchanged applies what Preserve makes of a change that would be refused.
func (s *sweep) unchanged(t *testing.T, l leaf, sent map[string]any) {
	t.Helper()
	after, err := s.apply(sent, client.DryRunAll)
	if err != nil {
		t.Errorf("%s: what is sent is refused: %v", l, err)
		return
	}
	if diff := cmp.Diff(content(s.live), content(after)); diff != "" {
		t.Errorf("%s: what is sent changes something: %s", l, diff)
	}
}

// content is an object without what is about its writing.
func content(u *unstructured.Unstructured) map[string]any {
	out := maps.Clone(u.Object)
	delete(out, "metadata")
	delete(out, "status")
	return out
}

// alternates are values for a leaf that it does not have, likely ones first.
func (s *sweep) alternates(l leaf) []any {
	values := overridden(l.path)
	if len(values) == 0 {
		values = s.values(l.schema)
	}
	now := lookup(s.live.Object, l.path)
	return slices.DeleteFunc(slices.Clone(values), func(v any) bool { return cmp.Equal(v, now) })
}

// with returns a tree with another value for a leaf, and with all that it takes for
// the leaf to be there. Of a map the value is one more entry.
func (s *sweep) with(tree map[string]any, l leaf, value any) map[string]any {
	var nodes []*schemaNode
	for n := l.parent; n != nil; n = n.parent {
		nodes = append([]*schemaNode{n}, nodes...)
	}
	out := runtime.DeepCopyJSON(tree)
	if metadata, ok := out["metadata"].(map[string]any); ok {
		delete(metadata, "managedFields")
	}
	var node any = out
	for i, step := range l.path {
		last := i == len(l.path)-1
		if step == "[]" {
			node = node.([]any)[0]
			continue
		}
		m := node.(map[string]any)
		companions(m, l.path[:i+1])
		if last {
			if entries, ok := value.(map[string]any); ok && m[step] != nil {
				maps.Copy(m[step].(map[string]any), entries)
			} else {
				m[step] = runtime.DeepCopyJSONValue(value)
			}
			break
		}
		if below := m[step]; below == nil || cmp.Equal(below, []any{}) {
			m[step] = s.filled(nodes[i+1].schema, l.path[:i+1])
		}
		node = m[step]
	}
	return out
}

func lookup(node any, path []string) any {
	for _, step := range path {
		if items, ok := node.([]any); ok && step == "[]" && len(items) > 0 {
			node = items[0]
			continue
		}
		m, _ := node.(map[string]any)
		node = m[step]
	}
	return node
}
