package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func source(t *testing.T) module {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":       "module " + modulePath + "\n\nrequire (\n\tk8s.io/kubernetes v1.37.2\n)\n",
		"go.sum":       "sum",
		"main.go":      "package main",
		"main_test.go": "package main",
		"node/node.go": "package node",
		"build/x.go":   "package main",
		"README.md":    "words",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	m, err := readModule(dir)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestKeyChangesWithWhatCounts(t *testing.T) {
	for name, counts := range map[string]bool{
		"go.mod": true, "go.sum": true, "main.go": true, "node/node.go": true, "node/new.go": true,
		"main_test.go": false, "README.md": false, "build/x.go": false,
	} {
		m := source(t)
		before, err := m.key("go1")
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(m.dir, name), "// changed")
		after, err := m.key("go1")
		if err != nil {
			t.Fatal(err)
		}
		if (before != after) != counts {
			t.Errorf("changing %s: the key changes is %t, want %t", name, before != after, counts)
		}
	}
	m := source(t)
	one, _ := m.key("go1")
	two, _ := m.key("go2")
	if one == two {
		t.Error("the key does not depend on the version of Go")
	}
}

func TestReadModuleRefusesOthers(t *testing.T) {
	dir := t.TempDir()
	if _, err := readModule(dir); err == nil || !strings.Contains(err.Error(), "go run -C plane ./build") {
		t.Errorf("no module: %v", err)
	}
	write(t, filepath.Join(dir, "go.mod"), "module "+modulePath+"\n")
	if _, err := readModule(dir); err == nil || !strings.Contains(err.Error(), "k8s.io/kubernetes") {
		t.Errorf("no kubernetes: %v", err)
	}
}

func TestVersionIsStamped(t *testing.T) {
	flags := source(t).linkerFlags()
	for _, want := range []string{"version.gitVersion=v1.37.2", "version.gitMajor=1 ", "version.gitMinor=37 ", "buildDate=1970-01-01T00:00:00Z"} {
		if !strings.Contains(flags, want) {
			t.Errorf("%q is not in %s", want, flags)
		}
	}
}

func TestFollowTellsPackagesFromTrouble(t *testing.T) {
	p := &progress{start: time.Now(), total: 10}
	rest := p.follow(strings.NewReader("internal/goos\nk8s.io/api/core/v1\ngo: downloading k8s.io/api v0.37.2\n# k8s.io/x\n./main.go:3:1: syntax error\n"))
	if p.done != 2 || p.modules != 1 || len(rest) != 2 {
		t.Errorf("%d packages, %d modules, rest %q", p.done, p.modules, rest)
	}
	if got := p.line(); !strings.HasPrefix(got, "compiled 2 of 10 packages (20%)") {
		t.Errorf("the line is %q", got)
	}
	p.done = 10
	if got := p.line(); !strings.HasPrefix(got, "linking") {
		t.Errorf("the line is %q", got)
	}
}

func TestExplain(t *testing.T) {
	failed := errors.New("exit status 1")
	if err := explain([]string{"# x", "./main.go:3:1: syntax error"}, failed); !strings.Contains(err.Error(), "main.go:3:1") {
		t.Errorf("a compile error: %v", err)
	}
	for _, line := range []string{"go: k8s.io/api@v0.37.2: no route", "main.go:12:2: module lookup disabled by GOPROXY=off"} {
		err := explain([]string{line, "main.go:13:2: the same again"}, failed)
		if text := err.Error(); !strings.Contains(text, "check the network and GOPROXY") || strings.Contains(text, "\n") {
			t.Errorf("missing modules: %v", err)
		}
	}
}

func TestAnnounce(t *testing.T) {
	if got := announce(2700); !strings.Contains(got, "about ten minutes on two cores, once") {
		t.Errorf("cold: %s", got)
	}
	if got := announce(5); strings.Contains(got, "minutes") {
		t.Errorf("warm: %s", got)
	}
}

func TestProgressWithoutTerminal(t *testing.T) {
	var b bytes.Buffer
	p := &progress{out: &b, start: time.Now(), total: 4}
	p.compiled()
	p.show()
	if got := b.String(); !strings.HasSuffix(got, "\n") || strings.Contains(got, "\r") {
		t.Errorf("printed %q", got)
	}
}

func TestInstallAndLink(t *testing.T) {
	dir := t.TempDir()
	cached, out, assets := filepath.Join(dir, "cached"), filepath.Join(dir, "bin", "plane"), filepath.Join(dir, "assets")
	write(t, cached, "one")
	for range 2 { // the second time there is nothing to do
		if err := install(cached, out); err != nil {
			t.Fatal(err)
		}
		if err := link(out, assets); err != nil {
			t.Fatal(err)
		}
	}
	if data, err := os.ReadFile(filepath.Join(assets, "etcd")); err != nil || string(data) != "one" {
		t.Errorf("etcd is %q (%v)", data, err)
	}
	write(t, cached+"2", "two")
	if err := install(cached+"2", out); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(assets, "kubectl")); err != nil || string(data) != "two" {
		t.Errorf("kubectl is %q (%v)", data, err)
	}
	if data, err := os.ReadFile(cached); err != nil || string(data) != "one" {
		t.Errorf("the cache was changed to %q (%v)", data, err)
	}
}

func TestPruneKeepsTheLastUsed(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for i, name := range []string{"plane-a", "plane-b", "plane-c", "plane-a.part", "other"} {
		path := filepath.Join(dir, name)
		write(t, path, name)
		if err := os.Chtimes(path, now, now.Add(time.Duration(-i)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if err := prune(dir, 2); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"plane-a": true, "plane-b": true, "plane-c": false, "plane-a.part": true, "other": true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: there is %t, want %t", name, err == nil, want)
		}
	}
}
