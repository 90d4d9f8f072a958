package main

import (
	"context"

	"github.com/fluxcd/pkg/ssa"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// flux asks the server by a dry run what an apply would change, and applies if that
// is something.
type flux struct {
	*session

	manager *ssa.ResourceManager
}

// newFlux gives the manager no status poller: only waiting would use it.
func newFlux(_ context.Context, s *session) (contender, error) {
	c, err := client.New(s.config, client.Options{Scheme: s.scheme})
	if err != nil {
		return nil, err
	}
	owner := ssa.Owner{Field: "bench-flux", Group: "bench.armature.dev"}
	return &flux{session: s, manager: ssa.NewResourceManager(c, nil, owner)}, nil
}

func (f *flux) pass(ctx context.Context) error {
	sets := map[types.UID][]*unstructured.Unstructured{}
	for _, d := range f.desired() {
		u, err := f.tree(d)
		if err != nil {
			return err
		}
		sets[d.owner.UID] = append(sets[d.owner.UID], u)
	}
	for _, owner := range f.owners {
		if _, err := f.manager.ApplyAll(ctx, sets[owner.UID], ssa.DefaultApplyOptions()); err != nil {
			return err
		}
	}
	return nil
}
