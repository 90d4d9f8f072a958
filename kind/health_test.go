package kind_test

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/armature-go/armature/kind"
	"github.com/armature-go/armature/object"
)

// scheme knows the kinds of the table.
var scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		appsv1.AddToScheme, autoscalingv2.AddToScheme, batchv1.AddToScheme, corev1.AddToScheme, networkingv1.AddToScheme,
	} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	return s
}()

// rules returns the built-in row of obj's kind.
func rules(t *testing.T, obj object.Object) kind.Kind {
	t.Helper()
	gvk, err := object.GVK(scheme, obj)
	if err != nil {
		t.Fatal(err)
	}
	row, ok := kind.Builtin().Lookup(gvk)
	if !ok {
		t.Fatalf("no row for %s", gvk)
	}
	return row
}

// untyped returns obj as the API server would send it to somebody without its type.
func untyped(t *testing.T, obj object.Object) *unstructured.Unstructured {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		t.Fatal(err)
	}
	return (&unstructured.Unstructured{Object: content}).DeepCopy()
}

func say(s kind.State) string {
	if s == (kind.State{}) {
		return ""
	}
	return string(s.Reason) + ": " + s.Message
}

// live is one observation: what an object looks like, what this pass did to it, and
// what its rules are to say.
type live struct {
	name   string
	obj    object.Object
	op     object.Op
	health string
	grace  string // reason alone
}

func checkHealth(t *testing.T, cases []live) {
	t.Helper()
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			row := rules(t, tc.obj)
			for _, obj := range []object.Object{tc.obj, untyped(t, tc.obj)} {
				if got := say(row.Health(obj, tc.op)); got != tc.health {
					t.Errorf("health of %T: got %s, want %s", obj, got, tc.health)
				}
				if row.Grace == nil {
					continue
				}
				if got := string(row.Grace(obj).Reason); got != tc.grace {
					t.Errorf("grace of %T: got %s, want %s", obj, got, tc.grace)
				}
			}
		})
	}
}

// deployment writes a Deployment by its numbers.
func deployment(desired, replicas, updated, ready int32, change ...func(*appsv1.Deployment)) *appsv1.Deployment {
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Generation: 2},
		Spec:       appsv1.DeploymentSpec{Replicas: &desired},
		Status:     appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: replicas, UpdatedReplicas: updated, ReadyReplicas: ready},
	}
	for _, c := range change {
		c(d)
	}
	return d
}

func reports(typ appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason, message string) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) {
		d.Status.Conditions = append(d.Status.Conditions, appsv1.DeploymentCondition{Type: typ, Status: status, Reason: reason, Message: message})
	}
}

