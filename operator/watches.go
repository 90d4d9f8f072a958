package operator

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
)

// firstAnswer is how long a pass waits for a new watch to say what is there. Then
// it goes on without, and comes again.
const firstAnswer = 2 * time.Second

// watches follows single objects by name, each for the owners that look at it. A
// watch of one name needs get, list and watch on that name alone, where one of a
// namespace needs the right to list it. An object that nobody looks at any longer
// is not followed any longer.
type watches struct {
	ctx    context.Context //nolint:containedctx // the life of the watches, which outlive the pass that starts them
	cfg    *rest.Config
	http   *http.Client
	mapper meta.RESTMapper
	scheme *runtime.Scheme
	seen   *changes

	mu      sync.Mutex
	queue   workqueue.TypedRateLimitingInterface[reconcile.Request]
	follows map[object.Key]*follow
}

// follow is the watch of one object.
type follow struct {
	store  toolscache.Store
	synced func() bool
	stop   context.CancelFunc
	err    atomic.Pointer[error] // of the last request, nil after one that went well
	owners map[types.NamespacedName]bool
}

func newWatches(ctx context.Context, mgr manager.Manager, seen *changes) (*watches, error) {
	cfg := rest.CopyConfig(mgr.GetConfig())
	cfg.DisableCompression = true // each open stream would keep a window for it, the larger part of its memory
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, err
	}
	return &watches{
		ctx: ctx, cfg: cfg, http: client, mapper: mgr.GetRESTMapper(), scheme: mgr.GetScheme(), follows: map[object.Key]*follow{}, seen: seen,
	}, nil
}

// source hands the controller's queue over.
func (w *watches) source() source.Source {
	return source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.queue = queue
		return nil
	})
}

// read returns the object, or nil if there is none, and follows it for the owner
// from now on.
func (w *watches) read(ctx context.Context, owner types.NamespacedName, key object.Key) (object.Object, error) {
	f, err := w.follow(owner, key)
	if err != nil {
		return nil, err
	}
	if err := f.wait(ctx, key); err != nil {
		return nil, err
	}
	item, ok, err := f.store.GetByKey(toolscache.NewObjectName(key.Namespace, key.Name).String())
	if err != nil || !ok {
		return nil, err
	}
	obj, ok := item.(object.Object)
	if !ok {
		return nil, fmt.Errorf("reading %s: a %T is no object", key.Short(), item)
	}
	return obj, nil
}

func (w *watches) follow(owner types.NamespacedName, key object.Key) (*follow, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, ok := w.follows[key]
	if !ok {
		var err error
		if f, err = w.start(key); err != nil {
			return nil, err
		}
		w.follows[key] = f
	}
	f.owners[owner] = true
	return f, nil
}

// start begins to watch one object.
func (w *watches) start(key object.Key) (*follow, error) {
	mapping, err := w.mapper.RESTMapping(key.GVK.GroupKind(), key.GVK.Version)
	if meta.IsNoMatchError(err) {
		return nil, &condition.WaitError{
			Message: fmt.Sprintf("the cluster does not serve %s (%s); install its CustomResourceDefinition", key.GVK.Kind, key.GVK.GroupVersion()),
			After:   30 * time.Second,
		}
	}
	if err != nil {
		return nil, err
	}
	like, err := object.Blank(w.scheme, key.GVK)
	if err != nil {
		return nil, err
	}
	_, untyped := like.(runtime.Unstructured)
	client, err := apiutil.RESTClientForGVK(key.GVK, false, untyped, w.cfg, serializer.NewCodecFactory(w.scheme), w.http)
	if err != nil {
		return nil, err
	}
	f := &follow{owners: map[types.NamespacedName]bool{}}
	ctx, cancel := context.WithCancel(w.ctx)
	store, informer := toolscache.NewInformerWithOptions(toolscache.InformerOptions{
		ListerWatcher: f.listerWatcher(client, mapping.Resource.Resource, key),
		ObjectType:    like,
		Handler: toolscache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { w.wake(key) },
			UpdateFunc: func(any, any) { w.wake(key) },
			DeleteFunc: func(any) { w.wake(key) },
		},
	})
	f.store, f.synced, f.stop = store, informer.HasSynced, cancel
	go informer.RunWithContext(ctx)
	return f, nil
}

// listerWatcher lists and watches the one object, and notes how that went.
func (f *follow) listerWatcher(client toolscache.Getter, resource string, key object.Key) toolscache.ListerWatcher {
	lw := toolscache.NewFilteredListWatchFromClient(client, resource, key.Namespace, func(o *metav1.ListOptions) {
		o.FieldSelector = "metadata.name=" + key.Name
	})
	return &toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list, err := lw.ListWithContextFunc(ctx, o)
			f.note(err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			wi, err := lw.WatchFuncWithContext(ctx, o)
			f.note(err)
			return wi, err
		},
	}
}

func (f *follow) note(err error) {
	if err == nil {
		f.err.Store(nil)
		return
	}
	f.err.Store(&err)
}

// wait returns once it is known what is there.
func (f *follow) wait(ctx context.Context, key object.Key) error {
	timeout := time.NewTimer(firstAnswer)
	defer timeout.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !f.synced() {
		if err := f.err.Load(); err != nil && apierrors.IsForbidden(*err) {
			return &apply.DeniedError{Verb: "get, list and watch", Resource: key.GVK.Kind + " " + key.Name, Scope: fmt.Sprintf("namespace %q", key.Namespace), Cause: *err}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timeout.C:
			return &condition.WaitError{Message: "waiting to learn about " + key.Short(), After: time.Second}
		case <-tick.C:
		}
	}
	return nil
}

// wake asks for a pass of every owner that looks at the object, which has changed.
func (w *watches) wake(key object.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f := w.follows[key]; f != nil && w.queue != nil {
		for owner := range f.owners {
			w.seen.note(owner)
			w.queue.Add(reconcile.Request{NamespacedName: owner})
		}
	}
}

// keep makes the keys all that the owner looks at; what nobody looks at is not
// followed any longer.
func (w *watches) keep(owner types.NamespacedName, keys []object.Key) {
	wanted := make(map[object.Key]bool, len(keys))
	for _, key := range keys {
		wanted[key] = true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, f := range w.follows {
		if wanted[key] || !f.owners[owner] {
			continue
		}
		delete(f.owners, owner)
		if len(f.owners) == 0 {
			f.stop()
			delete(w.follows, key)
		}
	}
}
