package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("testsum", flag.ContinueOnError)
	flags.SetOutput(stderr)
	skips := flags.String("skips", "", "file with the skips that are allowed: package TestName # reason")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	allowed, err := readSkips(*skips)
	if err != nil {
		fmt.Fprintln(stderr, "testsum:", err)
		return 2
	}

	s := newSummary(stdout, allowed)
	if flags.NArg() == 0 {
		s.read(stdin)
	}
	for _, command := range flags.Args() {
		s.command(ctx, command, stderr)
	}
	return s.close()
}

// command runs one command and reads what it prints.
func (s *summary) command(ctx context.Context, line string, stderr io.Writer) {
	fmt.Fprintln(s.out, "$", line)
	before := s.failed
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		s.read(out)
		err = cmd.Wait()
	}
	if err != nil && s.failed == before {
		s.fail(fmt.Sprintf("%v, and no test is named: %s", err, line))
	}
}
