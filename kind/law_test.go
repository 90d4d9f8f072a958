package kind_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/kind"
	"github.com/armature-go/armature/object"
)

// observed makes random live objects of every kind that has rules.
var observed = map[string]func(*rand.Rand) object.Object{
	"Deployment": func(rng *rand.Rand) object.Object {
		d := deployment(rng.Int32N(4), rng.Int32N(4), rng.Int32N(4), rng.Int32N(4))
		d.Status.ObservedGeneration = 1 + rng.Int64N(3)
		if rng.IntN(3) == 0 {
			reports(one(rng, appsv1.DeploymentProgressing, appsv1.DeploymentReplicaFailure), one[corev1.ConditionStatus](rng, "True", "False"), one(rng, "ProgressDeadlineExceeded", "Odd"), "m")(d)
		}
		return d
	},
	"StatefulSet": func(rng *rand.Rand) object.Object {
		s := statefulSet(rng.Int32N(4), rng.Int32N(4), rng.Int32N(4), rng.Int32N(4))
		s.Status.ObservedGeneration = 1 + rng.Int64N(3)
		s.Status.UpdateRevision = one(rng, "a", "b")
		s.Spec.UpdateStrategy.Type = one(rng, "", appsv1.RollingUpdateStatefulSetStrategyType, appsv1.OnDeleteStatefulSetStrategyType)
		if rng.IntN(2) == 0 {
			s.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: new(rng.Int32N(5))}
		}
		return s
	},
	"DaemonSet": func(rng *rand.Rand) object.Object {
		d := daemonSet(rng.Int32N(4), rng.Int32N(5), rng.Int32N(4))
		d.Status.ObservedGeneration = 1 + rng.Int64N(3)
		d.Spec.UpdateStrategy.Type = one(rng, "", appsv1.OnDeleteDaemonSetStrategyType)
		return d
	},
	"Job": func(rng *rand.Rand) object.Object {
		j := job(rng.Int32N(2), rng.Int32N(2), rng.Int32N(2))
		j.Spec.Suspend = new(rng.IntN(2) == 0)
		if rng.IntN(2) == 0 {
			ended(one(rng, batchv1.JobComplete, batchv1.JobFailed, batchv1.JobSuspended), one[corev1.ConditionStatus](rng, "True", "False"), "R", "")(j)
		}
		return j
	},
	"CronJob": func(rng *rand.Rand) object.Object {
		return &batchv1.CronJob{Spec: batchv1.CronJobSpec{Suspend: new(rng.IntN(2) == 0)}, Status: batchv1.CronJobStatus{Active: make([]corev1.ObjectReference, rng.IntN(2))}}
	},
	"Service": func(rng *rand.Rand) object.Object {
		return service(one(rng, "", corev1.ServiceTypeLoadBalancer), make([]corev1.LoadBalancerIngress, rng.IntN(2))...)
	},
	"Ingress": func(rng *rand.Rand) object.Object {
		return ingress(networkingv1.IngressLoadBalancerIngress{IP: one(rng, "", "192.0.2.1")})
	},
	"HorizontalPodAutoscaler": func(rng *rand.Rand) object.Object {
		return autoscaler(one[corev1.ConditionStatus](rng, "", "True", "False", "Unknown"), one[corev1.ConditionStatus](rng, "", "True", "False", "Unknown"), one(rng, "", "m"))
	},
	"PersistentVolumeClaim": func(rng *rand.Rand) object.Object {
		return claim(one(rng, "", corev1.ClaimPending, corev1.ClaimBound, corev1.ClaimLost, "Odd"), one(rng, "", "pv"))
	},
	"ReplicaSet": func(rng *rand.Rand) object.Object {
		r := replicaSet(rng.Int32N(4), rng.Int32N(4), rng.Int32N(4))
		r.Status.ObservedGeneration = 1 + rng.Int64N(3)
		if rng.IntN(3) == 0 {
			refuse(one[corev1.ConditionStatus](rng, "True", "False"), one(rng, "", "m"))(r)
		}
		return r
	},
	"ReplicationController": func(rng *rand.Rand) object.Object {
		return &corev1.ReplicationController{
			Spec:   corev1.ReplicationControllerSpec{Replicas: new(rng.Int32N(3))},
			Status: corev1.ReplicationControllerStatus{Replicas: rng.Int32N(3), ReadyReplicas: rng.Int32N(3), Conditions: []corev1.ReplicationControllerCondition{{Type: corev1.ReplicationControllerReplicaFailure, Status: one[corev1.ConditionStatus](rng, "True", "False")}}},
		}
	},
	"Pod": func(rng *rand.Rand) object.Object {
		p := pod(one(rng, corev1.PodPending, corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed, ""), one(rng, up, coming, waits(one(rng, "ContainerCreating", "CrashLoopBackOff"), one(rng, "", "m")), exited(rng.Int32N(2))))
		p.Generation, p.Status.ObservedGeneration = rng.Int64N(3), rng.Int64N(3)
		if rng.IntN(3) == 0 {
			p.Spec.Containers = make([]corev1.Container, rng.IntN(3))
		}
		return p
	},
	"PersistentVolume": func(rng *rand.Rand) object.Object {
		return volume(one(rng, "", corev1.VolumePending, corev1.VolumeAvailable, corev1.VolumeBound, corev1.VolumeReleased, corev1.VolumeFailed, "Odd"), one(rng, "", "m"))
	},
	"Namespace": func(rng *rand.Rand) object.Object {
		return &corev1.Namespace{Status: corev1.NamespaceStatus{Phase: one(rng, corev1.NamespaceActive, corev1.NamespaceTerminating)}}
	},
}

