package apply_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/object"
)

var (
	budget = flag.Duration("budget", 0, "how long to compare decisions with the API server; 0 is a few episodes of each kind")
	seed   = flag.Uint64("seed", 1, "which episodes")
)

const (
	episodes = 4 // of each kind, at least
	steps    = 6 // foreign writes in an episode
)

// tally counts what happened to the objects of one kind.
type tally struct {
	accepted, rejected int // foreign writes
	changing           int // of the accepted: an apply would change something
	structural         int // of the accepted: the server refuses an apply
	adoptions          int // unchanging, and seen to be by a process that knows nothing
	hidden             int // changing only what we own below what we own as a whole, which a process that knows nothing cannot see
	again, cold        int // unchanging, and applied all the same: with a record, without one
}

// floors are what a run must reach for a kind whose objects take few changes, so that
// it says something.
var floors = map[string]tally{
	"Job":                      {accepted: 3, changing: 1, adoptions: 1},
	"Pod":                      {accepted: 4, changing: 1, adoptions: 1},
	"PersistentVolumeClaim":    {accepted: 4, changing: 1, adoptions: 1},
	"PersistentVolume":         {accepted: 5, changing: 1, adoptions: 1},
	"CustomResourceDefinition": {accepted: 4, changing: 2, adoptions: 1},
	"Namespace":                {accepted: 5, changing: 2, adoptions: 2},
	"ClusterRoleBinding":       {accepted: 6, changing: 3, adoptions: 2},
	"RoleBinding":              {accepted: 6, changing: 3, adoptions: 2},
}

// floor is what a run must reach for any other kind.
var floor = tally{accepted: 10, changing: 4, adoptions: 2}

var errClosed = errors.New("nothing is sent")

// gate is a client that shows what a cache shows, and sends nothing while it is closed.
type gate struct {
	client.Client

	closed bool
}

func (c *gate) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if err := c.Client.Get(ctx, key, obj, opts...); err != nil {
		return err
	}
	_, err := apply.Transform(controller, nil)(obj)
	return err
}

func (c *gate) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	if c.closed {
		return errClosed
	}
	return c.Client.Apply(ctx, obj, opts...)
}

// Whatever others write, and however: an apply is sent if the server would change
// something on it. The server is asked.
func TestNoForeignWriteIsMissed(t *testing.T) {
	f := setUp(t)
	f.must(typesOf(f.Scheme()))
	clusterOwner := f.clusterOwner()
	kinds := append(slices.Clone(sampleKinds), gadget)
	counts := map[string]*tally{}
	for _, k := range kinds {
		counts[k.name] = &tally{}
	}
	round := func(n uint64, wanted func(kind string) bool) {
		var mu sync.Mutex
		var workers sync.WaitGroup
		free := make(chan struct{}, 4)
		for i, kind := range kinds {
			if !wanted(kind.name) {
				continue
			}
			free <- struct{}{}
			workers.Go(func() {
				defer func() { <-free }()
				e := &episode{fixture: *f, kind: kind, g: generator{rand.New(rand.NewPCG(*seed, n<<8|uint64(i)))}}
				e.name = fmt.Sprintf("%s-%d-%d", f.ns, i, n)
				if kind.cluster {
					e.owner = clusterOwner
				}
				e.run()
				mu.Lock()
				defer mu.Unlock()
				counts[kind.name].add(e.tally)
			})
		}
		workers.Wait()
	}
	end := time.Now().Add(*budget)
	n := uint64(0)
	for ; n < episodes || time.Now().Before(end); n++ {
		round(n, func(string) bool { return true })
	}
	for last := n + 2*episodes; n < last; n++ { // controllers may have taken part of what a kind needs
		round(n, func(kind string) bool { return counts[kind].below(kind) })
	}
	report(t, counts)
}

// below reports whether so little happened to a kind that it says nothing.
func (a *tally) below(kind string) bool {
	least := leastOf(kind)
	return a.accepted < least.accepted || a.changing < least.changing || a.adoptions < least.adoptions
}

func leastOf(kind string) tally {
	if least, ok := floors[kind]; ok {
		return least
	}
	return floor
}

