package operator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/component"
	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/resource"
)

// Options say what an operator is.
type Options struct {
	Name        string                        // of the program: user agent, field managers, lease, metrics
	Version     string                        // of the program; empty means what the Go build recorded
	Scheme      []func(*runtime.Scheme) error // adds the API types of the operator; the built-in ones are there
	Controllers []Controller
	Former      []string // field managers that earlier versions of this operator wrote with, and nobody else does; what they own of its objects and statuses becomes its own
}

// Settings say how it is run. The zero value watches all namespaces of the
// cluster that the environment names, elects no leader and serves nothing.
type Settings struct {
	Config     *rest.Config  // nil means the usual: in-cluster, or the kubeconfig of the environment
	Namespaces []string      // watch only these; none means all
	LeaseIn    string        // namespace of the lease by which one of several instances is elected; empty means no election
	Metrics    string        // address to serve metrics on; empty means not to
	Health     string        // address to serve /healthz and /readyz on; empty means not to
	Resync     time.Duration // a pass over everything this often, besides those that watches cause; 0 means every 10 hours
}

// Kinds are the kinds that the components of a controller deal with. Objects are
// only looked at for their type, and unstructured ones for the kind that they carry:
// that is how a kind is named for which there is no Go type.
type Kinds struct {
	Owns  []object.Object // may be managed; watched where the operator watches
	Reads []object.Object // may be observed or asked for as facts; watched name by name
}

// Controller reconciles one kind of custom resource; see [For].
type Controller struct {
	owner func() component.Owner
	build func(component.Owner, *resource.Facts) ([]component.Component, error)
	kinds Kinds
}

// For makes a controller for the custom resource T out of the function that says
// what should exist for one of them. The function must depend on nothing but its
// arguments: it is called several times in a pass, until all facts that it asks
// for are known. It may change the resource that it gets, to no effect.
func For[T component.Owner](components func(T, *resource.Facts) ([]component.Component, error), kinds Kinds) Controller {
	return Controller{
		owner: func() component.Owner { return object.New[T]() },
		build: func(owner component.Owner, facts *resource.Facts) ([]component.Component, error) {
			t, ok := owner.DeepCopyObject().(T)
			if !ok {
				return nil, fmt.Errorf("copying %T: its DeepCopyObject returns another type", owner)
			}
			return components(t, facts)
		},
		kinds: kinds,
	}
}

// Run runs the operator until the context ends, and returns nil then. It refuses
// to start where the cluster does not serve an owner's kind, or serves it with
// conditions that several writers cannot share.
func Run(ctx context.Context, opts Options, settings Settings) error {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientscheme.AddToScheme(scheme))
	for _, add := range opts.Scheme {
		if err := add(scheme); err != nil {
			return fmt.Errorf("registering API types: %w", err)
		}
	}
	cfg, err := restConfig(opts, settings)
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(cfg, managerOptions(opts, settings, scheme))
	if err != nil {
		return &NoClusterError{Host: cfg.Host, Cause: err}
	}
	if err := mgr.AddHealthzCheck("alive", healthz.Ping); err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck("synced", synced(mgr)); err != nil {
		return err
	}
	indexed := map[schema.GroupVersionKind]bool{}
	for _, c := range opts.Controllers {
		if err := c.addTo(ctx, mgr, opts, settings.Namespaces, indexed); err != nil {
			return err
		}
	}
	return mgr.Start(ctx)
}

func restConfig(opts Options, settings Settings) (*rest.Config, error) {
	cfg := settings.Config
	if cfg == nil {
		var err error
		if cfg, err = loadConfig(""); err != nil {
			return nil, err
		}
	}
	cfg = rest.CopyConfig(cfg)
	cfg.UserAgent = opts.Name + "/" + version(opts)
	cfg.QPS = -1 // the API server limits by priority and fairness
	return cfg, nil
}

