package node

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"github.com/armature-go/armature/plane/steer"
)

const (
	podWorkers = 16
	soon       = 10 * time.Millisecond
)

// pods writes the statuses of the pods on all nodes.
type pods struct {
	client   kubernetes.Interface
	lister   corelisters.PodLister
	nodes    corelisters.NodeLister
	queue    workqueue.TypedRateLimitingInterface[cache.ObjectName]
	recorder record.EventRecorder
	binder   *binder // nil when kube-scheduler runs
	now      func() time.Time

	mu    sync.Mutex
	lives map[types.UID]life
	ips   addresses
}

// enqueue is the handler of pod events; deletions only forget.
func (p *pods) enqueue(obj any) {
	if pod, ok := obj.(*corev1.Pod); ok {
		p.queue.Add(cache.MetaObjectToName(pod))
	}
}

func (p *pods) forget(obj any) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	if pod, ok := obj.(*corev1.Pod); ok {
		p.mu.Lock()
		delete(p.lives, pod.UID)
		p.mu.Unlock()
	}
}

// nodeChanged looks at all pods of a node again.
func (p *pods) nodeChanged(name string) {
	all, err := p.lister.List(labels.Everything())
	if err != nil {
		return
	}
	for _, pod := range all {
		if pod.Spec.NodeName == name || pod.Spec.NodeName == "" && p.binder != nil {
			p.enqueue(pod)
		}
	}
}

func (p *pods) work(ctx context.Context) {
	for {
		key, stop := p.queue.Get()
		if stop {
			return
		}
		wake, err := p.sync(ctx, key)
		switch {
		case apierrors.IsConflict(err) || apierrors.IsNotFound(err):
			p.queue.AddAfter(key, soon) // the cache is behind
		case err != nil && ctx.Err() == nil:
			klog.FromContext(ctx).Error(err, "simulating a pod", "pod", key)
			p.queue.AddRateLimited(key)
		default:
			p.queue.Forget(key)
			if wake > 0 {
				p.queue.AddAfter(key, wake)
			}
		}
		p.queue.Done(key)
	}
}

// sync brings one pod to where it should be and says when to look again.
func (p *pods) sync(ctx context.Context, key cache.ObjectName) (time.Duration, error) {
	pod, err := p.lister.Pods(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if pod.Spec.NodeName == "" {
		if p.binder == nil || pod.DeletionTimestamp != nil {
			return 0, nil
		}
		return p.binder.bind(ctx, pod)
	}
	host, err := p.nodes.Get(pod.Spec.NodeName)
	if err != nil {
		return 0, nil //nolint:nilerr // a pod of a node that is gone is left to the pod garbage collector
	}
	now := p.now()
	out := plan(pod, p.life(pod, now), p.situation(pod, host), now)
	p.mu.Lock()
	p.lives[pod.UID] = out.life
	p.mu.Unlock()
	if err := p.write(ctx, pod, out); err != nil {
		return 0, err
	}
	return out.wake, nil
}

func (p *pods) write(ctx context.Context, pod *corev1.Pod, out outcome) error {
	if !equality.Semantic.DeepEqual(pod.Status, out.status) {
		next := pod.DeepCopy()
		next.Status = out.status
		if _, err := p.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, next, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("writing the status: %w", err)
		}
		if out.event != nil {
			p.recorder.Event(pod, corev1.EventTypeWarning, out.event.reason, out.event.message)
		}
	}
	if !out.remove {
		return nil
	}
	err := p.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: new(int64), Preconditions: metav1.NewUIDPreconditions(string(pod.UID)),
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // gone already, perhaps replaced by another pod of that name
	}
	return err
}

func (p *pods) life(pod *corev1.Pod, now time.Time) life {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l, ok := p.lives[pod.UID]; ok {
		return l
	}
	return remember(pod, now)
}

func (p *pods) situation(pod *corev1.Pod, host *corev1.Node) situation {
	down, _ := steer.ParseNode(host.Annotations)
	at := situation{nodeDown: down, hostIP: internalIP(host)}
	if pod.Status.PodIP != "" || pod.Spec.NodeName == "" {
		return at
	}
	if at.podIP = at.hostIP; !pod.Spec.HostNetwork {
		p.mu.Lock()
		at.podIP = p.ips.of(pod.UID)
		p.mu.Unlock()
	}
	return at
}

// addresses hands out addresses of the pod network, each once until all were
// used.
type addresses struct {
	next  uint32
	given map[types.UID]string
}

// of returns the address of a pod, the same one until its status is written.
func (a *addresses) of(uid types.UID) string {
	if ip, ok := a.given[uid]; ok {
		return ip
	}
	a.next = (a.next + 1) % (1 << 16)
	if len(a.given) > 1000 { // their pods have long been written
		clear(a.given)
	}
	ip := fmt.Sprintf("10.244.%d.%d", a.next>>8, a.next&0xff)
	a.given[uid] = ip
	return ip
}

// skip makes sure that an address that is in use is not handed out again.
func (a *addresses) skip(ip string) {
	var hi, lo uint32
	if n, err := fmt.Sscanf(ip, "10.244.%d.%d", &hi, &lo); err == nil && n == 2 {
		a.next = max(a.next, hi<<8|lo)
	}
}
