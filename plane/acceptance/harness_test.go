package acceptance

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// deadline is for what should take less than a second, on a machine that is
// busy with something else.
const deadline = 40 * time.Second

func TestMain(m *testing.M) {
	code := m.Run()
	if p, err := shared.peek(); err == nil && p != nil {
		p.stop()
		_ = os.RemoveAll(p.dir)
	}
	os.Exit(code)
}

// program is where the program under test should be.
func program() string {
	if path := os.Getenv("ARMATURE_PLANE"); path != "" {
		return path
	}
	return filepath.Join("..", "..", "bin", "plane")
}

// binary is the program under test. Without it a test is skipped.
func binary(t *testing.T) string {
	t.Helper()
	path := program()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(abs); err != nil {
		t.Skipf("no plane at %s; build it with go run -C plane ./build -o ../bin/plane", path)
	}
	return abs
}

// state is the part of state.json that tests read.
type state struct {
	Up         bool        `json:"up"`
	PID        int         `json:"pid"`
	Server     string      `json:"server"`
	Kubeconfig string      `json:"kubeconfig"`
	Audit      string      `json:"audit"`
	Proxy      *proxyState `json:"proxy"`
	Components []component `json:"components"`
}

type proxyState struct {
	Server     string `json:"server"`
	Kubeconfig string `json:"kubeconfig"`
}

type component struct {
	Name  string `json:"name"`
	State string `json:"state"`
	PID   int    `json:"pid"`
}

func readState(t *testing.T, dir string) state {
	t.Helper()
	var s state
	data, err := os.ReadFile(filepath.Join(dir, "state.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatalf("state.json: %v\n%s", err, data)
	}
	return s
}

// instance is a plane in the foreground.
type instance struct {
	dir    string
	cmd    *exec.Cmd
	stderr *bytes.Buffer
	done   chan struct{}
}

// launch starts plane up --foreground and returns when it says that it is
// ready.
func launch(bin, dir string, flags ...string) (*instance, error) {
	p := &instance{dir: dir, stderr: &bytes.Buffer{}, done: make(chan struct{})}
	p.cmd = exec.Command(bin, append([]string{"up", "--foreground", "--dir", dir}, flags...)...)
	p.cmd.Env = append(os.Environ(), "PLANE_PARENT="+strconv.Itoa(os.Getpid()))
	p.cmd.Stderr = p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	go func() {
		_ = p.cmd.Wait()
		close(p.done)
	}()
	if want := "ready " + filepath.Join(dir, "kubeconfig") + "\n"; line != want {
		<-p.done
		return nil, fmt.Errorf("first line is %q, want %q\n%s", line, want, p.stderr)
	}
	return p, nil
}

func (p *instance) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	<-p.done
}

// own starts a plane for one test, in a directory of its own.
func own(t *testing.T, flags ...string) *instance {
	t.Helper()
	p, err := launch(binary(t), tempDir(t), flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.stop)
	return p
}

// tempDir is like t.TempDir, but with a short path whatever the test is called.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "plane-test-") //nolint:usetesting // a short path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// sharedPlane is started by the first test that needs it.
type sharedPlane struct {
	mu sync.Mutex
	p  *instance
	e  error
}

var shared sharedPlane

func (s *sharedPlane) peek() (*instance, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.p, s.e
}

func (s *sharedPlane) get(bin string) (*instance, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.p == nil && s.e == nil {
		dir, err := os.MkdirTemp("", "plane-test-")
		if err != nil {
			return nil, err
		}
		s.p, s.e = launch(bin, dir, "--audit", "--proxy", "--load-balancer", "--hpa")
	}
	return s.p, s.e
}

// world is a namespace on the shared plane and a client.
type world struct {
	*kubernetes.Clientset
	plane  *instance
	config *rest.Config
	ns     string
}

func setup(t *testing.T) *world {
	t.Helper()
	bin := binary(t)
	t.Parallel()
	p, err := shared.get(bin)
	if err != nil {
		t.Fatal(err)
	}
	return p.world(t)
}

// world makes a namespace that goes when the test ends.
func (p *instance) world(t *testing.T) *world {
	t.Helper()
	cfg := config(t, filepath.Join(p.dir, "kubeconfig"))
	cs, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{Clientset: cs, plane: p, config: cfg}
	ns, err := cs.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "t-"},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.ns = ns.Name
	t.Cleanup(func() {
		_ = cs.CoreV1().Namespaces().Delete(context.WithoutCancel(t.Context()), w.ns, metav1.DeleteOptions{})
	})
	// Pods are refused until their service account exists.
	eventually(t, "the default service account", func() error {
		_, err := cs.CoreV1().ServiceAccounts(w.ns).Get(t.Context(), "default", metav1.GetOptions{})
		return err
	})
	return w
}

// version is that of the API server.
var version = sync.OnceValue(func() string {
	out, err := exec.Command(program(), "version").Output()
	if words := strings.Fields(string(out)); err == nil && len(words) > 1 { // kubernetes v1.37.2 …
		return words[1]
	}
	return "unknown"
})

// config is where a test meets the API server.
func config(t *testing.T, path string) *rest.Config {
	t.Helper()
	t.Attr("apiserver", version())
	cfg, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	cfg.QPS = -1
	return cfg
}

// eventually fails the test if what it waits for does not come true.
func eventually(t *testing.T, what string, ok func() error) {
	t.Helper()
	end := time.Now().Add(deadline)
	for {
		err := ok()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("waiting for %s: %v", what, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// stays fails the test if something stops being true within a moment.
func stays(t *testing.T, what string, ok func() error) {
	t.Helper()
	for end := time.Now().Add(700 * time.Millisecond); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err := ok(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
}

// gone is nil when an error says that the object does not exist.
func gone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil {
		return errors.New("it is still there")
	}
	return err
}

// plane runs the program and returns its exit code and what it printed.
func plane(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return planeEnv(t, nil, args...)
}

func planeEnv(t *testing.T, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	cmd := exec.CommandContext(t.Context(), binary(t), args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = &out, &err
	if e := cmd.Run(); e != nil {
		if _, exited := errors.AsType[*exec.ExitError](e); !exited {
			t.Fatal(e)
		}
	}
	return cmd.ProcessState.ExitCode(), out.String(), err.String()
}

// must runs the program and expects success.
func must(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := plane(t, args...)
	if code != 0 {
		t.Fatalf("plane %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, errs)
	}
	return out
}

// spawn starts a process that ends with the test, if it has not before.
func spawn(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

func alive(pid int) bool { return pid > 0 && syscall.Kill(pid, 0) == nil }

func contains(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%s does not say %q:\n%s", what, p, text)
		}
	}
}
