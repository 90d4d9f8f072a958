package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/armature-go/armature/armaturetest"
)

// run runs the program in this process.
func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = execute(t.Context(), args, &out, &err)
	return code, out.String(), err.String()
}

// transcript is what a person sees.
func transcript(code int, stdout, stderr string) string {
	return fmt.Sprintf("%s-- remarks --\n%s-- exit status %d --\n", stdout, stderr, code)
}

// testdata/<name>.txt says how the program answers a command line that needs no
// cluster.
func TestCommandLine(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("HOME", t.TempDir())
	for _, test := range []struct {
		name string
		args []string
	}{
		{"help", []string{"--help"}},
		{"tree-help", []string{"tree", "--help"}},
		{"demo-help", []string{"demo", "--help"}},
		{"unknown-command", []string{"treee"}},
		{"unknown-flag", []string{"tree", "webapp/shop", "--wach"}},
		{"tree-without-argument", []string{"tree"}},
		{"tree-without-name", []string{"tree", "webapp"}},
		{"tree-of-two", []string{"tree", "webapp/a", "webapp/b"}},
		{"no-kubeconfig", []string{"tree", "webapp/shop"}},
		{"missing-kubeconfig", []string{"tree", "webapp/shop", "--kubeconfig", "nowhere.yaml"}},
		{"dead-cluster", []string{"tree", "webapp/shop", "--kubeconfig", "testdata/dead.yaml"}},
		{"missing-operator", []string{"demo", "--operator", "nowhere/operator"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			armaturetest.Golden(t, filepath.Join("testdata", test.name+".txt"), transcript(run(t, test.args...)))
		})
	}
}

func TestDemoNeedsACheckout(t *testing.T) {
	t.Chdir(t.TempDir())
	if code, _, stderr := run(t, "demo"); code != exitInvalid || stderr == "" {
		t.Errorf("exit status %d, %q", code, stderr)
	}
}

func TestVersion(t *testing.T) {
	deps := []*debug.Module{{Path: "k8s.io/api", Version: "v0.36.1"}, {Path: "k8s.io/client-go", Version: "v0.37.2"}}
	for _, test := range []struct {
		name, stamp string
		info        debug.BuildInfo
		want        string
	}{
		{"stamped", "v1.2.3", debug.BuildInfo{GoVersion: "go1.26.8", Deps: deps}, "armature v1.2.3\ngo1.26.8\nKubernetes 1.37"},
		{"installed", "", debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Version: "v0.1.0"}, Deps: deps}, "armature v0.1.0\ngo1.26.8\nKubernetes 1.37"},
		{"built in a checkout", "", debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Version: "(devel)"}, Deps: deps}, "armature devel\ngo1.26.8\nKubernetes 1.37"},
		{"nothing recorded", "", debug.BuildInfo{}, "armature devel\n\nKubernetes unknown"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := describe(test.stamp, &test.info); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	if code, stdout, _ := run(t, "version"); code != exitDone || stdout == "" {
		t.Errorf("exit status %d, %q", code, stdout)
	}
}
