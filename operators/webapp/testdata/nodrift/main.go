// Command nodrift is the tutorial operator with the correction of drift switched off:
// what somebody else changes stays changed. Whatever claims to see drift corrected has
// to fail with it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/armature-go/armature/armaturetest"
	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/operator"
	"github.com/armature-go/armature/operators/webapp"
	"github.com/armature-go/armature/operators/webapp/v1alpha1"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM) //nolint:forbidigo // the root of the process
	defer stop()
	cfg, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	armaturetest.WithoutDriftCorrection(cfg)
	return operator.Run(ctx, operator.Options{
		Name:   "webapp-operator",
		Scheme: []func(*runtime.Scheme) error{v1alpha1.AddToScheme},
		Controllers: []operator.Controller{
			operator.For(webapp.Components, operator.Kinds{
				Owns:  []object.Object{&appsv1.Deployment{}, &appsv1.StatefulSet{}, &corev1.Service{}},
				Reads: []object.Object{&corev1.Secret{}},
			}),
		},
	}, operator.Settings{Config: cfg})
}