func TestDeployment(t *testing.T) {
	unobserved := func(d *appsv1.Deployment) { d.Status.ObservedGeneration = 1 }
	byDefault := func(d *appsv1.Deployment) { d.Spec.Replicas = nil }
	stuck := reports(appsv1.DeploymentProgressing, corev1.ConditionFalse, "ProgressDeadlineExceeded", "has timed out progressing")
	refused := reports(appsv1.DeploymentReplicaFailure, corev1.ConditionTrue, "FailedCreate", "")
	checkHealth(t, []live{
		{"all there", deployment(3, 3, 3, 3), object.OpNone, "Healthy: 3 of 3 replicas ready", "Healthy"},
		{"one by default", deployment(9, 1, 1, 1, byDefault), object.OpNone, "Healthy: 1 of 1 replicas ready", "Healthy"},
		{"none wanted, none there", deployment(0, 0, 0, 0), object.OpNone, "Healthy: 0 of 0 replicas ready", "Healthy"},
		{"just created", deployment(3, 3, 3, 1), object.OpCreated, "Creating: 1 of 3 replicas ready", "Degraded"},
		{"just updated", deployment(3, 3, 3, 1), object.OpUpdated, "Updating: 1 of 3 replicas ready", "Degraded"},
		{"a pod was lost", deployment(3, 3, 3, 2), object.OpNone, "Scaling: 2 of 3 replicas ready", "Degraded"},
		{"all pods were lost", deployment(3, 3, 3, 0), object.OpNone, "Scaling: 0 of 3 replicas ready", "Down"},
		{"old pods still serve", deployment(3, 3, 1, 3), object.OpNone, "Updating: 1 of 3 pods updated", "Degraded"},
		{"an old pod lingers", deployment(3, 4, 3, 3), object.OpNone, "Scaling: 3 of 3 replicas ready, waiting for 1 surplus pod to end", "Degraded"},
		{"more ready than wanted", deployment(3, 5, 5, 5), object.OpNone, "Scaling: 5 of 3 replicas ready", "Degraded"},
		{"on the way to none", deployment(0, 2, 2, 0), object.OpUpdated, "Updating: 0 of 0 replicas ready, waiting for 2 surplus pods to end", "Degraded"},
		{"numbers of an older spec, created", deployment(3, 3, 3, 3, unobserved), object.OpCreated, "Creating: waiting for the Deployment controller to observe the latest spec", "Degraded"},
		{"numbers of an older spec", deployment(3, 3, 3, 3, unobserved), object.OpNone, "Updating: waiting for the Deployment controller to observe the latest spec", "Degraded"},
		{"numbers of an older spec, nothing up", deployment(3, 0, 0, 0, unobserved), object.OpNone, "Updating: waiting for the Deployment controller to observe the latest spec", "Down"},
		{"out of time", deployment(3, 3, 3, 2, stuck), object.OpNone, "Failing: has timed out progressing", "Degraded"},
		{"pods are refused, nothing said", deployment(3, 0, 0, 0, refused), object.OpCreated, "Failing: ReplicaFailure: FailedCreate", "Down"},
		{"a failure of yesterday, all there today", deployment(3, 3, 3, 3, stuck), object.OpNone, "Healthy: 3 of 3 replicas ready", "Healthy"},
		{"a failure of the older spec", deployment(3, 3, 3, 2, stuck, unobserved), object.OpUpdated, "Updating: waiting for the Deployment controller to observe the latest spec", "Degraded"},
		{"progressing is no failure", deployment(3, 3, 3, 2, reports(appsv1.DeploymentProgressing, corev1.ConditionFalse, "Paused", "")), object.OpNone, "Scaling: 2 of 3 replicas ready", "Degraded"},
	})
}

// statefulSet writes a StatefulSet by its numbers, its rollout complete.
func statefulSet(desired, replicas, updated, ready int32, change ...func(*appsv1.StatefulSet)) *appsv1.StatefulSet {
	s := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Generation: 2},
		Spec:       appsv1.StatefulSetSpec{Replicas: &desired},
		Status: appsv1.StatefulSetStatus{
			ObservedGeneration: 2, Replicas: replicas, UpdatedReplicas: updated, ReadyReplicas: ready,
			CurrentRevision: "a", UpdateRevision: "a",
		},
	}
	for _, c := range change {
		c(s)
	}
	return s
}

