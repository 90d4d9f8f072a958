package kind_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/armature-go/armature/armaturetest"
	"github.com/armature-go/armature/kind"
)

// preserve applies what Preserve makes of a change of what was applied before, so that
// what is sent then has all that is ours.
func (s *sweep) preserve(t *testing.T, change func(desired map[string]any)) []kind.Ignored {
	t.Helper()
	desired := runtime.DeepCopyJSON(s.tree)
	change(desired)
	sent, ignored := kind.Preserve(s.live.GroupVersionKind(), treeOf(t, desired), kind.Live{Object: s.live.Object, Owned: s.tree})
	live, err := s.apply(sent)
	if err != nil {
		t.Fatalf("%s: what is sent is refused: %v", s.name, err)
	}
	s.live, s.tree = live, sent
	return ignored
}

func set(t *testing.T, tree map[string]any, value any, path ...string) {
	t.Helper()
	lookup(tree, path[:len(path)-1]).(map[string]any)[path[len(path)-1]] = value
}

// A whole new set of labels for the pods and their selector leaves the pods selected.
func TestSelectorsStay(t *testing.T) {
	cluster := armaturetest.Server(t)
	ns := cluster.Namespace(t)
	for _, name := range []string{"deployment", "replicaset", "daemonset", "statefulset"} {
		s := newSweep(t, cluster, ns, filepath.Join("testdata", "sweep", name+".yaml"))
		selector := lookup(s.live.Object, []string{"spec", "selector"})
		ignored := s.preserve(t, func(desired map[string]any) {
			set(t, desired, map[string]any{"app": "new", "tier": "b"}, "spec", "template", "metadata", "labels")
			set(t, desired, map[string]any{"matchLabels": map[string]any{"app": "new"}}, "spec", "selector")
		})
		if diff := cmp.Diff(selector, lookup(s.live.Object, []string{"spec", "selector"})); diff != "" || len(ignored) != 2 {
			t.Errorf("%s: ignored %v\n%s", name, ignored, diff)
		}
		if got := lookup(s.live.Object, []string{"spec", "template", "metadata", "labels", "tier"}); got != "b" {
			t.Errorf("%s: the label that nothing selects by is %v", name, got)
		}
	}
}

// A Service keeps its node port while its port is renamed, then renumbered, and in the
// pass after that.
func TestNodePortsStay(t *testing.T) {
	cluster := armaturetest.Server(t)
	s := newSweep(t, cluster, cluster.Namespace(t), filepath.Join("testdata", "sweep", "service-nodeport.yaml"))
	path := []string{"spec", "ports", "[]", "nodePort"}
	was := lookup(s.live.Object, path)
	port := func(name string, number int64) func(map[string]any) {
		return func(desired map[string]any) {
			set(t, desired, []any{map[string]any{"name": name, "port": number}}, "spec", "ports")
		}
	}
	for _, change := range []func(map[string]any){port("web", 80), port("web", 8080), port("web", 8080), port("other", 8080), port("other", 9090)} {
		if ignored := s.preserve(t, change); len(ignored) > 0 {
			t.Errorf("ignored %v", ignored)
		}
		if now := lookup(s.live.Object, path); now != was || was == nil {
			t.Errorf("the node port was %v and is %v", was, now)
		}
	}
}

// A StatefulSet whose claim is renamed, and one that is to have none, go on mounting
// the claim that they have.
func TestClaimsStay(t *testing.T) {
	cluster := armaturetest.Server(t)
	s := newSweep(t, cluster, cluster.Namespace(t), filepath.Join("testdata", "sweep", "statefulset.yaml"))
	claims, mounts := []string{"spec", "volumeClaimTemplates"}, []string{"spec", "template", "spec", "containers", "[]", "volumeMounts"}
	before := lookup(s.live.Object, claims)
	rename := func(desired map[string]any) {
		set(t, desired, []any{map[string]any{"name": "store", "mountPath": "/data"}}, mounts...)
		set(t, desired, "store", append(claims, "[]", "metadata", "name")...)
	}
	none := func(desired map[string]any) {
		set(t, desired, []any{map[string]any{"name": "scratch", "mountPath": "/scratch"}}, mounts...)
		delete(desired["spec"].(map[string]any), "volumeClaimTemplates")
	}
	for _, change := range []func(map[string]any){rename, none} {
		ignored := s.preserve(t, change)
		if len(ignored) != 1 || ignored[0].Path != "spec.volumeClaimTemplates" {
			t.Errorf("ignored %v", ignored)
		}
		if diff := cmp.Diff(before, lookup(s.live.Object, claims)); diff != "" {
			t.Errorf("the claims have changed: %s", diff)
		}
		found := false
		for _, m := range lookup(s.live.Object, mounts).([]any) {
			found = found || cmp.Equal(m, map[string]any{"name": "data", "mountPath": "/data"})
		}
		if !found {
			t.Errorf("the claim is not mounted: %v", lookup(s.live.Object, mounts))
		}
	}
}

// A claim that is bound grows where its class allows that, and never shrinks.
func TestClaimsGrow(t *testing.T) {
	cluster := armaturetest.Server(t)
	ns := cluster.Namespace(t)
	aVolume(t, cluster.Client(t), ns, "claim-bound")
	s := newSweep(t, cluster, ns, filepath.Join("testdata", "sweep", "claim-bound.yaml"))
	path := []string{"spec", "resources", "requests", "storage"}
	for _, step := range []struct {
		ask, get string
		ignored  int
	}{{"3Gi", "3Gi", 0}, {"2Gi", "3Gi", 1}, {"3072Mi", "3Gi", 0}, {"4Gi", "4Gi", 0}} {
		ignored := s.preserve(t, func(desired map[string]any) { set(t, desired, step.ask, path...) })
		if got := lookup(s.live.Object, path); got != step.get || len(ignored) != step.ignored {
			t.Errorf("asked for %s: it is %v, ignored %v", step.ask, got, ignored)
		}
	}
}
