package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/armature-go/armature/cmd/armature/tree"
)

// Options say how the demo is run. The zero value is right.
type Options struct {
	Operator string           // program to run in place of bin/webapp-operator
	After    Afterwards       // what happens to the plane
	Patience time.Duration    // how long one step may take; 0 means a minute
	Now      func() time.Time // nil means the system clock
	Out, Err io.Writer        // nil means that nobody listens
}

// Afterwards says what happens to the plane when the demo is over.
type Afterwards string

// The zero value is Remove.
const (
	Remove Afterwards = ""
	Keep   Afterwards = "keep"
)

// namespace is where the sample lives: that of a kubeconfig which names none.
const namespace = "default"

// Run runs the demo in the checkout that the working directory is in, and returns nil
// when every step came true. Afterwards nothing of it runs but a plane that was to be
// kept. It ends early when the context does.
func Run(ctx context.Context, opts Options) error {
	s := newStage(opts)
	var err error
	if s.root, err = checkout(); err != nil {
		return err
	}
	if err := s.checkNamed(); err != nil {
		return err
	}
	fmt.Fprintln(s.out, "Armature: an operator at work on a real Kubernetes API, in less than a minute once everything is built")
	fmt.Fprintln(s.out)
	if s.scratch, err = newScratch(); err != nil {
		return err
	}
	err = s.perform(ctx)
	s.clear()
	switch {
	case err == nil:
		s.farewell()
		return nil
	case ctx.Err() != nil:
		err = errors.New("interrupted; what the demo has started is stopped")
	}
	if s.opts.After == Keep && s.kubeconfig != "" {
		err = fmt.Errorf("%w\nthe plane stays up: export KUBECONFIG=%s", err, s.kubeconfig)
	}
	return err
}

// perform is the demo from the first build to the last step.
func (s *stage) perform(ctx context.Context) error {
	if err := s.build(ctx); err != nil {
		return err
	}
	if err := s.raise(ctx); err != nil {
		return err
	}
	for i, step := range script() {
		if err := s.play(ctx, i+1, step); err != nil {
			return err
		}
	}
	return nil
}

// stage is where the demo takes place.
type stage struct {
	opts Options
	out  io.Writer
	now  func() time.Time

	root       string // of the checkout
	scratch    *scratch
	plane      string // the program
	planeDir   string
	kubeconfig string
	cast       []*actor
	dynamic    dynamic.Interface
	reader     *tree.Reader
	begun      time.Time
}

func newStage(opts Options) *stage {
	if opts.Patience == 0 {
		opts.Patience = time.Minute
	}
	if opts.Now == nil {
		opts.Now = time.Now //nolint:forbidigo // the system clock is what nil means
	}
	if opts.Out == nil {
		opts.Out = io.Discard
	}
	if opts.Err == nil {
		opts.Err = io.Discard
	}
	return &stage{opts: opts, out: opts.Out, now: opts.Now, begun: opts.Now()}
}

// tell prints a line with the time since the demo began.
func (s *stage) tell(format string, args ...any) {
	fmt.Fprintf(s.out, "%5.1fs  %s\n", s.now().Sub(s.begun).Seconds(), fmt.Sprintf(format, args...))
}

// raise brings plane, operator and sample up, until the sample is ready.
func (s *stage) raise(ctx context.Context) error {
	if err := s.startPlane(ctx); err != nil {
		return err
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", s.kubeconfig)
	if err != nil {
		return err
	}
	cfg.QPS = -1
	cfg.UserAgent = "armature-demo"
	cfg.WarningHandler = rest.NoWarnings{} // about old kinds, which are looked at like all others
	if s.dynamic, err = dynamic.NewForConfig(cfg); err != nil {
		return err
	}
	if s.reader, err = tree.New(cfg, tree.Options{}); err != nil {
		return err
	}
	for _, command := range []string{
		"apply -f operators/webapp/crd",
		"wait --for=condition=Established crd/webapps.examples.armature.dev",
	} {
		if err := s.kubectl(ctx, command); err != nil {
			return err
		}
	}
	s.tell("the operator starts: %s", s.short(s.operator()))
	if err := s.startOperator(); err != nil {
		return err
	}
	if s.opts.After == Keep { // an earlier demo may have left it half way
		if err := s.quietly(ctx, "delete webapp/shop secret/shop-tls --ignore-not-found"); err != nil {
			return err
		}
	}
	if err := s.kubectl(ctx, "apply -f operators/webapp/sample.yaml"); err != nil {
		return err
	}
	return s.live(ctx)
}

// treeEvery is how often the live tree is read, and treePause how long a log is spared
// the next one.
const (
	treeEvery = 100 * time.Millisecond
	treePause = time.Second
)

// live shows the tree of the sample until that is ready.
func (s *stage) live(ctx context.Context) error {
	fmt.Fprintln(s.out)
	ctx, stop := s.attentive(ctx)
	defer stop()
	ref := tree.Ref{Resource: webapp.resource, Kind: webapp.kind, Namespace: namespace, Name: webapp.name}
	screen := tree.NewScreen(s.out)
	var last time.Time
	var seen tree.Node
	err := s.reader.Follow(ctx, ref, treeEvery, func(n tree.Node) tree.Answer {
		seen = n
		done := n.Status == "True"
		if now := s.now(); done || screen.Terminal() || now.Sub(last) >= treePause {
			screen.Show(n.Text(now, screen.Colour()))
			last = now
		}
		if done {
			return tree.Enough
		}
		return tree.More
	})
	if errors.Is(err, errOutOfPatience) || errors.Is(context.Cause(ctx), errOutOfPatience) {
		return s.failed(ctx, "Bring the sample up", fmt.Sprintf("%s is %s %s, and should be True: %s", seen.Name, seen.Status, seen.Reason, seen.Message), webapp)
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}

// farewell says what a person can do next.
func (s *stage) farewell() {
	fmt.Fprintf(s.out, "\nAll steps came true, %.0fs in all. ", s.now().Sub(s.begun).Seconds())
	plane, kubectl := s.short(s.plane), s.short(s.plane)+" kubectl"
	if s.opts.After == Keep {
		kubectl += " --dir " + s.planeDir
		fmt.Fprintf(s.out, "The plane stays up; %s down --dir %s stops it. To play with it:\n\n", plane, s.planeDir)
		fmt.Fprintf(s.out, "  export KUBECONFIG=%s\n", s.kubeconfig)
	} else {
		fmt.Fprint(s.out, "Nothing is left running. To keep a plane open and play:\n\n")
		fmt.Fprintf(s.out, "  %s up && export KUBECONFIG=$(%s kubeconfig) && %s apply -f operators/webapp/crd\n", plane, plane, kubectl)
	}
	fmt.Fprintf(s.out, "  %s run >/tmp/webapp-operator.log 2>&1 &\n", operatorProgram.path)
	fmt.Fprintf(s.out, "  %s apply -f operators/webapp/sample.yaml && bin/armature tree webapp/shop --watch\n", kubectl)
}

// clear ends what the demo has started, in reverse order, and removes its directory.
func (s *stage) clear() {
	for _, a := range slices.Backward(s.cast) {
		a.process.Stop(mercy)
	}
	s.scratch.remove()
}

// short is a path as it is seen from the checkout.
func (s *stage) short(path string) string {
	if rel, err := filepath.Rel(s.root, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
