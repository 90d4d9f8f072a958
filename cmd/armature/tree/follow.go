package tree

import (
	"context"
	"errors"
	"reflect"
	"time"

	"github.com/armature-go/armature/condition"
)

// ErrGone says that the object was there and is no more.
var ErrGone = errors.New("it was deleted")

// Answer says whether to go on.
type Answer string

// The answers.
const (
	More   Answer = "more"
	Enough Answer = "enough"
)

// Follow reads the tree again and again, and hands it to seen whenever it is not what
// it was. It returns nil when seen answers [Enough], the context's error when that
// ends, and [ErrGone] when the object does. Once the object was seen, it is waited for
// a cluster that stops answering.
func (r *Reader) Follow(ctx context.Context, ref Ref, every time.Duration, seen func(Node) Answer) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	var last *Node
	for {
		node, err := r.Read(ctx, ref)
		var gone *condition.InvalidError
		var silent *NoClusterError
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case last != nil && errors.As(err, &gone):
			return ErrGone
		case last != nil && errors.As(err, &silent):
			r.remark("%v; still trying", err)
		case err != nil:
			return err
		case last == nil || !reflect.DeepEqual(*last, node):
			if seen(node) == Enough {
				return nil
			}
			last = &node
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
