package demo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/armature-go/armature/cmd/armature/bound"
)

// mercy is how long a process may take to end when it is asked to.
const mercy = 5 * time.Second

// actor is a process that is there for the whole demo.
type actor struct {
	name    string
	log     string // file with what it says
	process *bound.Process
}

// start starts an actor whose output goes to a file of its name.
func (s *stage) start(name string, cmd *exec.Cmd) (*actor, error) {
	log, err := os.Create(s.scratch.path(name + ".log"))
	if err != nil {
		return nil, err
	}
	defer log.Close() //nolint:errcheck // the process has it
	if cmd.Stdout == nil {
		cmd.Stdout = log
	}
	cmd.Stderr = log
	process, err := bound.Start(cmd)
	if err != nil {
		return nil, err
	}
	a := &actor{name: name, log: log.Name(), process: process}
	s.cast = append(s.cast, a)
	return a, nil
}

// startPlane starts a plane, and returns when its API answers.
func (s *stage) startPlane(ctx context.Context) error {
	if s.opts.After == Keep {
		return s.upPlane(ctx)
	}
	s.planeDir = s.scratch.path("plane")
	s.tell("a plane starts: etcd, kube-apiserver, its controllers, three simulated nodes")
	cmd := exec.Command(s.plane, "up", "--foreground", "--dir", s.planeDir)
	out, in, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd.Stdout = in
	a, err := s.start("plane", cmd)
	_ = in.Close() // the plane has it
	if err != nil {
		_ = out.Close()
		return err
	}
	ready := make(chan string, 1)
	go func() {
		defer out.Close() //nolint:errcheck // it was only read
		lines := bufio.NewReader(out)
		line, _ := lines.ReadString('\n') // no line at all is no answer
		ready <- line
		_, _ = io.Copy(io.Discard, lines) // whoever writes must not fail
	}()
	ctx, stop := s.attentive(ctx)
	defer stop()
	select {
	case <-ctx.Done():
		return fmt.Errorf("starting a plane: %w", context.Cause(ctx))
	case line := <-ready:
		kubeconfig, ok := strings.CutPrefix(strings.TrimSpace(line), "ready ")
		if !ok {
			_ = a.process.Err() // it closes its output when it ends
			return a.ended()
		}
		s.kubeconfig = kubeconfig
		s.tell("the Kubernetes API answers")
		return nil
	}
}

// upPlane starts a plane that stays, or finds the one of an earlier demo.
func (s *stage) upPlane(ctx context.Context) error {
	data := os.Getenv("XDG_DATA_HOME")
	if data == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return fmt.Errorf("finding a directory for the plane: %w; set XDG_DATA_HOME", err)
		}
		data = filepath.Join(home, ".local", "share")
	}
	s.planeDir = filepath.Join(data, "armature", "demo")
	s.tell("a plane starts, to stay: %s up --dir %s", s.short(s.plane), s.planeDir)
	if _, err := s.run(ctx, s.plane, "up", "--dir", s.planeDir); err != nil {
		return fmt.Errorf("starting a plane: %w", err)
	}
	path, err := s.run(ctx, s.plane, "kubeconfig", "--dir", s.planeDir)
	s.kubeconfig = strings.TrimSpace(path)
	return err
}

// operator is the program that is run.
func (s *stage) operator() string {
	if s.opts.Operator == "" {
		return filepath.Join(s.root, operatorProgram.path)
	}
	return absolute(s.opts.Operator)
}

// absolute is a path that means the same in every directory.
func absolute(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}

func (s *stage) startOperator() error {
	cmd := exec.Command(s.operator(), "run")
	cmd.Env = append(os.Environ(), "KUBECONFIG="+s.kubeconfig)
	_, err := s.start("operator", cmd)
	return err
}

// kubectl runs a command as a person would, and shows it.
func (s *stage) kubectl(ctx context.Context, command string) error {
	s.tell("$ kubectl %s", quoted(command))
	return s.quietly(ctx, command)
}

// quietly runs kubectl without a word. Blanks separate its arguments.
func (s *stage) quietly(ctx context.Context, command string) error {
	ctx, stop := s.attentive(ctx)
	defer stop()
	_, err := s.run(ctx, s.plane, append([]string{"kubectl", "--dir", s.planeDir}, strings.Fields(command)...)...)
	if err == nil {
		return nil
	}
	select {
	case <-ctx.Done(): // which says more than kubectl, if it lost its plane
		return context.Cause(ctx)
	case <-time.After(afterthought):
		return fmt.Errorf("kubectl %s: %w", quoted(command), err)
	}
}

// afterthought is how much later than an error its cause may become known.
const afterthought = 500 * time.Millisecond

// run runs a command to its end and returns what it prints.
func (s *stage) run(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = s.root
	cmd.Env = append(os.Environ(), "KUBECACHEDIR="+s.scratch.path("kubectl"))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	process, err := bound.Start(cmd)
	if err != nil {
		return "", err
	}
	select {
	case <-ctx.Done():
		process.Stop(mercy)
		return "", context.Cause(ctx)
	case <-process.Done():
	}
	if err := process.Err(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}

// quoted is a command as it can be typed into a shell.
func quoted(command string) string {
	words := strings.Fields(command)
	for i, w := range words {
		if strings.ContainsAny(w, `{"[`) {
			words[i] = "'" + w + "'"
		}
	}
	return strings.Join(words, " ")
}

// errOutOfPatience ends what has taken too long.
var errOutOfPatience = errors.New("this took longer than --patience allows")

// attentive returns a context that ends when a step has taken too long, or when one
// of the cast has ended before its time; its cause says which.
func (s *stage) attentive(ctx context.Context) (context.Context, func()) {
	patient, cancel := context.WithTimeoutCause(ctx, s.opts.Patience, errOutOfPatience)
	attentive, fail := context.WithCancelCause(patient)
	for _, a := range s.cast {
		go func() {
			select {
			case <-a.process.Done():
				fail(a.ended())
			case <-attentive.Done():
			}
		}()
	}
	return attentive, func() { fail(nil); cancel() }
}

// ended is the error of an actor that has ended before its time.
func (a *actor) ended() error {
	how := "with exit code 0"
	if err := a.process.Err(); err != nil {
		how = "with " + err.Error()
	}
	return fmt.Errorf("the %s has ended, %s; the end of what it said:\n%s", a.name, how, a.tail())
}

// tail is the end of what the actor has said.
func (a *actor) tail() string {
	text, err := os.ReadFile(a.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	const enough = 10
	if lines[0] == "" {
		return "it has said nothing"
	}
	return strings.Join(lines[max(0, len(lines)-enough):], "\n")
}
