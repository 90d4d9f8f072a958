package apply_test

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
)

// An object that is somebody else's is told apart by type, says whose it is and
// what to do, and has a reason for the condition that reports on it.
func ExampleConflictError() {
	err := fmt.Errorf("component %q: %w", "frontend", &apply.ConflictError{
		Key:    object.Key{GVK: corev1.SchemeGroupVersion.WithKind("Service"), Namespace: "default", Name: "shop"},
		Holder: "WebApp other",
	})
	var conflict *apply.ConflictError
	fmt.Println(errors.As(err, &conflict), condition.ReasonOf(err))
	fmt.Println(err)
	// Output:
	// true Conflict
	// component "frontend": Service shop belongs to WebApp other; rename one of the two, or delete the other
}
