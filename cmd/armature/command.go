package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/armature-go/armature/cmd/armature/tree"
)

// Exit codes.
const (
	exitDone      = 0
	exitInvalid   = 1
	exitUsage     = 2
	exitNoCluster = 3
)

// usageError is a mistake on the command line.
type usageError struct{ error }

func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	utilruntime.ErrorHandlers = nil //nolint:reassign // client-go logs what it also returns
	root := &cobra.Command{
		Use:           "armature",
		Short:         "Shows what operators built on the library do",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("there is no command %q; see armature --help", args[0])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())}
	})
	root.AddCommand(demoCommand(), guardCommand(), treeCommand(), versionCommand())
	err := root.ExecuteContext(ctx)
	if err != nil {
		fmt.Fprintln(stderr, strings.ReplaceAll(err.Error(), "\n", "\n  "))
	}
	return exitCode(err)
}

func exitCode(err error) int {
	var usage usageError
	var noCluster *tree.NoClusterError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &noCluster):
		return exitNoCluster
	default:
		return exitInvalid
	}
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("%s takes no argument, and got %q; see %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())}
	}
	return nil
}
