package bound

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// GuardCommand is the first argument with which a program that uses [StartGroup] has
// to call [Guard] with the others.
const GuardCommand = "guard"

// StartGroup is [Start] for a command that starts processes of its own: they end with
// this one as well. The command is run by this program, called with [GuardCommand].
func StartGroup(cmd *exec.Cmd) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	cmd.Args = append([]string{self, GuardCommand}, cmd.Args...)
	cmd.Path = self
	return start(cmd, syscall.SIGTERM)
}

// Guard runs a command and returns its exit code. When it is asked to end, or its
// parent is gone, it kills the whole process group, the command and itself included.
func Guard(argv []string) int {
	lost := make(chan os.Signal, 1)
	signal.Notify(lost, syscall.SIGTERM)
	go func() {
		<-lost
		_ = syscall.Kill(0, syscall.SIGKILL)
	}()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return max(exit.ExitCode(), 1)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
