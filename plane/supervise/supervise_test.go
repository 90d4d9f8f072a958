package supervise

import (
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestArguments is a golden test of every component's command line.
func TestArguments(t *testing.T) {
	l := layout{dir: "/data", sockets: "/data"}
	for name, o := range map[string]Options{
		"plain":  {Nodes: 3},
		"all":    {Nodes: 5, Audit: true, LoadBalancer: true, HPA: true, Pace: Calm},
		"simple": {Scheduler: NoScheduler},
	} {
		var b strings.Builder
		for _, c := range append(first(o, l, 6443), others(o, l)...) {
			fmt.Fprintf(&b, "%s\n", c.name)
			for _, a := range c.args {
				fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(a, ",", ",\n    "))
			}
		}
		path := filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if b.String() != string(want) {
			t.Errorf("%s: the command lines differ from %s; if that is meant, run with -update\n%s", name, path, b.String())
		}
	}
}

func TestReservedPort(t *testing.T) {
	r, err := reserve(0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.release()
	addr := fmt.Sprintf("127.0.0.1:%d", r.port)
	if c, err := net.Dial("tcp", addr); err == nil {
		_ = c.Close()
		t.Error("a reserved port accepts connections")
	}
	if l, err := net.Listen("tcp", addr); err == nil {
		_ = l.Close()
		t.Error("a reserved port can be taken by others")
	}
	if other, err := reserve(r.port); err == nil {
		other.release()
		t.Error("a port can be reserved twice")
	} else if want := fmt.Sprintf("port %d is taken", r.port); !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--port") {
		t.Errorf("the error is %q, want %q and what to do", err, want)
	}
	share := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, soReusePort, 1) })
	}}
	for range 2 { // as often as the component is restarted
		l, err := share.Listen(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatalf("a child cannot share the port: %v", err)
		}
		_ = l.Close()
	}
}

func TestSocketsHaveShortPaths(t *testing.T) {
	short := layoutOf("/data/plane")
	if short.socket("control") != "/data/plane/control.sock" {
		t.Errorf("the control socket is %s", short.socket("control"))
	}
	long := layoutOf("/" + strings.Repeat("x", 200))
	if len(long.socket("control")) > socketPath {
		t.Errorf("%s is too long", long.socket("control"))
	}
	if long.socket("control") == layoutOf("/"+strings.Repeat("y", 200)).socket("control") {
		t.Error("two directories share a socket")
	}
}

func TestDirectoryIsHeldByOne(t *testing.T) {
	l := layoutOf(t.TempDir())
	if l.held() {
		t.Error("a fresh directory is held")
	}
	f, err := l.lock()
	if err != nil {
		t.Fatal(err)
	}
	if !l.held() {
		t.Error("a locked directory is free")
	}
	if _, err := l.lock(); err == nil || !strings.Contains(err.Error(), "already up") {
		t.Errorf("a second lock: %v", err)
	}
	_ = f.Close()
	if l.held() {
		t.Error("the lock outlives its file")
	}
}

func TestSweepSparesWhatLives(t *testing.T) {
	root := t.TempDir()
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"dead", "alive", "young", "other"} {
		dir := filepath.Join(root, "run-"+name)
		if name == "other" {
			dir = filepath.Join(root, name)
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if name == "alive" {
			f, err := layoutOf(dir).lock()
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
		}
		if name != "young" {
			if err := os.Chtimes(dir, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	Sweep(filepath.Join(root, "run-*"), time.Now())
	for name, want := range map[string]bool{"run-dead": false, "run-alive": true, "run-young": true, "other": true} {
		if _, err := os.Stat(filepath.Join(root, name)); (err == nil) != want {
			t.Errorf("%s: there is %t, want %t", name, err == nil, want)
		}
	}
}

func TestTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := tail(path, 2); got != "line 4998\nline 4999" {
		t.Errorf("the tail is %q", got)
	}
	if err := os.WriteFile(path, []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := tail(path, 2); got != "one" {
		t.Errorf("the tail of a short log is %q", got)
	}
	if got := tail(path+"-missing", 2); got != "" {
		t.Errorf("the tail of nothing is %q", got)
	}
}

func TestDeadErrorSaysWhich(t *testing.T) {
	err := &DeadError{Component: "etcd", How: "ended with exit code 1", Log: "/x/etcd.log", Tail: "disk full"}
	if got, want := err.Error(), "etcd ended with exit code 1; the end of its log /x/etcd.log:\ndisk full"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestHow(t *testing.T) {
	for script, want := range map[string]string{"exit 4": "ended with exit code 4", "kill -9 $$": "was killed by signal killed"} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
		_ = cmd.Run()
		if got := how(cmd.ProcessState); got != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
}

// TestBoundChildrenDie starts this test binary as a parent that starts a
// child and is killed.
func TestBoundChildrenDie(t *testing.T) {
	if os.Getenv("PLANE_TEST_PARENT") == "1" {
		cmd := exec.Command("sleep", "300")
		if err := StartBound(cmd, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Printf("child %d\n", cmd.Process.Pid); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.CommandContext(t.Context(), self, "-test.run=^TestBoundChildrenDie$")
	parent.Env = append(os.Environ(), "PLANE_TEST_PARENT=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscanf(out, "child %d\n", &pid); err != nil {
		t.Fatal(err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	for range 200 {
		if data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err != nil || strings.Contains(string(data), ") Z ") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	t.Error("the child outlives its parent")
}
