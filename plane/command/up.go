package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/armature-go/armature/plane/guard"
	"github.com/armature-go/armature/plane/supervise"
)

// serveName is the command by which up starts the supervisor that stays.
const serveName = "supervise"

// planeFlags defines the flags that describe a plane. After parsing, options
// reads them.
func planeFlags(fs *flag.FlagSet) (options func() (supervise.Options, error)) {
	var o supervise.Options
	fs.IntVar(&o.Port, "port", 0, "port of the API server (default: the one of last time, at first a free one)")
	fs.IntVar(&o.Nodes, "nodes", 3, "simulated nodes")
	scheduler := fs.Bool("scheduler", true, "run kube-scheduler; without it pods are placed in the simplest way")
	fs.BoolVar(&o.Audit, "audit", false, "log requests to audit.log in the directory")
	fs.BoolVar(&o.Proxy, "proxy", false, "run the proxy of plane fault proxy, with its own proxy.kubeconfig")
	fs.BoolVar(&o.LoadBalancer, "load-balancer", false, "give addresses to Services of type LoadBalancer")
	fs.BoolVar(&o.HPA, "hpa", false, "let HorizontalPodAutoscalers find their metrics")
	return func() (supervise.Options, error) {
		if o.Port < 0 || o.Port > 65535 {
			return o, &usageError{fmt.Sprintf("--port %d is not a port", o.Port), "use 1 to 65535, or leave it out"}
		}
		if o.Nodes < 0 || o.Nodes > 1000 {
			return o, &usageError{fmt.Sprintf("--nodes %d is out of range", o.Nodes), "use 0 to 1000"}
		}
		if !*scheduler {
			o.Scheduler = supervise.NoScheduler
		}
		return o, nil
	}
}

func up(e *env, fs *flag.FlagSet, args []string) error {
	dir := dirFlag(fs)
	foreground := fs.Bool("foreground", false, "stay, print \"ready KUBECONFIG\", and end with the process that started this one")
	options := planeFlags(fs)
	if err := parseAll(fs, args); err != nil {
		return err
	}
	o, err := options()
	if err != nil {
		return err
	}
	if o.Dir, err = directory(*dir); err != nil {
		return err
	}
	if *foreground {
		return e.foreground(o)
	}
	if remote, err := supervise.Find(o.Dir); err == nil {
		fmt.Fprintf(e.Err, "a plane is already up in %s; plane down stops it, and other flags need a new start\n", o.Dir)
		return e.follow(remote, *dir)
	}
	return e.detach(o.Dir, *dir, args)
}

// foreground supervises until it is told to stop or its parent has ended.
func (e *env) foreground(o supervise.Options) error {
	ctx, stop := signal.NotifyContext(e.ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	guard.Watch(cancel)
	return e.supervise(ctx, o, func(p *supervise.Plane) { fmt.Fprintln(e.Out, "ready", p.Kubeconfig()) })
}

// serve supervises in a session of its own, for up.
func serve(e *env, fs *flag.FlagSet, args []string) error {
	dir := dirFlag(fs)
	options := planeFlags(fs)
	if err := parseAll(fs, args); err != nil {
		return err
	}
	o, err := options()
	if err != nil {
		return err
	}
	if o.Dir, err = directory(*dir); err != nil {
		return err
	}
	o.Pace = supervise.Calm
	ctx, stop := signal.NotifyContext(e.ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return e.supervise(ctx, o, func(*supervise.Plane) {})
}

// supervise runs a plane until ctx ends, which is no error, or a component
// dies, which is one.
func (e *env) supervise(ctx context.Context, o supervise.Options, ready func(*supervise.Plane)) error {
	p, err := supervise.Start(ctx, o, e.teller())
	if err != nil {
		if ctx.Err() != nil {
			return &exitError{130}
		}
		return err
	}
	ready(p)
	<-p.Ended()
	err = p.Err()
	if closing := p.Close(); closing != nil {
		return errors.Join(err, closing)
	}
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// teller prints steps with the time since it was made.
func (e *env) teller() func(string) {
	start := time.Now() //nolint:forbidigo // told to a person
	return func(step string) {
		fmt.Fprintf(e.Err, "%5.1fs  %s\n", time.Since(start).Seconds(), step) //nolint:forbidigo // told to a person
	}
}

// detach starts a supervisor that outlives this process and follows it until
// the plane is up.
func (e *env) detach(dir, given string, args []string) error {
	out, err := supervise.OutputFile(dir)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("starting the supervisor: %w", err)
	}
	cmd := exec.Command(self, append([]string{serveName}, args...)...)
	cmd.Env = append(guard.Clean(os.Environ()), "PLANE_DIR="+dir)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the supervisor: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // told from the state of the process
		close(ended)
	}()

	ctx, stop := signal.NotifyContext(e.ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	tell, last := e.teller(), ""
	for {
		select {
		case <-ctx.Done():
			_ = cmd.Process.Signal(syscall.SIGTERM)
			<-ended
			return &exitError{130}
		case <-ended:
			return e.lastWords(out, cmd.ProcessState.ExitCode())
		case <-time.After(20 * time.Millisecond):
		}
		remote, err := supervise.Find(dir)
		if err != nil {
			continue
		}
		s, err := remote.Status(ctx)
		if err != nil || s.PID != cmd.Process.Pid {
			continue
		}
		if s.Step != last {
			tell(s.Step)
			last = s.Step
		}
		if s.Up {
			return e.greet(s, given)
		}
	}
}

// lastWords passes on what a supervisor said before it ended, without its
// progress.
func (e *env) lastWords(out *os.File, code int) error {
	if _, err := out.Seek(0, io.SeekStart); err == nil {
		_, _ = io.Copy(e.Err, out)
	}
	return &exitError{max(code, 1)}
}

// follow waits until a plane that somebody else is starting is up.
func (e *env) follow(remote *supervise.Remote, given string) error {
	ctx, stop := signal.NotifyContext(e.ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	for {
		s, err := remote.Status(ctx)
		if err == nil && s.Up {
			return e.greet(s, given)
		}
		if _, down := errors.AsType[*supervise.DownError](lookAgain(s.Dir)); down && s.Dir != "" {
			return fmt.Errorf("the plane ended while it was starting")
		}
		select {
		case <-ctx.Done():
			return &exitError{130}
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func lookAgain(dir string) error {
	_, err := supervise.Find(dir)
	return err
}

// greet prints what a person needs to go on.
func (e *env) greet(s supervise.Status, given string) error {
	which := ""
	if given != "" {
		which = " --dir " + quote(given)
	}
	_, err := fmt.Fprintf(e.Out, `plane is up at %s
  export KUBECONFIG=%s
  plane kubectl%s get nodes
  plane down%s
`, s.Server, quote(s.Kubeconfig), which, which)
	return err
}

// quote makes a path safe to paste into a shell.
func quote(path string) string {
	if !strings.ContainsFunc(path, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-+,:@", r)
	}) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
