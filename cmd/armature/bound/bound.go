// Package bound starts processes that do not outlive this one, however it ends.
//
// The kernel kills a bound process when its parent is gone, even where that was
// killed itself. It does not do so for what the process has started in turn: a
// command that starts others, such as the go command, is run by [Guard].
package bound

import (
	"fmt"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Process is a process that was started by [Start].
type Process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error // how it ended; to be read when done is closed
}

// Start starts a command in a process group of its own, which a terminal does not
// interrupt. The command must not have been started.
func Start(cmd *exec.Cmd) (*Process, error) { return start(cmd, syscall.SIGKILL) }

func start(cmd *exec.Cmd, onLoss syscall.Signal) (*Process, error) {
	bind(cmd, onLoss)
	f := fork{cmd: cmd, result: make(chan error, 1)}
	forks() <- f
	if err := <-f.result; err != nil {
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	p := &Process{cmd: cmd, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err says how the process ended, nil if with exit code 0. It waits for the end.
func (p *Process) Err() error {
	<-p.done
	return p.err
}

// Stop asks the process to end, kills it if that takes longer than patience, and
// returns when it has ended.
func (p *Process) Stop(patience time.Duration) {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-p.done:
	case <-time.After(patience):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// fork is a command to start.
type fork struct {
	cmd    *exec.Cmd
	result chan error
}

// forks receives all commands. The kernel binds a process to the thread that forked
// it, so one goroutine forks for everybody, and never leaves its thread.
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
