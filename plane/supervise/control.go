package supervise

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"github.com/armature-go/armature/plane/proxy"
)

// listen answers on the control socket. Who can open it is decided by the
// permissions of the directory: its owner.
func (p *Plane) listen(ctx context.Context) error {
	path := p.layout.socket("control")
	// The lock is ours, so a socket that is there belongs to nobody.
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "unix", path)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(p.Status())
	})
	mux.HandleFunc("POST /stop", func(http.ResponseWriter, *http.Request) { p.end(errAsked) })
	mux.HandleFunc("POST /fault", answer(func(r *http.Request) error {
		var f Fault
		if err := json.NewDecoder(r.Body).Decode(&f); err != nil {
			return err
		}
		return p.Inflict(r.Context(), f)
	}))
	mux.HandleFunc("PUT /proxy", answer(func(r *http.Request) error {
		var rule proxy.Rule
		if err := json.NewDecoder(r.Body).Decode(&rule); err != nil {
			return err
		}
		return p.Disturb(&rule)
	}))
	mux.HandleFunc("DELETE /proxy", answer(func(*http.Request) error { return p.Disturb(nil) }))
	p.control = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = p.control.Serve(l) }()
	return nil
}

// answer turns an error into the body of a response.
func answer(do func(*http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := do(r); err != nil {
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, err.Error())
		}
	}
}

// Remote is a plane that another process supervises.
type Remote struct {
	layout layout
	http   *http.Client
}

// A DownError says that no plane is up in the directory, and why it went down
// if that is known.
type DownError struct{ Dir, Why string }

func (e *DownError) Error() string {
	hint := "no plane is up in " + e.Dir + "; start one with plane up"
	if e.Why != "" {
		return hint + " (the last one ended because " + e.Why + ")"
	}
	return hint
}

// Find returns the plane in a directory, or a [*DownError].
func Find(dir string) (*Remote, error) {
	l := layoutOf(dir)
	if !l.held() {
		down := &DownError{Dir: dir}
		if s, err := l.readState(); err == nil {
			down.Why = s.Error
		}
		return nil, down
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", l.socket("control"))
	}
	return &Remote{layout: l, http: &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}, nil
}

// Status asks the supervisor how its plane is.
func (r *Remote) Status(ctx context.Context) (Status, error) {
	var s Status
	body, err := r.call(ctx, http.MethodGet, "/status", nil)
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(body, &s)
}

// Stop ends the plane and returns when nothing of it is left, its supervisor
// included, which ends a moment after it has let go of the directory.
func (r *Remote) Stop(ctx context.Context) error {
	s, err := r.Status(ctx)
	if err != nil {
		return err
	}
	if _, err := r.call(ctx, http.MethodPost, "/stop", nil); err != nil {
		return err
	}
	for r.layout.held() || running(s.PID) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the plane to end: %w", context.Cause(ctx))
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}

// running reports whether a process is there and more than an entry that its
// parent has not read yet.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false // it has ended since
	}
	_, after, _ := bytes.Cut(stat, []byte(") ")) // the name in brackets comes before the state
	return !bytes.HasPrefix(after, []byte("Z"))
}

// Inflict lets a fault happen.
func (r *Remote) Inflict(ctx context.Context, f Fault) error {
	_, err := r.call(ctx, http.MethodPost, "/fault", f)
	return err
}

// Disturb sets the rule of the proxy; nil clears it.
func (r *Remote) Disturb(ctx context.Context, rule *proxy.Rule) error {
	if rule == nil {
		_, err := r.call(ctx, http.MethodDelete, "/proxy", nil)
		return err
	}
	_, err := r.call(ctx, http.MethodPut, "/proxy", rule)
	return err
}

func (r *Remote) call(ctx context.Context, method, path string, in any) ([]byte, error) {
	var body io.Reader = http.NoBody
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://plane"+path, body)
	if err != nil {
		return nil, err
	}
	resp, err := r.http.Do(req)
	if err != nil {
		return nil, r.unreachable(err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, errors.New(string(data))
	}
	return data, nil
}

// unreachable explains a supervisor that holds the directory and does not
// answer: it has just started, or is ending.
func (r *Remote) unreachable(err error) error {
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the plane in %s is just starting or ending; try again", r.layout.dir)
	}
	return fmt.Errorf("asking the plane in %s: %w", r.layout.dir, err)
}
