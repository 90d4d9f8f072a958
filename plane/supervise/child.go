package supervise

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/armature-go/armature/plane/guard"
)

// child is a running component.
type child struct {
	name    string
	log     string
	cmd     *exec.Cmd
	started time.Time
	done    chan struct{} // closed when the process has ended

	mu     sync.Mutex
	meant  bool // it is to end; its death is no failure
	frozen bool
}

// forks receives the starts of all children of this process.
//
// The kernel kills a child with its parent when the parent's *thread* that
// forked it ends. So one goroutine forks for everybody, and it never leaves
// its thread.
var forks = sync.OnceValue(func() chan<- fork {
	c := make(chan fork)
	go func() {
		runtime.LockOSThread()
		for f := range c {
			f.result <- f.cmd.Start()
		}
	}()
	return c
})

type fork struct {
	cmd    *exec.Cmd
	result chan error
}

// StartBound starts cmd so that the kernel sends sig to it when this process
// ends, however it ends.
func StartBound(cmd *exec.Cmd, sig syscall.Signal) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = sig
	f := fork{cmd: cmd, result: make(chan error, 1)}
	forks() <- f
	return <-f.result
}

// start runs a component of this binary. Its output is appended to its log.
func start(c command, log string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", c.name, err)
	}
	out, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", c.name, err)
	}
	defer func() { _ = out.Close() }()
	cmd := exec.Command(self, append([]string{c.name}, c.args...)...)
	cmd.Env = guard.Environ(os.Environ())
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := StartBound(cmd, syscall.SIGKILL); err != nil {
		return nil, fmt.Errorf("starting %s: %w", c.name, err)
	}
	ch := &child{name: c.name, log: log, cmd: cmd, started: time.Now(), done: make(chan struct{})} //nolint:forbidigo // told to users
	go func() {
		_ = cmd.Wait() // told from the state of the process
		close(ch.done)
	}()
	return ch, nil
}

func (c *child) running() bool {
	select {
	case <-c.done:
		return false
	default:
		return true
	}
}

// stop ends the process and returns when it has ended.
func (c *child) stop(patience time.Duration) {
	c.mu.Lock()
	c.meant = true
	c.mu.Unlock()
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	_ = c.cmd.Process.Signal(syscall.SIGCONT) // one that is frozen hears nothing
	select {
	case <-c.done:
	case <-time.After(patience):
		_ = c.cmd.Process.Kill()
		<-c.done
	}
}

// freeze stops the process where it stands.
func (c *child) freeze() error { return c.pause(syscall.SIGSTOP) }

// thaw lets it go on.
func (c *child) thaw() error { return c.pause(syscall.SIGCONT) }

func (c *child) pause(sig syscall.Signal) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.cmd.Process.Signal(sig); err != nil {
		return err
	}
	c.frozen = sig == syscall.SIGSTOP
	return nil
}

func (c *child) status() Component {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := Component{Name: c.name, PID: c.cmd.Process.Pid, State: "running", StartedAt: c.started, Log: c.log}
	if c.frozen {
		s.State = "frozen"
	}
	if !c.running() {
		s.State, s.PID = "stopped", 0
	}
	return s
}

// failure is the error for a child that ended though it should not have, or
// nil if it should.
func (c *child) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.meant {
		return nil
	}
	return &DeadError{Component: c.name, How: how(c.cmd.ProcessState), Log: c.log, Tail: tail(c.log, 15)}
}

func how(s *os.ProcessState) string {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return "was killed by signal " + ws.Signal().String()
	}
	return fmt.Sprintf("ended with exit code %d", s.ExitCode())
}

// A DeadError tells which component ended by itself, and its last words.
type DeadError struct {
	Component, How, Log, Tail string
}

func (e *DeadError) Error() string {
	if e.Tail == "" {
		return fmt.Sprintf("%s %s; its log %s is empty", e.Component, e.How, e.Log)
	}
	return fmt.Sprintf("%s %s; the end of its log %s:\n%s", e.Component, e.How, e.Log, e.Tail)
}

// tail returns the last lines of a file, or nothing if it cannot be read.
func tail(path string, lines int) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	const enough = 16 << 10
	if _, err := f.Seek(-enough, io.SeekEnd); err != nil && !errors.Is(err, syscall.EINVAL) {
		return ""
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return ""
	}
	all := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
