package node

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/armature-go/armature/plane/steer"
)

const patience = 100 * time.Millisecond

// binder places pods when no kube-scheduler runs: on the node that fits and
// has the fewest pods. It knows node selectors and the fixed places of
// DaemonSet pods; affinity, spreading and resources are the scheduler's.
type binder struct {
	client kubernetes.Interface
	pods   corelisters.PodLister
	nodes  corelisters.NodeLister
	claims corelisters.PersistentVolumeClaimLister
}

// bind places a pod, or says when to try again.
func (b *binder) bind(ctx context.Context, pod *corev1.Pod) (time.Duration, error) {
	if pod.Spec.SchedulerName != corev1.DefaultSchedulerName || len(pod.Spec.SchedulingGates) > 0 {
		return 0, nil
	}
	if !b.claimsBound(pod) {
		return patience, nil
	}
	name, err := b.choose(pod)
	if err != nil || name == "" {
		return patience, err
	}
	err = b.client.CoreV1().Pods(pod.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: name},
	}, metav1.CreateOptions{})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return 0, nil // bound or gone already; the cache will tell
	}
	if err != nil {
		return 0, fmt.Errorf("binding to %s: %w", name, err)
	}
	return 0, nil
}

func (b *binder) claimsBound(pod *corev1.Pod) bool {
	for _, v := range pod.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		claim, err := b.claims.PersistentVolumeClaims(pod.Namespace).Get(v.PersistentVolumeClaim.ClaimName)
		if err != nil || claim.Status.Phase != corev1.ClaimBound {
			return false
		}
	}
	return true
}

func (b *binder) choose(pod *corev1.Pod) (string, error) {
	all, err := b.nodes.List(labels.SelectorFromSet(pod.Spec.NodeSelector))
	if err != nil {
		return "", err
	}
	placed, err := b.pods.List(labels.Everything())
	if err != nil {
		return "", err
	}
	load := map[string]int{}
	for _, p := range placed {
		load[p.Spec.NodeName]++
	}
	all = slices.DeleteFunc(all, func(n *corev1.Node) bool { return !admits(n, pod) })
	if len(all) == 0 {
		return "", nil
	}
	return slices.MinFunc(all, func(x, y *corev1.Node) int {
		return cmp.Or(cmp.Compare(load[x.Name], load[y.Name]), cmp.Compare(x.Name, y.Name))
	}).Name, nil
}

// admits reports whether a pod may be placed on a node. Pods of DaemonSets are
// made for one node each, named by a field selector, and go there even if the
// node is cordoned.
func admits(n *corev1.Node, pod *corev1.Pod) bool {
	wanted, fixed := fixedPlace(pod)
	if fixed {
		return wanted == n.Name
	}
	down, _ := steer.ParseNode(n.Annotations)
	return !down && !n.Spec.Unschedulable
}

func fixedPlace(pod *corev1.Pod) (string, bool) {
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return "", false
	}
	for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, f := range term.MatchFields {
			if f.Key == metav1.ObjectNameField && len(f.Values) == 1 {
				return f.Values[0], true
			}
		}
	}
	return "", false
}
