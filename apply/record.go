package apply

import (
	"crypto/sha256"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
	"weak"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/armature-go/armature/kind"
	"github.com/armature-go/armature/object"
)

// noMatchRetry is how long to wait before asking again for a kind that the
// cluster does not serve; discovery has no watch. unreadableRetry is the same for an
// object that the server could not read, as a new version of its kind may.
// conflictRetry is how long to wait for the cache after the owner turned out to be
// newer than what was read.
const (
	noMatchRetry    = 30 * time.Second
	unreadableRetry = 5 * time.Minute
	conflictRetry   = 200 * time.Millisecond
)

type hash = [sha256.Size]byte

// record is what the server said about an object the last time that we wrote it, or
// found it to be as it would be after a write.
type record struct {
	uid             types.UID
	resourceVersion string
	content         hash // of all that an apply can change; zero where it has to be computed

	desired    hash     // of the tree that is declared
	apiVersion string   // of our entry in the managed fields
	fields     hash     // of our entry, as the server writes them
	program    *program // the same, to be walked
	projection hash     // of what the program owns
	exact      bool     // what is owned is what is declared, to the letter
	neverSkip  bool     // what was sent cannot be seen in the object
	tracked    bool     // garbage collection does not take it along with its owner

	written  time.Time     // when we wrote; zero for an object that was found so
	verified time.Time     // when the projection was last computed
	patience time.Duration // for how long it is believed without being verified

	ignored []kind.Ignored // of what is declared, because it cannot be changed
	sent    hash           // of the tree that was sent; zero where it is what is declared

	fight fight // over what is declared, with somebody who wants it otherwise
}

// records holds one record for each object of each owner.
type records struct {
	mu sync.Mutex
	of map[types.UID]map[object.Key]record

	programs *programs
}

// programs are found by their fields. Objects of one shape share one, whoever their
// owner is, and it goes when the last of their records does. Nothing here leads to a
// record: what the cleanup of a program leads to is kept, and so would be the program.
type programs struct {
	mu sync.Mutex
	of map[string]weak.Pointer[program]
}

// program returns the program of an entry in an object of the owner; nil where there
// is no entry.
func (r *records) program(owner types.UID, own *metav1.ManagedFieldsEntry) (*program, error) {
	raw := fieldsOf(own)
	if raw == "" {
		return nil, nil //nolint:nilnil // no entry owns no field
	}
	if owner != "" {
		raw = strings.ReplaceAll(raw, string(owner), selfKey)
	}
	return r.programs.get(raw)
}

func (p *programs) get(raw string) (*program, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.of[raw].Value(); known != nil {
		return known, nil
	}
	made, err := compile([]byte(raw))
	if err != nil {
		return nil, err
	}
	if p.of == nil {
		p.of = map[string]weak.Pointer[program]{}
	}
	p.of[raw] = weak.Make(made)
	runtime.AddCleanup(made, p.drop, raw)
	return made, nil
}

// drop drops what is left of a program that nobody uses any more.
func (p *programs) drop(raw string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of[raw].Value() == nil {
		delete(p.of, raw)
	}
}

func (r *records) get(owner types.UID, key object.Key) (record, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rec, ok := r.of[owner][key]
	return rec, ok
}

func (r *records) put(owner types.UID, key object.Key, rec record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[types.UID]map[object.Key]record{}
	}
	if r.of[owner] == nil {
		r.of[owner] = map[object.Key]record{}
	}
	r.of[owner][key] = rec
}

func (r *records) drop(owner types.UID, key object.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.of[owner], key)
}

// tracked returns the keys of the owner's tracked objects.
func (r *records) tracked(owner types.UID) []object.Key {
	r.mu.Lock()
	defer r.mu.Unlock()
	var keys []object.Key
	for key, rec := range r.of[owner] {
		if rec.tracked {
			keys = append(keys, key)
		}
	}
	return keys
}

// Forget drops everything that is remembered about an owner. Call it when the
// owner is gone.
func (a *Applier) Forget(owner types.UID) {
	a.records.mu.Lock()
	defer a.records.mu.Unlock()
	delete(a.records.of, owner)
}

// unchanged reports whether an apply left the object as it was before. What was
// before is what was read, unless our own last write is newer than that.
func (a *Applier) unchanged(t target, seen object.Object, live *unstructured.Unstructured) bool {
	version, content := seen.GetResourceVersion(), hash{}
	rec, ok := a.records.get(t.owner.GetUID(), t.key)
	if ok && rec.uid == seen.GetUID() && newer(rec.resourceVersion, version) {
		version, content = rec.resourceVersion, rec.content
	}
	if version == live.GetResourceVersion() {
		return true
	}
	if content == (hash{}) {
		content = contentHash(nodeOf(seen))
	}
	return content == contentHash(nodeOf(live))
}

// newer reports whether resource version a is later than b. Versions that cannot
// be compared are not.
func newer(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order > 0
}

// contentHash is a digest of what an apply can change: everything but the status
// and what the server keeps about the object.
func contentHash(root node) hash {
	w := newWriter()
	defer w.free()
	for name, sub := range root.fields() {
		switch name {
		case "apiVersion", "kind", "status":
		case "metadata":
			for name, sub := range sub.fields() {
				if !slices.Contains([]string{"managedFields", "resourceVersion", "generation", "creationTimestamp"}, name) {
					w.text('m', name)
					w.whole(sub)
				}
			}
		default:
			w.text('f', name)
			w.whole(sub)
		}
	}
	return w.sum()
}
