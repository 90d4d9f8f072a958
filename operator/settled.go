package operator

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/component"
)

// trusted is about how long it is believed that nothing has changed because nothing
// was seen to. Then a pass looks at everything again: a store that was restored can
// have other objects under the resource versions of before.
const trusted = 20 * time.Minute

// sight is all that a pass over an owner depends on: the version of the owner, and
// how often any of its objects or of those that it looks at was seen to change.
// Components are pure, so a pass that sees the same again and changed nothing before
// would change nothing now.
//
// It is taken before a pass: what changes meanwhile makes the next one differ. The
// zero value is the sight of nothing.
type sight struct {
	version string
	changes uint64
}

// changes counts for each owner what was seen to change. It is safe for concurrent
// use.
type changes struct {
	namespaces []string // that owners are watched in; none means all

	mu sync.Mutex
	of map[types.NamespacedName]uint64
}

// count returns the number for an owner, and counts for it from now on.
func (c *changes) count(owner types.NamespacedName) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, ok := c.of[owner]
	if !ok {
		if c.of == nil {
			c.of = map[types.NamespacedName]uint64{}
		}
		c.of[owner] = 0
	}
	return n
}

// note counts a change.
func (c *changes) note(owner types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n, ok := c.of[owner]; ok {
		c.of[owner] = n + 1
	}
}

func (c *changes) forget(owner types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.of, owner)
}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// ownedBy asks for a pass of the owners, of the given kind, of whatever object there is
// news of, and notes what is a change.
func (c *changes) ownedBy(owner *meta.RESTMapping) handler.EventHandler {
	news := func(obj client.Object, changed bool, q queue) {
		for _, name := range c.owners(obj, owner) {
			if changed {
				c.note(name)
			}
			q.Add(reconcile.Request{NamespacedName: name})
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) { news(e.Object, true, q) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) {
			changed := e.ObjectOld != e.ObjectNew // else it is the same one, shown again in a resync
			if changed {
				news(e.ObjectOld, true, q) // its owner may have been another
			}
			news(e.ObjectNew, changed, q)
		},
		DeleteFunc:  func(_ context.Context, e event.DeleteEvent, q queue) { news(e.Object, true, q) },
		GenericFunc: func(_ context.Context, e event.GenericEvent, q queue) { news(e.Object, true, q) },
	}
}

// owners are the names of the owners, of the given kind, that an object says it has.
func (c *changes) owners(obj client.Object, owner *meta.RESTMapping) []types.NamespacedName {
	var names []types.NamespacedName
	for _, ref := range obj.GetOwnerReferences() {
		if schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind() != owner.GroupVersionKind.GroupKind() {
			continue
		}
		name := types.NamespacedName{Name: ref.Name}
		if owner.Scope.Name() == meta.RESTScopeNameNamespace {
			name.Namespace = obj.GetNamespace()
		}
		names = append(names, name)
	}
	kind, name, ok := apply.TrackedBy(obj)
	switch {
	case !ok, kind != owner.GroupVersionKind.GroupKind(), (name.Namespace == "") != (owner.Scope.Name() == meta.RESTScopeNameRoot):
		return names
	case name.Namespace != "" && len(c.namespaces) > 0 && !slices.Contains(c.namespaces, name.Namespace): // another instance's
		return names
	}
	return append(names, name)
}

// settle remembers what a pass saw that changed nothing. After is when to look again
// in any case; 0 means that nothing is known to change by itself.
func (m *memory) settle(saw sight, now time.Time, after time.Duration) {
	if patience := patience(m.uid); after == 0 || after > patience {
		after = patience
	}
	m.settled, m.until = saw, now.Add(after)
}

// patience is about as long as trusted, and another time for each owner.
func patience(uid types.UID) time.Duration {
	h := fnv.New64a()
	_, _ = h.Write([]byte(uid)) // a digest takes everything
	spread := time.Duration(binary.BigEndian.Uint16(h.Sum(nil))) * trusted / 2 / (1 << 16)
	return trusted*3/4 + spread
}

// changed reports whether a pass changed anything but the status.
func changed(res component.Result) bool {
	return len(res.Changes) > 0 || slices.ContainsFunc(res.Reports, func(rep component.Report) bool { return len(rep.Changes) > 0 })
}
