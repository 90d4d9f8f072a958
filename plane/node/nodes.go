package node

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"github.com/armature-go/armature/plane/steer"
)

const zones = 3

// nodes keeps the statuses of all Node objects, also of those that somebody
// else created.
type nodes struct {
	client   kubernetes.Interface
	lister   corelisters.NodeLister
	queue    workqueue.TypedRateLimitingInterface[string]
	recorder record.EventRecorder
	changed  func(name string) // after a node went down or came back
	kubelet  int32             // the port that answers for every node
	version  string
	now      func() time.Time
}

// register creates the nodes that are missing of the first count.
func (n *nodes) register(ctx context.Context, count int) error {
	for i := range count {
		name := fmt.Sprintf("node-%d", i)
		_, err := n.client.CoreV1().Nodes().Create(ctx, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
				corev1.LabelHostname:           name,
				corev1.LabelOSStable:           "linux",
				corev1.LabelArchStable:         runtime.GOARCH,
				corev1.LabelTopologyRegion:     "plane",
				corev1.LabelTopologyZone:       fmt.Sprintf("plane-%c", 'a'+rune(i%zones)),
				"node-role.kubernetes.io/node": "",
			}},
		}, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("registering %s: %w", name, err)
		}
	}
	return nil
}

func (n *nodes) enqueue(obj any) {
	if node, ok := obj.(*corev1.Node); ok {
		n.queue.Add(node.Name)
	}
}

func (n *nodes) work(ctx context.Context) {
	for {
		name, stop := n.queue.Get()
		if stop {
			return
		}
		if err := n.sync(ctx, name); err != nil && ctx.Err() == nil {
			if !apierrors.IsConflict(err) {
				klog.FromContext(ctx).Error(err, "simulating a node", "node", name)
			}
			n.queue.AddRateLimited(name)
		} else {
			n.queue.Forget(name)
		}
		n.queue.Done(name)
	}
}

func (n *nodes) sync(ctx context.Context, name string) error {
	node, err := n.lister.Get(name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	down, problem := steer.ParseNode(node.Annotations)
	next := node.DeepCopy()
	conditions := healthy()
	if down {
		conditions = lost()
		next.Spec.Taints = shut(next.Spec.Taints)
	} else {
		next.Spec.Taints = open(next.Spec.Taints)
	}
	if !equality.Semantic.DeepEqual(node.Spec, next.Spec) {
		if next, err = n.client.CoreV1().Nodes().Update(ctx, next, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	before := next.Status.DeepCopy()
	n.fill(&next.Status, name)
	report(&next.Status, conditions, metav1.Time{Time: n.now()})
	if !equality.Semantic.DeepEqual(*before, next.Status) {
		if _, err = n.client.CoreV1().Nodes().UpdateStatus(ctx, next, metav1.UpdateOptions{}); err != nil {
			return err
		}
		if problem != nil {
			n.recorder.Event(node, corev1.EventTypeWarning, "BadAnnotation", problem.Error())
		}
	}
	n.changed(name)
	return nil
}

func isUnreachable(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnreachable }

// shut keeps pods from being placed on a node that is down.
func shut(ts []corev1.Taint) []corev1.Taint {
	if slices.ContainsFunc(ts, isUnreachable) {
		return ts
	}
	return append(ts, corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoSchedule})
}

// open takes back what shut did.
func open(ts []corev1.Taint) []corev1.Taint { return slices.DeleteFunc(ts, isUnreachable) }

// fill sets what does not depend on whether the node is up. Capacity that
// somebody chose is kept.
func (n *nodes) fill(s *corev1.NodeStatus, name string) {
	if len(s.Capacity) == 0 {
		s.Capacity = corev1.ResourceList{
			corev1.ResourceCPU:              resource.MustParse("64"),
			corev1.ResourceMemory:           resource.MustParse("512Gi"),
			corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"),
			corev1.ResourcePods:             resource.MustParse("1000"),
		}
	}
	if len(s.Allocatable) == 0 {
		s.Allocatable = s.Capacity.DeepCopy()
	}
	if len(s.Addresses) == 0 {
		s.Addresses = []corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: addressOf(name)},
			{Type: corev1.NodeExternalIP, Address: "127.0.0.1"}, // where its kubelet really listens
			{Type: corev1.NodeHostName, Address: name},
		}
	}
	s.DaemonEndpoints.KubeletEndpoint.Port = n.kubelet
	s.NodeInfo.KubeletVersion = n.version
	s.NodeInfo.OSImage = "simulated"
	s.NodeInfo.ContainerRuntimeVersion = "simulated://plane"
	s.NodeInfo.OperatingSystem = "linux"
	s.NodeInfo.Architecture = runtime.GOARCH
}

// healthy are the conditions of a node that is up.
func healthy() []corev1.NodeCondition {
	return []corev1.NodeCondition{
		{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "simulated"},
		{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientMemory"},
		{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasNoDiskPressure"},
		{Type: corev1.NodePIDPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientPID"},
		{Type: corev1.NodeNetworkUnavailable, Status: corev1.ConditionFalse, Reason: "RouteCreated"},
	}
}

// lost are the conditions of a node that is down: nobody knows.
func lost() []corev1.NodeCondition {
	out := healthy()
	for i := range out {
		if out[i].Type != corev1.NodeNetworkUnavailable {
			out[i].Status, out[i].Reason = corev1.ConditionUnknown, "NodeStatusUnknown"
			out[i].Message = "annotation " + steer.Down + " takes the node down"
		}
	}
	return out
}

// report writes conditions into a status when they change only: a node at rest
// is silent, and there is no controller that would count its heartbeats.
func report(s *corev1.NodeStatus, conditions []corev1.NodeCondition, now metav1.Time) {
	for _, c := range conditions {
		c.LastTransitionTime, c.LastHeartbeatTime = now, now
		i := slices.IndexFunc(s.Conditions, func(o corev1.NodeCondition) bool { return o.Type == c.Type })
		switch {
		case i < 0:
			s.Conditions = append(s.Conditions, c)
		case s.Conditions[i].Status != c.Status:
			s.Conditions[i] = c
		}
	}
}

// addressOf gives node-7 the address 10.100.0.8, and other names one that
// depends on the name.
func addressOf(name string) string {
	var i int
	if _, err := fmt.Sscanf(name, "node-%d", &i); err == nil && i >= 0 && i < 254 {
		return fmt.Sprintf("10.100.0.%d", i+1)
	}
	var sum uint16
	for _, c := range []byte(name) {
		sum = sum*31 + uint16(c)
	}
	return fmt.Sprintf("10.101.%d.%d", sum>>8, sum&0xff)
}

func internalIP(node *corev1.Node) string {
	for _, a := range node.Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			return a.Address
		}
	}
	return addressOf(node.Name)
}
