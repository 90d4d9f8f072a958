package armaturetest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Environment variables that say where tests find their API server.
const (
	envPlane      = "ARMATURE_PLANE"           // the plane program
	envKubeconfig = "ARMATURE_TEST_KUBECONFIG" // a cluster that tests may use, instead of a plane of their own
)

// startTimeout is how long a plane may take to answer on a loaded machine.
const startTimeout = 2 * time.Minute

// Cluster is a Kubernetes API that tests may write to. It is safe for concurrent
// use.
type Cluster struct {
	config     *rest.Config
	kubeconfig string
	version    string
	audit      string    // path of the audit log; empty if there is none to read
	alive      io.Closer // a plane of our own lives as long as this is open
}

// Server returns the API server of the test binary, which all its tests share. The
// first call starts a plane, which ends with the process; where
// ARMATURE_TEST_KUBECONFIG names a kubeconfig, that cluster is used. Without either
// the test is skipped. The ambient KUBECONFIG is never used.
func Server(tb testing.TB) *Cluster {
	tb.Helper()
	c, err := shared()
	if errors.Is(err, errNoPlane) {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Attr("apiserver", c.version)
	return c
}

// Config returns a configuration for a client of the server; it is the caller's.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.config) }

// Kubeconfig returns the path of a kubeconfig file for programs.
func (c *Cluster) Kubeconfig() string { return c.kubeconfig }

var errNoPlane = fmt.Errorf("needs an API server: run make build for bin/plane, or name one with %s or %s", envPlane, envKubeconfig)

var shared = sync.OnceValues(start)

func start() (*Cluster, error) {
	c := &Cluster{kubeconfig: os.Getenv(envKubeconfig)}
	if c.kubeconfig == "" {
		plane, err := findPlane()
		if err != nil {
			return nil, err
		}
		if c.kubeconfig, c.alive, err = runPlane(plane); err != nil {
			return nil, err
		}
		c.audit = filepath.Join(filepath.Dir(c.kubeconfig), "audit.log")
	}
	var err error
	if c.config, err = clientcmd.BuildConfigFromFlags("", c.kubeconfig); err != nil {
		return nil, err
	}
	c.config.QPS = -1
	c.config.UserAgent = "armaturetest"
	client, err := discovery.NewDiscoveryClientForConfig(c.config)
	if err != nil {
		return nil, err
	}
	v, err := client.ServerVersion()
	if err != nil {
		return nil, fmt.Errorf("asking the API server for its version: %w", err)
	}
	c.version = v.GitVersion
	return c, nil
}

// findPlane returns the plane program: the one that the environment names, or the
// one that make build leaves in bin of the repository.
func findPlane() (string, error) {
	if path := os.Getenv(envPlane); path != "" {
		return path, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err != nil {
			continue
		}
		path := filepath.Join(dir, "bin", "plane")
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", errNoPlane
}

// runPlane starts a throw-away plane whose command waits for the end of its input.
// The write end of that pipe is held by this process, so that the plane goes, and
// cleans up, however the process ends.
func runPlane(plane string) (kubeconfig string, alive io.Closer, err error) {
	cmd := exec.Command(plane, "run", "--audit", "--", "sh", "-c", `echo "$KUBECONFIG"; cat`)
	cmd.Env = append(os.Environ(), fmt.Sprintf("PLANE_PARENT=%d", os.Getpid())) // it ends with us from its first moment on
	var said tail
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, fmt.Errorf("starting %s: %w", plane, err)
	}
	line := make(chan string, 1)
	go func() {
		first, _ := bufio.NewReader(out).ReadString('\n')
		line <- strings.TrimSpace(first)
	}()
	select {
	case kubeconfig = <-line:
	case <-time.After(startTimeout):
		_ = cmd.Process.Kill()
	}
	if kubeconfig == "" {
		return "", nil, fmt.Errorf("starting %s: no API server came up; it said:\n%s", plane, said.String())
	}
	return kubeconfig, in, nil
}

// tail keeps the last part of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (w *tail) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, p...)
	if over := len(w.text) - 4096; over > 0 {
		w.text = w.text[over:]
	}
	return len(p), nil
}

func (w *tail) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.text)
}