func managerOptions(opts Options, settings Settings, scheme *runtime.Scheme) manager.Options {
	o := manager.Options{
		Scheme:                        scheme,
		Client:                        client.Options{Cache: &client.CacheOptions{Unstructured: true}}, // kinds without a Go type are read from the cache like all others
		Cache:                         cache.Options{ReaderFailOnMissingInformer: true, DefaultTransform: apply.Transform(opts.Name, opts.Former)},
		Metrics:                       metricsserver.Options{BindAddress: or(settings.Metrics, "0")},
		HealthProbeBindAddress:        or(settings.Health, "0"),
		LeaderElection:                settings.LeaseIn != "",
		LeaderElectionNamespace:       settings.LeaseIn,
		LeaderElectionID:              opts.Name,
		LeaderElectionReleaseOnCancel: true,
	}
	if settings.Resync > 0 {
		o.Cache.SyncPeriod = &settings.Resync
	}
	if len(settings.Namespaces) > 0 {
		o.Cache.DefaultNamespaces = map[string]cache.Config{}
		for _, ns := range settings.Namespaces {
			o.Cache.DefaultNamespaces[ns] = cache.Config{}
		}
	}
	skip := true // names are unique within an operator; several operators may run in one process
	o.Controller.SkipNameValidation = &skip
	return o
}

func or(value, instead string) string {
	if value == "" {
		return instead
	}
	return value
}

func synced(mgr manager.Manager) healthz.Checker {
	return func(req *http.Request) error {
		ctx, cancel := context.WithTimeout(req.Context(), time.Second)
		defer cancel()
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return errors.New("the caches are not filled yet")
		}
		return nil
	}
}

// NoClusterError says that no API server answers.
type NoClusterError struct {
	Host  string
	Cause error
}

func (e *NoClusterError) Error() string {
	return fmt.Sprintf("no Kubernetes API answers at %s; start one with plane up, or name another with --kubeconfig: %v", e.Host, e.Cause)
}

func (e *NoClusterError) Unwrap() error { return e.Cause }

// addTo sets the controller up in a manager that watches the given namespaces, or all.
func (c Controller) addTo(ctx context.Context, mgr manager.Manager, opts Options, namespaces []string, indexed map[schema.GroupVersionKind]bool) error {
	owner := c.owner()
	gvk, err := object.GVK(mgr.GetScheme(), owner)
	if err != nil {
		return err
	}
	if err := checkServed(ctx, mgr, gvk); err != nil {
		return err
	}
	mapping, err := mgr.GetRESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return err
	}
	r, err := newReconciler(ctx, mgr, opts, c, gvk)
	if err != nil {
		return err
	}
	r.changes.namespaces = namespaces
	b := ctrl.NewControllerManagedBy(mgr).Named(opts.Name + "-" + gvk.Kind).For(owner)
	for _, kind := range r.env.Owns {
		obj, err := object.Blank(mgr.GetScheme(), kind)
		if err != nil {
			return err
		}
		b = b.Watches(obj, r.changes.ownedBy(mapping))
		if !indexed[kind] {
			indexed[kind] = true
			if err := index(ctx, mgr, obj, kind); err != nil {
				return err
			}
		}
	}
	return b.WatchesRawSource(r.watches.source()).Complete(r)
}

// index makes the cache find the objects of a kind by their owner.
func index(ctx context.Context, mgr manager.Manager, like client.Object, kind schema.GroupVersionKind) error {
	err := mgr.GetFieldIndexer().IndexField(ctx, like, apply.OwnerIndex, func(obj client.Object) []string { return apply.OwnerUIDs(obj) })
	if err != nil {
		return fmt.Errorf("indexing %s: %w", kind.Kind, err)
	}
	return nil
}

func gvks(scheme *runtime.Scheme, objects []object.Object) ([]schema.GroupVersionKind, error) {
	var out []schema.GroupVersionKind
	for _, obj := range objects {
		gvk, err := object.GVK(scheme, obj)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(out, gvk) {
			out = append(out, gvk)
		}
	}
	return out, nil
}
