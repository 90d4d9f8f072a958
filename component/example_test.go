package component_test

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/component"
	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/feature"
	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/resource"
)

// shop is a custom resource; an operator would have it made by controller-gen.
type shop struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Version    string
	conditions []metav1.Condition
}

func (s *shop) DeepCopyObject() runtime.Object  { c := *s; return &c }
func (s *shop) Conditions() *[]metav1.Condition { return &s.conditions }

// components is what an author writes: what should exist for one shop.
func components(s *shop) []component.Component {
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name + "-" + name}
	}
	legacy := func(d *appsv1.Deployment) error {
		d.Annotations = map[string]string{"sessions": "cookie"}
		return nil
	}
	return []component.Component{
		{
			Name:      "backend",
			Condition: "BackendReady",
			Grace:     5 * time.Minute,
			Resources: []component.Resource{
				resource.Manage(&corev1.Service{ObjectMeta: meta("backend")}),
				resource.Manage(&appsv1.StatefulSet{ObjectMeta: meta("backend")}),
			},
		},
		{
			Name:      "frontend",
			Condition: "FrontendReady",
			After:     []component.Prerequisite{component.DependsOn("BackendReady")},
			Resources: []component.Resource{
				resource.Manage(&appsv1.Deployment{ObjectMeta: meta("frontend")}).
					Mutate("sessions", feature.Version(s.Version, "<2.0.0"), legacy),
			},
		},
	}
}

// server answers every apply with a workload that is up; *apply.Applier would ask
// the API server.
type server struct{}

func (server) Apply(_ context.Context, _ object.Object, _ string, desired object.Object, _ ...object.Handling) (apply.Result, error) {
	fmt.Println("apply", desired.GetObjectKind().GroupVersionKind().Kind, desired.GetName())
	switch live := desired.(type) {
	case *appsv1.StatefulSet:
		live.Status = appsv1.StatefulSetStatus{Replicas: 1, ReadyReplicas: 1, UpdatedReplicas: 1}
	case *appsv1.Deployment:
		live.Status = appsv1.DeploymentStatus{Replicas: 1, UpdatedReplicas: 1}
	}
	return apply.Result{Op: object.OpCreated, Live: desired}, nil
}

func (server) Delete(context.Context, object.Object, object.Object) (apply.Result, error) {
	return apply.Result{Op: object.OpNone}, nil
}

func (server) Release(context.Context, object.Object, object.Object) (apply.Result, error) {
	return apply.Result{Op: object.OpNone}, nil
}

func (server) Amend(_ context.Context, _, _, changed object.Object) (apply.Result, error) {
	return apply.Result{Op: object.OpUpdated, Live: changed}, nil
}

func (server) Owned(context.Context, object.Object, []schema.GroupVersionKind) ([]object.Object, error) {
	return nil, nil
}

func Example() {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	env := component.Env{
		Applier: server{},
		Scheme:  scheme,
		Owns: []schema.GroupVersionKind{
			corev1.SchemeGroupVersion.WithKind("Service"), appsv1.SchemeGroupVersion.WithKind("StatefulSet"), appsv1.SchemeGroupVersion.WithKind("Deployment"),
		},
	}
	owner := &shop{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "corner"}, Version: "2.1.0"}
	res := component.Run(context.Background(), env, owner, components(owner))
	for _, c := range append(owner.conditions, res.Ready) {
		if c.Type != component.Ready {
			fmt.Println(c.Type, c.Status, c.Reason)
		}
	}
	fmt.Println(res.Ready.Message)
	// Output:
	// apply Service corner-backend
	// apply StatefulSet corner-backend
	// apply Deployment corner-frontend
	// BackendReady True Healthy
	// FrontendReady False Creating
	// 1 of 2 ready; frontend: Deployment corner-frontend: 0 of 1 replicas ready
}

// Mistakes of the author are found before anything is written, all at once.
func ExampleValidate() {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		panic(err)
	}
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "settings"}}
	err := component.Validate(
		component.Env{Scheme: scheme, Owns: []schema.GroupVersionKind{corev1.SchemeGroupVersion.WithKind("ConfigMap")}},
		&shop{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "corner"}},
		[]component.Component{
			{Name: "web", Condition: "Ready", Resources: []component.Resource{resource.Manage(settings)}},
			{Name: "db", Condition: "DbReady", Resources: []component.Resource{resource.Manage(settings)}},
		},
	)
	fmt.Println(err)
	fmt.Println("only the author can mend it:", condition.IsInvalid(err))
	// Output:
	// component "web": condition type Ready is the sum of all components; name it after what the component does
	// component "db", ConfigMap settings: the object is in component "web" too; an object belongs to one component; the others may observe it
	// only the author can mend it: true
}

func ExamplePreview() {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	for _, version := range []string{"1.9.0", "2.1.0"} {
		owner := &shop{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "corner"}, Version: version}
		objects, err := component.Preview(scheme, components(owner)[1])
		if err != nil {
			panic(err)
		}
		for _, obj := range objects {
			fmt.Println(version, obj.GetObjectKind().GroupVersionKind().Kind, obj.GetName(), obj.GetAnnotations())
		}
	}
	// Output:
	// 1.9.0 Deployment corner-frontend map[sessions:cookie]
	// 2.1.0 Deployment corner-frontend map[]
}
