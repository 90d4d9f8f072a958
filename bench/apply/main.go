package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// options are the command line.
type options struct {
	settings  settings
	plane     string
	out       string
	doc       string
	only      string
	contender string
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench-apply", flag.ContinueOnError)
	flags.SetOutput(stderr)
	plane := os.Getenv("ARMATURE_PLANE")
	if plane == "" {
		plane = "bin/plane"
	}
	sizes := &o.settings.Sizes
	flags.IntVar(&sizes.Deployments, "deployments", 200, "how many Deployments")
	flags.IntVar(&sizes.ConfigMaps, "configmaps", 200, "how many ConfigMaps")
	flags.IntVar(&sizes.Services, "services", 100, "how many Services")
	flags.IntVar(&sizes.StatefulSets, "statefulsets", 100, "how many StatefulSets")
	flags.IntVar(&o.settings.Rest, "rest", 20, "passes at rest")
	flags.IntVar(&o.settings.Churn, "churn", 10, "passes under each kind of churn")
	flags.IntVar(&o.settings.Drift, "drift", 5, "passes after drift")
	flags.IntVar(&o.settings.Touched, "touched", 40, "objects that somebody changes before a pass")
	flags.StringVar(&o.plane, "plane", plane, "the plane program")
	flags.StringVar(&o.out, "out", "bench/out/apply.json", "file for the results")
	flags.StringVar(&o.doc, "doc", "", "document whose tables are replaced with these results")
	flags.StringVar(&o.only, "only", "", "contenders to run besides the first, by short name with commas between; empty means all")
	flags.StringVar(&o.contender, "contender", "", "be this contender and answer questions; for the program's own use")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	n := o.settings
	if flags.NArg() > 0 || min(sizes.Deployments, sizes.ConfigMaps, sizes.Services, sizes.StatefulSets, n.Rest, n.Touched) < 1 || min(n.Churn, n.Drift) < 0 {
		err := errors.New("one object of each kind, one that changes and one pass at rest are the least, and there are no arguments")
		fmt.Fprintln(stderr, "bench-apply:", err)
		return o, err
	}
	return o, nil
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	log.SetLogger(logr.Discard())
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		return 2
	}
	if o.contender != "" {
		err = serve(ctx, stdin, stdout)
	} else {
		err = compare(ctx, o, stdout, stderr)
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errNoServer):
		fmt.Fprintln(stderr, "bench-apply:", err)
		return 3
	default:
		fmt.Fprintln(stderr, "bench-apply:", err)
		return 1
	}
}

// errNoServer says that no API server came up.
var errNoServer = errors.New("there is no API server")

// compare runs the contenders and tells the results.
func compare(ctx context.Context, o options, stdout, stderr io.Writer) error {
	s, err := startServer(o.plane)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoServer, err)
	}
	r, err := measure(ctx, o, s, stderr)
	if err := errors.Join(err, s.stop()); err != nil {
		return err
	}
	if err := r.print(stdout); err != nil {
		return err
	}
	if err := r.save(o.out); err != nil {
		return err
	}
	if len(r.Wrong) > 0 {
		return errors.New("not as it should be:\n" + strings.Join(r.Wrong, "\n"))
	}
	if o.doc != "" {
		return r.refresh(o.doc)
	}
	return nil
}

func measure(ctx context.Context, o options, s *server, stderr io.Writer) (report, error) {
	cfg, err := load(s.kubeconfig, "bench-party")
	if err != nil {
		return report{}, err
	}
	asking, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return report{}, err
	}
	kubernetes, err := asking.ServerVersion()
	if err != nil {
		return report{}, err
	}
	audit, err := openAudit(s)
	if err != nil {
		return report{}, err
	}
	b := &bench{server: s, settings: o.settings, audit: audit, config: cfg, log: stderr}
	r := report{Date: time.Now().UTC(), Machine: thisMachine(kubernetes.GitVersion), Settings: o.settings}
	if err := b.warmUp(ctx); err != nil {
		return report{}, errors.Join(fmt.Errorf("warming up: %w", err), audit.close())
	}
	for i, e := range contenders {
		if i > 0 && o.only != "" && !slices.Contains(strings.Split(o.only, ","), e.slug) {
			continue
		}
		out, err := b.run(ctx, e)
		if err != nil {
			return report{}, errors.Join(err, audit.close())
		}
		r.Contenders, r.Rows = append(r.Contenders, out), append(r.Rows, out.rows...)
	}
	r.Wrong = judge(r.Contenders)
	return r, audit.close()
}