func TestStatefulSet(t *testing.T) {
	rolling := func(s *appsv1.StatefulSet) { s.Status.UpdateRevision = "b" }
	unobserved := func(s *appsv1.StatefulSet) { s.Status.ObservedGeneration = 1 }
	onDelete := func(s *appsv1.StatefulSet) { s.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType }
	partition := func(n int32) func(*appsv1.StatefulSet) {
		return func(s *appsv1.StatefulSet) {
			s.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: &n}
		}
	}
	checkHealth(t, []live{
		{"all there", statefulSet(3, 3, 3, 3), object.OpNone, "Healthy: 3 of 3 replicas ready", "Healthy"},
		{"none wanted", statefulSet(0, 0, 0, 0), object.OpNone, "Healthy: 0 of 0 replicas ready", "Healthy"},
		{"just created", statefulSet(3, 1, 1, 0), object.OpCreated, "Creating: 0 of 3 replicas ready", "Down"},
		{"a pod was lost", statefulSet(3, 3, 3, 2), object.OpNone, "Scaling: 2 of 3 replicas ready", "Degraded"},
		{"numbers of an older spec", statefulSet(3, 3, 3, 3, unobserved), object.OpNone, "Updating: waiting for the StatefulSet controller to observe the latest spec", "Degraded"},
		{"old pods still serve", statefulSet(3, 3, 1, 3, rolling), object.OpNone, "Updating: 1 of 3 pods updated", "Degraded"},
		{"old pods serve what was just created", statefulSet(3, 3, 1, 3, rolling), object.OpCreated, "Creating: 1 of 3 pods updated", "Degraded"},
		{"all updated, not yet closed", statefulSet(3, 3, 3, 3, rolling), object.OpNone, "Updating: 3 of 3 replicas ready, waiting for the StatefulSet controller to finish the rollout", "Degraded"},
		{"a surplus pod is ending", statefulSet(3, 4, 3, 3), object.OpNone, "Scaling: 3 of 3 replicas ready, waiting for 1 surplus pod to end", "Degraded"},
		{"beyond the partition all is new", statefulSet(5, 5, 2, 5, rolling, partition(3)), object.OpNone, "Healthy: 5 of 5 replicas ready", "Healthy"},
		{"beyond the partition one is old", statefulSet(5, 5, 1, 5, rolling, partition(3)), object.OpNone, "Updating: 1 of 5 pods updated", "Degraded"},
		{"a partition above all pods", statefulSet(3, 3, 0, 3, rolling, partition(9)), object.OpNone, "Healthy: 3 of 3 replicas ready", "Healthy"},
		{"a partition of 0 is none", statefulSet(3, 3, 1, 3, rolling, partition(0)), object.OpNone, "Updating: 1 of 3 pods updated", "Degraded"},
		{"a partition of 0, not yet closed", statefulSet(3, 3, 3, 3, rolling, partition(0)), object.OpNone, "Updating: 3 of 3 replicas ready, waiting for the StatefulSet controller to finish the rollout", "Degraded"},
		{"updates by hand are never due", statefulSet(3, 3, 0, 3, rolling, onDelete), object.OpNone, "Healthy: 3 of 3 replicas ready", "Healthy"},
	})
}

func daemonSet(desired, updated, ready int32, change ...func(*appsv1.DaemonSet)) *appsv1.DaemonSet {
	d := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Generation: 2},
		Status:     appsv1.DaemonSetStatus{ObservedGeneration: 2, DesiredNumberScheduled: desired, UpdatedNumberScheduled: updated, NumberReady: ready, NumberMisscheduled: 7},
	}
	for _, c := range change {
		c(d)
	}
	return d
}

func TestDaemonSet(t *testing.T) {
	unobserved := func(d *appsv1.DaemonSet) { d.Status.ObservedGeneration = 1 }
	onDelete := func(d *appsv1.DaemonSet) { d.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType }
	checkHealth(t, []live{
		{"on every node", daemonSet(3, 3, 3), object.OpNone, "Healthy: 3 of 3 pods ready", "Healthy"},
		{"no node is for it", daemonSet(0, 0, 0), object.OpCreated, "Healthy: 0 of 0 pods ready", "Healthy"},
		{"a surge has more new pods than nodes", daemonSet(3, 4, 3), object.OpNone, "Healthy: 3 of 3 pods ready", "Healthy"},
		{"more ready than nodes", daemonSet(3, 4, 4), object.OpNone, "Scaling: 4 of 3 pods ready", "Degraded"},
		{"just created", daemonSet(3, 3, 0), object.OpCreated, "Creating: 0 of 3 pods ready", "Down"},
		{"a node came", daemonSet(4, 4, 3), object.OpNone, "Scaling: 3 of 4 pods ready", "Degraded"},
		{"old pods still serve", daemonSet(3, 1, 3), object.OpNone, "Updating: 1 of 3 pods updated", "Degraded"},
		{"updates by hand are never due", daemonSet(3, 0, 3, onDelete), object.OpNone, "Healthy: 3 of 3 pods ready", "Healthy"},
		{"numbers of an older spec", daemonSet(0, 0, 0, unobserved), object.OpCreated, "Creating: waiting for the DaemonSet controller to observe the latest spec", "Degraded"},
	})
}

