package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/armature-go/armature/condition"
)

// Exit codes of every program of the library.
const (
	exitDone      = 0
	exitInvalid   = 1
	exitUsage     = 2
	exitNoCluster = 3
)

// Main is the main function of an operator: it parses the command line, does what
// it says and ends the process. The commands are run and version.
//
// It exits with 0 when done, 1 where something given to it is invalid, 2 where the
// command line is wrong, 3 where no cluster answers.
func Main(opts Options) {
	os.Exit(execute(ctrl.SetupSignalHandler(), opts, os.Args[1:], os.Stdout, os.Stderr))
}

// usageError is a mistake on the command line.
type usageError struct{ error }

func execute(ctx context.Context, opts Options, args []string, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use:           opts.Name,
		Short:         "Runs the custom resources of " + opts.Name,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("there is no command %q; see %s --help", args[0], opts.Name)}
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
	root.AddCommand(runCommand(opts, stderr), versionCommand(opts))
	err := root.ExecuteContext(ctx)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, strings.ReplaceAll(err.Error(), "\n", "\n  "))
	}
	return exitCode(err)
}

func exitCode(err error) int {
	var usage usageError
	var noCluster *NoClusterError
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
		return usageError{fmt.Errorf("%s takes no argument, and got %q", cmd.CommandPath(), args[0])}
	}
	return nil
}

func runCommand(opts Options, stderr io.Writer) *cobra.Command {
	var settings Settings
	var kubeconfig string
	var verbosity int
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run until interrupted",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			handler := slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.Level(-verbosity)})
			ctrl.SetLogger(logr.FromSlogHandler(handler))
			klog.SetSlogLogger(slog.New(handler)) // client-go's
			cfg, err := loadConfig(kubeconfig)
			if err != nil {
				return err
			}
			settings.Config = cfg
			return Run(cmd.Context(), opts, settings)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&kubeconfig, "kubeconfig", "", "kubeconfig file; empty means $KUBECONFIG, ~/.kube/config or the cluster that the program runs in")
	flags.StringSliceVar(&settings.Namespaces, "namespace", nil, "watch only this namespace; may be repeated")
	flags.StringVar(&settings.LeaseIn, "lease-namespace", "", "namespace of the lease by which one of several instances is elected; empty means no election")
	flags.StringVar(&settings.Metrics, "metrics", "", "address to serve metrics on, such as :8080; empty means not to")
	flags.StringVar(&settings.Health, "health", "", "address to serve /healthz and /readyz on, such as :8081; empty means not to")
	flags.DurationVar(&settings.Resync, "resync", 0, "look at everything anew this often; 0 means every 10 hours")
	flags.IntVarP(&verbosity, "verbose", "v", 0, "1 also logs decisions that change nothing")
	return cmd
}

func versionCommand(opts Options) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", opts.Name, version(opts))
			return err
		},
	}
}

// version is the stamped version of the program, or what Go recorded of the build.
func version(opts Options) string {
	if opts.Version != "" {
		return opts.Version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// loadConfig finds the cluster: the named file, else $KUBECONFIG and the default
// file, else the cluster that the process runs in.
func loadConfig(path string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = path
	cfg, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	switch {
	case err == nil:
		return cfg, nil
	case path != "":
		return nil, &condition.InvalidError{Field: "--kubeconfig " + path, Problem: err.Error(), Fix: "name a file that plane kubeconfig or your cluster's administrator gave you"}
	default:
		return nil, &NoClusterError{Host: "any known address", Cause: err}
	}
}
