package apply

import (
	"context"
	"encoding/binary"
	"maps"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/armature-go/armature/object"
)

const (
	// behind is how long an object that is older than our own write of it is taken
	// for a cache that lags. Later it is taken for what it is: a store that was
	// restored counts from an earlier number.
	behind = time.Minute

	// believed is about how long something is believed that cannot be seen in the
	// object: that an inexact object would come out the same, and that an equal
	// resource version means an equal object.
	believed = 20 * time.Minute
)

// nothingToDo reports whether applying the target to seen, which is ours and not
// being deleted, would change nothing. It decides from what was seen and from the record
// of the last apply, without a request.
func (a *Applier) nothingToDo(ctx context.Context, t target, seen object.Object) (bool, error) {
	rec, ok := a.records.get(t.owner.GetUID(), t.key)
	if !ok {
		return a.adopt(t, seen)
	}
	now := a.now()
	old := now.Sub(rec.verified) > rec.patience
	switch version := seen.GetResourceVersion(); {
	case rec.neverSkip || rec.desired != t.hash || rec.uid != seen.GetUID():
		return false, nil
	case old && !rec.exact:
		return false, nil
	case version == rec.resourceVersion && !old:
		a.checkSight(ctx, t.owner, rec, seen)
		return true, nil
	case a.lags(rec, seen):
		return true, nil
	}
	own := entry(seen, a.Manager(t.owner), "")
	if own == nil || own.APIVersion != rec.apiVersion || fieldsHash(own) != rec.fields || rec.program.of(t.owner.GetUID()).project(nodeOf(seen)) != rec.projection {
		if len(t.yields)+len(t.ignores) == 0 {
			return false, nil
		}
		return a.adopt(t, seen) // what changed may be what is conceded
	}
	if len(rec.ignored) > 0 { // what could not be changed then may be accepted now
		if t, err := a.sending(t, seen); err != nil || digest(t.tree) != rec.sent {
			return false, err
		}
	}
	rec.resourceVersion, rec.verified, rec.content = seen.GetResourceVersion(), now, hash{}
	a.records.put(t.owner.GetUID(), t.key, rec)
	return true, nil
}

// checkSight says once where what is read lacks the managed fields that were in the
// server's answer. Then an equal resource version is all that there is to decide by,
// and every write of somebody else costs an apply.
func (a *Applier) checkSight(ctx context.Context, owner object.Object, rec record, seen object.Object) {
	if a.sighted.Load() || rec.fields == (hash{}) {
		return
	}
	if entry(seen, a.Manager(owner), "") == nil {
		logr.FromContextOrDiscard(ctx).Info("applying after every write of somebody else: the cache drops the managed fields by which drift is told from other changes; let apply.Transform be its transform")
	}
	a.sighted.Store(true)
}

// adopt decides for an object of which nothing is remembered, as after a restart:
// where what we own in it is exactly what is desired, an apply would say nothing new.
func (a *Applier) adopt(t target, seen object.Object) (bool, error) {
	own := entry(seen, a.Manager(t.owner), "")
	if own == nil || own.APIVersion != t.key.GVK.GroupVersion().String() {
		return false, nil
	}
	program, err := a.records.program(t.owner.GetUID(), own)
	if err != nil || program == nil {
		return false, err
	}
	if t, err = a.sending(t, seen); err != nil {
		return false, err
	}
	if t.recreate && len(t.ignored) > 0 {
		return false, nil
	}
	live, view := nodeOf(seen), program.of(t.owner.GetUID())
	if !view.exact(declared(t.tree), live) {
		return false, nil
	}
	a.records.put(t.owner.GetUID(), t.key, record{
		uid: seen.GetUID(), resourceVersion: seen.GetResourceVersion(), desired: t.hash,
		apiVersion: own.APIVersion, fields: fieldsHash(own), program: program, projection: view.project(live),
		exact: true, verified: a.now(), patience: patience(t.key), tracked: t.how == object.Tracked,
		ignored: t.ignored, sent: t.sent(),
	})
	return true, nil
}

// learn makes the record of an apply out of the server's answer.
func (a *Applier) learn(ctx context.Context, t target, live *unstructured.Unstructured, over fight) error {
	own := entry(live, a.Manager(t.owner), "")
	program, err := a.records.program(t.owner.GetUID(), own)
	if err != nil {
		return err
	}
	root := nodeOf(live)
	rec := record{
		uid: live.GetUID(), resourceVersion: live.GetResourceVersion(), content: contentHash(root), desired: t.hash,
		written: a.now(), verified: a.now(), patience: patience(t.key), neverSkip: true, fight: over,
		tracked: t.how == object.Tracked, ignored: t.ignored, sent: t.sent(),
	}
	if program != nil && !program.opaque {
		rec.apiVersion, rec.fields, rec.program = own.APIVersion, fieldsHash(own), program
		desired := declared(t.tree)
		view := program.of(t.owner.GetUID())
		rec.projection, rec.exact = view.project(root), view.exact(desired, root)
		missing := view.unresolved(desired, root)
		rec.neverSkip = missing != ""
		if before, _ := a.records.get(t.owner.GetUID(), t.key); missing != "" && !before.neverSkip {
			logr.FromContextOrDiscard(ctx).Info("applying in every pass: the server stores under another name what is sent", "object", t.key.String(), "field", missing)
		}
	}
	a.records.put(t.owner.GetUID(), t.key, rec)
	return nil
}

// declared is the part of a tree that can be owned: all but what names the object.
func declared(tree map[string]any) map[string]any {
	out := maps.Clone(tree)
	delete(out, "apiVersion")
	delete(out, "kind")
	if meta, ok := out["metadata"].(map[string]any); ok {
		kept := maps.Clone(meta)
		for _, k := range []string{"name", "namespace", "uid"} {
			delete(kept, k)
		}
		out["metadata"] = kept
	}
	return out
}

// lags reports whether what was read is taken for a cache that is behind our own
// write of it.
func (a *Applier) lags(rec record, seen object.Object) bool {
	return newer(rec.resourceVersion, seen.GetResourceVersion()) && a.now().Sub(rec.written) < behind
}

// again is when to apply an object once more although nothing about it can be seen
// to change; 0 where that is not needed.
func (a *Applier) again(t target, seen object.Object) time.Duration {
	rec, ok := a.records.get(t.owner.GetUID(), t.key)
	now := a.now()
	switch {
	case !ok:
		return 0
	case a.lags(rec, seen):
		return behind // it has caught up by then, or never will
	case rec.fight.until.After(now): // the truce ends
		return rec.fight.until.Sub(now)
	case rec.fight.about != "" && rec.fight.ends().After(now): // it is over
		return rec.fight.ends().Sub(now) + time.Second
	case rec.exact:
		return 0
	}
	return max(rec.patience-now.Sub(rec.verified), 0) + time.Second
}

// patience is how long a record is believed without being verified: about as long as
// believed, and not at one moment for all objects.
func patience(key object.Key) time.Duration {
	sum := digest(key.String())
	spread := time.Duration(binary.BigEndian.Uint16(sum[:])) * believed / 2 / (1 << 16)
	return believed*3/4 + spread
}