func (a *tally) add(b tally) {
	a.accepted += b.accepted
	a.rejected += b.rejected
	a.changing += b.changing
	a.structural += b.structural
	a.adoptions += b.adoptions
	a.hidden += b.hidden
	a.again += b.again
	a.cold += b.cold
}

func report(t *testing.T, counts map[string]*tally) {
	t.Helper()
	var all tally
	var b strings.Builder
	line := func(name string, c tally) {
		fmt.Fprintf(&b, "%-34s %8d %8d %8d %10d %9d %6d %8d %4d\n", name, c.accepted, c.rejected, c.changing, c.structural, c.adoptions, c.hidden, c.again, c.cold)
	}
	fmt.Fprintf(&b, "%-34s %8s %8s %8s %10s %9s %6s %8s %4s\n", "kind", "accepted", "rejected", "changing", "structural", "adoptions", "hidden", "needless", "cold")
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		c := *counts[name]
		line(name, c)
		all.add(c)
		if least := leastOf(name); c.below(name) {
			t.Errorf("%s: %d accepted, %d changing writes, %d adoptions: too few to say anything; want %d, %d and %d",
				name, c.accepted, c.changing, c.adoptions, least.accepted, least.changing, least.adoptions)
		}
	}
	line("all", all)
	t.Logf("foreign writes, what an apply would do, and applies that were needless\n%s", b.String())
}

// episode is the life of one object.
type episode struct {
	fixture
	tally

	kind sampleKind
	g    generator
	name string
	log  []string
}

func (e *episode) run() {
	desired := sample(e.g.Rand, e.kind, e.ns, e.name)
	c := &gate{Client: e.WithWatch}
	now := time.Now()
	warm := apply.New(c, controller, apply.Options{Live: e.WithWatch, Now: func() time.Time { return now }})
	if _, err := warm.Apply(e.Context(), e.owner, "store", desired); err != nil {
		e.Errorf("%s: %v", e.name, err)
		return
	}
	defer func() {
		_ = e.Delete(e.Context(), desired.(client.Object), client.PropagationPolicy(metav1.DeletePropagationBackground), client.GracePeriodSeconds(0))
	}()
	payload := e.payload(desired)
	for n := range steps {
		if n == steps/2 {
			now = now.Add(11 * time.Minute) // or all the corrections would be a fight
		}
		if !e.step(c, warm, desired, payload) {
			return
		}
	}
}

// payload is what an applier sends for the object.
func (e *episode) payload(desired object.Object) *unstructured.Unstructured {
	tree, err := object.Tree(e.Scheme(), desired)
	e.must(err)
	u := &unstructured.Unstructured{Object: tree}
	labels := u.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[apply.ComponentLabel] = "store"
	u.SetLabels(labels)
	u.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(e.owner, e.owner.GroupVersionKind())})
	return u
}

// live is the object as it is; nil if there is none.
func (e *episode) live(payload *unstructured.Unstructured) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(payload.GroupVersionKind())
	if err := e.Get(e.Context(), client.ObjectKeyFromObject(payload), u); err != nil {
		if !apierrors.IsNotFound(err) {
			e.Error(err)
		}
		return nil
	}
	return u
}

