package tree

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/kind"
)

// Options tune a [Reader]. The zero value is right for one look.
type Options struct {
	Kinds  *kind.Table      // how kinds are judged; nil means [kind.Builtin]
	Remark func(string)     // is told once about each thing that could not be looked at; nil ignores it
	Now    func() time.Time // nil means the system clock
}

// Reader reads trees from one cluster, and remembers where it found what. It is not
// safe for concurrent use.
type Reader struct {
	host      string
	opts      Options
	discovery discovery.CachedDiscoveryInterfaceWithContext
	mapper    meta.RESTMapperWithContext
	metadata  metadata.Interface
	dynamic   dynamic.Interface

	mu       sync.Mutex // requests are made side by side
	remarked map[string]bool
	swept    sweep
}

// New returns a reader for a cluster. It makes no request.
func New(cfg *rest.Config, opts Options) (*Reader, error) {
	if opts.Kinds == nil {
		opts.Kinds = kind.Builtin()
	}
	if opts.Remark == nil {
		opts.Remark = func(string) {}
	}
	if opts.Now == nil {
		opts.Now = time.Now //nolint:forbidigo // the system clock is what nil means
	}
	client, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return nil, err
	}
	md, err := metadata.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	dyn, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	cached := memory.NewMemCacheClientWithContext(client)
	mapper := restmapper.NewShortcutExpanderWithContext(restmapper.NewDeferredDiscoveryRESTMapperWithContext(cached), cached, nil)
	return &Reader{
		host: cfg.Host, opts: opts, discovery: cached, mapper: mapper, metadata: md, dynamic: dyn, remarked: map[string]bool{},
	}, nil
}

// Read takes one look at a custom resource. If it does not exist the error is a
// [*condition.InvalidError] that names those which do.
//
// [*condition.InvalidError]: https://pkg.go.dev/github.com/armature-go/armature/condition#InvalidError
func (r *Reader) Read(ctx context.Context, ref Ref) (Node, error) {
	owner, err := r.dynamic.Resource(ref.Resource).Namespace(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return Node{}, r.missing(ctx, ref)
	}
	if err != nil {
		return Node{}, r.unanswered(err)
	}
	objects, err := r.objects(ctx, ref, owner)
	if err != nil {
		return Node{}, r.unanswered(err)
	}
	return Of(r.opts.Kinds, owner, objects), nil
}

// objects reads the owner's objects and what may be beneath them.
func (r *Reader) objects(ctx context.Context, ref Ref, owner *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	if err := r.sweepFor(ctx, ref, owner); err != nil {
		return nil, err
	}
	children, err := gather(r.swept.inUse, func(res resource) ([]*unstructured.Unstructured, error) {
		return r.list(ctx, res, ref.Namespace, apply.ComponentLabel, r.detail(res))
	})
	if err != nil {
		return nil, err
	}
	var looks []look
	for _, child := range children {
		if !isController(owner, child) {
			continue
		}
		if selector := podSelector(child); selector != "" {
			for _, b := range beneath {
				looks = append(looks, look{b, child.GetNamespace(), selector})
			}
		}
	}
	below, err := gather(looks, func(l look) ([]*unstructured.Unstructured, error) {
		return r.list(ctx, resource{GroupVersionResource: l.what.resource, kind: l.what.kind}, l.namespace, l.selector, l.what.detail())
	})
	return append(children, below...), err
}

// detail is how much of an object of a kind must be read to judge it.
func (r *Reader) detail(res resource) detail {
	if row, known := r.opts.Kinds.Lookup(res.GroupVersion().WithKind(res.kind)); known && row.Health == nil {
		return metadataOnly
	}
	return whole
}

// look is a question about what is beneath a child.
type look struct {
	what                below
	namespace, selector string
}

// below is a kind of objects that are made for a child by a controller of
// Kubernetes, and found by its selector.
type below struct {
	resource schema.GroupVersionResource
	kind     string
	link     bool // not shown: it only says what belongs where
}

func (b below) detail() detail {
	if b.link {
		return metadataOnly
	}
	return whole
}

// beneath lists what is looked for beneath a child.
var beneath = []below{
	{schema.GroupVersionResource{Version: "v1", Resource: "pods"}, "Pod", false},
	{schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"}, "PersistentVolumeClaim", false},
	{schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}, "ReplicaSet", true},
}

func beneathKind(gk schema.GroupKind) (below, bool) {
	for _, b := range beneath {
		if b.kind == gk.Kind && b.resource.Group == gk.Group {
			return b, true
		}
	}
	return below{}, false
}

// podSelector is the selector of a child that has pods, empty for others.
func podSelector(child *unstructured.Unstructured) string {
	match, ok, err := unstructured.NestedStringMap(child.Object, "spec", "selector", "matchLabels")
	if !ok || err != nil || len(match) == 0 {
		return ""
	}
	return labels.SelectorFromSet(match).String()
}
