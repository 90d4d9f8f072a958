package armaturetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/component"
	"github.com/armature-go/armature/resource"
)

// recorder is a testing.TB that notes how a test would end.
type recorder struct {
	testing.TB

	failed, skipped string
}

func (r *recorder) Helper() {}

func (r *recorder) end(into *string, args ...any) {
	*into = strings.TrimSpace(strings.Join(strings.Fields(fmt.Sprint(args...)), " "))
	panic(r)
}

func (r *recorder) Fatal(args ...any)                 { r.end(&r.failed, args...) }
func (r *recorder) Fatalf(format string, args ...any) { r.end(&r.failed, fmt.Sprintf(format, args...)) }
func (r *recorder) Skip(args ...any)                  { r.end(&r.skipped, args...) }
func (r *recorder) Errorf(format string, args ...any) { r.failed = fmt.Sprintf(format, args...) }

// ends runs a piece of a test and returns how it ended.
func ends(t *testing.T, do func(*recorder)) *recorder {
	t.Helper()
	r := &recorder{TB: t}
	func() {
		defer func() {
			if cause := recover(); cause != nil && cause != any(r) {
				panic(cause)
			}
		}()
		do(r)
	}()
	return r
}

func TestGoldenTellsWhatDiffers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.golden")
	if r := ends(t, func(tb *recorder) { Golden(tb, file, "one\n") }); !strings.Contains(r.failed, "does not exist; if what follows is right, write it with -update") {
		t.Errorf("a missing file: %q", r.failed)
	}
	if err := os.WriteFile(file, []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := ends(t, func(tb *recorder) { Golden(tb, file, "one\n") }); r.failed != "" {
		t.Errorf("the same text: %q", r.failed)
	}
	if r := ends(t, func(tb *recorder) { Golden(tb, file, "two\n") }); !strings.Contains(r.failed, "two") {
		t.Errorf("another text: %q", r.failed)
	}
}

func TestRender(t *testing.T) {
	c := component.Component{Name: "store", Condition: "StoreReady", Resources: []component.Resource{
		resource.Manage(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}, Data: map[string]string{"k": "v"}}),
		resource.Observe(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "b"}}),
	}}
	Golden(t, "testdata/render.yaml", Render(t, Scheme(t), c))
}

func TestCount(t *testing.T) {
	const log = `{"stage":"ResponseComplete","verb":"patch","userAgent":"shop/1","objectRef":{"resource":"deployments","apiGroup":"apps"}}
{"stage":"ResponseComplete","verb":"patch","userAgent":"shop/1","objectRef":{"resource":"webapps","apiGroup":"x","subresource":"status"}}
{"stage":"ResponseComplete","verb":"get","userAgent":"shop/1","objectRef":{"resource":"webapps","apiGroup":"x","subresource":"status"}}
{"stage":"ResponseComplete","verb":"get","userAgent":"shop/1","objectRef":{"resource":"secrets"}}
{"stage":"ResponseComplete","verb":"list","userAgent":"shop/1","objectRef":{"resource":"secrets"}}
{"stage":"ResponseStarted","verb":"watch","userAgent":"shop/1","objectRef":{"resource":"secrets"}}
{"stage":"ResponseComplete","verb":"watch","userAgent":"shop/1","objectRef":{"resource":"secrets"}}
{"stage":"ResponseComplete","verb":"update","userAgent":"shop/1","objectRef":{"resource":"leases","apiGroup":"coordination.k8s.io"}}
{"stage":"ResponseComplete","verb":"create","userAgent":"shop/1","objectRef":{"resource":"events","apiGroup":"events.k8s.io"}}
{"stage":"ResponseComplete","verb":"create","userAgent":"shop/1","objectRef":{"resource":"selfsubjectaccessreviews","apiGroup":"authorization.k8s.io"}}
{"stage":"ResponseComplete","verb":"get","userAgent":"shop/1"}
{"stage":"ResponseComplete","verb":"delete","userAgent":"shop/1","objectRef":{"resource":"services"}}
{"stage":"ResponseComplete","verb":"delete","userAgent":"other/1","objectRef":{"resource":"services"}}
`
	got, err := count(strings.NewReader(log), "shop")
	want := Requests{Reads: 1, Writes: 2, StatusReads: 1, StatusWrites: 1, Watches: 2, Leases: 1, Events: 1, Reviews: 1, Discovery: 1}
	if err != nil || got != want {
		t.Errorf("counted %+v, %v; want %+v", got, err, want)
	}
	if got.Sum() != 5 {
		t.Errorf("the sum is %d", got.Sum())
	}
}

func FuzzCount(f *testing.F) {
	f.Add(`{"stage":"ResponseComplete","verb":"get","userAgent":"a","objectRef":{"resource":"secrets"}}`)
	f.Add("{}\n{\"objectRef\":null}\nnot JSON")
	f.Fuzz(func(t *testing.T, log string) {
		n, err := count(strings.NewReader(log), "")
		if err == nil && n.Sum() > strings.Count(log, "\n")+1 {
			t.Errorf("%d requests in %d lines", n.Sum(), strings.Count(log, "\n")+1)
		}
	})
}

func TestServerCountsWhatReachesIt(t *testing.T) {
	cluster := Server(t)
	ns := cluster.Namespace(t)
	named := func(agent string, faults ...func(*rest.Config)) client.Client {
		cfg := cluster.Config()
		cfg.UserAgent = agent
		for _, f := range faults {
			f(cfg)
		}
		c, err := client.New(cfg, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	ours, theirs := named("ours-"+ns), named("theirs-"+ns)
	n := cluster.Count(t, "ours-"+ns, func() {
		for _, c := range []client.Client{ours, theirs} {
			cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, GenerateName: "a-"}}
			if err := c.Create(t.Context(), cm); err != nil {
				t.Fatal(err)
			}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(cm), cm); err != nil {
				t.Fatal(err)
			}
		}
	})
	if n.Writes != 1 || n.Reads != 1 {
		t.Errorf("one write and one read were counted as %s", n)
	}
}

func TestEventuallyGivesUp(t *testing.T) {
	r := ends(t, func(tb *recorder) { Eventually(tb, 1, func() string { return "not yet" }) })
	if !strings.Contains(r.failed, "not yet") {
		t.Errorf("it ended with %q", r.failed)
	}
}
