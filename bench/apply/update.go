package main

import (
	"context"
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// updater reads an object from the cache, changes it, and writes all of it if that
// made a difference.
type updater struct {
	*session

	client client.Client
	set    func(row assignment, live, want client.Object) error
}

// newWholeSpec assigns the spec in every pass. What the server has filled in is
// overwritten with nothing, so live and desired always differ and every object that
// has such fields is written in every pass.
func newWholeSpec(ctx context.Context, s *session) (contender, error) {
	return newUpdater(ctx, s, func(row assignment, live, want client.Object) error { return row.assign(live, want) })
}

// newGuarded assigns the spec only where something that is desired is not there.
func newGuarded(ctx context.Context, s *session) (contender, error) {
	return newUpdater(ctx, s, func(row assignment, live, want client.Object) error {
		there, err := row.there(live, want)
		if err != nil || there {
			return err
		}
		return row.assign(live, row.keep(live, want))
	})
}

func newUpdater(ctx context.Context, s *session, set func(assignment, client.Object, client.Object) error) (contender, error) {
	c, err := s.cachedClient(ctx, cache.TransformStripManagedFields())
	if err != nil {
		return nil, err
	}
	return &updater{session: s, client: c, set: set}, nil
}

func (u *updater) pass(ctx context.Context) error {
	for _, d := range u.desired() {
		want, kind := d.complete(), d.kind
		live, err := u.empty(kind)
		if err != nil {
			return err
		}
		live.SetNamespace(want.GetNamespace())
		live.SetName(want.GetName())
		_, err = controllerutil.CreateOrUpdate(ctx, u.client, live, func() error {
			labels := live.GetLabels()
			if labels == nil {
				labels = map[string]string{}
			}
			maps.Copy(labels, want.GetLabels())
			live.SetLabels(labels)
			if err := controllerutil.SetControllerReference(d.owner, live, u.scheme); err != nil {
				return err
			}
			return u.set(assignments[kind], live, want)
		})
		if err != nil {
			return fmt.Errorf("%s %s: %w", kind, want.GetName(), err)
		}
	}
	return nil
}

// assignment says how objects of a kind are made as desired by hand.
type assignment struct {
	assign func(live, want client.Object) error
	there  func(live, want client.Object) (bool, error)
	keep   func(live, want client.Object) client.Object // returns want with what it leaves to others
}

var assignments = map[string]assignment{
	"Deployment": {
		assign: assigning(func(live, want *appsv1.Deployment) { live.Spec = want.Spec }),
		there: comparing(func(live, want *appsv1.Deployment) bool {
			return equality.Semantic.DeepDerivative(want.Spec, live.Spec)
		}),
		keep: func(live, want client.Object) client.Object {
			l, found := live.(*appsv1.Deployment)
			w, wanted := want.(*appsv1.Deployment)
			if found && wanted && w.Spec.Replicas == nil {
				w.Spec.Replicas = l.Spec.Replicas
			}
			return want
		},
	},
	"StatefulSet": {
		assign: assigning(func(live, want *appsv1.StatefulSet) { live.Spec = want.Spec }),
		there: comparing(func(live, want *appsv1.StatefulSet) bool {
			return equality.Semantic.DeepDerivative(want.Spec, live.Spec)
		}),
		keep: nothing,
	},
	"Service": {
		assign: assigning(func(live, want *corev1.Service) {
			ip, ips := live.Spec.ClusterIP, live.Spec.ClusterIPs
			live.Spec = want.Spec
			live.Spec.ClusterIP, live.Spec.ClusterIPs = ip, ips
		}),
		there: comparing(func(live, want *corev1.Service) bool {
			return equality.Semantic.DeepDerivative(want.Spec, live.Spec)
		}),
		keep: nothing,
	},
	"ConfigMap": {
		assign: assigning(func(live, want *corev1.ConfigMap) { live.Data = want.Data }),
		there:  comparing(func(live, want *corev1.ConfigMap) bool { return equality.Semantic.DeepEqual(want.Data, live.Data) }),
		keep:   nothing,
	},
}

func nothing(_, want client.Object) client.Object { return want }

func assigning[T client.Object](assign func(live, want T)) func(live, want client.Object) error {
	return func(live, want client.Object) error {
		l, w, err := both[T](live, want)
		if err == nil {
			assign(l, w)
		}
		return err
	}
}

func comparing[T client.Object](there func(live, want T) bool) func(live, want client.Object) (bool, error) {
	return func(live, want client.Object) (bool, error) {
		l, w, err := both[T](live, want)
		return err == nil && there(l, w), err
	}
}

func both[T client.Object](live, want client.Object) (l, w T, err error) {
	l, found := live.(T)
	w, wanted := want.(T)
	if !found || !wanted {
		err = fmt.Errorf("%T and %T are not of the type %T", live, want, l)
	}
	return l, w, err
}
