package node

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
)

// Options tune the simulation.
type Options struct {
	Count   int              // nodes to register; those that exist stay
	PKI     string           // directory with the certificates of the kubelet endpoint
	Version string           // what nodes report as their kubelet's version
	Place   Placement        // who chooses nodes for pods; zero means kube-scheduler
	Now     func() time.Time // nil means the system clock
}

// Placement says who chooses nodes for pods.
type Placement int

const (
	// ByScheduler leaves it to kube-scheduler.
	ByScheduler Placement = iota
	// ByAgent places pods here, in the simplest way.
	ByAgent
)

// Run simulates nodes and pods until ctx ends. It returns early only with an
// error that keeps it from starting.
func Run(ctx context.Context, cfg *rest.Config, o Options) error {
	cs, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return fmt.Errorf("starting the nodes: %w", err)
	}
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // nil means the system clock
	}
	factory := informers.NewSharedInformerFactory(cs, 0)
	core := factory.Core().V1()
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: cs.CoreV1().Events("")})
	recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "plane"})

	p := &pods{
		client: cs, lister: core.Pods().Lister(), nodes: core.Nodes().Lister(), recorder: recorder, now: o.Now,
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName]()),
		lives: map[types.UID]life{}, ips: addresses{given: map[types.UID]string{}},
	}
	if o.Place == ByAgent {
		p.binder = &binder{client: cs, pods: p.lister, nodes: p.nodes, claims: core.PersistentVolumeClaims().Lister()}
	}
	port, err := kubelet{pods: p.lister}.serve(ctx, o.PKI)
	if err != nil {
		return err
	}
	n := &nodes{
		client: cs, lister: core.Nodes().Lister(), recorder: recorder, now: o.Now,
		queue:   workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
		changed: p.nodeChanged, kubelet: port, version: o.Version,
	}
	if err := n.register(ctx, o.Count); err != nil {
		return err
	}
	if _, err := core.Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: p.enqueue, UpdateFunc: func(_, obj any) { p.enqueue(obj) }, DeleteFunc: p.forget,
	}); err != nil {
		return fmt.Errorf("watching pods: %w", err)
	}
	if _, err := core.Nodes().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: n.enqueue, UpdateFunc: func(_, obj any) { n.enqueue(obj) },
	}); err != nil {
		return fmt.Errorf("watching nodes: %w", err)
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	known, err := p.lister.List(labels.Everything())
	if err != nil {
		return err
	}
	for _, pod := range known {
		p.ips.skip(pod.Status.PodIP)
	}
	for range podWorkers {
		go p.work(ctx)
	}
	go n.work(ctx)
	<-ctx.Done()
	p.queue.ShutDown()
	n.queue.ShutDown()
	return nil
}
