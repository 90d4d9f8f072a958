// Package writer writes to a cluster in every way there is, each marked at the
// end of its line, and calls what only looks like it.
package writer

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

type narrow interface {
	client.Reader
	Update(ctx context.Context, obj client.Object, opts ...client.UpdateOption) error
}

type embedding struct{ client.Client }

func writes(ctx context.Context, c client.Client, e embedding, typed kubernetes.Interface, pod *corev1.Pod) {
	_ = c.Update(ctx, pod)              // writes
	_ = c.Status().Patch(ctx, pod, nil) // writes
	_ = e.Delete(ctx, pod)              // writes
	later := c.Create                   // writes
	_ = later(ctx, pod)

	_ = typed.CoreV1().Pods("").Delete(ctx, "", metav1.DeleteOptions{}) // writes
	_ = typed.CoreV1().RESTClient().Post()                              // writes
	_, _ = controllerutil.CreateOrUpdate(ctx, c, pod, nil)              // writes
}

func reads(ctx context.Context, c client.Client, n narrow, store cache.Store, pod *corev1.Pod) {
	_ = c.Get(ctx, client.ObjectKey{}, pod)
	_ = n.Update(ctx, pod) // an interface of our own: whoever fills it in decides
	_ = store.Delete(pod)
}
