package command

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/armature-go/armature/plane/proxy"
	"github.com/armature-go/armature/plane/supervise"
)

// find parses the flags of a command that is about a plane and finds it.
func find(fs *flag.FlagSet, args []string) (*supervise.Remote, error) {
	dir := dirFlag(fs)
	if err := parseAll(fs, args); err != nil {
		return nil, err
	}
	return lookup(*dir)
}

func lookup(given string) (*supervise.Remote, error) {
	dir, err := directory(given)
	if err != nil {
		return nil, err
	}
	return supervise.Find(dir)
}

func down(e *env, fs *flag.FlagSet, args []string) error {
	remote, err := find(fs, args)
	if _, none := errors.AsType[*supervise.DownError](err); none {
		fmt.Fprintln(e.Err, "no plane is up, nothing to stop")
		return nil
	}
	if err != nil {
		return err
	}
	return remote.Stop(e.ctx)
}

func kubeconfig(e *env, fs *flag.FlagSet, args []string) error {
	remote, err := find(fs, args)
	if err != nil {
		return err
	}
	s, err := remote.Status(e.ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(e.Out, s.Kubeconfig)
	return err
}

func status(e *env, fs *flag.FlagSet, args []string) error {
	format := fs.String("o", "text", "text or json")
	remote, err := find(fs, args)
	if err != nil {
		return err
	}
	if *format != "text" && *format != "json" {
		return &usageError{fmt.Sprintf("-o %s is not a format", *format), "use text or json"}
	}
	s, err := remote.Status(e.ctx)
	if err != nil {
		return err
	}
	if *format == "json" {
		enc := json.NewEncoder(e.Out)
		enc.SetIndent("", "  ")
		return enc.Encode(s)
	}
	return e.describe(s)
}

func (e *env) describe(s supervise.Status) error {
	if s.Up {
		fmt.Fprintf(e.Out, "plane is up for %s\n", since(s.StartedAt))
	} else {
		fmt.Fprintf(e.Out, "plane is not up yet: %s\n", s.Step)
	}
	w := tabwriter.NewWriter(e.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "server\t%s\n", s.Server)
	fmt.Fprintf(w, "kubeconfig\t%s\n", s.Kubeconfig)
	if s.Audit != "" {
		fmt.Fprintf(w, "audit log\t%s\n", s.Audit)
	}
	if s.Proxy != nil {
		fmt.Fprintf(w, "proxy\t%s\n", s.Proxy.Server)
		fmt.Fprintf(w, "its kubeconfig\t%s\n", s.Proxy.Kubeconfig)
		if s.Proxy.Rule != nil {
			fmt.Fprintf(w, "its fault\t%s\n", s.Proxy.Rule)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(e.Out)
	fmt.Fprintln(w, "COMPONENT\tSTATE\tPID\tUPTIME\tLOG")
	fmt.Fprintf(w, "supervisor\trunning\t%d\t%s\t-\n", s.PID, since(s.StartedAt))
	for _, c := range s.Components {
		pid, uptime := "-", "-"
		if c.PID != 0 {
			pid, uptime = fmt.Sprint(c.PID), since(c.StartedAt)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", c.Name, c.State, pid, uptime, c.Log)
	}
	return w.Flush()
}

func since(t time.Time) string {
	return time.Since(t).Round(time.Second).String() //nolint:forbidigo // told to a person
}

func version(e *env, fs *flag.FlagSet, args []string) error {
	if err := parseAll(fs, args); err != nil {
		return err
	}
	for _, v := range e.program.Versions {
		fmt.Fprintf(e.Out, "%-12s %s\n", v[0], v[1])
	}
	return nil
}

// kubectl hands its arguments on, but for a leading --dir.
func kubectl(e *env, _ *flag.FlagSet, args []string) error {
	given := ""
	if len(args) > 0 {
		value, inline := strings.CutPrefix(args[0], "--dir=")
		switch {
		case inline:
			given, args = value, args[1:]
		case args[0] == "--dir" && len(args) > 1:
			given, args = args[1], args[2:]
		case args[0] == "--dir":
			return &usageError{"--dir has no value", "write plane kubectl --dir DIR get nodes"}
		}
	}
	dir, err := directory(given)
	if err != nil {
		return err
	}
	// kubectl can do some things without a cluster, so none is required; but
	// then it must not reach another one.
	if _, err := supervise.Find(dir); err != nil {
		fmt.Fprintln(e.Err, "plane kubectl:", err)
	}
	if err := os.Setenv("KUBECONFIG", supervise.Kubeconfig(dir)); err != nil {
		return err
	}
	if code := e.program.Kubectl(args); code != 0 {
		return &exitError{code}
	}
	return nil
}

func fault(e *env, fs *flag.FlagSet, args []string) error {
	dir := dirFlag(fs)
	if err := parse(fs, args); err != nil {
		return err
	}
	rest, err := operands(fs, 2)
	if err != nil {
		return err
	}
	form := &usageError{"what should go wrong is missing or unknown", "write plane fault apiserver " + strings.Join(supervise.Actions, "|") +
		", plane fault kill COMPONENT, plane fault proxy --status 429, or plane fault proxy clear"}
	if len(rest) < 2 {
		return form
	}
	switch {
	case rest[0] == "apiserver" && len(rest) == 2 && slices.Contains(supervise.Actions, rest[1]):
		return e.inflict(*dir, supervise.Fault{Component: supervise.APIServer, Action: rest[1]})
	case rest[0] == "kill" && len(rest) == 2:
		return e.inflict(*dir, supervise.Fault{Component: rest[1], Action: "kill"})
	case rest[0] == "proxy":
		return e.disturb(*dir, rest[1:])
	default:
		return form
	}
}

// operands takes up to n words and then flags again, except for the proxy,
// whose flags are its own.
func operands(fs *flag.FlagSet, n int) ([]string, error) {
	rest := fs.Args()
	if len(rest) <= n || rest[0] == "proxy" {
		return rest, nil
	}
	if err := parse(fs, rest[n:]); err != nil {
		return nil, err
	}
	return slices.Concat(rest[:n], fs.Args()), nil
}

func (e *env) inflict(dir string, f supervise.Fault) error {
	remote, err := lookup(dir)
	if err != nil {
		return err
	}
	return remote.Inflict(e.ctx, f)
}

func (e *env) disturb(dir string, args []string) error {
	var rule *proxy.Rule
	if len(args) != 1 || args[0] != "clear" {
		var err error
		if rule, err = parseRule(args, &dir); err != nil {
			return err
		}
	}
	remote, err := lookup(dir)
	if err != nil {
		return err
	}
	return remote.Disturb(e.ctx, rule)
}

// parseRule reads the flags of plane fault proxy.
func parseRule(args []string, dir *string) (*proxy.Rule, error) {
	var r proxy.Rule
	fs := newFlags("plane fault proxy")
	fs.StringVar(dir, "dir", *dir, "directory of the plane")
	fs.IntVar(&r.Status, "status", 0, "answer with this HTTP status instead of asking the API server")
	fs.DurationVar(&r.RetryAfter, "retry-after", 0, "with --status: when to come back, in whole seconds")
	fs.DurationVar(&r.Latency, "latency", 0, "wait before answering")
	fs.Float64Var(&r.Share, "share", 1, "share of the requests that are hit, evenly spread")
	fs.Func("method", "only requests with this method; may be repeated", func(m string) error {
		r.Methods = append(r.Methods, strings.ToUpper(m))
		return nil
	})
	fs.StringVar(&r.Path, "path", "", "only requests whose path starts with this")
	if err := parseAll(fs, args); err != nil {
		return nil, err
	}
	if r.Share == 0 {
		return nil, &usageError{"--share 0 hits nothing", "plane fault proxy clear lets everything pass"}
	}
	if err := r.Validate(); err != nil {
		return nil, &usageError{err.Error(), "plane fault proxy --help lists the flags"}
	}
	return &r, nil
}
