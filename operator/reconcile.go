package operator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/component"
	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/resource"
)

// rounds is how often the components may ask for facts that depend on facts.
const rounds = 5

// reconciler takes the owners of one controller through passes.
type reconciler struct {
	controller Controller
	gvk        schema.GroupVersionKind
	client     client.Client
	applier    *apply.Applier
	env        component.Env
	watches    *watches
	recorder   events.EventRecorder
	metrics    *controllerMetrics
	changes    *changes

	mu     sync.Mutex
	owners map[types.NamespacedName]*memory
}

// memory is what is kept of an owner between passes.
type memory struct {
	uid     types.UID
	status  *status   // the last one that was written
	written time.Time // when
	settled sight     // what the last pass saw, if it changed nothing; else zero
	until   time.Time // when to look again all the same

	notes map[string][]component.Note // that the last pass told, by component
}

func newReconciler(ctx context.Context, mgr manager.Manager, opts Options, c Controller, gvk schema.GroupVersionKind) (*reconciler, error) {
	owns, err := gvks(mgr.GetScheme(), c.kinds.Owns)
	if err != nil {
		return nil, err
	}
	if len(owns) != len(c.kinds.Owns) {
		return nil, fmt.Errorf("controller for %s: a kind is in Owns twice", gvk.Kind)
	}
	reads, err := gvks(mgr.GetScheme(), c.kinds.Reads)
	if err != nil {
		return nil, err
	}
	seen := &changes{}
	w, err := newWatches(ctx, mgr, seen)
	if err != nil {
		return nil, err
	}
	applier := apply.New(mgr.GetClient(), opts.Name, apply.Options{Live: mgr.GetAPIReader(), Now: now, Former: opts.Former})
	return &reconciler{
		controller: c,
		gvk:        gvk,
		client:     mgr.GetClient(),
		applier:    applier,
		env:        component.Env{Applier: applier, Scheme: mgr.GetScheme(), Owns: owns, Reads: reads, Now: now},
		watches:    w,
		recorder:   mgr.GetEventRecorder(opts.Name),
		metrics:    metricsFor(opts.Name, gvk.Kind),
		changes:    seen,
		owners:     map[types.NamespacedName]*memory{},
	}, nil
}

func now() time.Time {
	return time.Now() //nolint:forbidigo // the one clock of a running operator
}

// Reconcile takes one owner through one pass.
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	owner, ok := r.controller.owner().(interface {
		component.Owner
		client.Object
	})
	if !ok {
		return ctrl.Result{}, fmt.Errorf("%T is no object that can be stored", owner)
	}
	changes := r.changes.count(req.NamespacedName) // before anything is read
	err := r.client.Get(ctx, req.NamespacedName, owner)
	if apierrors.IsNotFound(err) {
		r.forget(req.NamespacedName)
		return ctrl.Result{}, nil
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	if owner.GetDeletionTimestamp() != nil {
		return r.end(ctx, req.NamespacedName, owner)
	}
	mem := r.recall(req.NamespacedName, owner)
	saw := sight{version: owner.GetResourceVersion(), changes: changes}
	if left := mem.until.Sub(r.env.Now()); saw == mem.settled && left > 0 {
		return ctrl.Result{RequeueAfter: left}, nil
	}
	mem.settled = sight{}
	read, ok := owner.DeepCopyObject().(component.Owner)
	if !ok {
		return ctrl.Result{}, fmt.Errorf("copying %T: its DeepCopyObject returns another type", owner)
	}
	res, err := r.pass(ctx, req.NamespacedName, owner)
	if err != nil { // a panic outside any component: the status stays as it is
		r.recorder.Eventf(owner, nil, "Warning", string(condition.Error), "Reconcile", "%s", err)
		return ctrl.Result{}, err
	}
	read.SetResourceVersion(owner.GetResourceVersion()) // the pass may have changed our finalizer
	r.report(ctx, read, res, mem)
	wrote, after, err := r.writeStatus(ctx, read, res, mem)
	if err := errors.Join(res.Err, err); err != nil {
		return ctrl.Result{}, err
	}
	after = shortest(res.After, after)
	if !wrote && !changed(res) {
		mem.settle(saw, r.env.Now(), after)
		after = shortest(after, mem.until.Sub(r.env.Now()))
	}
	return ctrl.Result{RequeueAfter: after}, nil
}

