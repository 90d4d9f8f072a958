package tree

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/kind"
	"github.com/armature-go/armature/object"
)

// deleting is shown in the place of a reason for what is on its way out.
const deleting = "Deleting"

// state says how a live object is doing: what the table says of its kind, else what
// it says about itself.
func state(kinds *kind.Table, obj *unstructured.Unstructured) (status metav1.ConditionStatus, reason, message string) {
	if obj.GetDeletionTimestamp() != nil {
		if waits := obj.GetFinalizers(); len(waits) > 0 {
			message = "waiting for " + strings.Join(waits, ", ")
		}
		return metav1.ConditionFalse, deleting, message
	}
	row, known := kinds.Lookup(obj.GroupVersionKind())
	if !known {
		return said(obj)
	}
	if row.Health == nil {
		return "", "", ""
	}
	s := row.Health(obj, object.OpNone)
	switch {
	case s.Reason == "":
		return "", "", s.Message
	case s.Reason.Ready():
		return metav1.ConditionTrue, string(s.Reason), s.Message
	default:
		return metav1.ConditionFalse, string(s.Reason), s.Message
	}
}

// said is what an object says about itself in its condition Ready and its phase, as
// pods and most custom resources do.
func said(obj *unstructured.Unstructured) (status metav1.ConditionStatus, reason, message string) {
	phase, _, _ := unstructured.NestedString(obj.Object, "status", "phase")
	c, ok := condition.Find(conditions(obj), ready)
	if !ok {
		return "", phase, ""
	}
	if phase == "" {
		phase = c.Reason
	}
	return c.Status, phase, c.Message
}

// conditions reads conditions of any form: that of a pod lacks fields which others have.
func conditions(obj *unstructured.Unstructured) []metav1.Condition {
	list, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	var out []metav1.Condition
	for _, item := range list {
		fields, ok := item.(map[string]any)
		if !ok {
			continue
		}
		text := func(field string) string {
			s, _, _ := unstructured.NestedString(fields, field)
			return s
		}
		out = append(out, metav1.Condition{
			Type: text("type"), Status: metav1.ConditionStatus(text("status")), Reason: text("reason"), Message: text("message"),
		})
	}
	return out
}
