package kind

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
)

// pods are the numbers by which workloads are judged, all of the same generation.
type pods struct {
	controller string // who reports them
	noun       string // what people call them
	stale      bool   // they are not about the latest spec
	desired    int32
	ready      int32
	updated    int32 // pods of the latest template
	surplus    int32 // pods beyond the desired number that still exist
	rolledOut  bool  // as far as the update strategy wants it
	failure    string
}

// health is the rule of all workloads: stale numbers say nothing; then the wanted
// state; then a reported failure; then how far it is, in the word that goes with
// what was done. Numbers must be equal: too many pods are not ready either.
func (p pods) health(op object.Op) State {
	switch {
	case p.stale && op == object.OpCreated:
		return State{condition.Creating, p.unobserved()}
	case p.stale:
		return State{condition.Updating, p.unobserved()}
	case p.atTarget():
		return State{condition.Healthy, p.progress()}
	case p.failure != "":
		return State{condition.Failing, p.failure}
	case op == object.OpCreated:
		return State{condition.Creating, p.progress()}
	case op == object.OpUpdated, p.ready == p.desired && !p.rolledOut:
		return State{condition.Updating, p.progress()}
	default:
		return State{condition.Scaling, p.progress()}
	}
}

// grace is the verdict of all workloads.
func (p pods) grace() State {
	message := p.progress()
	if p.stale {
		message = p.unobserved()
	}
	switch {
	case !p.stale && p.atTarget():
		return State{condition.Healthy, message}
	case p.desired > 0 && p.ready == 0:
		return State{condition.Down, message}
	default:
		return State{condition.Degraded, message}
	}
}

func (p pods) atTarget() bool {
	return p.ready == p.desired && p.rolledOut && p.surplus <= 0
}

func (p pods) unobserved() string {
	return fmt.Sprintf("waiting for the %s controller to observe the latest spec", p.controller)
}

// progress says the number that is furthest behind what is wanted.
func (p pods) progress() string {
	ready := fmt.Sprintf("%d of %d %s ready", p.ready, p.desired, p.noun)
	switch {
	case p.ready != p.desired:
		return ready
	case !p.rolledOut && p.updated < p.desired:
		return fmt.Sprintf("%d of %d pods updated", p.updated, p.desired)
	case p.surplus > 0:
		return ready + ", waiting for " + plural(p.surplus, "surplus pod") + " to end"
	case !p.rolledOut:
		return ready + fmt.Sprintf(", waiting for the %s controller to finish the rollout", p.controller)
	}
	return ready
}

func deploymentPods(d *appsv1.Deployment) pods {
	desired := replicas(d.Spec.Replicas)
	p := pods{
		controller: "Deployment",
		noun:       "replicas",
		stale:      d.Status.ObservedGeneration < d.Generation,
		desired:    desired,
		ready:      d.Status.ReadyReplicas,
		updated:    d.Status.UpdatedReplicas,
		surplus:    d.Status.Replicas - desired,
		rolledOut:  d.Status.UpdatedReplicas == desired,
	}
	for _, c := range d.Status.Conditions {
		expired := c.Type == appsv1.DeploymentProgressing && c.Status == corev1.ConditionFalse && c.Reason == "ProgressDeadlineExceeded"
		refused := c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue
		if expired || refused {
			p.failure = or(c.Message, string(c.Type)+": "+c.Reason)
		}
	}
	return p
}

func deploymentHealth(d *appsv1.Deployment, op object.Op) State { return deploymentPods(d).health(op) }
func deploymentGrace(d *appsv1.Deployment) State                { return deploymentPods(d).grace() }
func deploymentToZero(d *appsv1.Deployment)                     { d.Spec.Replicas = new(int32) }
func deploymentRest(d *appsv1.Deployment) State {
	return scaledDown(deploymentPods(d), d.Status.Replicas)
}

func statefulSetPods(s *appsv1.StatefulSet) pods {
	desired := replicas(s.Spec.Replicas)
	return pods{
		controller: "StatefulSet",
		noun:       "replicas",
		stale:      s.Status.ObservedGeneration < s.Generation,
		desired:    desired,
		ready:      s.Status.ReadyReplicas,
		updated:    s.Status.UpdatedReplicas,
		surplus:    s.Status.Replicas - desired,
		rolledOut:  statefulSetRolledOut(s, desired),
	}
}

// statefulSetRolledOut reports whether every pod that is to be of the latest
// revision is. Below the partition pods stay as they are; with OnDelete all do.
func statefulSetRolledOut(s *appsv1.StatefulSet, desired int32) bool {
	strategy := s.Spec.UpdateStrategy
	if strategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return true
	}
	if r := strategy.RollingUpdate; r != nil && r.Partition != nil && *r.Partition > 0 {
		return s.Status.UpdatedReplicas >= desired-*r.Partition
	}
	return s.Status.UpdatedReplicas == desired && s.Status.CurrentRevision == s.Status.UpdateRevision
}

func statefulSetHealth(s *appsv1.StatefulSet, op object.Op) State {
	return statefulSetPods(s).health(op)
}
func statefulSetGrace(s *appsv1.StatefulSet) State { return statefulSetPods(s).grace() }
func statefulSetToZero(s *appsv1.StatefulSet)      { s.Spec.Replicas = new(int32) }
func statefulSetRest(s *appsv1.StatefulSet) State {
	return scaledDown(statefulSetPods(s), s.Status.Replicas)
}

// daemonSetPods: a DaemonSet wants as many pods as there are nodes for it. Pods on
// nodes where they should not be are left out, as they do no harm to the others.
// During a surge there are more updated pods than nodes.
func daemonSetPods(d *appsv1.DaemonSet) pods {
	desired := d.Status.DesiredNumberScheduled
	return pods{
		controller: "DaemonSet",
		noun:       "pods",
		stale:      d.Status.ObservedGeneration < d.Generation,
		desired:    desired,
		ready:      d.Status.NumberReady,
		updated:    d.Status.UpdatedNumberScheduled,
		rolledOut: d.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType ||
			d.Status.UpdatedNumberScheduled >= desired,
	}
}

func daemonSetHealth(d *appsv1.DaemonSet, op object.Op) State { return daemonSetPods(d).health(op) }
func daemonSetGrace(d *appsv1.DaemonSet) State                { return daemonSetPods(d).grace() }

// scaledDown says how far a workload is on its way to no pods at all.
func scaledDown(p pods, left int32) State {
	switch {
	case p.desired > 0:
		return State{condition.Suspending, fmt.Sprintf("waiting to be scaled from %d replicas to 0", p.desired)}
	case p.stale:
		return State{condition.Suspending, p.unobserved()}
	case left > 0:
		return State{condition.Suspending, "waiting for " + plural(left, "pod") + " to end"}
	}
	return State{condition.Suspended, "scaled to 0 replicas"}
}

// replicas reads a replica count that is 1 unless somebody says otherwise.
func replicas(n *int32) int32 {
	if n == nil {
		return 1
	}
	return *n
}

// or returns the first text that is not empty.
func or(text, instead string) string {
	if text == "" {
		return instead
	}
	return text
}

func plural(n int32, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
