// Package cloud plays what surrounds a cluster.
//
// It makes volumes for claims and lets them grow, gives addresses to load
// balancers, and stands in for the metrics that autoscalers want. Nothing is
// stored, routed or measured.
package cloud

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// Options choose what is simulated besides volumes, which always are.
type Options struct {
	LoadBalancers bool
	Autoscalers   bool
}

// Run simulates until ctx ends. It returns early only with an error that
// keeps it from starting.
func Run(ctx context.Context, cfg *rest.Config, o Options) error {
	cs, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return fmt.Errorf("starting the volumes: %w", err)
	}
	factory := informers.NewSharedInformerFactory(cs, 0)
	loops := []*loop{}
	add := func(name string, informer cache.SharedIndexInformer, sync syncFunc) error {
		l := newLoop(name, sync)
		loops = append(loops, l)
		return l.watch(informer)
	}

	v := newVolumes(cs, factory)
	if err := v.ensureClass(ctx); err != nil {
		return err
	}
	if err := add("claim", v.claimInformer, v.syncClaim); err != nil {
		return err
	}
	if err := add("volume", v.volumeInformer, v.syncVolume); err != nil {
		return err
	}
	if o.LoadBalancers {
		b := newBalancers(cs, factory)
		if err := add("load balancer", b.informer, b.sync); err != nil {
			return err
		}
	}
	if o.Autoscalers {
		a, err := newAutoscalers(cfg, cs, factory)
		if err != nil {
			return err
		}
		if err := add("autoscaler", a.informer, a.sync); err != nil {
			return err
		}
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	for _, l := range loops {
		go l.work(ctx)
	}
	<-ctx.Done()
	for _, l := range loops {
		l.queue.ShutDown()
	}
	return nil
}

// syncFunc brings one object up to date and says when to look again; 0 means
// on the next change.
type syncFunc func(ctx context.Context, key cache.ObjectName) (time.Duration, error)

// loop works off the objects of one kind, one at a time.
type loop struct {
	name  string
	sync  syncFunc
	queue workqueue.TypedRateLimitingInterface[cache.ObjectName]
}

func newLoop(name string, sync syncFunc) *loop {
	return &loop{
		name: name, sync: sync,
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName]()),
	}
}

func (l *loop) watch(informer cache.SharedIndexInformer) error {
	enqueue := func(obj any) {
		if key, err := cache.ObjectToName(obj); err == nil {
			l.queue.Add(key)
		}
	}
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: enqueue, UpdateFunc: func(_, obj any) { enqueue(obj) },
	}); err != nil {
		return fmt.Errorf("watching for the %s simulation: %w", l.name, err)
	}
	return nil
}

func (l *loop) work(ctx context.Context) {
	for {
		key, stop := l.queue.Get()
		if stop {
			return
		}
		wake, err := l.sync(ctx, key)
		switch {
		case apierrors.IsConflict(err), apierrors.IsNotFound(err):
			l.queue.AddRateLimited(key)
		case err != nil && ctx.Err() == nil:
			klog.FromContext(ctx).Error(err, "simulating", "kind", l.name, "object", key)
			l.queue.AddRateLimited(key)
		default:
			l.queue.Forget(key)
			if wake > 0 {
				l.queue.AddAfter(key, wake)
			}
		}
		l.queue.Done(key)
	}
}
