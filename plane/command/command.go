// Package command is the command line of plane.
//
// Answers go to stdout, remarks and progress to stderr. The exit code is 0 if
// the command did what it says, 1 if its input cannot be used, 2 if the
// command line is wrong, and 3 if there is no cluster.
package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/armature-go/armature/plane/supervise"
)

// Streams are where a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Program is what the commands need of the binary that they are part of.
type Program struct {
	Kubectl  func(args []string) int
	Versions [][2]string // name and version of what is inside, most important first
}

// env is what a command gets.
type env struct {
	Streams
	program Program
	ctx     context.Context //nolint:containedctx // the root of the process, handed on as an argument by each command
}

// verb is one command.
type verb struct {
	name, args, summary string
	run                 func(e *env, fs *flag.FlagSet, args []string) error
}

func verbs() []verb {
	return []verb{
		{"up", "[flags]", "start a plane that stays, or say that it is up already", up},
		{"down", "[flags]", "stop it; its data is kept for the next up", down},
		{"status", "[flags]", "say how it is: address, components, uptime", status},
		{"run", "[flags] -- COMMAND [ARGS]", "start a throw-away plane, run a command with KUBECONFIG set, remove the plane", run},
		{"kubeconfig", "[flags]", "print the path of the kubeconfig", kubeconfig},
		{"kubectl", "[--dir DIR] ...", "kubectl, talking to the plane", kubectl},
		{"fault", "apiserver ACTION | kill COMPONENT | proxy [flags] | proxy clear", "let something go wrong on purpose", fault},
		{"version", "", "print the versions of what is inside", version},
	}
}

// usageError is a command line that cannot be understood.
type usageError struct{ problem, hint string }

func (e *usageError) Error() string { return e.problem + "; " + e.hint }

// exitError ends the process with a code and says nothing more.
type exitError struct{ code int }

func (e *exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// Main runs the command in args and returns the exit code.
func Main(ctx context.Context, args []string, s Streams, p Program) int {
	e := &env{Streams: s, program: p, ctx: ctx}
	if len(args) == 0 {
		help(e.Err)
		return 2
	}
	name := args[0]
	if name == "help" || name == "-h" || name == "--help" {
		help(e.Out)
		return 0
	}
	if name == serveName { // started by up
		return e.finish("plane", serve(e, newFlags(serveName), args[1:]))
	}
	for _, v := range verbs() {
		if v.name == name {
			return e.finish("plane "+name, v.run(e, newFlags("plane "+name), args[1:]))
		}
	}
	return e.finish("plane", &usageError{fmt.Sprintf("there is no command %q", name), "plane help lists them"})
}

// newFlags makes flags that print nothing by themselves.
func newFlags(name string) *flag.FlagSet {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	return fs
}

// helpError is a wish for the flags of a command.
type helpError struct{ fs *flag.FlagSet }

func (e *helpError) Error() string { return "help for " + e.fs.Name() }

// helpFor answers it.
func (e *env) helpFor(fs *flag.FlagSet) {
	for _, v := range verbs() {
		if "plane "+v.name == fs.Name() {
			fmt.Fprintf(e.Out, "plane %s %s\n\n%s.\n", v.name, v.args, strings.ToUpper(v.summary[:1])+v.summary[1:])
		}
	}
	fs.SetOutput(e.Out)
	fs.PrintDefaults()
}

// finish prints an error and says which exit code it is.
func (e *env) finish(who string, err error) int {
	if err == nil {
		return 0
	}
	if wish, ok := errors.AsType[*helpError](err); ok {
		e.helpFor(wish.fs)
		return 0
	}
	if exit, ok := errors.AsType[*exitError](err); ok {
		return exit.code
	}
	fmt.Fprintf(e.Err, "%s: %v\n", who, err)
	if _, ok := errors.AsType[*usageError](err); ok {
		return 2
	}
	if _, ok := errors.AsType[*supervise.DownError](err); ok {
		return 3
	}
	if _, ok := errors.AsType[*supervise.DeadError](err); ok {
		return 3
	}
	return 1
}

// parse reads flags; what follows them is refused unless a command wants it.
func parse(fs *flag.FlagSet, args []string) error {
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return &helpError{fs}
		}
		return &usageError{err.Error(), fs.Name() + " --help lists the flags"}
	}
	return nil
}

func parseAll(fs *flag.FlagSet, args []string) error {
	if err := parse(fs, args); err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return &usageError{fmt.Sprintf("%q is not expected here", fs.Arg(0)), fs.Name() + " --help shows the form"}
	}
	return nil
}

func help(w io.Writer) {
	fmt.Fprint(w, "plane is a Kubernetes control plane in one program.\n\n")
	for _, v := range verbs() {
		fmt.Fprintf(w, "  plane %-12s %s\n", v.name, v.summary)
	}
	fmt.Fprint(w, `
plane COMMAND --help shows the flags of a command. Called as etcd, kube-apiserver,
kube-controller-manager, kube-scheduler or kubectl, by the name of the program or
as first argument, it is that program.
`)
}

// dirFlag defines --dir. Its default depends on the environment and is looked
// up by directory, after parsing.
func dirFlag(fs *flag.FlagSet) *string {
	return fs.String("dir", "", "directory of the plane (default $PLANE_DIR, else $XDG_DATA_HOME/armature/plane or ~/.local/share/armature/plane)")
}

// directory is the directory that a --dir flag means.
func directory(given string) (string, error) {
	if given == "" {
		given = os.Getenv("PLANE_DIR")
	}
	if given == "" {
		data := os.Getenv("XDG_DATA_HOME")
		if data == "" {
			home, err := os.UserHomeDir()
			if err != nil {
				return "", fmt.Errorf("finding the default directory: %w; choose one with --dir", err)
			}
			data = filepath.Join(home, ".local", "share")
		}
		given = filepath.Join(data, "armature", "plane")
	}
	return filepath.Abs(given)
}
