package supervise

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/armature-go/armature/plane/proxy"
)

const (
	startLimit = 3 * time.Minute        // a machine that is busy with a build is slow
	stopLimit  = 250 * time.Millisecond // for a component to end before it is killed
)

// errAsked ends a plane that somebody stopped.
var errAsked = errors.New("stopped")

// Plane is a running control plane. Its methods are safe for concurrent use.
type Plane struct {
	opts    Options
	layout  layout
	lock    *os.File
	port    *reservation
	api     *api
	control *http.Server
	proxy   *proxy.Proxy
	started time.Time

	ended <-chan struct{}
	end   context.CancelCauseFunc
	cause func() error

	faults sync.Mutex // one fault at a time

	mu       sync.Mutex
	children map[string]*child
	commands map[string]command
	order    []string
	step     string
	up       bool
	proxyURL string
}

// Start brings a plane up and returns when everything in it is ready. It
// reports each step to tell. The plane ends with ctx; whether or not there is
// an error, nothing is left running when Start fails.
func Start(ctx context.Context, o Options, tell func(step string)) (*Plane, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	o.Dir = dir
	p := &Plane{
		opts: o, layout: layoutOf(dir), started: time.Now(), //nolint:forbidigo // told to users
		children: map[string]*child{}, commands: map[string]command{},
	}
	life, end := context.WithCancelCause(ctx)
	p.ended, p.end, p.cause = life.Done(), end, func() error { return context.Cause(life) }
	if err := p.prepare(life); err != nil {
		p.release()
		return nil, err
	}
	if err := p.launch(life, tell); err != nil {
		end(err)
		return nil, errors.Join(p.Err(), p.Close())
	}
	return p, nil
}

// prepare takes what only one plane can have: directory, port, sockets.
func (p *Plane) prepare(ctx context.Context) error {
	l := p.layout
	if err := l.make(); err != nil {
		return err
	}
	var err error
	if p.lock, err = l.lock(); err != nil {
		return err
	}
	if p.port, err = p.reserve(); err != nil {
		return err
	}
	var through net.Listener
	if p.opts.Proxy {
		var port int
		if through, port, err = listenNear(ctx, l.rememberedPort("proxy-port")); err != nil {
			return fmt.Errorf("starting the proxy: %w", err)
		}
		p.proxyURL = serverURL(port)
		if err := replace(l.path("proxy-port"), fmt.Appendln(nil, port)); err != nil {
			return err
		}
	}
	if err := l.write(p.port.port, p.proxyURL); err != nil {
		return fmt.Errorf("writing keys and kubeconfigs: %w", err)
	}
	if p.api, err = newAPI(l, p.port.port); err != nil {
		return fmt.Errorf("reading the keys: %w", err)
	}
	if through != nil {
		if p.proxy, err = proxy.Serve(through, p.api.server, l.pki("")); err != nil {
			return err
		}
	}
	if err := p.listen(ctx); err != nil {
		return fmt.Errorf("opening the control socket: %w", err)
	}
	return nil
}

// reserve prefers the port that was asked for, then that of last time. If the
// latter is taken it says so: kubeconfigs that were handed out name it.
func (p *Plane) reserve() (*reservation, error) {
	if p.opts.Port != 0 {
		return reserve(p.opts.Port)
	}
	return reserve(p.layout.rememberedPort("port"))
}

// launch starts the components in order.
func (p *Plane) launch(ctx context.Context, tell func(string)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("not ready after %s; the logs are in %s", startLimit, p.layout.path("logs")))
	defer cancel()
	say := func(step string) {
		p.setStep(step)
		tell(step)
	}
	say("starting etcd and kube-apiserver")
	for _, c := range first(p.opts, p.layout, p.port.port) {
		if err := p.start(c, freshLog); err != nil {
			return err
		}
	}
	if err := p.api.answers().await(ctx); err != nil {
		return err
	}
	say("the API server is ready; starting controllers and nodes")
	for _, c := range others(p.opts, p.layout) {
		if err := p.start(c, freshLog); err != nil {
			return err
		}
	}
	for _, c := range p.api.furnished(p.opts.Nodes) {
		if err := c.await(ctx); err != nil {
			return err
		}
	}
	p.mu.Lock()
	p.up, p.step = true, "up"
	p.mu.Unlock()
	return p.layout.writeState(p.Status())
}

