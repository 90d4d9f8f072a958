package acceptance

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func listening(server string) bool {
	u, err := url.Parse(server)
	if err != nil {
		return false
	}
	c, err := net.DialTimeout("tcp", u.Host, time.Second)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

// nothingLeft waits until no process and no port of a plane is left.
func nothingLeft(t *testing.T, s state) {
	t.Helper()
	eventually(t, "all processes to end", func() error {
		for _, c := range s.Components {
			if alive(c.PID) && !zombie(c.PID) {
				return fmt.Errorf("%s is alive", c.Name)
			}
		}
		if listening(s.Server) {
			return errors.New("the port is open")
		}
		return nil
	})
}

// zombie reports whether a process has ended and only waits for its new
// parent to notice, which in a container may never happen.
func zombie(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, after, _ := strings.Cut(string(data), ") ")
	return strings.HasPrefix(after, "Z")
}

// TestPersistentPlane goes through a day of a plane that stays: up, up again,
// down, up on the same data, killed, up again.
func TestPersistentPlane(t *testing.T) {
	binary(t)
	t.Parallel()
	dir := filepath.Join(tempDir(t), strings.Repeat("a-long-name-", 9), "plane") // longer than a socket's path may be
	t.Cleanup(func() { _ = exec.Command(binary(t), "down", "--dir", dir).Run() })

	code, out, errs := plane(t, "up", "--dir", dir, "--nodes", "1")
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	first := readState(t, dir)
	contains(t, "up", out, first.Server, "export KUBECONFIG="+first.Kubeconfig, "plane kubectl", "plane down", dir)
	contains(t, "the progress", errs, "kube-apiserver", "up")
	code, out, errs = plane(t, "up", "--dir", dir)
	if code != 0 || readState(t, dir).PID != first.PID {
		t.Errorf("a second up: exit code %d, another supervisor", code)
	}
	contains(t, "a second up", errs, "already up", dir)
	contains(t, "a second up", out, first.Server)

	cs := kubernetes.NewForConfigOrDie(config(t, first.Kubeconfig))
	keys, err := os.ReadFile(first.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cs.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: meta("kept")}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := cs.CoreV1().Services("default").Create(t.Context(), loadBalancer("lb"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	must(t, "down", "--dir", dir)
	nothingLeft(t, first)
	if alive(first.PID) && !zombie(first.PID) {
		t.Error("the supervisor is alive after down")
	}

	again := func() state {
		t.Helper()
		must(t, "up", "--dir", dir, "--nodes", "1")
		s := readState(t, dir)
		if s.Server != first.Server {
			t.Errorf("the address changed from %s to %s", first.Server, s.Server)
		}
		if now, err := os.ReadFile(s.Kubeconfig); err != nil || string(now) != string(keys) {
			t.Errorf("the kubeconfig changed (%v)", err)
		}
		if _, err := cs.CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{}); err != nil {
			t.Errorf("the data was not kept: %v", err)
		}
		return s
	}
	second := again()
	lb, err := cs.CoreV1().Services("default").Get(t.Context(), "lb", metav1.GetOptions{})
	if err != nil || len(lb.Status.LoadBalancer.Ingress) > 0 {
		t.Errorf("without --load-balancer a Service has %+v (%v)", lb.Status, err)
	}
	if err := syscall.Kill(second.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	nothingLeft(t, second)
	if code, _, errs := plane(t, "status", "--dir", dir); code != 3 {
		t.Errorf("status after a kill: exit code %d, %s", code, errs)
	}
	again()
}

// TestTwoPlanes runs one that is asked for the port of the other.
func TestTwoPlanes(t *testing.T) {
	w := setup(t)
	server := readState(t, w.plane.dir).Server
	_, port, _ := strings.Cut(strings.TrimPrefix(server, "https://"), ":")
	code, _, errs := plane(t, "up", "--foreground", "--dir", tempDir(t), "--port", port)
	if code != 1 || !strings.Contains(errs, "port "+port+" is taken") {
		t.Errorf("the port of another plane: exit code %d, %s", code, errs)
	}
	other := own(t, "--nodes", "1", "--scheduler=false").world(t)
	if other.config.Host == w.config.Host {
		t.Fatal("both have one address")
	}
	// The other one places pods without a scheduler, also those with claims.
	if _, err := other.AppsV1().StatefulSets(other.ns).Create(t.Context(), statefulSet(1), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	other.awaitPod(t, "db-0", "ready", isReady)
	if _, err := w.CoreV1().Namespaces().Get(t.Context(), other.ns, metav1.GetOptions{}); gone(err) != nil {
		t.Errorf("the namespace of one plane is in the other: %v", gone(err))
	}
	if got := len(readState(t, other.plane.dir).Components); got != 4 {
		t.Errorf("%d components without a scheduler, want 4", got)
	}
	// A foreground plane goes when its parent goes: here, when it is told.
	s := readState(t, other.plane.dir)
	other.plane.stop()
	nothingLeft(t, s)
	if code := other.plane.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d after SIGTERM\n%s", code, other.plane.stderr)
	}
}

func TestForegroundPlaneDiesWithItsParent(t *testing.T) {
	bin := binary(t)
	t.Parallel()
	dir := tempDir(t)
	parent := exec.Command("sh", "-c", `"$0" up --foreground --nodes 0 --dir "$1" & wait`, bin, dir)
	spawn(t, parent)
	var s state
	eventually(t, "the plane to be up", func() error {
		if data, err := os.ReadFile(filepath.Join(dir, "state.json")); err != nil || len(data) == 0 {
			return errors.New("no state yet")
		}
		if s = readState(t, dir); !s.Up {
			return errors.New("not up yet")
		}
		return nil
	})
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	nothingLeft(t, s)
	eventually(t, "the supervisor to end", func() error {
		if alive(s.PID) && !zombie(s.PID) {
			return errors.New("it is alive")
		}
		return nil
	})
}

// TestKilledAtAnyMoment kills the parent of a plane while it starts. The
// moments are drawn anew in every run, and printed.
func TestKilledAtAnyMoment(t *testing.T) {
	bin := binary(t)
	t.Parallel()
	for range 4 {
		after := time.Duration(rand.Int64N(int64(2500 * time.Millisecond))) //nolint:gosec // not a secret
		dir := tempDir(t)
		parent := exec.Command("sh", "-c", `PLANE_PARENT=$$ "$0" up --foreground --dir "$1" & wait`, bin, dir)
		spawn(t, parent)
		time.Sleep(after)
		if err := parent.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = parent.Wait()
		eventually(t, fmt.Sprintf("everything to end after a kill at %s", after), func() error {
			if left := mentioning(t, dir); len(left) > 0 {
				return fmt.Errorf("left: %q", left)
			}
			return nil
		})
	}
}

// mentioning lists the command lines of living processes that name a path.
func mentioning(t *testing.T, path string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(files) == 0 {
		t.Fatalf("no processes to look at (%v)", err)
	}
	var out []string
	for _, f := range files {
		if data, err := os.ReadFile(f); err == nil && strings.Contains(string(data), path) {
			out = append(out, strings.ReplaceAll(string(data), "\x00", " "))
		}
	}
	return out
}

func TestRunKilledLeavesNothing(t *testing.T) {
	bin := binary(t)
	t.Parallel()
	tmp := tempDir(t)
	cmd := exec.Command(bin, "run", "--nodes", "0", "--", "sleep", "300")
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	spawn(t, cmd)
	var s state
	eventually(t, "the plane to be up", func() error {
		dirs, _ := filepath.Glob(filepath.Join(tmp, "plane-run-*", "state.json"))
		if len(dirs) != 1 {
			return errors.New("no state yet")
		}
		if s = readState(t, filepath.Dir(dirs[0])); !s.Up {
			return errors.New("not up yet")
		}
		return nil
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	nothingLeft(t, s)
}

func TestDeathOfAComponentEndsThePlane(t *testing.T) {
	binary(t)
	p := own(t, "--nodes", "0")
	s := readState(t, p.dir)
	must(t, "fault", "--dir", p.dir, "kill", "kube-scheduler")
	select {
	case <-p.done:
	case <-time.After(deadline):
		t.Fatal("the plane lives on")
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
	contains(t, "its last words", p.stderr.String(), "kube-scheduler was killed", "kube-scheduler.log", "Starting Kubernetes Scheduler")
	nothingLeft(t, s)
	code, _, errs := plane(t, "status", "--dir", p.dir)
	if code != 3 || !strings.Contains(errs, "kube-scheduler was killed") {
		t.Errorf("status after the death: exit code %d, %s", code, errs)
	}
}

// answer is what a server said.
type answer struct {
	code   int
	header http.Header
	body   string
}

// raw asks the API server without the patience of client-go.
func raw(t *testing.T, cfg *rest.Config, method, path string) (answer, error) {
	t.Helper()
	c, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, cfg.Host+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(body)}, err
}

func TestFaultsOfTheAPIServer(t *testing.T) {
	binary(t)
	t.Parallel()
	p := own(t, "--nodes", "1")
	w := p.world(t)
	w.pod(t, "before", nil, nil)
	w.awaitPod(t, "before", "ready", isReady)
	ask := func(patience time.Duration) error {
		cfg := *w.config
		cfg.Timeout = patience
		a, err := raw(t, &cfg, http.MethodGet, "/readyz")
		if err == nil && a.code != http.StatusOK {
			err = fmt.Errorf("%d %s", a.code, a.body)
		}
		return err
	}
	apiserver := func(action string) { t.Helper(); must(t, "fault", "apiserver", action, "--dir", p.dir) }
	pid := func() int {
		for _, c := range readLive(t, p.dir).Components {
			if c.Name == "kube-apiserver" {
				return c.PID
			}
		}
		return 0
	}
	original := pid()

	apiserver("freeze")
	if err := ask(500 * time.Millisecond); err == nil {
		t.Error("a frozen API server answers")
	} else if errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a frozen API server refuses connections: %v", err)
	}
	contains(t, "status", must(t, "status", "--dir", p.dir), "frozen")
	apiserver("thaw")
	if err := ask(deadline); err != nil || pid() != original {
		t.Errorf("after thawing: %v, pid %d was %d", err, pid(), original)
	}

	apiserver("stop")
	if err := ask(deadline); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a stopped API server: %v, want a refused connection", err)
	}
	code, _, errs := plane(t, "fault", "--dir", p.dir, "apiserver", "freeze")
	if code != 1 || !strings.Contains(errs, "start") {
		t.Errorf("freezing what is stopped: exit code %d, %s", code, errs)
	}
	apiserver("start")
	if err := ask(deadline); err != nil {
		t.Errorf("after start: %v", err)
	}
	restarted := pid()
	apiserver("restart")
	if restarted == original || pid() == restarted {
		t.Errorf("pids are %d, %d, %d; want three", original, restarted, pid())
	}
	if !isReady(w.get(t, "before")) {
		t.Error("the pod of before is not ready")
	}
	w.pod(t, "after", nil, nil)
	w.awaitPod(t, "after", "ready: controllers and nodes are back", isReady)
	code, _, errs = plane(t, "fault", "--dir", p.dir, "kill", "kubelet")
	if code != 1 || !strings.Contains(errs, "kube-scheduler") {
		t.Errorf("killing what does not exist: exit code %d, %s", code, errs)
	}
	code, _, errs = plane(t, "fault", "--dir", p.dir, "proxy", "--status", "500")
	if code != 1 || !strings.Contains(errs, "--proxy") {
		t.Errorf("a proxy fault without a proxy: exit code %d, %s", code, errs)
	}
}

func readLive(t *testing.T, dir string) state {
	t.Helper()
	must(t, "status", "--dir", dir)
	return decode(t, must(t, "status", "--dir", dir, "-o", "json"))
}

func TestFaultsOfTheProxy(t *testing.T) {
	w := setup(t)
	cfg := config(t, readState(t, w.plane.dir).Proxy.Kubeconfig)
	cm := "/api/v1/namespaces/" + w.ns + "/configmaps"
	fault := func(args ...string) {
		t.Helper()
		must(t, append([]string{"fault", "proxy", "--dir", w.plane.dir}, args...)...)
	}
	get := func() int {
		t.Helper()
		a, err := raw(t, cfg, http.MethodGet, cm)
		if err != nil {
			t.Fatal(err)
		}
		return a.code
	}
	t.Cleanup(func() { _ = exec.Command(binary(t), "fault", "--dir", w.plane.dir, "proxy", "clear").Run() })
	if code := get(); code != http.StatusOK {
		t.Fatalf("without a fault: %d", code)
	}
	through := kubernetes.NewForConfigOrDie(cfg)
	who, err := through.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), selfReview(), metav1.CreateOptions{})
	if err != nil || who.Status.UserInfo.Username != "plane-admin" {
		t.Errorf("through the proxy the user is %+v (%v)", who.Status.UserInfo, err)
	}

	fault("--status", "429", "--retry-after", "1500ms", "--path", cm)
	a, err := raw(t, cfg, http.MethodGet, cm)
	if err != nil || a.code != http.StatusTooManyRequests || a.header.Get("Retry-After") != "2" {
		t.Errorf("%d, Retry-After %q, want 429 and 2 (%v)", a.code, a.header.Get("Retry-After"), err)
	}
	contains(t, "the body", a.body, `"reason":"TooManyRequests"`, `"retryAfterSeconds":2`)
	contains(t, "status", must(t, "status", "--dir", w.plane.dir), "--status 429 --retry-after 1.5s --path "+cm)
	if a, err := raw(t, cfg, http.MethodGet, "/version"); err != nil || a.code != http.StatusOK {
		t.Errorf("another path: %d, %v", a.code, err)
	}

	fault("--status", "503", "--share", "0.5", "--path", cm)
	counts := map[int]int{}
	for range 10 {
		counts[get()]++
	}
	if counts[http.StatusOK] != 5 || counts[http.StatusServiceUnavailable] != 5 {
		t.Errorf("with --share 0.5: %v", counts)
	}

	fault("--status", "500", "--method", "patch", "--method", "DELETE", "--path", cm)
	if code := get(); code != http.StatusOK {
		t.Errorf("another method: %d", code)
	}
	if a, err := raw(t, cfg, http.MethodDelete, cm+"/none"); err != nil || a.code != http.StatusInternalServerError {
		t.Errorf("the method that is hit: %d, %v", a.code, err)
	}

	fault("--latency", "300ms", "--path", cm)
	begin := time.Now()
	if code := get(); code != http.StatusOK || time.Since(begin) < 300*time.Millisecond {
		t.Errorf("with --latency 300ms: %d after %s", code, time.Since(begin))
	}

	must(t, "fault", "--dir", w.plane.dir, "proxy", "clear")
	watch, err := through.CoreV1().ConfigMaps(w.ns).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	if _, err := through.CoreV1().ConfigMaps(w.ns).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: meta("seen")}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for event := range watch.ResultChan() {
		if o, ok := event.Object.(*corev1.ConfigMap); ok && o.Name == "seen" {
			return
		}
	}
	t.Error("the watch through the proxy ended without the new object")
}

