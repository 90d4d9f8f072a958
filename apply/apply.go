package apply

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/kind"
	"github.com/armature-go/armature/object"
)

// ComponentLabel is on every applied object; its value is the name of the
// component that the object belongs to.
const ComponentLabel = "armature.dev/component"

// AdoptAnnotation on an owner names the objects, as Kind/name and separated by commas,
// that may be taken over although somebody else made them.
const AdoptAnnotation = "armature.dev/adopt"

// Options tune an [Applier]. The zero value is right where the client does not
// read from a cache.
type Options struct {
	Live   client.Reader    // reads that must not come from a cache; nil means the client itself
	Now    func() time.Time // nil means the system clock
	Former []string         // field managers that this controller had before; what they own of its objects becomes its own
}

// Applier applies the objects of one controller. It is safe for concurrent use,
// but not for two passes of the same owner at once.
type Applier struct {
	client     client.Client
	live       client.Reader
	now        func() time.Time
	controller string
	former     []string
	records    records
	sighted    atomic.Bool // it was looked whether managed fields are read
}

// New returns an applier for the named controller. The name is part of every
// field manager, so it must stay the same for the life of the objects, and may
// have at most 91 bytes.
func New(c client.Client, controller string, opts Options) *Applier {
	live := opts.Live
	if live == nil {
		live = c
	}
	now := opts.Now
	if now == nil {
		now = time.Now //nolint:forbidigo // the system clock is what nil means
	}
	return &Applier{client: c, live: live, now: now, controller: controller, former: opts.Former, records: records{programs: &programs{}}}
}

// Result says what was done to an object and what it is now.
type Result struct {
	Op      object.Op
	Live    object.Object  // as the server answered, or as it was read where nothing was sent, of the Go type that was given; nil where there is none
	Again   time.Duration  // apply once more after this time, for what cannot be seen in the object; 0 means that watches suffice
	Ignored []kind.Ignored // what is desired otherwise and cannot be changed
	Notes   []Note         // what could not be honoured, that included, for people
}

// Apply makes the object as desired for one component of the owner. Afterwards the
// live object has the desired fields, the component label and a controller
// reference to the owner, or what another ownership asks for, if one is given; fields of
// others are kept. The desired object is not changed; the owner, as it was read, gets our
// finalizer where what is tracked needs that. Where all is so already, and nothing of ours
// has drifted, no request is made.
//
// A [*condition.WaitError] means that the object cannot be there yet, a
// [*condition.InvalidError] that desired itself is wrong, a [*ShapeError] that it may not
// refer to its owner, a [*ConflictError] that the object is somebody else's, a [*DeniedError] that a right is missing. Nothing was
// changed in any of these cases.
func (a *Applier) Apply(ctx context.Context, owner object.Object, component string, desired object.Object, how ...object.Handling) (Result, error) {
	t, err := a.target(owner, component, desired, how...)
	if err != nil {
		return Result{}, err
	}
	res, err := a.apply(ctx, t)
	if isUnreadable(err) {
		if res, err = a.apply(ctx, t); isUnreadable(err) {
			err = unreadableError(err, t.key)
		}
	}
	if isGone(err) { // what we saw is not what there is: decide anew, from a live read
		a.records.drop(owner.GetUID(), t.key)
		res, err = a.contact(ctx, t)
		if isGone(err) {
			err = &condition.WaitError{Message: t.key.Short() + " is being replaced"}
		}
	}
	if err != nil {
		return Result{}, refusal(err, "patch", t.key)
	}
	res.Live, err = a.as(desired, res.Live)
	return res, err
}

// target is what one call of Apply is about.
type target struct {
	owner                  object.Object
	ownerKey               object.Key
	desired                object.Object
	key                    object.Key
	tree                   map[string]any // what is sent for desired, but for the UID
	hash                   hash           // of what is declared: the tree, and how it is treated
	how                    object.Ownership
	yields, ignores, whole []object.Path
	recreate               bool
	ignored                []kind.Ignored // of what is desired, because it cannot be changed
	rival                  string         // the owner that decides what is in a shared object, if that is another one
}

