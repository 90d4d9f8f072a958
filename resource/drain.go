package resource

import (
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/armature-go/armature/object"
)

// Drain puts a step before the deletion of the object; several run in the order in
// which they are added. A step is given a copy of the live object, and the time. What
// it changes in the copy is written, and the next pass asks again; a
// [condition.WaitError] waits; if it changes nothing and returns nil, it is done, and
// the next step or the deletion follows. Any other error fails the component.
//
// A step must be derived from what it is given, and nothing else: the process may end
// after any write, and another one goes on. An object that does not exist, or is
// somebody else's, is not drained.
func (r *Removed[T]) Drain(step func(live T, now time.Time) error) *Removed[T] {
	r.drains = append(r.drains, step)
	return r
}

func drainer[T object.Object](steps []func(T, time.Time) error) func(object.Object, time.Time) (object.Object, error) {
	if len(steps) == 0 {
		return nil
	}
	return func(live object.Object, now time.Time) (object.Object, error) {
		for _, step := range steps {
			copied, err := typed[T](live)
			if err != nil {
				return nil, err
			}
			if err := step(copied, now); err != nil {
				return nil, err
			}
			if !equality.Semantic.DeepEqual(object.Object(copied), live) {
				return copied, nil
			}
		}
		return nil, nil //nolint:nilnil // nothing is left to do before the deletion
	}
}