// step is one foreign write, the decisions about it, and the truth. It returns
// whether the episode can go on.
func (e *episode) step(c *gate, warm *apply.Applier, desired object.Object, payload *unstructured.Unstructured) bool {
	seen := e.live(payload)
	if seen == nil {
		return false
	}
	by := pick(e.g, foreignWrites...)
	err := by.do(e.g, &e.fixture, seen, payload)
	for range 3 { // a controller was faster
		if !apierrors.IsConflict(err) {
			break
		}
		if seen = e.live(payload); seen == nil {
			return false
		}
		err = by.do(e.g, &e.fixture, seen, payload)
	}
	if err != nil {
		e.rejected++
		return e.live(payload) != nil
	}
	before := e.live(payload)
	if before == nil || before.GetDeletionTimestamp() != nil {
		return false
	}
	e.log = append(e.log, by.name)
	c.closed = true
	_, warmErr := warm.Apply(e.Context(), e.owner, "store", desired)
	_, coldErr := apply.New(c, controller, apply.Options{Live: e.WithWatch}).Apply(e.Context(), e.owner, "store", desired)
	c.closed = false
	if isConflict(warmErr) { // the write made it somebody else's
		return false
	}
	e.accepted++
	if err := errors.Join(other(warmErr), other(coldErr)); err != nil {
		e.Errorf("%s, %v: %v", e.name, e.log, err)
		return false
	}

	sent, err := warm.Sent(e.owner, "store", desired, before) // with the live values of what cannot be changed
	if err != nil {
		e.Error(err)
		return false
	}
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(sent)}
	u.SetUID(before.GetUID())
	err = e.WithWatch.Apply(e.Context(), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(e.applier.Manager(e.owner)), client.ForceOwnership)
	if err != nil {
		e.structural++
		if warmErr == nil || coldErr == nil {
			e.Errorf("%s, %v: an apply is refused, and was not sent: with a record %v, without %v: %v", e.name, e.log, warmErr, coldErr, err)
		}
		return false
	}
	for _, obj := range []*unstructured.Unstructured{before, u} { // the garbage collector takes references to nobody off, whenever it comes by
		obj.SetOwnerReferences(slices.DeleteFunc(obj.GetOwnerReferences(), func(ref metav1.OwnerReference) bool { return ref.UID != e.owner.GetUID() }))
	}
	diff := cmp.Diff(within(before.Object, sent), within(u.Object, sent))
	had, has := e.ours(before), e.ours(u)
	if diff == "" {
		diff = cmp.Diff(had, has)
		if diff != "" && coldErr == nil && deeper(had, has) {
			e.hidden++
			coldErr = errClosed
		}
	}
	switch {
	case diff != "":
		e.changing++
		if warmErr == nil || coldErr == nil {
			e.Errorf("%s, %v (seed %d): drift was missed: with a record %v, without %v\n%s", e.name, e.log, *seed, warmErr, coldErr, diff)
		}
	default:
		if warmErr != nil {
			e.again++
		}
		if coldErr != nil {
			e.cold++
		} else {
			e.adoptions++
		}
	}
	if _, err := warm.Apply(e.Context(), e.owner, "store", desired); err != nil {
		e.Errorf("%s, %v: %v", e.name, e.log, err)
		return false
	}
	return true
}

func isConflict(err error) bool {
	_, ok := errors.AsType[*apply.ConflictError](err)
	return ok
}

// other is an error that is not that of the closed gate.
func other(err error) error {
	if errors.Is(err, errClosed) {
		return nil
	}
	return err
}

// ours are the fields that we own, as a tree.
func (e *episode) ours(u *unstructured.Unstructured) map[string]any {
	for _, m := range u.GetManagedFields() {
		if m.Manager == e.applier.Manager(e.owner) && m.Operation == metav1.ManagedFieldsOperationApply && m.Subresource == "" {
			var fields map[string]any
			e.must(json.Unmarshal([]byte(m.FieldsV1.GetRawString()), &fields))
			return fields
		}
	}
	return nil
}

// deeper reports whether two sets of fields are the same but that in the second one
// there is more below what the first has as a whole. In another process that has our
// name and applied an empty mapping, what is below it was not its own; to tell that
// from a mapping that is replaced as a whole takes the schema.
func deeper(a, b map[string]any) bool {
	if len(a) == 0 {
		return true
	}
	for name, sub := range b {
		more, _ := sub.(map[string]any)
		less, there := a[name].(map[string]any)
		if !there || !deeper(less, more) {
			return false
		}
	}
	return len(a) == len(b)
}

// within is what an apply can change of an object: what is in the payload. The rest is
// for controllers, who do not wait for this test.
//
// It is what of a node is at the places of another one; lists are whole.
func within(node, places any) any {
	have, isMap := node.(map[string]any)
	want, both := places.(map[string]any)
	if !isMap || !both {
		return node
	}
	out := map[string]any{}
	for k, sub := range want {
		if v, ok := have[k]; ok {
			out[k] = within(v, sub)
		}
	}
	return out
}