// target makes ready what is to be done for a call.
func (a *Applier) target(owner object.Object, component string, desired object.Object, how ...object.Handling) (target, error) {
	t := target{owner: owner, desired: desired}
	if len(how) > 0 {
		t.how, t.yields, t.ignores = how[0].Ownership, how[0].Yield, how[0].Ignore
		t.whole, t.recreate = how[0].Whole, how[0].Recreate
	}
	var err error
	if t.key, err = object.KeyOf(a.client.Scheme(), desired); err != nil {
		return target{}, err
	}
	if err := unnamed(desired, t.key); err != nil {
		return target{}, err
	}
	if t.ownerKey, err = object.KeyOf(a.client.Scheme(), owner); err != nil {
		return target{}, err
	}
	if err := a.wellShaped(t); err != nil {
		return target{}, err
	}
	if t.tree, err = a.payload(t, component); err != nil {
		return target{}, err
	}
	t.hash = digest(t.tree)
	if len(t.yields)+len(t.ignores) > 0 || t.recreate { // another treatment is another desire
		t.hash = digest(map[string]any{"tree": t.tree, "yield": texts(t.yields), "ignore": texts(t.ignores), "recreate": t.recreate})
	}
	return t, nil
}

// sent is a digest of the tree, if something is ignored in it; else zero.
func (t target) sent() hash {
	if len(t.ignored) == 0 {
		return hash{}
	}
	return digest(t.tree)
}

// apply takes the short way where the cache shows an object that is ours.
func (a *Applier) apply(ctx context.Context, t target) (Result, error) {
	seen, err := a.read(ctx, a.client, t.key)
	if err != nil {
		return Result{}, err
	}
	if seen == nil || !a.admits(t, seen) || a.inherits(t.owner, seen) {
		return a.contact(ctx, t)
	}
	return a.update(ctx, t, seen)
}

// contact is the first contact with an object, or the first since somebody whose
// fields become ours wrote it: a live read decides.
func (a *Applier) contact(ctx context.Context, t target) (Result, error) {
	seen, err := a.read(ctx, a.live, t.key)
	if err != nil {
		return Result{}, err
	}
	if seen == nil {
		return a.create(ctx, t)
	}
	if !a.admits(t, seen) && !a.mayAdopt(t, seen) {
		return Result{}, a.conflict(t, seen)
	}
	if a.inherits(t.owner, seen) {
		if seen, err = a.inherit(ctx, t.key, seen, a.heirOf(t.owner, seen)); err != nil {
			return Result{}, err
		}
	}
	return a.update(ctx, t, seen)
}

// neverStored is a resource version that no object has: etcd counts from 1, and the
// first thing it stores is 2.
const neverStored = "1"

// create applies an object that does not exist. The resource version has no meaning
// to the server where there is none, and makes it refuse the apply (409) where
// somebody was faster, so that nothing of theirs is touched.
func (a *Applier) create(ctx context.Context, t target) (Result, error) {
	if err := a.hold(ctx, t); err != nil {
		return Result{}, err
	}
	t.tree = without(t.tree, t.ignores)
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(t.tree)}
	u.SetResourceVersion(neverStored)
	if err := a.send(ctx, u, client.FieldOwner(a.Manager(t.owner))); err != nil {
		return Result{}, err
	}
	return a.done(ctx, t, u, object.OpCreated, fight{})
}

