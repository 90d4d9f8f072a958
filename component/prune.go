package component

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/armature-go/armature/object"
)

// prune deletes objects of the owner that no component lists any more, in whatever
// way. It does so only after a pass that got to know everything.
func (p *pass) prune(ctx context.Context, components []Component, reports []Report) ([]Change, error) {
	for _, r := range reports {
		if !r.complete {
			return nil, nil
		}
	}
	listed := map[object.Key]bool{}
	for _, c := range components {
		for _, r := range c.Resources {
			key, err := object.KeyOf(p.env.Scheme, r.Declaration().Object)
			if err != nil {
				return nil, err
			}
			listed[key] = true
		}
	}
	var changes []Change
	var errs []error
	for _, key := range slices.SortedFunc(maps.Keys(p.owned), func(a, b object.Key) int { return strings.Compare(a.String(), b.String()) }) {
		if listed[key] {
			continue
		}
		res, err := p.env.Applier.Delete(ctx, p.owner, p.owned[key])
		switch {
		case err != nil:
			errs = append(errs, err)
		case res.Op != object.OpNone:
			changes = append(changes, Change{Object: res.Live, Key: key, Op: res.Op, Cause: "it is no longer rendered"})
		}
	}
	return changes, errors.Join(errs...)
}