func (p *Plane) setStep(step string) {
	p.mu.Lock()
	p.step = step
	p.mu.Unlock()
	_ = p.layout.writeState(p.Status()) // the last write counts, and that one is checked
}

type logMode int

const (
	freshLog logMode = iota
	sameLog
)

// start starts a component; if it ends without having been told to, the whole
// plane ends.
func (p *Plane) start(c command, mode logMode) error {
	log := p.layout.log(c.name)
	if mode == freshLog {
		if err := os.WriteFile(log, nil, 0o600); err != nil {
			return fmt.Errorf("starting %s: %w", c.name, err)
		}
	}
	ch, err := start(c, log)
	if err != nil {
		return err
	}
	p.mu.Lock()
	if _, known := p.commands[c.name]; !known {
		p.order = append(p.order, c.name)
	}
	p.children[c.name], p.commands[c.name] = ch, c
	p.mu.Unlock()
	go func() {
		<-ch.done
		if err := ch.failure(); err != nil {
			p.end(err)
		}
	}()
	return nil
}

// Kubeconfig is the path of the administrator's kubeconfig.
func (p *Plane) Kubeconfig() string { return p.layout.path("kubeconfig") }

// Ended is closed when the plane has to end: it was asked to, its context
// ended, or a component died.
func (p *Plane) Ended() <-chan struct{} { return p.ended }

// Err is why the plane ended: nil if somebody asked for it, a [*DeadError] if
// a component died.
func (p *Plane) Err() error {
	if err := p.cause(); !errors.Is(err, errAsked) {
		return err
	}
	return nil
}

// Status describes the plane as it is now.
func (p *Plane) Status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Status{
		Version: 1, Up: p.up, Step: p.step, PID: os.Getpid(), Dir: p.opts.Dir, StartedAt: p.started,
		Server: serverURL(p.port.port), Kubeconfig: p.Kubeconfig(),
	}
	if p.opts.Audit {
		s.Audit = p.layout.path("audit.log")
	}
	if p.proxy != nil {
		s.Proxy = &ProxyState{Server: p.proxyURL, Kubeconfig: p.layout.path("proxy.kubeconfig"), Rule: p.proxy.Rule()}
	}
	for _, name := range p.order {
		s.Components = append(s.Components, p.children[name].status())
	}
	return s
}

// Close stops all components and returns when they have ended and the
// directory is free for the next plane.
func (p *Plane) Close() error {
	p.end(errAsked)
	p.faults.Lock() // nothing is restarted any more
	defer p.faults.Unlock()
	var wg sync.WaitGroup
	for _, ch := range p.snapshot() {
		wg.Go(func() { ch.stop(stopLimit) })
	}
	wg.Wait()
	p.release()
	if err := p.Err(); err != nil && !errors.Is(err, context.Canceled) {
		s := p.Status()
		s.Up, s.Step, s.PID, s.Error = false, "down", 0, err.Error()
		return p.layout.writeState(s)
	}
	if err := os.Remove(p.layout.path("state.json")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func (p *Plane) snapshot() []*child {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]*child, 0, len(p.children))
	for _, ch := range p.children {
		out = append(out, ch)
	}
	return out
}

// release gives back what prepare took, as far as it came.
func (p *Plane) release() {
	if p.proxy != nil {
		p.proxy.Close()
	}
	if p.control != nil {
		_ = p.control.Close()
	}
	if p.port != nil {
		p.port.release()
	}
	if p.lock != nil {
		if p.layout.sockets != p.layout.dir {
			_ = os.RemoveAll(p.layout.sockets)
		}
		_ = p.lock.Close() // gives the directory back, so it comes last
	}
}
