package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/armature-go/armature/armaturetest"
)

var (
	kills = flag.Int("kills", 2, "how often TestKill kills a demo")
	seed  = flag.Uint64("seed", uint64(time.Now().UnixNano()), "decides when TestKill kills")
)

// programs are what the tests of the demo run, as built from the checkout that they
// stand in.
type programs struct{ armature, operator, nodrift string }

var build = sync.OnceValues(func() (programs, error) {
	dir := filepath.Join(scratch, "bin")
	for _, args := range [][]string{
		{"build", "-o", dir + "/", "."},
		{"build", "-C", filepath.Join("..", "..", "operators"), "-o", dir + "/", "./cmd/webapp-operator", "./webapp/testdata/nodrift"},
	} {
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			return programs{}, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return programs{filepath.Join(dir, "armature"), filepath.Join(dir, "webapp-operator"), filepath.Join(dir, "nodrift")}, nil
})

// scratch is a directory for all tests.
var scratch string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(func() int {
		var err error
		if scratch, err = os.MkdirTemp("", "armature-test-"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(scratch)
		return m.Run()
	}())
}

// plane finds the plane that demos start, as armaturetest does, and its version. It is
// empty where there is none.
var plane = sync.OnceValue(func() (version string) {
	program := os.Getenv("ARMATURE_PLANE")
	if program == "" {
		program = filepath.Join("..", "..", "bin", "plane")
	}
	out, err := exec.Command(program, "version").Output()
	if err != nil {
		return ""
	}
	if words := strings.Fields(string(out)); len(words) > 1 { // kubernetes v1.37.2
		return words[1]
	}
	return ""
})

// needPlane returns the programs to test, and skips the test where no plane can be
// started.
func needPlane(t *testing.T) programs {
	t.Helper()
	if plane() == "" {
		t.Skip("needs a plane: run make build for bin/plane, or name one with ARMATURE_PLANE")
	}
	t.Attr("apiserver", plane())
	p, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// witness is a demo that runs as a process, under the eyes of a test.
type witness struct {
	*testing.T

	cmd    *exec.Cmd
	out    lockedBuffer
	err    lockedBuffer
	tmp    string // where it makes its directory
	marker string // in the environment of every process that it starts
	ports  map[netip.AddrPort]bool
}

// start starts a demo.
func start(t *testing.T, args ...string) *witness {
	t.Helper()
	p := needPlane(t)
	s := &witness{T: t, tmp: t.TempDir(), ports: map[netip.AddrPort]bool{}}
	s.marker = "ARMATURE_SHOW=" + s.tmp
	s.cmd = exec.Command(p.armature, append([]string{"demo"}, args...)...)
	s.cmd.Env = append(os.Environ(), s.marker, "TMPDIR="+s.tmp)
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.err
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		if t.Failed() {
			t.Logf("the demo said:\n%s\n%s", s.out.String(), s.err.String())
		}
	})
	return s
}

