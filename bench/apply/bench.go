package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// settings are the numbers of a run.
type settings struct {
	Sizes   sizes `json:"objects"`
	Rest    int   `json:"passesAtRest"`
	Churn   int   `json:"passesUnderChurn"` // of each kind of churn
	Drift   int   `json:"passesAfterDrift"`
	Touched int   `json:"objectsChangedBeforeAPass"`
}

// row is what one contender did in one phase. Numbers are totals.
type row struct {
	Contender string        `json:"contender"`
	Phase     string        `json:"phase"`
	Objects   int           `json:"objects"`
	Passes    int           `json:"passes"`
	Requests  requests      `json:"requests"`
	Moved     bytesMoved    `json:"bytes"`
	Touched   int           `json:"touched"` // objects that somebody else changed
	Changed   int           `json:"changed"` // objects whose version a pass moved
	CPU       time.Duration `json:"cpuNanoseconds"`
	Wall      time.Duration `json:"wallNanoseconds"`
	Drifted   int           `json:"drifted"`
	Left      int           `json:"left"` // drifted, and not as before after the pass
}

// outcome is all about one contender.
type outcome struct {
	Contender string            `json:"contender"`
	Version   string            `json:"version"`
	Settings  string            `json:"settings"`
	Heap      *heap             `json:"heap,omitempty"`    // nil without a cache
	Differs   map[string]string `json:"differs,omitempty"` // for a reason that is known

	rows   []row
	stages map[string]snapshot // by phase, after it
}

// heap is memory for each object, in bytes.
type heap struct {
	Cache      uint64 `json:"cacheBytesPerObject"`
	Remembered uint64 `json:"rememberedBytesPerObject"` // by the contender itself
}

// bench runs contenders against one server.
type bench struct {
	server   *server
	settings settings
	audit    *auditLog
	config   *rest.Config
	log      io.Writer
}

// run takes one contender through all phases.
func (b *bench) run(ctx context.Context, e entry) (outcome, error) {
	o := order{Contender: e.slug, Kubeconfig: b.server.kubeconfig, Sizes: b.settings.Sizes}
	p, err := b.join(ctx, o)
	if err != nil {
		return outcome{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c, err := startChild(ctx, o)
	if err != nil {
		return outcome{}, err
	}
	out := outcome{Contender: e.name, Version: versionOf(e.module), Settings: e.settings, stages: map[string]snapshot{}}
	err = b.phases(ctx, e, p, c, &out)
	if err != nil {
		err = fmt.Errorf("running %s: %w", e.name, err)
	}
	return out, errors.Join(err, c.stop())
}

// warmUp lets the server do once what it does for the first object of a kind.
func (b *bench) warmUp(ctx context.Context) error {
	o := order{Contender: "warm-up", Kubeconfig: b.server.kubeconfig, Sizes: sizes{1, 1, 1, 1}}
	if _, err := b.join(ctx, o); err != nil {
		return err
	}
	s, err := newSession(ctx, o)
	if err != nil {
		return err
	}
	c, err := newServerSide(ctx, s)
	if err != nil {
		return err
	}
	return errors.Join(c.pass(ctx), c.pass(ctx))
}

// join makes the namespace of a contender and the owners in it, and returns the party
// of everybody else there.
func (b *bench) join(ctx context.Context, o order) (*party, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	c, err := client.New(b.config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	ns := o.namespace()
	if err := c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}); err != nil {
		return nil, err
	}
	for i := range o.Sizes.owners() {
		if err := c.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: ownerName(i)}}); err != nil {
			return nil, err
		}
	}
	return &party{client: c, settings: b.settings, ns: ns}, nil
}

