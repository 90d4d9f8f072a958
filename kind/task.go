package kind

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
)

func jobHealth(j *batchv1.Job, op object.Op) State {
	if done := jobCondition(j, batchv1.JobComplete); done != nil {
		return State{condition.Completed, "the task has ended with success"}
	}
	if failed := jobCondition(j, batchv1.JobFailed); failed != nil {
		return State{condition.TaskFailing, or(failed.Message, or(failed.Reason, "the task has failed"))}
	}
	switch {
	case j.Status.Active > 0:
		return State{condition.TaskRunning, plural(j.Status.Active, "pod") + " at work"}
	case suspended(j.Spec.Suspend):
		return State{condition.TaskPending, "the task is paused by its spec.suspend"}
	case j.Status.Failed > 0:
		return State{condition.TaskPending, plural(j.Status.Failed, "pod") + " failed, waiting for the next attempt"}
	case op == object.OpCreated:
		return State{condition.TaskPending, "the task has just been created"}
	default:
		return State{condition.TaskPending, "waiting for the first pod of the task"}
	}
}

// jobGrace judges a task: one at work may take as long as it takes and is at worst
// Degraded, so that a long migration is never reported as Down. Down is one that has
// failed, and one of which nothing has come at all.
func jobGrace(j *batchv1.Job) State {
	s := jobHealth(j, object.OpNone)
	switch {
	case s.Reason == condition.Completed:
		return State{condition.Healthy, s.Message}
	case s.Reason == condition.TaskFailing:
		return State{condition.Down, s.Message}
	case j.Status.Active > 0 || j.Status.Failed > 0 || j.Status.Succeeded > 0 || suspended(j.Spec.Suspend):
		return State{condition.Degraded, s.Message}
	default:
		return State{condition.Down, s.Message}
	}
}

func jobToRest(j *batchv1.Job) { j.Spec.Suspend = new(true) }

// jobEnded reports whether the task is over, one way or the other. It is then spared
// by suspension: it would be deleted, made anew on resumption, and run again.
func jobEnded(j *batchv1.Job) bool {
	return jobCondition(j, batchv1.JobComplete) != nil || jobCondition(j, batchv1.JobFailed) != nil
}

func jobRest(j *batchv1.Job) State {
	switch {
	case jobEnded(j):
		return State{condition.Suspended, "the task is over, and kept"}
	case !suspended(j.Spec.Suspend):
		return State{condition.Suspending, "waiting for spec.suspend to be set"}
	case j.Status.Active > 0:
		return State{condition.Suspending, "waiting for " + plural(j.Status.Active, "pod") + " of the task to end"}
	}
	return State{condition.Suspended, "the task is paused, and deleted while suspended"}
}

// cronJobHealth: a CronJob is at work by being there. Its next run may be a year
// away, so the last one is told and does not count.
func cronJobHealth(c *batchv1.CronJob, _ object.Op) State {
	message := "scheduled"
	switch last, good := c.Status.LastScheduleTime, c.Status.LastSuccessfulTime; {
	case suspended(c.Spec.Suspend):
		message = "paused by its spec.suspend"
	case len(c.Status.Active) > 0:
		message = plural(int32(len(c.Status.Active)), "run") + " at work"
	case last != nil && (good == nil || good.Before(last)):
		message = "scheduled; the last run has not ended with success"
	}
	return State{condition.Operational, message}
}

func cronJobGrace(c *batchv1.CronJob) State {
	return State{condition.Healthy, cronJobHealth(c, object.OpNone).Message}
}

func cronJobToRest(c *batchv1.CronJob) { c.Spec.Suspend = new(true) }

func cronJobRest(c *batchv1.CronJob) State {
	switch {
	case !suspended(c.Spec.Suspend):
		return State{condition.Suspending, "waiting for spec.suspend to be set"}
	case len(c.Status.Active) > 0:
		return State{condition.Suspending, "waiting for " + plural(int32(len(c.Status.Active)), "run") + " to end"}
	}
	return State{condition.Suspended, "the schedule is paused"}
}

// jobCondition returns the Job's condition of a type if it is True.
func jobCondition(j *batchv1.Job, typ batchv1.JobConditionType) *batchv1.JobCondition {
	for i, c := range j.Status.Conditions {
		if c.Type == typ && c.Status == corev1.ConditionTrue {
			return &j.Status.Conditions[i]
		}
	}
	return nil
}

func suspended(flag *bool) bool { return flag != nil && *flag }
