package main

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/condition"
)

const armatureName = "bench-armature"

type armature struct {
	*session

	applier *apply.Applier
	clients [2]client.Client // of the applier; they are not among what it remembers
}

func newArmature(ctx context.Context, s *session) (contender, error) {
	c, err := s.cachedClient(ctx, apply.Transform(armatureName, nil))
	if err != nil {
		return nil, err
	}
	live, err := client.New(s.config, client.Options{Scheme: s.scheme})
	if err != nil {
		return nil, err
	}
	return &armature{
		session: s,
		applier: apply.New(c, armatureName, apply.Options{Live: live}),
		clients: [2]client.Client{c, live},
	}, nil
}

func (a *armature) pass(ctx context.Context) error {
	for _, d := range a.desired() {
		_, err := a.applier.Apply(ctx, d.owner, component, d.object)
		if wait, ok := errors.AsType[*condition.WaitError](err); ok {
			return fmt.Errorf("nothing should have to wait here: %w", wait)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// forget drops the applier. Its Forget would not do: what it has compiled for the owners
// stays.
func (a *armature) forget() { a.applier = nil }
