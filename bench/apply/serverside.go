package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/object"
)

// serverSide lets the server find out that nothing is to do.
type serverSide struct {
	*session

	client client.Client
}

func newServerSide(_ context.Context, s *session) (contender, error) {
	c, err := client.New(s.config, client.Options{Scheme: s.scheme})
	if err != nil {
		return nil, err
	}
	return &serverSide{session: s, client: c}, nil
}

func (c *serverSide) pass(ctx context.Context) error {
	for _, d := range c.desired() {
		u, err := c.tree(d)
		if err != nil {
			return err
		}
		if err := c.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner("bench-ssa"), client.ForceOwnership); err != nil {
			return fmt.Errorf("%s %s: %w", u.GetKind(), u.GetName(), err)
		}
	}
	return nil
}

// tree is what is sent for a desired object: the same fields that Armature sends,
// without the empty ones that Go's encoding adds.
func (s *session) tree(d desired) (*unstructured.Unstructured, error) {
	tree, err := object.Tree(s.scheme, d.complete())
	if err != nil {
		return nil, err
	}
	return &unstructured.Unstructured{Object: tree}, nil
}
