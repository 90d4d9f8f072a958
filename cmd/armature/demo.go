package main

import (
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/armature-go/armature/cmd/armature/bound"
	"github.com/armature-go/armature/cmd/armature/demo"
)

func demoCommand() *cobra.Command {
	var opts demo.Options
	var keep bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Watch an operator at work on a real Kubernetes API that comes and goes with the demo",
		Long: `Watch an operator at work on a real Kubernetes API that comes and goes with the demo.

It runs in a checkout of the repository, needs nothing but Go, and builds what is
missing: a plane once, which takes about ten minutes on two cores, and the operator.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if keep {
				opts.After = demo.Keep
			}
			opts.Out, opts.Err = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return demo.Run(cmd.Context(), opts)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&keep, "keep", false, "use a plane that stays up afterwards")
	flags.StringVar(&opts.Operator, "operator", "", "program to run in place of bin/webapp-operator")
	flags.DurationVar(&opts.Patience, "patience", time.Minute, "how long one step may take before it counts as failed")
	return cmd
}

// guardCommand is for the demo, which calls this program with it.
func guardCommand() *cobra.Command {
	return &cobra.Command{
		Use:                bound.GuardCommand,
		Hidden:             true,
		DisableFlagParsing: true,
		Args:               cobra.MinimumNArgs(1),
		Run:                func(_ *cobra.Command, args []string) { os.Exit(bound.Guard(args)) },
	}
}
