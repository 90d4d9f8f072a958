package main

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// session is what a contender works with.
type session struct {
	config    *rest.Config
	scheme    *runtime.Scheme
	namespace string
	sizes     sizes
	owners    []*corev1.ServiceAccount
	traffic   *traffic
	cache     cache.Cache // nil for a contender without one
}

// newScheme knows the kinds of the benchmark.
func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

// load returns the configuration for one client of the server.
func load(kubeconfig, userAgent string) (*rest.Config, error) {
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	cfg.UserAgent = userAgent
	cfg.QPS = -1
	return cfg, nil
}

// newSession connects a contender. The owners are there already.
func newSession(ctx context.Context, o order) (*session, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	cfg, err := load(o.Kubeconfig, o.userAgent())
	if err != nil {
		return nil, err
	}
	s := &session{config: cfg, scheme: scheme, namespace: o.namespace(), sizes: o.Sizes, traffic: &traffic{}}
	cfg.Wrap(s.traffic.wrap)
	live, err := client.New(cfg, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	for i := range o.Sizes.owners() {
		owner := &corev1.ServiceAccount{}
		if err := live.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: ownerName(i)}, owner); err != nil {
			return nil, err
		}
		s.owners = append(s.owners, owner)
	}
	return s, nil
}

func ownerName(i int) string { return fmt.Sprintf("owner-%03d", i) }

// cachedClient returns a client that reads from a cache of all kinds in the session's
// namespace, which is filled.
func (s *session) cachedClient(ctx context.Context, transform toolscache.TransformFunc) (client.Client, error) {
	httpClient, err := rest.HTTPClientFor(s.config)
	if err != nil {
		return nil, err
	}
	c, err := cache.New(s.config, cache.Options{
		HTTPClient: httpClient, Scheme: s.scheme, DefaultTransform: transform, ReaderFailOnMissingInformer: true,
		DefaultNamespaces: map[string]cache.Config{s.namespace: {}},
	})
	if err != nil {
		return nil, err
	}
	for _, row := range kinds {
		obj, err := s.empty(row.kind)
		if err != nil {
			return nil, err
		}
		if _, err := c.GetInformer(ctx, obj, cache.BlockUntilSynced(false)); err != nil {
			return nil, err
		}
	}
	go func() { _ = c.Start(ctx) }() // it ends with the context, which is the process, and has nothing else to say
	if !c.WaitForCacheSync(ctx) {
		return nil, fmt.Errorf("filling the cache: %w", ctx.Err())
	}
	s.cache = c
	return client.New(s.config, client.Options{HTTPClient: httpClient, Scheme: s.scheme, Cache: &client.CacheOptions{Reader: c}})
}

// empty returns a new typed object of a kind of the benchmark.
func (s *session) empty(kind string) (client.Object, error) {
	fresh, err := s.scheme.New(gvkOf(kind))
	if err != nil {
		return nil, err
	}
	obj, ok := fresh.(client.Object)
	if !ok {
		return nil, fmt.Errorf("%T is no object that can be stored", fresh)
	}
	return obj, nil
}

// gvkOf returns the full name of a kind of the benchmark.
func gvkOf(kind string) schema.GroupVersionKind {
	for _, row := range kinds {
		if row.kind == kind {
			return row.group.WithKind(kind)
		}
	}
	return schema.GroupVersionKind{}
}