func shortest(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// pass runs the components of the owner once all facts are known. Its error is a
// panic of the author's code.
func (r *reconciler) pass(ctx context.Context, name types.NamespacedName, owner component.Owner) (component.Result, error) {
	used := &uses{watches: r.watches, owner: name, reads: map[object.Key]bool{}}
	env := r.env
	env.Observer = used
	components, err := r.components(ctx, owner, used)
	var crash *panicError
	switch {
	case errors.As(err, &crash):
		ctrl.LoggerFrom(ctx).Error(err, "building the components panicked", "stack", string(crash.stack))
		return component.Result{}, err
	case err != nil:
		return component.Failed(env, owner, err), nil
	}
	res := component.Run(ctx, env, owner, components)
	if res.Err == nil {
		r.watches.keep(name, used.keys())
	}
	r.relieve(ctx, owner, components, &res)
	return res, nil
}

// components calls the author's function until it asks for nothing unknown.
func (r *reconciler) components(ctx context.Context, owner component.Owner, used *uses) ([]component.Component, error) {
	known := map[object.Key]object.Object{}
	for range rounds {
		facts := resource.NewFacts(r.env.Scheme, known)
		components, err := r.build(owner, facts)
		if factErr := facts.Err(); factErr != nil {
			return nil, factErr
		}
		unknown := facts.Unknown()
		if len(unknown) == 0 {
			return components, err
		}
		for _, key := range unknown {
			if err := r.mayAsk(owner, key); err != nil {
				return nil, err
			}
			if known[key], err = used.Observe(ctx, key); err != nil {
				return nil, err
			}
		}
	}
	return nil, &condition.InvalidError{
		Field: "components", Problem: fmt.Sprintf("they still ask for new facts after %d rounds", rounds), Fix: "ask for facts whose names do not depend on so many others",
	}
}

func (r *reconciler) mayAsk(owner component.Owner, key object.Key) error {
	if !slices.Contains(r.env.Reads, key.GVK) && !slices.Contains(r.env.Owns, key.GVK) {
		return &condition.InvalidError{Field: key.Short(), Problem: "it is asked for as a fact, and its kind is not declared", Fix: "add it to operator.Kinds.Reads"}
	}
	if home := owner.GetNamespace(); home != "" && key.Namespace != "" && key.Namespace != home {
		return &condition.InvalidError{Field: key.Short(), Problem: fmt.Sprintf("it is asked for as a fact in namespace %q, and the owner is in %q", key.Namespace, home), Fix: "ask within the owner's namespace"}
	}
	return nil
}

type panicError struct {
	cause any
	stack []byte
}

func (e *panicError) Error() string {
	return fmt.Sprintf("building the components panicked: %v", e.cause)
}

func (r *reconciler) build(owner component.Owner, facts *resource.Facts) (components []component.Component, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = &panicError{cause: cause, stack: debug.Stack()}
		}
	}()
	return r.controller.build(owner, facts)
}

// uses notes what a pass looks at, so that the rest need not be watched any longer.
type uses struct {
	watches *watches
	owner   types.NamespacedName
	reads   map[object.Key]bool
}

// Observe implements [component.Observer].
func (u *uses) Observe(ctx context.Context, key object.Key) (object.Object, error) {
	u.reads[key] = true
	return u.watches.read(ctx, u.owner, key)
}

// keys are what was looked at.
func (u *uses) keys() []object.Key { return slices.Collect(maps.Keys(u.reads)) }

// recall returns what is kept of the owner, and gives the owner the status of our
// own last write where the cache is behind it.
func (r *reconciler) recall(name types.NamespacedName, owner component.Owner) *memory {
	r.mu.Lock()
	defer r.mu.Unlock()
	mem := r.owners[name]
	if mem != nil && mem.uid != owner.GetUID() { // deleted and made anew
		r.applier.Forget(mem.uid)
		mem = nil
	}
	if mem == nil {
		mem = &memory{uid: owner.GetUID(), notes: map[string][]component.Note{}}
		r.owners[name] = mem
	}
	if mem.status != nil && r.applier.StatusNewer(owner) {
		mem.status.restore(owner)
	}
	return mem
}

// forget drops what is kept of an owner that is going or gone.
func (r *reconciler) forget(name types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if mem := r.owners[name]; mem != nil {
		r.applier.Forget(mem.uid)
		delete(r.owners, name)
	}
	r.changes.forget(name)
	r.watches.keep(name, nil)
	r.metrics.forget(name)
}
