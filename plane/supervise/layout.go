package supervise

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/armature-go/armature/plane/pki"
)

// socketPath is the longest path that the kernel accepts for a socket.
const socketPath = 107

// layout says where the files of a plane are.
type layout struct {
	dir     string
	sockets string // dir, or a short stand-in if sockets in dir would be too long
}

func layoutOf(dir string) layout {
	l := layout{dir: dir, sockets: dir}
	if len(l.socket("control")) > socketPath {
		sum := sha256.Sum256([]byte(dir))
		l.sockets = filepath.Join("/tmp", "plane-"+hex.EncodeToString(sum[:8]))
	}
	return l
}

func (l layout) path(name string) string           { return filepath.Join(l.dir, name) }
func (l layout) socket(name string) string         { return filepath.Join(l.sockets, name+".sock") }
func (l layout) pki(name string) string            { return filepath.Join(l.dir, "pki", name) }
func (l layout) log(component string) string       { return filepath.Join(l.dir, "logs", component+".log") }
func (l layout) kubeconfigOf(client string) string { return l.pki(client + ".kubeconfig") }

// make creates the directories.
func (l layout) make() error {
	for _, d := range []string{l.dir, l.path("logs"), l.path("etcd")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return l.unusable(err)
		}
	}
	probe, err := os.CreateTemp(l.dir, ".writable-*")
	if err != nil {
		return l.unusable(err)
	}
	_ = probe.Close()
	if err := os.Remove(probe.Name()); err != nil {
		return l.unusable(err)
	}
	if l.sockets == l.dir {
		return nil
	}
	if err := os.MkdirAll(l.sockets, 0o700); err != nil {
		return fmt.Errorf("making the directory of the sockets: %w", err)
	}
	info, err := os.Lstat(l.sockets)
	if err != nil {
		return fmt.Errorf("making the directory of the sockets: %w", err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !info.IsDir() || !ok || int(st.Uid) != os.Getuid() {
		return fmt.Errorf("%s is not a directory of yours; remove it, or choose a shorter directory with --dir", l.sockets)
	}
	return nil
}

func (l layout) unusable(err error) error {
	cause := err
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		cause = pe.Err
	}
	return fmt.Errorf("cannot write to the directory %s (%w); choose another one with --dir or make it writable", l.dir, cause)
}

// lock takes the directory for this process. The kernel gives it back when
// the process ends.
func (l layout) lock() (*os.File, error) {
	f, err := os.OpenFile(l.path("lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, l.unusable(err)
	}
	if err := syscall.FcntlFlock(f.Fd(), setLock, &syscall.Flock_t{Type: syscall.F_WRLCK}); err != nil {
		_ = f.Close()
		return nil, &UpError{Dir: l.dir}
	}
	return f, nil
}

// Locks that belong to an open file, not to a process, by their numbers on
// Linux. Asking for one does not take it.
const (
	getLock = 36 // F_OFD_GETLK
	setLock = 37 // F_OFD_SETLK
)

// held reports whether a process supervises the directory.
func (l layout) held() bool {
	f, err := os.OpenFile(l.path("lock"), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	probe := syscall.Flock_t{Type: syscall.F_WRLCK}
	err = syscall.FcntlFlock(f.Fd(), getLock, &probe)
	return err == nil && probe.Type != syscall.F_UNLCK
}

// An UpError says that the directory has a supervisor already.
type UpError struct{ Dir string }

func (e *UpError) Error() string {
	return "a plane is already up in " + e.Dir + "; stop it with plane down, or choose another directory with --dir"
}

// rememberedPort is the port that was written below name, or 0.
func (l layout) rememberedPort(name string) int {
	data, err := os.ReadFile(l.path(name))
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		return 0
	}
	return n
}

// auditPolicy leaves out what the plane does by itself.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  users:
  - system:apiserver
  - ` + pki.Supervisor + `
  - ` + pki.Agent + `
  - ` + pki.ControllerManager + `
  - ` + pki.Scheduler + `
- level: Metadata
`

// write makes the keys and the files that components and users read.
func (l layout) write(port int, proxyURL string) error {
	if err := pki.Ensure(l.pki(""), time.Now()); err != nil { //nolint:forbidigo // certificates are valid from now on
		return err
	}
	server := serverURL(port)
	files := map[string]struct{ user, server string }{
		l.path("kubeconfig"):              {"admin", server},
		l.kubeconfigOf(ControllerManager): {ControllerManager, server},
		l.kubeconfigOf(KubeScheduler):     {KubeScheduler, server},
		l.kubeconfigOf(Agent):             {Agent, server},
	}
	if proxyURL != "" {
		files[l.path("proxy.kubeconfig")] = struct{ user, server string }{"admin", proxyURL}
	} else if err := os.Remove(l.path("proxy.kubeconfig")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for path, f := range files {
		data, err := pki.Kubeconfig(l.pki(""), f.user, f.server)
		if err != nil {
			return err
		}
		if err := replace(path, data); err != nil {
			return err
		}
	}
	if err := replace(l.path("port"), []byte(strconv.Itoa(port)+"\n")); err != nil {
		return err
	}
	return replace(l.path("audit-policy.yaml"), []byte(auditPolicy))
}

func serverURL(port int) string { return fmt.Sprintf("https://127.0.0.1:%d", port) }

// replace writes a file as a whole or not at all.
func replace(path string, data []byte) error {
	tmp := path + ".new"
	if err := os.WriteFile(tmp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// OutputFile makes the directory of a plane if it is missing and opens the
// file that takes the words of a supervisor without a terminal.
func OutputFile(dir string) (*os.File, error) {
	l := layoutOf(dir)
	if err := l.make(); err != nil {
		return nil, err
	}
	return os.OpenFile(l.path("plane.log"), os.O_CREATE|os.O_RDWR|os.O_TRUNC|os.O_APPEND, 0o600)
}

// Kubeconfig is the path of the administrator's kubeconfig in a directory.
func Kubeconfig(dir string) string { return layoutOf(dir).path("kubeconfig") }

// Sweep removes throw-away directories that match the pattern and whose
// supervisor was killed before it could.
func Sweep(pattern string, now time.Time) {
	dirs, err := filepath.Glob(pattern)
	if err != nil {
		return
	}
	for _, d := range dirs {
		info, err := os.Lstat(d)
		if err != nil || !info.IsDir() || now.Sub(info.ModTime()) < time.Minute {
			continue // may be just starting
		}
		f, err := layoutOf(d).lock()
		if err != nil {
			continue
		}
		_ = os.RemoveAll(d) // best effort; the next one tries again
		_ = f.Close()
	}
}