func job(active, failed, succeeded int32, change ...func(*batchv1.Job)) *batchv1.Job {
	j := &batchv1.Job{Status: batchv1.JobStatus{Active: active, Failed: failed, Succeeded: succeeded}}
	for _, c := range change {
		c(j)
	}
	return j
}

func ended(typ batchv1.JobConditionType, status corev1.ConditionStatus, reason, message string) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{Type: typ, Status: status, Reason: reason, Message: message})
	}
}

func pausedJob(j *batchv1.Job) { j.Spec.Suspend = new(true) }

func TestJob(t *testing.T) {
	checkHealth(t, []live{
		{"done", job(0, 0, 1, ended(batchv1.JobComplete, corev1.ConditionTrue, "", "")), object.OpNone, "Completed: the task has ended with success", "Healthy"},
		{"failed, and it says why", job(0, 4, 0, ended(batchv1.JobFailed, corev1.ConditionTrue, "BackoffLimitExceeded", "too many attempts")), object.OpNone, "TaskFailing: too many attempts", "Down"},
		{"failed, with a word", job(0, 4, 0, ended(batchv1.JobFailed, corev1.ConditionTrue, "DeadlineExceeded", "")), object.OpNone, "TaskFailing: DeadlineExceeded", "Down"},
		{"failed, without a word", job(0, 4, 0, ended(batchv1.JobFailed, corev1.ConditionTrue, "", "")), object.OpNone, "TaskFailing: the task has failed", "Down"},
		{"a long migration is not down", job(1, 0, 0), object.OpNone, "TaskRunning: 1 pod at work", "Degraded"},
		{"a new attempt is at work", job(2, 1, 0), object.OpNone, "TaskRunning: 2 pods at work", "Degraded"},
		{"between two attempts", job(0, 1, 0), object.OpNone, "TaskPending: 1 pod failed, waiting for the next attempt", "Degraded"},
		{"just created", job(0, 0, 0), object.OpCreated, "TaskPending: the task has just been created", "Down"},
		{"no pod has come", job(0, 0, 0), object.OpNone, "TaskPending: waiting for the first pod of the task", "Down"},
		{"paused by its author or a queue", job(0, 0, 0, pausedJob), object.OpNone, "TaskPending: the task is paused by its spec.suspend", "Degraded"},
		{"not yet complete", job(0, 0, 1, ended(batchv1.JobComplete, corev1.ConditionFalse, "", "")), object.OpNone, "TaskPending: waiting for the first pod of the task", "Degraded"},
	})
}

func TestCronJob(t *testing.T) {
	clock := func(hour int) *metav1.Time { return &metav1.Time{Time: time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC)} }
	one := []corev1.ObjectReference{{Name: "run"}}
	checkHealth(t, []live{
		{"never ran", &batchv1.CronJob{}, object.OpCreated, "Operational: scheduled", "Healthy"},
		{"at work", &batchv1.CronJob{Status: batchv1.CronJobStatus{Active: one, LastScheduleTime: clock(2)}}, object.OpNone, "Operational: 1 run at work", "Healthy"},
		{"ran well", &batchv1.CronJob{Status: batchv1.CronJobStatus{LastScheduleTime: clock(2), LastSuccessfulTime: clock(3)}}, object.OpNone, "Operational: scheduled", "Healthy"},
		{"ran badly", &batchv1.CronJob{Status: batchv1.CronJobStatus{LastScheduleTime: clock(2), LastSuccessfulTime: clock(1)}}, object.OpNone, "Operational: scheduled; the last run has not ended with success", "Healthy"},
		{"ran badly the first time", &batchv1.CronJob{Status: batchv1.CronJobStatus{LastScheduleTime: clock(2)}}, object.OpNone, "Operational: scheduled; the last run has not ended with success", "Healthy"},
		{"paused by its author", &batchv1.CronJob{Spec: batchv1.CronJobSpec{Suspend: new(true)}}, object.OpNone, "Operational: paused by its spec.suspend", "Healthy"},
	})
}

