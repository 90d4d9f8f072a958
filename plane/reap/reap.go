// Package reap takes away what nobody holds any more.
//
// That is dependents of deleted owners, and what is left in deleted namespaces.
// Both controllers are those of Kubernetes. Only their pace differs: upstream
// looks for new kinds every 30 seconds and waits 5 seconds before it empties a
// namespace, which is prudent in a large cluster and slow in a test.
package reap

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace/deletion"
)

const (
	discoveryPeriod = time.Second
	retryPeriod     = 50 * time.Millisecond
	gcWorkers       = 20
	nsWorkers       = 4
)

// Owned collects garbage until ctx ends.
func Owned(ctx context.Context, cfg *rest.Config) error {
	cs, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return fmt.Errorf("starting the garbage collector: %w", err)
	}
	md, err := metadata.NewForConfig(cfg)
	if err != nil {
		return fmt.Errorf("starting the garbage collector: %w", err)
	}
	started := make(chan struct{})
	shared := informerfactory.NewInformerFactory(
		informers.NewSharedInformerFactory(cs, 0), metadatainformer.NewSharedInformerFactory(md, 0))
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(cs.Discovery()))
	graph := garbagecollector.NewDependencyGraphBuilder(ctx, md, mapper, garbagecollector.DefaultIgnoredResources(), shared, started)
	gc, err := garbagecollector.NewComposedGarbageCollector(ctx, cs, md, mapper, graph)
	if err != nil {
		return fmt.Errorf("starting the garbage collector: %w", err)
	}
	go gc.Sync(ctx, cs.Discovery(), discoveryPeriod)
	shared.Start(ctx.Done())
	close(started)
	gc.Run(ctx, gcWorkers, discoveryPeriod)
	return nil
}

// Namespaces empties deleted namespaces and lets go of them until ctx ends.
func Namespaces(ctx context.Context, cfg *rest.Config) error {
	cs, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return fmt.Errorf("starting the namespace controller: %w", err)
	}
	md, err := metadata.NewForConfig(cfg)
	if err != nil {
		return fmt.Errorf("starting the namespace controller: %w", err)
	}
	deleter := deletion.NewNamespacedResourcesDeleter(ctx, cs.CoreV1().Namespaces(), md, cs.CoreV1(),
		cs.Discovery().ServerPreferredNamespacedResources, corev1.FinalizerKubernetes)

	queue := workqueue.NewTypedDelayingQueue[string]()
	factory := informers.NewSharedInformerFactory(cs, 0)
	enqueue := func(obj any) {
		if ns, ok := obj.(*corev1.Namespace); ok && ns.DeletionTimestamp != nil {
			queue.Add(ns.Name)
		}
	}
	if _, err := factory.Core().V1().Namespaces().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    enqueue,
		UpdateFunc: func(_, obj any) { enqueue(obj) },
	}); err != nil {
		return fmt.Errorf("watching namespaces: %w", err)
	}
	factory.Start(ctx.Done())
	for range nsWorkers {
		go work(ctx, queue, deleter)
	}
	<-ctx.Done()
	queue.ShutDown()
	return nil
}

// work retries soon after every error: content that remains is one of them.
func work(ctx context.Context, queue workqueue.TypedDelayingInterface[string], deleter deletion.NamespacedResourcesDeleterInterface) {
	for {
		name, stop := queue.Get()
		if stop {
			return
		}
		if err := deleter.Delete(ctx, name); err != nil {
			queue.AddAfter(name, retryPeriod)
		}
		queue.Done(name)
	}
}
