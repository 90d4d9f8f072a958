package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/armature-go/armature/cmd/armature/tree"
)

// watchEvery is how often --watch looks.
const watchEvery = time.Second

func treeCommand() *cobra.Command {
	var kubeconfig, namespace string
	var watch bool
	cmd := &cobra.Command{
		Use:   "tree <kind>/<name>",
		Short: "Show what a custom resource is made of, and what each part waits for",
		Example: `  armature tree webapp/shop
  armature tree webapps.examples.armature.dev/shop -n team-a --watch`,
		Args: func(cmd *cobra.Command, args []string) error {
			if kind, name, ok := strings.Cut(strings.Join(args, " "), "/"); len(args) != 1 || !ok || kind == "" || name == "" || strings.Contains(name, "/") {
				return usageError{fmt.Errorf("%s takes one argument, <kind>/<name>, such as webapp/shop", cmd.CommandPath())}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, in, err := tree.Connect(kubeconfig, namespace)
			if err != nil {
				return err
			}
			cfg.UserAgent = "armature-tree"
			r, err := tree.New(cfg, tree.Options{Remark: func(text string) { cmd.PrintErrln(text) }})
			if err != nil {
				return err
			}
			kind, name, _ := strings.Cut(args[0], "/")
			ref, err := r.Find(cmd.Context(), kind, in, name)
			if err != nil {
				return err
			}
			answer := tree.Enough
			if watch {
				answer = tree.More
			}
			return show(cmd, r, ref, answer)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&kubeconfig, "kubeconfig", "", "kubeconfig file; empty means $KUBECONFIG, ~/.kube/config or the cluster that the program runs in")
	flags.StringVarP(&namespace, "namespace", "n", "", "namespace of the resource; empty means that of the kubeconfig")
	flags.BoolVarP(&watch, "watch", "w", false, "show it again whenever it changes, until interrupted")
	return cmd
}

// show shows the tree, once or until the command is interrupted.
func show(cmd *cobra.Command, r *tree.Reader, ref tree.Ref, answer tree.Answer) error {
	screen := tree.NewScreen(cmd.OutOrStdout())
	err := r.Follow(cmd.Context(), ref, watchEvery, func(n tree.Node) tree.Answer {
		screen.Show(n.Text(time.Now(), screen.Colour())) //nolint:forbidigo // ages are told to a person
		return answer
	})
	switch {
	case errors.Is(err, tree.ErrGone):
		cmd.PrintErrln(ref.String() + " was deleted")
		return nil
	case errors.Is(err, context.Canceled): // which is how one stops to watch
		return nil
	default:
		return err
	}
}