func service(typ corev1.ServiceType, at ...corev1.LoadBalancerIngress) *corev1.Service {
	return &corev1.Service{Spec: corev1.ServiceSpec{Type: typ}, Status: corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{Ingress: at}}}
}

func ingress(at ...networkingv1.IngressLoadBalancerIngress) *networkingv1.Ingress {
	return &networkingv1.Ingress{Status: networkingv1.IngressStatus{LoadBalancer: networkingv1.IngressLoadBalancerStatus{Ingress: at}}}
}

func autoscaler(able, active corev1.ConditionStatus, message string) *autoscalingv2.HorizontalPodAutoscaler {
	h := &autoscalingv2.HorizontalPodAutoscaler{}
	for typ, status := range map[autoscalingv2.HorizontalPodAutoscalerConditionType]corev1.ConditionStatus{autoscalingv2.AbleToScale: able, autoscalingv2.ScalingActive: active} {
		if status != "" {
			h.Status.Conditions = append(h.Status.Conditions, autoscalingv2.HorizontalPodAutoscalerCondition{Type: typ, Status: status, Message: message})
		}
	}
	return h
}

func claim(phase corev1.PersistentVolumeClaimPhase, volume string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{VolumeName: volume}, Status: corev1.PersistentVolumeClaimStatus{Phase: phase}}
}

func TestIntegrations(t *testing.T) {
	const yes, no, maybe = corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown
	checkHealth(t, []live{
		{"a Service needs nobody", service(""), object.OpCreated, "Operational: reachable inside the cluster", "Healthy"},
		{"nor does one with node ports", service(corev1.ServiceTypeNodePort), object.OpNone, "Operational: reachable inside the cluster", "Healthy"},
		{"a load balancer is waited for", service(corev1.ServiceTypeLoadBalancer), object.OpNone, "OperationPending: waiting for the load balancer to get an address", "Degraded"},
		{"an entry without an address is none", service(corev1.ServiceTypeLoadBalancer, corev1.LoadBalancerIngress{}), object.OpNone, "OperationPending: waiting for the load balancer to get an address", "Degraded"},
		{"a load balancer with an address", service(corev1.ServiceTypeLoadBalancer, corev1.LoadBalancerIngress{}, corev1.LoadBalancerIngress{IP: "192.0.2.1"}), object.OpNone, "Operational: reachable at 192.0.2.1", "Healthy"},
		{"a load balancer with a name", service(corev1.ServiceTypeLoadBalancer, corev1.LoadBalancerIngress{Hostname: "lb.example"}), object.OpNone, "Operational: reachable at lb.example", "Healthy"},

		{"an Ingress is waited for", ingress(), object.OpCreated, "OperationPending: waiting for an ingress controller to give it an address", "Degraded"},
		{"an Ingress with an address", ingress(networkingv1.IngressLoadBalancerIngress{Hostname: "in.example"}), object.OpNone, "Operational: reachable at in.example", "Healthy"},

		{"an autoscaler nobody has looked at", autoscaler("", "", ""), object.OpCreated, "OperationPending: waiting for the first metrics", "Degraded"},
		{"an autoscaler in doubt", autoscaler(yes, maybe, ""), object.OpNone, "OperationPending: waiting for the first metrics", "Degraded"},
		{"an autoscaler at work", autoscaler(yes, yes, ""), object.OpNone, "Operational: scaling its target by its metrics", "Healthy"},
		{"an autoscaler at work, half told", autoscaler("", yes, ""), object.OpNone, "Operational: scaling its target by its metrics", "Healthy"},
		{"an autoscaler without metrics", autoscaler(yes, no, "no metrics"), object.OpNone, "OperationFailing: no metrics", "Down"},
		{"an autoscaler without a target", autoscaler(no, yes, ""), object.OpNone, "OperationFailing: unable to scale its target", "Down"},
		{"an autoscaler without a word", autoscaler(yes, no, ""), object.OpNone, "OperationFailing: unable to compute how many replicas are needed", "Down"},

		{"a claim nobody has looked at", claim("", ""), object.OpCreated, "OperationPending: waiting for a volume", "Degraded"},
		{"a claim that waits", claim(corev1.ClaimPending, ""), object.OpNone, "OperationPending: waiting for a volume", "Degraded"},
		{"a claim that is bound", claim(corev1.ClaimBound, "pv-1"), object.OpNone, "Operational: bound to volume pv-1", "Healthy"},
		{"a claim that lost its volume", claim(corev1.ClaimLost, "pv-1"), object.OpNone, "OperationFailing: volume pv-1 is lost", "Down"},
		{"a claim that lost an unknown volume", claim(corev1.ClaimLost, ""), object.OpNone, "OperationFailing: volume of this claim is lost", "Down"},
	})
}

