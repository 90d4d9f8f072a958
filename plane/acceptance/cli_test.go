package acceptance

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestCommandLinesThatAreWrong(t *testing.T) {
	t.Parallel()
	nowhere := filepath.Join(tempDir(t), "nothing")
	for _, row := range []struct {
		name string
		args string
		code int
		says []string
	}{
		{"no command", "", 2, []string{"plane up", "plane run"}},
		{"an unknown command", "uo", 2, []string{`"uo"`, "plane help"}},
		{"an unknown flag", "up --prot 1", 2, []string{"-prot", "plane up --help"}},
		{"an argument too many", "status now", 2, []string{`"now"`}},
		{"a port that is none", "up --port 70000", 2, []string{"--port 70000", "65535"}},
		{"too many nodes", "up --nodes 5000", 2, []string{"--nodes 5000", "1000"}},
		{"nothing to run", "run", 2, []string{"nothing to run", "--"}},
		{"a program that is missing", "run -- no-such-program", 2, []string{`"no-such-program"`, "PATH"}},
		{"status without a plane", "status --dir " + nowhere, 3, []string{nowhere, "plane up"}},
		{"kubeconfig without a plane", "kubeconfig --dir " + nowhere, 3, []string{nowhere, "plane up"}},
		{"a fault without a plane", "fault --dir " + nowhere + " apiserver stop", 3, []string{nowhere}},
		{"an unknown fault", "fault apiserver explode", 2, []string{"freeze"}},
		{"a proxy fault that does nothing", "fault proxy --share 0.5", 2, []string{"--status"}},
		{"a proxy fault that is no error", "fault proxy --status 200", 2, []string{"--status 200"}},
		{"a share above one", "fault proxy --status 500 --share 2", 2, []string{"--share 2"}},
		{"a method that does not exist", "fault proxy --status 500 --method LOOK", 2, []string{"LOOK", "PATCH"}},
		{"retry-after alone", "fault proxy --latency 1s --retry-after 1s", 2, []string{"--retry-after", "--status"}},
		{"a path without a slash", "fault proxy --status 500 --path api", 2, []string{"--path", "slash"}},
		{"kubectl with half a --dir", "kubectl --dir", 2, []string{"--dir"}},
	} {
		code, out, errs := plane(t, strings.Fields(row.args)...)
		if code != row.code {
			t.Errorf("%s: exit code %d, want %d\n%s", row.name, code, row.code, errs)
		}
		if out != "" {
			t.Errorf("%s: stdout has %q, which is for answers", row.name, out)
		}
		contains(t, row.name, errs, row.says...)
	}
}

func TestHelpIsAnAnswer(t *testing.T) {
	t.Parallel()
	contains(t, "help", must(t, "help"), "plane up", "plane fault", "kube-apiserver")
	for _, verb := range []string{"up", "down", "status", "run", "kubeconfig", "fault", "version"} {
		contains(t, "help of "+verb, must(t, verb, "--help"), "plane "+verb)
	}
	contains(t, "version", must(t, "version"), "kubernetes", "v1.", "etcd", "go")
	contains(t, "the version of etcd", must(t, "etcd", "--version"), "etcd Version")
	contains(t, "the version of the API server", must(t, "kube-apiserver", "--version"), "Kubernetes v1.")
	contains(t, "the version of kubectl", must(t, "kubectl", "version", "--client"), "Client Version: v1.")
}

func TestDownWithoutAPlaneIsDone(t *testing.T) {
	t.Parallel()
	if code, _, errs := plane(t, "down", "--dir", tempDir(t)); code != 0 || !strings.Contains(errs, "nothing to stop") {
		t.Errorf("exit code %d, %s", code, errs)
	}
}

func TestPortThatIsTaken(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"up", "--foreground", "--dir", tempDir(t), "--port", port},
		{"up", "--dir", tempDir(t), "--port", port},
		{"run", "--port", port, "--", "true"},
	} {
		code, _, errs := plane(t, args...)
		if code != 1 {
			t.Errorf("plane %s: exit code %d, want 1", args, code)
		}
		contains(t, "the answer", errs, "port "+port+" is taken", "--port")
		if strings.Count(errs, "\n") != 1 {
			t.Errorf("the answer is more than a line:\n%s", errs)
		}
	}
}

func TestDirectoryThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	file := filepath.Join(tempDir(t), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(file, "plane")
	for _, args := range [][]string{{"up", "--dir", dir}, {"up", "--foreground", "--dir", dir}} {
		code, _, errs := plane(t, args...)
		if code != 1 {
			t.Errorf("exit code %d, want 1", code)
		}
		contains(t, "the answer", errs, dir, "--dir")
	}
	readOnly := tempDir(t)
	if err := os.Chmod(readOnly, 0o500); err != nil { //nolint:gosec // it is the point
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		return // the superuser writes anywhere
	}
	code, _, errs := plane(t, "up", "--dir", readOnly)
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	contains(t, "the answer", errs, readOnly, "permission denied", "--dir")
}

func TestStatusOfThePlane(t *testing.T) {
	w := setup(t)
	dir := w.plane.dir
	text := must(t, "status", "--dir", dir)
	s := readState(t, dir)
	contains(t, "status", text, "plane is up", s.Server, s.Kubeconfig, s.Audit, s.Proxy.Server,
		"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "agent", strconv.Itoa(s.PID))
	var live state
	if err := json.Unmarshal([]byte(must(t, "status", "--dir", dir, "-o", "json")), &live); err != nil {
		t.Fatal(err)
	}
	if !live.Up || live.PID != w.plane.cmd.Process.Pid || len(live.Components) != 5 {
		t.Errorf("status -o json is %+v", live)
	}
	for _, c := range live.Components {
		if c.State != "running" || !alive(c.PID) {
			t.Errorf("component %+v", c)
		}
	}
	if got := must(t, "kubeconfig", "--dir", dir); got != s.Kubeconfig+"\n" {
		t.Errorf("kubeconfig prints %q", got)
	}
	if code, _, errs := plane(t, "status", "--dir", dir, "-o", "yaml"); code != 2 || !strings.Contains(errs, "json") {
		t.Errorf("status -o yaml: exit code %d, %s", code, errs)
	}
	if code, _, errs := plane(t, "up", "--foreground", "--dir", dir); code != 1 || !strings.Contains(errs, "already up") {
		t.Errorf("a second up in the foreground: exit code %d, %s", code, errs)
	}
}

func TestRunPassesThingsOn(t *testing.T) {
	bin := binary(t)
	t.Parallel()
	tmp := tempDir(t)
	script := `test -n "$KUBECONFIG" && "$0" kubectl get nodes -o name && echo "arg $1" && cat && exit 7`
	cmd := exec.CommandContext(t.Context(), bin, "run", "--nodes", "1", "--scheduler=false", "--", "sh", "-c", script, bin, "one two")
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	cmd.Stdin = strings.NewReader("from stdin\n")
	out, err := cmd.Output()
	if code := cmd.ProcessState.ExitCode(); code != 7 {
		t.Errorf("exit code %d, want 7 (%v)", code, err)
	}
	if want := "node/node-0\narg one two\nfrom stdin\n"; string(out) != want {
		t.Errorf("printed %q, want %q", out, want)
	}
	if left, _ := filepath.Glob(filepath.Join(tmp, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	cmd = exec.CommandContext(t.Context(), bin, "run", "--nodes", "0", "--", "sh", "-c", "kill -TERM $$")
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 128+int(syscall.SIGTERM) {
		t.Errorf("a command that was killed: %v", err)
	}
}
