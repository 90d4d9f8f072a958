// Command webapp-operator is the tutorial operator.
package main

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/operator"
	"github.com/armature-go/armature/operators/webapp"
	"github.com/armature-go/armature/operators/webapp/v1alpha1"
)

func main() {
	operator.Main(operator.Options{
		Name:   "webapp-operator",
		Scheme: []func(*runtime.Scheme) error{v1alpha1.AddToScheme},
		Controllers: []operator.Controller{
			operator.For(webapp.Components, operator.Kinds{
				Owns:  []object.Object{&appsv1.Deployment{}, &appsv1.StatefulSet{}, &corev1.Service{}},
				Reads: []object.Object{&corev1.Secret{}},
			}),
		},
	})
}