// TestServesAsTestAssets starts etcd and kube-apiserver as envtest does: by
// the names of the files in KUBEBUILDER_ASSETS, with flags of its own.
func TestServesAsTestAssets(t *testing.T) {
	bin := binary(t)
	t.Parallel()
	assets := tempDir(t)
	for _, name := range []string{"etcd", "kube-apiserver", "kubectl"} {
		if err := os.Symlink(bin, filepath.Join(assets, name)); err != nil {
			t.Fatal(err)
		}
	}
	port := func() string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_, p, _ := net.SplitHostPort(l.Addr().String())
		return p
	}
	client, peer, secure := port(), port(), port()
	// A parent that can be killed; in life it is the test binary.
	script := `
"$0/etcd" --data-dir="$1/etcd" --listen-client-urls=http://127.0.0.1:$2 --advertise-client-urls=http://127.0.0.1:$2 --listen-peer-urls=http://127.0.0.1:$3 --unsafe-no-fsync >"$1/etcd.log" 2>&1 & echo $!
"$0/kube-apiserver" --cert-dir="$1/certs" --etcd-servers=http://127.0.0.1:$2 --secure-port=$4 --bind-address=127.0.0.1 --advertise-address=127.0.0.1 --endpoint-reconciler-type=none --service-cluster-ip-range=10.0.0.0/24 --authorization-mode=RBAC --token-auth-file="$1/tokens" --service-account-issuer=https://x --service-account-key-file="$5" --service-account-signing-key-file="$5" --disable-admission-plugins=ServiceAccount >"$1/apiserver.log" 2>&1 & echo $!
wait`
	dir := tempDir(t)
	key := filepath.Join(dir, "sa.key")
	if err := os.WriteFile(key, newKey(t), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "tokens"), []byte("secret,tester,1,system:masters\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(dir, "pids"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", script, assets, dir, client, peer, secure, key)
	cmd.Stdout = out
	spawn(t, cmd)
	insecure := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, Timeout: time.Second} //nolint:gosec // a test
	eventually(t, "the API server to be ready", func() error {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://127.0.0.1:"+secure+"/readyz", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer secret")
		resp, err := insecure.Do(req)
		if err != nil {
			log, _ := os.ReadFile(filepath.Join(dir, "apiserver.log"))
			return fmt.Errorf("%w\n%s", err, log[max(0, len(log)-800):])
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return errors.New(resp.Status)
		}
		return nil
	})
	if got, err := exec.Command(filepath.Join(assets, "kubectl"), "version", "--client").Output(); err != nil {
		t.Errorf("kubectl: %v %s", err, got)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	pids, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.FieldsSeq(string(pids)) {
		pid, err := strconv.Atoi(line)
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "the orphans to end", func() error {
			if alive(pid) && !zombie(pid) {
				return fmt.Errorf("process %d is alive", pid)
			}
			return nil
		})
	}
}
