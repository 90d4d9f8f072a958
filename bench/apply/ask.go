package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// child is the process of a contender, seen from the parent.
type child struct {
	userAgent string
	cmd       *exec.Cmd
	in        io.WriteCloser
	questions *json.Encoder
	answers   *json.Decoder
}

func startChild(ctx context.Context, o order) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "-contender", o.Contender)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &child{userAgent: o.userAgent(), cmd: cmd, in: in, questions: json.NewEncoder(in), answers: json.NewDecoder(out)}
	return c, c.questions.Encode(o)
}

// ask returns the answer to a question. That of a pass proves that there was one.
func (c *child) ask(q question) (answer, error) {
	var a answer
	if err := c.questions.Encode(q); err != nil {
		return a, err
	}
	if err := c.answers.Decode(&a); err != nil {
		return a, fmt.Errorf("the contender's process has ended: %w", err)
	}
	if a.Error != "" {
		return a, errors.New(a.Error)
	}
	return a, nil
}

// stop ends the process: it has no more questions.
func (c *child) stop() error {
	return errors.Join(c.in.Close(), c.cmd.Wait())
}