func TestNamespace(t *testing.T) {
	active := &corev1.Namespace{Status: corev1.NamespaceStatus{Phase: corev1.NamespaceActive}}
	marked := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{Time: time.Unix(1, 0)}}}
	ending := &corev1.Namespace{Status: corev1.NamespaceStatus{Phase: corev1.NamespaceTerminating}}
	checkHealth(t, []live{
		{"just created", &corev1.Namespace{}, object.OpCreated, "", ""},
		{"active", active, object.OpNone, "", ""},
		{"marked for deletion", marked, object.OpNone, "Blocked: waiting for the namespace to be gone; it is being deleted", ""},
		{"going away", ending, object.OpNone, "Blocked: waiting for the namespace to be gone; it is being deleted", ""},
	})
}

// rest is one observation of an object that is to be suspended.
type rest struct {
	name   string
	obj    object.Object
	want   string
	spared string // "spared" where suspension leaves it alone
}

func TestSuspension(t *testing.T) {
	unobserved := func(d *appsv1.Deployment) { d.Status.ObservedGeneration = 1 }
	done := ended(batchv1.JobComplete, corev1.ConditionTrue, "", "")
	failed := ended(batchv1.JobFailed, corev1.ConditionTrue, "", "")
	one := batchv1.CronJobStatus{Active: []corev1.ObjectReference{{Name: "run"}}}
	paused := batchv1.CronJobSpec{Suspend: new(true)}
	for _, tc := range []rest{
		{"not scaled yet", deployment(3, 3, 3, 3), "Suspending: waiting to be scaled from 3 replicas to 0", ""},
		{"scaled, nobody has noticed", deployment(0, 0, 0, 0, unobserved), "Suspending: waiting for the Deployment controller to observe the latest spec", ""},
		{"scaled, a pod is ending", deployment(0, 1, 1, 0), "Suspending: waiting for 1 pod to end", ""},
		{"scaled", deployment(0, 0, 0, 0), "Suspended: scaled to 0 replicas", ""},
		{"a StatefulSet, pods are ending", statefulSet(0, 2, 2, 1), "Suspending: waiting for 2 pods to end", ""},
		{"a StatefulSet, scaled", statefulSet(0, 0, 0, 0), "Suspended: scaled to 0 replicas", ""},
		{"a ReplicaSet, pods are ending", replicaSet(0, 2, 0), "Suspending: waiting for 2 pods to end", ""},
		{"a ReplicaSet, scaled", replicaSet(0, 0, 0), "Suspended: scaled to 0 replicas", ""},
		{"a Pod goes", pod(corev1.PodRunning, up), "Suspended: it is deleted while suspended, because a Pod cannot be scaled down", ""},
		{"a volume stays", volume(corev1.VolumeBound, ""), "Suspended: it is kept, with its data", ""},
		{"a DaemonSet is deleted", daemonSet(3, 3, 3), "Suspended: it is deleted while suspended, because a DaemonSet cannot be scaled down", ""},
		{"a Job, not told yet", job(1, 0, 0), "Suspending: waiting for spec.suspend to be set", ""},
		{"a Job, a pod is ending", job(1, 0, 0, pausedJob), "Suspending: waiting for 1 pod of the task to end", ""},
		{"a Job at rest", job(0, 0, 0, pausedJob), "Suspended: the task is paused, and deleted while suspended", ""},
		{"a Job that is done is not run again", job(0, 0, 1, done), "Suspended: the task is over, and kept", "spared"},
		{"nor is one that has failed", job(0, 1, 0, failed), "Suspended: the task is over, and kept", "spared"},
		{"a CronJob, not told yet", &batchv1.CronJob{}, "Suspending: waiting for spec.suspend to be set", ""},
		{"a CronJob, a run is ending", &batchv1.CronJob{Spec: paused, Status: one}, "Suspending: waiting for 1 run to end", ""},
		{"a CronJob at rest", &batchv1.CronJob{Spec: paused}, "Suspended: the schedule is paused", ""},
		{"a Service stays", service(""), "Suspended: it is kept", ""},
		{"an Ingress stays", ingress(), "Suspended: it is kept, and answers that its backend is unavailable", ""},
		{"an autoscaler goes", autoscaler("", "", ""), "Suspended: it is deleted while suspended, because it would scale its target up again", ""},
		{"a claim stays", claim(corev1.ClaimPending, ""), "Suspended: it is kept, with its data", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			row := rules(t, tc.obj)
			for _, obj := range []object.Object{tc.obj, untyped(t, tc.obj)} {
				if got := say(row.Suspend.Status(obj)); got != tc.want {
					t.Errorf("%T: got %s, want %s", obj, got, tc.want)
				}
				if got := row.Suspend.Spares != nil && row.Suspend.Spares(obj); got != (tc.spared != "") {
					t.Errorf("%T: spared is %v", obj, got)
				}
			}
		})
	}
}