func (b *bench) phases(ctx context.Context, e entry, p *party, c *child, out *outcome) error {
	begun, err := c.ask(question{Do: doUsage})
	if err != nil {
		return err
	}
	if _, err := b.audit.take(ctx, c.userAgent, begun.Moved.Requests); err != nil { // the owners were read
		return err
	}
	f := follower{party: p, child: c}
	for _, ph := range phases {
		if ph.passes(b.settings) == 0 {
			continue
		}
		fmt.Fprintf(b.log, "%s: %s\n", e.name, ph.name)
		r, err := b.phase(ctx, &f, ph)
		if err != nil {
			return fmt.Errorf("%s: %w", ph.name, err)
		}
		r.Contender = e.name
		out.rows = append(out.rows, r)
		if out.stages[ph.name], err = p.snapshot(ctx); err != nil {
			return err
		}
	}
	if !e.cached {
		return nil
	}
	out.Heap, err = b.heap(ctx, p, c)
	return err
}

// heap returns what an object costs in the memory of a contender: what is in use with
// all objects, less what is in use when they are gone.
func (b *bench) heap(ctx context.Context, p *party, c *child) (*heap, error) {
	full, err := c.ask(question{Do: doHeap})
	if err != nil {
		return nil, err
	}
	gone, err := p.remove(ctx)
	if err != nil {
		return nil, err
	}
	var without []uint64
	for _, q := range []question{{Do: doAwait, Await: gone}, {Do: doForget}} {
		if _, err := c.ask(q); err != nil {
			return nil, err
		}
		a, err := c.ask(question{Do: doHeap})
		if err != nil {
			return nil, err
		}
		without = append(without, a.Heap)
	}
	each := func(before, after uint64) uint64 {
		return (max(before, after) - after) / uint64(b.settings.Sizes.total())
	}
	return &heap{Cache: each(full.Heap, without[0]), Remembered: each(without[0], without[1])}, nil
}

// phase drives the passes of one phase. A pass begins when the contender's cache shows
// all that was changed.
func (b *bench) phase(ctx context.Context, f *follower, ph phase) (row, error) {
	before, err := f.child.ask(question{Do: doUsage})
	if err != nil {
		return row{}, err
	}
	r := row{Phase: ph.name, Objects: b.settings.Sizes.total()}
	for round := range ph.passes(b.settings) {
		if err := f.round(ctx, ph, round, &r); err != nil {
			return row{}, err
		}
	}
	after, err := f.child.ask(question{Do: doUsage})
	if err != nil {
		return row{}, err
	}
	r.Passes = after.Passes - before.Passes
	r.CPU, r.Wall, r.Moved = after.CPU-before.CPU, after.Wall-before.Wall, after.Moved.minus(before.Moved)
	r.Requests, err = b.audit.take(ctx, f.child.userAgent, r.Moved.Requests)
	return r, err
}

// follower keeps the cache of a child as new as the objects are.
type follower struct {
	party *party
	child *child
	seen  map[version]bool
}

// round is one change by everybody else, and one pass.
func (f *follower) round(ctx context.Context, ph phase, round int, r *row) error {
	var before snapshot
	var drifted []ref
	var err error
	if ph.change != nil {
		if before, err = f.party.snapshot(ctx); err != nil {
			return err
		}
		if drifted, err = ph.change(ctx, f.party, round); err != nil {
			return err
		}
		touched, err := f.follow(ctx)
		if err != nil {
			return err
		}
		r.Touched += touched
	}
	if _, err := f.child.ask(question{Do: doPass}); err != nil {
		return err
	}
	changed, err := f.follow(ctx)
	if err != nil {
		return err
	}
	r.Changed += changed
	if len(drifted) > 0 {
		after, err := f.party.snapshot(ctx)
		if err != nil {
			return err
		}
		r.Drifted += len(drifted)
		r.Left += left(before, after, drifted)
	}
	return nil
}

// follow waits until the child's cache shows what is at the server, and returns how
// many objects are new there since the last time.
func (f *follower) follow(ctx context.Context) (int, error) {
	now, err := f.party.versions(ctx)
	if err != nil {
		return 0, err
	}
	var fresh []version
	for v := range now {
		if !f.seen[v] {
			fresh = append(fresh, v)
		}
	}
	f.seen = now
	_, err = f.child.ask(question{Do: doAwait, Await: fresh})
	return len(fresh), err
}
