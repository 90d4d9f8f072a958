package bound_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/armature-go/armature/cmd/armature/bound"
)

// The test binary is also the parent whose death is watched, and the guard.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == bound.GuardCommand {
		os.Exit(bound.Guard(os.Args[2:]))
	}
	if how := os.Getenv("BOUND_PARENT"); how != "" {
		os.Exit(parent(how))
	}
	os.Exit(m.Run())
}

// parent starts processes and waits for ever.
func parent(how string) int {
	start := bound.Start
	cmd := exec.Command("sleep", "300")
	if how == "group" {
		start = bound.StartGroup
		cmd = exec.Command("sh", "-c", "sleep 300 & sleep 300 & wait")
	}
	p, err := start(cmd)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("started")
	<-p.Done()
	return 0
}

func TestNobodyOutlivesAKilledParent(t *testing.T) {
	for _, test := range []struct {
		how       string
		processes int // of which the parent is one
	}{
		{"alone", 2},
		{"group", 5}, // the guard, a shell and what it started
	} {
		t.Run(test.how, func(t *testing.T) {
			t.Parallel()
			mark := "BOUND_MARK=" + t.TempDir()
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "BOUND_PARENT="+test.how, mark)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			until(t, "all are there", func() bool { return len(marked(t, mark)) == test.processes })
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			until(t, "all have ended", func() bool { return len(marked(t, mark)) == 0 })
		})
	}
}

func TestStop(t *testing.T) {
	for _, test := range []struct {
		name   string
		script string
		want   syscall.Signal
	}{
		{"who can end is asked to", "sleep 300", syscall.SIGTERM},
		{"who does not listen is killed", "trap '' TERM; while :; do sleep 0.01; done", syscall.SIGKILL},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			cmd := exec.Command("sh", "-c", "echo ready; "+test.script)
			pipe, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			p, err := bound.Start(cmd)
			if err != nil {
				t.Fatal(err)
			}
			ready := make([]byte, len("ready"))
			if _, err := pipe.Read(ready); err != nil {
				t.Fatal(err)
			}
			if test.want == syscall.SIGKILL {
				time.Sleep(50 * time.Millisecond) // the trap is set right after
			}
			p.Stop(300 * time.Millisecond)
			status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
			if !ok || p.Err() == nil || status.Signal() != test.want {
				t.Errorf("ended by %v, want %v\n%s", status.Signal(), test.want, out.String())
			}
			p.Stop(0) // once more does no harm
		})
	}
}

func TestStartSaysWhatIsMissing(t *testing.T) {
	for _, start := range []func(*exec.Cmd) (*bound.Process, error){bound.Start, bound.StartGroup} {
		if _, err := start(exec.Command("no-such-program")); err == nil || !strings.Contains(err.Error(), "no-such-program") {
			t.Errorf("got %v, want an error that names the program", err)
		}
	}
}

func TestGuardPassesTheExitCodeOn(t *testing.T) {
	cmd := exec.Command(os.Args[0], bound.GuardCommand, "sh", "-c", "echo out; echo err >&2; exit 7")
	out, err := cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.ExitCode() != 7 || string(out) != "out\nerr\n" {
		t.Errorf("exit code %d, output %q", cmd.ProcessState.ExitCode(), out)
	}
}

// marked returns the processes that have a variable in their environment.
func marked(t *testing.T, variable string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		if env, err := os.ReadFile(file); err == nil && bytes.Contains(env, []byte(variable+"\x00")) {
			found = append(found, file)
		}
	}
	return found
}

func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 500 {
		if done() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("after 10s it is not so: %s", what)
}
