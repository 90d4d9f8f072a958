package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/armature-go/armature/plane/guard"
	"github.com/armature-go/armature/plane/supervise"
)

const throwAway = "plane-run-"

// mercy is how long a command may take to end when its plane has gone.
const mercy = 2 * time.Second

func run(e *env, fs *flag.FlagSet, args []string) error {
	options := planeFlags(fs)
	if err := parse(fs, args); err != nil {
		return err
	}
	o, err := options()
	if err != nil {
		return err
	}
	if fs.NArg() == 0 {
		return &usageError{"there is nothing to run", "put a command after --, for example: plane run -- go test ./..."}
	}
	program, err := exec.LookPath(fs.Arg(0))
	if err != nil {
		return &usageError{fmt.Sprintf("there is no program %q", fs.Arg(0)), "check its name and PATH, or give its path"}
	}
	supervise.Sweep(filepath.Join(os.TempDir(), throwAway+"*"), time.Now()) //nolint:forbidigo // compared with times of files
	if o.Dir, err = os.MkdirTemp("", throwAway); err != nil {
		return fmt.Errorf("making a directory for the plane: %w; set TMPDIR to one that can be written", err)
	}
	code, err := e.throwAway(o, program, fs.Args())
	if removing := os.RemoveAll(o.Dir); removing != nil {
		err = errors.Join(err, fmt.Errorf("removing the plane: %w", removing))
	}
	if err == nil && code != 0 {
		return &exitError{code}
	}
	return err
}

// throwAway runs argv against a plane of its own and returns the exit code.
func (e *env) throwAway(o supervise.Options, program string, argv []string) (int, error) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	life, end := context.WithCancel(e.ctx)
	defer end()
	guard.Watch(end)

	p, err := e.startInterruptibly(life, end, o, signals)
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(program)
	cmd.Args = argv
	cmd.Env = append(guard.Clean(os.Environ()), "KUBECONFIG="+p.Kubeconfig(), "PLANE_DIR="+o.Dir)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.In, e.Out, e.Err
	if err := supervise.StartBound(cmd, syscall.SIGTERM); err != nil {
		return 0, errors.Join(&usageError{fmt.Sprintf("starting %s: %v", program, err), "check that it can be executed"}, p.Close())
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // told from the state of the process
		close(ended)
	}()
	e.attend(cmd, p, signals, ended)
	why := p.Err() // before Close, which is a reason of its own
	code := cmd.ProcessState.ExitCode()
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		code = 128 + int(ws.Signal())
	}
	if errors.Is(why, context.Canceled) {
		why = nil
	}
	return code, errors.Join(why, p.Close())
}

// startInterruptibly starts a plane; a signal in the meantime gives up.
func (e *env) startInterruptibly(life context.Context, end func(), o supervise.Options, signals <-chan os.Signal) (*supervise.Plane, error) {
	started := make(chan struct{})
	interrupted := make(chan os.Signal, 1)
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		select {
		case s := <-signals:
			interrupted <- s
			end()
		case <-started:
		}
	}()
	p, err := supervise.Start(life, o, e.teller())
	close(started)
	<-watching
	select {
	case s := <-interrupted:
		if p != nil {
			err = p.Close()
		}
		if n, ok := s.(syscall.Signal); ok {
			return nil, &exitError{128 + int(n)}
		}
		return nil, err
	default:
		return p, err
	}
}

// attend returns when the command has ended. It passes signals on, and if the
// plane ends first, it ends the command.
func (e *env) attend(cmd *exec.Cmd, p *supervise.Plane, signals <-chan os.Signal, ended <-chan struct{}) {
	lost := p.Ended()
	var kill <-chan time.Time
	for {
		select {
		case <-ended:
			return
		case s := <-signals:
			if s == os.Interrupt && e.terminal() {
				continue // the terminal sent it to the command as well
			}
			_ = cmd.Process.Signal(s)
		case <-lost:
			lost = nil
			_ = cmd.Process.Signal(syscall.SIGTERM)
			kill = time.After(mercy)
		case <-kill:
			_ = cmd.Process.Kill()
		}
	}
}

func (e *env) terminal() bool {
	f, ok := e.In.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
