package demo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/armature-go/armature/cmd/armature/bound"
)

// checkout finds the repository that the working directory is in.
func checkout() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "operators", "webapp", "sample.yaml")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("the demo runs in a checkout of Armature, and %s is in none; clone the repository and run it there", start)
		}
	}
}

// program is something that the demo needs, and how it is built from the root of the
// checkout.
type program struct {
	path  string
	build []string // arguments of the go command
	env   []string
}

var (
	planeProgram    = program{"bin/plane", []string{"run", "-C", "plane", "./build", "-o", "../bin/plane"}, []string{"GOWORK=off"}}
	operatorProgram = program{"bin/webapp-operator", []string{"build", "-C", "operators", "-o", "../bin/webapp-operator", "./cmd/webapp-operator"}, nil}
)

// build builds what is missing.
func (s *stage) build(ctx context.Context) error {
	s.plane = filepath.Join(s.root, planeProgram.path)
	if named := os.Getenv("ARMATURE_PLANE"); named != "" {
		s.plane = absolute(named)
	} else if err := s.make(ctx, planeProgram); err != nil {
		return err
	}
	if s.opts.Operator != "" {
		return nil
	}
	return s.make(ctx, operatorProgram)
}

// checkNamed makes sure that programs which somebody has named can be run.
func (s *stage) checkNamed() error {
	for _, named := range []struct{ by, path, what string }{
		{"--operator", s.opts.Operator, "an operator for WebApps"},
		{"ARMATURE_PLANE", os.Getenv("ARMATURE_PLANE"), "a plane"},
	} {
		if named.path == "" {
			continue
		}
		if _, err := exec.LookPath(absolute(named.path)); err != nil {
			return fmt.Errorf("%s names %s, which is no program that can be run; name one that runs %s", named.by, named.path, named.what)
		}
	}
	return nil
}

// make builds a program unless it is there.
func (s *stage) make(ctx context.Context, p program) error {
	if _, err := os.Stat(filepath.Join(s.root, p.path)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s.tell("%s is missing and is built", p.path)
	cmd := exec.Command("go", p.build...)
	cmd.Dir, cmd.Env = s.root, append(os.Environ(), p.env...)
	cmd.Stdout, cmd.Stderr = s.opts.Err, s.opts.Err
	process, err := bound.StartGroup(cmd)
	if err != nil {
		return fmt.Errorf("building %s: %w; install Go, or run make build where it is", p.path, err)
	}
	select {
	case <-ctx.Done():
		process.Stop(mercy)
		return ctx.Err()
	case <-process.Done():
	}
	if err := process.Err(); err != nil {
		return fmt.Errorf("building %s: %w; what the go command said stands above", p.path, err)
	}
	return nil
}