// What brings an object to rest changes one field, in a typed object and in an
// unstructured one, however little there is of it.
func TestMutate(t *testing.T) {
	for _, tc := range []struct {
		obj  object.Object
		want string
	}{
		{deployment(3, 0, 0, 0), "map[replicas:0]"},
		{statefulSet(3, 0, 0, 0), "map[replicas:0]"},
		{replicaSet(3, 0, 0), "map[replicas:0]"},
		{&corev1.ReplicationController{}, "map[replicas:0]"},
		{job(0, 0, 0), "map[suspend:true]"},
		{&batchv1.CronJob{Spec: batchv1.CronJobSpec{Suspend: new(false)}}, "map[suspend:true]"},
	} {
		row := rules(t, tc.obj)
		changed := tc.obj.DeepCopyObject().(object.Object)
		for _, obj := range []object.Object{changed, changed, &unstructured.Unstructured{}, &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}} {
			if err := row.Suspend.Mutate(obj); err != nil {
				t.Fatalf("%T: %v", obj, err)
			}
			spec := untyped(t, obj).Object["spec"].(map[string]any)
			got := fmt.Sprint(map[string]any{"replicas": spec["replicas"]})
			if row.Suspend.How != kind.Scale {
				got = fmt.Sprint(map[string]any{"suspend": spec["suspend"]})
			}
			if got != tc.want {
				t.Errorf("%T: got %s, want %s", obj, got, tc.want)
			}
		}
		odd := &unstructured.Unstructured{Object: map[string]any{"spec": "nonsense"}}
		if row.Suspend.Mutate(odd) == nil {
			t.Errorf("%s: a spec that is no object was changed", row.GVK.Kind)
		}
	}
}