func (a *Applier) update(ctx context.Context, t target, seen object.Object) (Result, error) {
	if seen.GetDeletionTimestamp() != nil {
		return Result{}, &condition.WaitError{Message: t.key.Short() + " is being deleted"}
	}
	if err := a.hold(ctx, t); err != nil {
		return Result{}, err
	}
	var over fight // with somebody who wants what was declared before, and still is, otherwise
	rec, known := a.records.get(t.owner.GetUID(), t.key)
	if known = known && rec.desired == t.hash && rec.uid == seen.GetUID(); known {
		over = rec.fight
	}
	settled, err := a.nothingToDo(ctx, t, seen)
	if err != nil {
		return Result{}, err
	}
	now := a.now()
	if settled || over.until.After(now) {
		rec, _ = a.records.get(t.owner.GetUID(), t.key)
		return Result{Op: object.OpNone, Live: seen, Again: a.again(t, seen), Ignored: rec.ignored, Notes: append(told(rec.ignored), over.notes(now)...)}, nil
	}
	before := seen
	if known && over.suspects() { // the cache does not show who wrote it
		if before, err = a.read(ctx, a.live, t.key); err != nil || before == nil {
			return Result{}, cmp.Or(err, error(&condition.WaitError{Message: t.key.Short() + " is being replaced"}))
		}
	}
	if t, err = a.sending(t, before); err != nil {
		return Result{}, err
	}
	if t.recreate && len(t.ignored) > 0 {
		return Result{}, a.replace(ctx, t, seen)
	}
	live, err := a.renew(ctx, a.facing(t, seen), seen.GetUID())
	if err != nil {
		return Result{}, err
	}
	op := object.OpUpdated
	if a.unchanged(t, seen, live) {
		op = object.OpNone
	}
	if known && op == object.OpUpdated {
		over = a.corrected(t, over, before, live)
	}
	return a.done(ctx, t, live, op, over)
}

// replace deletes an object that cannot be made as desired, so that the next pass makes
// it anew.
func (a *Applier) replace(ctx context.Context, t target, seen object.Object) error {
	if !a.deletable(t.owner, seen) {
		return a.conflict(t, seen)
	}
	if _, err := a.Delete(ctx, t.owner, t.desired); err != nil {
		return err
	}
	return &condition.WaitError{Message: fmt.Sprintf("%s is made anew, as %s cannot be changed", t.key.Short(), t.ignored[0].Path)}
}

// send applies an object, which becomes the server's answer.
func (a *Applier) send(ctx context.Context, u *unstructured.Unstructured, opts ...client.ApplyOption) error {
	return a.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), opts...)
}

// payload is the tree that is sent for desired, but for the UID.
func (a *Applier) payload(t target, component string) (map[string]any, error) {
	tree, err := object.Tree(a.client.Scheme(), t.desired)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: tree}
	labels := u.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[ComponentLabel] = component
	u.SetLabels(labels)
	t.mark(u)
	return tree, nil
}

// read returns the object, or nil if there is none.
func (a *Applier) read(ctx context.Context, from client.Reader, key object.Key) (object.Object, error) {
	obj, err := a.look(ctx, from, key)
	if err != nil {
		return nil, refusal(err, "get", key)
	}
	return obj, nil
}

// look is read with the error as the client returns it.
func (a *Applier) look(ctx context.Context, from client.Reader, key object.Key) (object.Object, error) {
	obj, err := object.Blank(a.client.Scheme(), key.GVK)
	if err != nil {
		return nil, err
	}
	err = from.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: key.Name}, obj)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // absence is an answer
	}
	if err != nil {
		return nil, err
	}
	return obj, nil
}

// done remembers what the server answered and returns it.
func (a *Applier) done(ctx context.Context, t target, live *unstructured.Unstructured, op object.Op, over fight) (Result, error) {
	if err := a.learn(ctx, t, live, over); err != nil {
		return Result{}, err
	}
	return Result{Op: op, Live: live, Again: a.again(t, live), Ignored: t.ignored, Notes: append(told(t.ignored), over.notes(a.now())...)}, nil
}

// as returns an object in the Go type of like, which is of the same kind.
func (a *Applier) as(like, obj object.Object) (object.Object, error) {
	_, want := like.(*unstructured.Unstructured)
	u, have := obj.(*unstructured.Unstructured)
	switch {
	case want == have || object.IsNil(obj):
		return obj, nil
	case want:
		gvk, err := object.GVK(a.client.Scheme(), obj)
		if err != nil {
			return nil, err
		}
		tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
		if err != nil {
			return nil, fmt.Errorf("encoding %s %s: %w", gvk.Kind, obj.GetName(), err)
		}
		u := &unstructured.Unstructured{Object: tree}
		u.SetGroupVersionKind(gvk)
		return u, nil
	default:
		typed, err := object.Blank(a.client.Scheme(), u.GroupVersionKind())
		if err != nil {
			return nil, err
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, typed); err != nil {
			return nil, fmt.Errorf("reading %s %s: %w", u.GetKind(), u.GetName(), err)
		}
		return typed, nil
	}
}
