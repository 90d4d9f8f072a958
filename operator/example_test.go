package operator_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/armature-go/armature/component"
	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/operator"
	"github.com/armature-go/armature/resource"
)

// A controller is a function from a custom resource to its components. A program
// hands the options to operator.Main; a test calls operator.Run.
func ExampleFor() {
	components := func(x *thing, _ *resource.Facts) ([]component.Component, error) {
		return []component.Component{{
			Name:      "store",
			Condition: "StoreReady",
			Resources: []component.Resource{
				resource.Manage(&corev1.ConfigMap{
					ObjectMeta: metav1.ObjectMeta{Namespace: x.Namespace, Name: x.Name},
					Data:       map[string]string{"value": x.Spec.Value},
				}),
			},
		}}, nil
	}
	opts := operator.Options{
		Name:   "thing-operator",
		Scheme: []func(*runtime.Scheme) error{addThings},
		Controllers: []operator.Controller{
			operator.For(components, operator.Kinds{Owns: []object.Object{&corev1.ConfigMap{}}}),
		},
	}
	fmt.Println(opts.Name, "has", len(opts.Controllers), "controller")
	// Output: thing-operator has 1 controller
}
