package cloud

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// balancers gives Services of type LoadBalancer an address out of the blocks
// that are reserved for documentation, and takes it back from Services that
// changed their type. Services with a loadBalancerClass belong to somebody else.
type balancers struct {
	client   kubernetes.Interface
	lister   corelisters.ServiceLister
	informer cache.SharedIndexInformer
	given    map[string]cache.ObjectName // by address; the cache may be behind
}

func newBalancers(cs kubernetes.Interface, f informers.SharedInformerFactory) *balancers {
	s := f.Core().V1().Services()
	return &balancers{client: cs, lister: s.Lister(), informer: s.Informer(), given: map[string]cache.ObjectName{}}
}

func (b *balancers) sync(ctx context.Context, key cache.ObjectName) (time.Duration, error) {
	svc, err := b.lister.Services(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	next := svc.DeepCopy()
	switch {
	case svc.Spec.LoadBalancerClass != nil:
		return 0, nil
	case svc.Spec.Type != corev1.ServiceTypeLoadBalancer:
		next.Status.LoadBalancer = corev1.LoadBalancerStatus{}
	case len(svc.Status.LoadBalancer.Ingress) == 0:
		ip, err := b.address(key, svc.Spec.LoadBalancerIP)
		if err != nil {
			return time.Second, err
		}
		mode := corev1.LoadBalancerIPModeVIP
		next.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: ip, IPMode: &mode}}
	}
	if equality.Semantic.DeepEqual(svc.Status, next.Status) {
		return 0, nil
	}
	_, err = b.client.CoreV1().Services(svc.Namespace).UpdateStatus(ctx, next, metav1.UpdateOptions{})
	return 0, err
}

// address is the one that was wished for, or the lowest that is free.
func (b *balancers) address(key cache.ObjectName, wished string) (string, error) {
	if wished != "" {
		return wished, nil
	}
	all, err := b.lister.List(labels.Everything())
	if err != nil {
		return "", err
	}
	used := map[string]bool{}
	for _, svc := range all {
		for _, in := range svc.Status.LoadBalancer.Ingress {
			used[in.IP] = true
		}
	}
	for ip, holder := range b.given {
		svc, err := b.lister.Services(holder.Namespace).Get(holder.Name)
		switch {
		case err != nil || svc.Spec.Type != corev1.ServiceTypeLoadBalancer:
			delete(b.given, ip)
		case holder == key:
			return ip, nil
		default:
			used[ip] = true
		}
	}
	for _, block := range []string{"203.0.113", "198.51.100", "192.0.2"} {
		for i := range 254 {
			ip := fmt.Sprintf("%s.%d", block, i+1)
			if !used[ip] {
				b.given[ip] = key
				return ip, nil
			}
		}
	}
	return "", errors.New("all 762 load balancer addresses are taken; delete Services of type LoadBalancer")
}