// example makes a random live object of a kind.
func example(rng *rand.Rand, k kind.Kind) object.Object {
	if typed := observed[k.GVK.Kind]; typed != nil {
		return typed(rng)
	}
	return foreign(rng, k.GVK)
}

func one[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

// says lists the words that the rules of a category may use.
var says = map[kind.Category][]condition.Reason{
	kind.Workload:    {condition.Healthy, condition.Creating, condition.Updating, condition.Scaling, condition.Failing},
	kind.Task:        {condition.Completed, condition.TaskPending, condition.TaskRunning, condition.TaskFailing},
	kind.Integration: {condition.Operational, condition.OperationPending, condition.OperationFailing},
	kind.Static:      {"", condition.Blocked},
}

// TestRuleLaws checks on random objects what must hold for every kind: rules use the
// words of their category, explain themselves, change nothing, say the same of the
// unstructured object, and never call Healthy at the end of the grace period what
// they do not call ready.
func TestRuleLaws(t *testing.T) {
	for _, k := range kind.Builtin().Kinds() {
		if k.Health == nil {
			continue
		}
		t.Run(k.GVK.Kind, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(11, 12))
			for run := range 1_500 {
				obj := example(rng, k)
				op := one(rng, object.OpNone, object.OpCreated, object.OpUpdated)
				before := obj.DeepCopyObject()
				checkRules(t, k, obj, op)
				if diff := cmp.Diff(before, obj); diff != "" {
					t.Errorf("the object changed\n%s", diff)
				}
				if t.Failed() {
					t.Fatalf("run %d, %s", run, op)
				}
			}
		})
	}
}

func checkRules(t *testing.T, k kind.Kind, obj object.Object, op object.Op) {
	t.Helper()
	u := untyped(t, obj)
	health := k.Health(obj, op)
	if !slices.Contains(says[k.Category], health.Reason) || (health.Reason == "") != (health.Message == "") {
		t.Errorf("health says %v", health)
	}
	if again := k.Health(u, op); again != health {
		t.Errorf("health says %v, and unstructured %v", health, again)
	}
	if k.Grace != nil {
		grace := k.Grace(obj)
		if !slices.Contains([]condition.Reason{condition.Healthy, condition.Degraded, condition.Down}, grace.Reason) || grace.Message == "" {
			t.Errorf("grace says %v", grace)
		}
		if again := k.Grace(u); again != grace {
			t.Errorf("grace says %v, and unstructured %v", grace, again)
		}
		if (grace.Reason == condition.Healthy) != health.Reason.Ready() {
			t.Errorf("health says %v, and grace %v", health, grace)
		}
	}
	if k.Suspend.How == "" {
		return
	}
	status := k.Suspend.Status(obj)
	if !slices.Contains([]condition.Reason{condition.Suspending, condition.Suspended}, status.Reason) || status.Message == "" {
		t.Errorf("suspension says %v", status)
	}
	if again := k.Suspend.Status(u); again != status {
		t.Errorf("suspension says %v, and unstructured %v", status, again)
	}
	checkMutate(t, k, obj)
}

// checkMutate demands that an object is brought to rest once and for all, and to the
// same rest with and without its type.
func checkMutate(t *testing.T, k kind.Kind, obj object.Object) {
	t.Helper()
	if k.Suspend.Mutate == nil {
		return
	}
	typed, u := obj.DeepCopyObject().(object.Object), untyped(t, obj)
	var trees []string
	for _, desired := range []object.Object{typed, typed, u, u} {
		if err := k.Suspend.Mutate(desired); err != nil {
			t.Fatal(err)
		}
		content := untyped(t, desired).Object
		annotations, _, _ := unstructured.NestedMap(content, "metadata", "annotations")
		trees = append(trees, fmt.Sprint(content["spec"], annotations))
	}
	if len(slices.Compact(trees)) != 1 {
		t.Errorf("%v", trees)
	}
}

// A pass that wrote nothing must not be told that something is being created.
func TestWordsFollowTheOperation(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for range 1_500 {
		d := observed["Deployment"](rng)
		row := rules(t, d)
		created, updated, none := row.Health(d, object.OpCreated), row.Health(d, object.OpUpdated), row.Health(d, object.OpNone)
		if none.Reason == condition.Creating || updated.Reason == condition.Creating || created.Reason == condition.Updating || created.Reason == condition.Scaling || updated.Reason == condition.Scaling {
			t.Fatalf("created %v, updated %v, none %v", created, updated, none)
		}
		for _, other := range []object.Op{object.OpReleased, object.OpDeleted, ""} {
			if got := row.Health(d, other); got != none {
				t.Fatalf("%q says %v, none %v", other, got, none)
			}
		}
	}
}
