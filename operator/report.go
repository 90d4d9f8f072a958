package operator

import (
	"context"
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/armature-go/armature/component"
	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
)

// action is how a change is told: the reason and the action of an event, and the
// verb of its note.
type action struct{ reason, action, verb string }

var actions = map[object.Op]action{
	object.OpCreated:  {"Created", "Create", "created"},
	object.OpUpdated:  {"Updated", "Update", "updated"},
	object.OpDeleted:  {"Deleted", "Delete", "deleted"},
	object.OpReleased: {"Released", "Release", "released"},
}

// report tells people and machines what the pass did: a log line and an event for
// each change, an event where a condition turned, metrics.
func (r *reconciler) report(ctx context.Context, read component.Owner, res component.Result, mem *memory) {
	changes := res.Changes
	for _, rep := range res.Reports {
		changes = append(changes, rep.Changes...)
		if crash, ok := errors.AsType[*component.PanicError](rep.Err); ok {
			ctrl.LoggerFrom(ctx).Error(crash, "a component panicked", "component", rep.Name, "stack", string(crash.Stack))
		}
		r.turned(read, rep.Condition)
		r.noted(read, rep, mem)
		r.metrics.took(rep.Name, rep.Took)
		r.metrics.condition(read, rep.Condition)
	}
	for _, c := range changes {
		a := actions[c.Op]
		ctrl.LoggerFrom(ctx).Info("changed", "object", c.Key.String(), "action", a.verb, "cause", c.Cause)
		r.recorder.Eventf(read, c.Object, corev1.EventTypeNormal, a.reason, a.action, "%s %s%s", a.verb, c.Key.Short(), because(c.Cause))
		r.metrics.changed(c)
	}
	r.turned(read, res.Ready)
	r.metrics.condition(read, res.Ready)
}

// noted emits an event for what could not be honoured when it is told first. While it
// holds it is part of the condition's message, which outlives the process.
func (r *reconciler) noted(read component.Owner, rep component.Report, mem *memory) {
	old, _ := condition.Find(*read.Conditions(), rep.Condition.Type)
	told := mem.notes[rep.Name]
	mem.notes[rep.Name] = nil
	for _, n := range rep.Notes {
		if !slices.Contains(told, n) && !strings.Contains(old.Message, n.String()) {
			r.recorder.Eventf(read, nil, corev1.EventTypeWarning, n.Reason, "Apply", "%s", n)
		}
		mem.notes[rep.Name] = append(mem.notes[rep.Name], n)
	}
}

func because(cause string) string {
	if cause == "" {
		return ""
	}
	return ": " + cause
}

// loud are the categories of reasons that are a Warning when a condition turns to
// them.
var loud = map[condition.Category]bool{
	condition.CategoryFailure: true,
	condition.CategoryGrace:   true,
	condition.CategoryFailing: true,
}

// turned emits an event where a condition became True, or bad.
func (r *reconciler) turned(read component.Owner, c metav1.Condition) {
	old, _ := condition.Find(*read.Conditions(), c.Type)
	if old.Status == c.Status && old.Reason == c.Reason {
		return
	}
	row, _ := condition.Lookup(condition.Reason(c.Reason))
	switch {
	case loud[row.Category]:
		r.recorder.Eventf(read, nil, corev1.EventTypeWarning, c.Reason, c.Type, "%s: %s", c.Type, c.Message)
	case c.Status == metav1.ConditionTrue && old.Status != c.Status:
		r.recorder.Eventf(read, nil, corev1.EventTypeNormal, c.Reason, c.Type, "%s: %s", c.Type, c.Message)
	}
}
