package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"syscall"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// order is the first line that a contender's process reads.
type order struct {
	Contender  string `json:"contender"`
	Kubeconfig string `json:"kubeconfig"`
	Sizes      sizes  `json:"sizes"`
}

func (o order) namespace() string { return "bench-" + o.Contender }

func (o order) userAgent() string { return "bench-contender-" + o.Contender }

// What the parent asks of a contender's process, one line each.
const (
	doPass   = "pass"   // one pass over all objects
	doAwait  = "await"  // wait until the cache shows what is listed
	doHeap   = "heap"   // what is in use after a collection
	doForget = "forget" // what is remembered about the objects, which are gone
	doUsage  = "usage"
)

type question struct {
	Do    string    `json:"do"`
	Await []version `json:"await,omitempty"`
}

// version is an object as it was seen at the server; no version means that it is gone.
type version struct {
	Kind            string `json:"kind"`
	Name            string `json:"name"`
	ResourceVersion string `json:"resourceVersion"`
}

// answer says how the process stands after what it was asked.
type answer struct {
	Error  string        `json:"error,omitempty"`
	Passes int           `json:"passes"` // since it began
	Wall   time.Duration `json:"wall"`   // of all passes
	CPU    time.Duration `json:"cpu"`    // of the process, user and system
	Moved  bytesMoved    `json:"moved"`
	Heap   uint64        `json:"heap,omitempty"` // in use after a collection
}

// patience is how long a cache may take to see a change, and a server to log a
// request, on a loaded machine.
const patience = time.Minute

// serve is the process of a contender: it answers questions until there are no more.
func serve(ctx context.Context, in io.Reader, out io.Writer) error {
	questions, answers := json.NewDecoder(in), json.NewEncoder(out)
	var o order
	if err := questions.Decode(&o); err != nil {
		return fmt.Errorf("reading what to do: %w", err)
	}
	e, ok := find(o.Contender)
	if !ok {
		return fmt.Errorf("there is no contender %q", o.Contender)
	}
	s, err := newSession(ctx, o)
	if err != nil {
		return err
	}
	c, err := e.prepare(ctx, s)
	if err != nil {
		return err
	}
	p := process{session: s, contender: c}
	for {
		var q question
		err := questions.Decode(&q)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = p.do(ctx, q)
		}
		a := p.answer(q)
		if err != nil {
			a.Error = err.Error()
		}
		if err := errors.Join(err, answers.Encode(a)); err != nil {
			return err
		}
	}
}

// process is the state of a contender's process.
type process struct {
	session   *session
	contender contender
	passes    int
	wall      time.Duration
}

func (p *process) do(ctx context.Context, q question) error {
	switch q.Do {
	case doPass:
		start := time.Now()
		if err := p.contender.pass(ctx); err != nil {
			return err
		}
		p.wall += time.Since(start)
		p.passes++
	case doAwait:
		return p.session.await(ctx, q.Await)
	case doForget:
		if f, ok := p.contender.(forgetter); ok {
			f.forget()
		}
	case doHeap, doUsage:
	default:
		return fmt.Errorf("there is no answer to %q", q.Do)
	}
	return nil
}

func (p *process) answer(q question) answer {
	a := answer{Passes: p.passes, Wall: p.wall, CPU: cpuTime(), Moved: p.session.traffic.read()}
	if q.Do == doHeap {
		runtime.GC()
		runtime.GC() // what finalizers and pools held on to
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		a.Heap = m.HeapAlloc
	}
	return a
}

// cpuTime is what this process has used so far.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// await waits until the cache, if there is one, shows the objects as listed.
func (s *session) await(ctx context.Context, versions []version) error {
	if s.cache == nil {
		return nil
	}
	deadline := time.Now().Add(patience)
	for _, v := range versions {
		for {
			seen, err := s.seen(ctx, v)
			if err != nil {
				return err
			}
			if seen == v {
				break
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("the cache does not show %s %s at version %q after %s, but at %q", v.Kind, v.Name, v.ResourceVersion, patience, seen.ResourceVersion)
			}
			time.Sleep(2 * time.Millisecond)
		}
	}
	return nil
}

// seen returns the version at which the cache shows an object.
func (s *session) seen(ctx context.Context, v version) (version, error) {
	obj, err := s.empty(v.Kind)
	if err != nil {
		return version{}, err
	}
	err = s.cache.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: v.Name}, obj)
	return version{v.Kind, v.Name, obj.GetResourceVersion()}, client.IgnoreNotFound(err)
}
