package operator

import (
	"context"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-go/armature/component"
	"github.com/armature-go/armature/object"
)

// sight is all that a pass over the owner depends on, as versions: the owner, what
// it looks at, its objects. Components are pure, so a pass that sees the same again
// and changed nothing before would change nothing now.
//
// It is taken before a pass: what changes meanwhile makes the next one differ.
func (r *reconciler) sight(ctx context.Context, name types.NamespacedName, owner component.Owner, reads []object.Key) (string, error) {
	objects, err := r.applier.Versions(ctx, owner, r.env.Owns)
	if err != nil {
		return "", err
	}
	seen := []string{string(owner.GetUID()), owner.GetResourceVersion()}
	for _, key := range reads {
		seen = append(seen, key.String()+"="+r.watches.version(name, key))
	}
	return strings.Join(append(seen, objects), " "), nil
}

// settle remembers what a pass saw that changed nothing, if it looked at what the
// pass before it did. After is when to look again in any case; 0 means never.
func (m *memory) settle(saw string, reads []object.Key, now time.Time, after time.Duration) {
	if !slices.Equal(m.reads, reads) {
		return
	}
	m.settled, m.until = saw, time.Time{}
	if after > 0 {
		m.until = now.Add(after)
	}
}

// changed reports whether a pass changed anything but the status.
func changed(res component.Result) bool {
	return len(res.Changes) > 0 || slices.ContainsFunc(res.Reports, func(rep component.Report) bool { return len(rep.Changes) > 0 })
}