// end waits for the end of the demo, noting on the way the ports that it listens on,
// and returns its exit code.
func (s *witness) end() int {
	s.Helper()
	ended := make(chan struct{})
	go func() {
		_ = s.cmd.Wait() // told from the state of the process
		close(ended)
	}()
	for {
		s.look()
		select {
		case <-ended:
			return s.cmd.ProcessState.ExitCode()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// look notes the ports that processes of the demo listen on, and returns the processes.
func (s *witness) look() (processes []string) {
	s.Helper()
	sockets := listening(s.T)
	for _, dir := range glob(s.T, "/proc/[0-9]*") {
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || !bytes.Contains(env, []byte(s.marker+"\x00")) {
			continue
		}
		name, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		processes = append(processes, string(bytes.ReplaceAll(name, []byte{0}, []byte{' '})))
		for _, fd := range glob(s.T, dir+"/fd/*") {
			if port, ok := sockets[readlink(fd)]; ok {
				s.ports[port] = true
			}
		}
	}
	return processes
}

// nothingLeft checks that no process of the demo is left, and nobody listens where it
// listened.
func (s *witness) nothingLeft() {
	s.Helper()
	armaturetest.Eventually(s.T, 10*time.Second, func() string {
		if left := s.look(); len(left) > 0 {
			return "these processes are left:\n" + strings.Join(left, "\n")
		}
		for _, port := range listening(s.T) {
			if s.ports[port] {
				return fmt.Sprintf("somebody still listens on %s", port)
			}
		}
		return ""
	})
}

// listening returns the TCP sockets that listen, by the name that a file descriptor
// has for them.
func listening(t *testing.T) map[string]netip.AddrPort {
	t.Helper()
	sockets := map[string]netip.AddrPort{}
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		table, err := os.Open(file)
		if err != nil {
			continue // no such protocol here
		}
		for lines := bufio.NewScanner(table); lines.Scan(); {
			const local, state, inode = 1, 3, 9
			columns := strings.Fields(lines.Text())
			if len(columns) <= inode || columns[state] != "0A" {
				continue
			}
			_, hex, _ := strings.Cut(columns[local], ":")
			port, err := strconv.ParseUint(hex, 16, 16)
			if err != nil {
				t.Fatal(err)
			}
			sockets["socket:["+columns[inode]+"]"] = netip.AddrPortFrom(netip.IPv6Unspecified(), uint16(port))
		}
		table.Close()
	}
	return sockets
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func readlink(path string) string {
	target, err := os.Readlink(path)
	if err != nil {
		return "" // closed meanwhile
	}
	return target
}

// Every step shows what was, and what became of it.
func TestDemo(t *testing.T) {
	t.Parallel()
	s := start(t, "--operator", needPlane(t).operator)
	if code := s.end(); code != exitDone {
		t.Fatalf("exit status %d", code)
	}
	s.nothingLeft()
	if len(s.ports) == 0 {
		t.Error("it never listened on a port: this test looks in the wrong place")
	}
	if left, err := os.ReadDir(s.tmp); err != nil || len(left) > 0 {
		t.Errorf("it leaves files behind: %v, %v", left, err)
	}
	out := s.out.String()
	for _, want := range []string{
		`WebApp shop +True +Healthy`,
		`1\. Scale it`, `WebApp shop +\.spec\.replicas +2 → 3`, `Deployment shop-frontend +\.status\.readyReplicas +2 → .*3`,
		`2\. Delete a child`, `Deployment shop-frontend +uid +[0-9a-f]{8} → none → [0-9a-f]{8}`,
		`3\. Edit a child`, `Deployment shop-frontend +\.spec\.replicas +3 → 9 → 3`, `\.metadata\.resourceVersion +\d+ → \d+ → `,
		`4\. Change the version`, `env +BACKEND SESSION_STORE → BACKEND`,
		`5\. Name a Secret`, `FrontendReady +.*→ False Blocked`, `waiting for Secret "shop-tls" to exist`, `volumes +none → shop-tls`,
		`6\. Suspend it`, `True Suspended\n`, `all pods +count +\d+ → .*0`, `all persistentvolumeclaims +count +1, as before`, `all pods +count +0 → .*5`,
		`7\. Rename`, `Service storefront +uid +none → [0-9a-f]{8}`, `Service shop +uid +[0-9a-f]{8} → none`,
		`8\. Delete it`, `all pods +count +\d+ → .*0`, `all persistentvolumeclaims +count +1 → 0`, `of every kind that the cluster serves: none`,
		`plane up && export KUBECONFIG=`, `webapp-operator run`, `armature tree webapp/shop --watch`,
	} {
		at := regexp.MustCompile(want).FindStringIndex(out)
		if at == nil {
			t.Fatalf("it does not show %s after what came before; the rest is:\n%s", want, out)
		}
		out = out[at[1]:]
	}
	if strings.Contains(s.out.String(), "\x1b") {
		t.Error("it colours its output where there is no terminal")
	}
}

// A demo that could not fail would show nothing.
func TestDemoFailsWithoutDriftCorrection(t *testing.T) {
	t.Parallel()
	s := start(t, "--operator", needPlane(t).nodrift, "--patience", "20s")
	if code := s.end(); code != exitInvalid {
		t.Fatalf("exit status %d, want %d", code, exitInvalid)
	}
	s.nothingLeft()
	for _, want := range []string{
		"Edit a child by hand: the drift is corrected: this did not come true within 20s",
		"Deployment shop-frontend: .spec.replicas is 9 (3 → 9), and should be what it was",
		"Deployment shop-frontend: its last condition is ",
		"WebApp shop: its last condition is ",
	} {
		if !strings.Contains(s.err.String(), want) {
			t.Errorf("it does not say %q, but\n%s", want, s.err.String())
		}
	}
}

// Nobody waits for what cannot come any more.
func TestDemoFailsWithItsOperator(t *testing.T) {
	t.Parallel()
	s := start(t, "--operator", "/bin/false")
	if code := s.end(); code != exitInvalid {
		t.Fatalf("exit status %d, want %d", code, exitInvalid)
	}
	s.nothingLeft()
	if want := "the operator has ended, with exit status 1"; !strings.Contains(s.err.String(), want) {
		t.Errorf("it does not say %q, but\n%s", want, s.err.String())
	}
}

func TestDemoIsInterrupted(t *testing.T) {
	t.Parallel()
	s := start(t, "--operator", needPlane(t).operator)
	armaturetest.Eventually(t, 2*deadline, func() string {
		if s.look(); !strings.Contains(s.out.String(), "the operator starts") {
			return "it has not come to the operator yet"
		}
		return ""
	})
	if err := s.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := s.end(); code != exitInvalid {
		t.Fatalf("exit status %d, want %d", code, exitInvalid)
	}
	s.nothingLeft()
	if left, err := os.ReadDir(s.tmp); err != nil || len(left) > 0 {
		t.Errorf("it leaves files behind: %v, %v", left, err)
	}
	if !strings.Contains(s.err.String(), "interrupted") {
		t.Errorf("it says\n%s", s.err.String())
	}
}

// The kernel ends what a killed demo has started, whenever that is. More kills than
// those of every day: go test -run Kill -kills 10.
func TestKill(t *testing.T) {
	t.Parallel()
	program := needPlane(t).operator
	whole := time.Now()
	if s := start(t, "--operator", program); s.end() != exitDone {
		t.Fatal("it fails without being killed")
	}
	span := time.Since(whole)
	moments := rand.New(rand.NewPCG(*seed, 0))
	t.Logf("a demo takes %s; seed %d: -seed %d kills at the same parts of it", span.Round(time.Millisecond), *seed, *seed)
	for done, tries := 0, 0; done < *kills; tries++ {
		if tries > 3**kills {
			t.Fatalf("only %d of %d demos were still there when they were to be killed", done, tries)
		}
		if kill(t, program, time.Duration(moments.Float64()*float64(span))) {
			done++
		}
	}
}

// kill starts a demo and kills it some time after its first child was there. It
// reports whether that was before its end.
func kill(t *testing.T, program string, after time.Duration) bool {
	t.Helper()
	s := start(t, "--operator", program)
	armaturetest.Eventually(t, deadline, func() string {
		if len(children(s.cmd.Process.Pid)) == 0 {
			return "it has no child yet"
		}
		return ""
	})
	time.Sleep(after)
	processes := s.look()
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	code := s.end()
	t.Logf("killed %s after its first child was there: %d processes, %d ports; last it said %q",
		after.Round(time.Millisecond), len(processes), len(s.ports), lastLine(s.out.String()))
	s.nothingLeft()
	return code != exitDone
}

// children returns the processes that a process has started.
func children(pid int) []string {
	var all []string
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return nil
	}
	for _, task := range tasks {
		if text, err := os.ReadFile(task); err == nil {
			all = slices.Concat(all, strings.Fields(string(text)))
		}
	}
	return all
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
