package apply

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
)

// ConflictError says that an object is somebody else's.
type ConflictError struct {
	Key     object.Key
	Holder  string // whose: a controller, or a field manager
	Consent string // what to do so that it is taken over; empty where nothing helps
}

func (e *ConflictError) Error() string {
	text := fmt.Sprintf("%s belongs to %s; rename one of the two, or delete the other", e.Key.Short(), e.Holder)
	if e.Consent != "" {
		text += ", or, to have it taken over, " + e.Consent
	}
	return text
}

// ConditionReason is the reason that a condition shows for this error.
func (e *ConflictError) ConditionReason() condition.Reason { return condition.Conflict }

// DeniedError says that the server forbids the request: a right is missing, or a
// policy refuses it.
type DeniedError struct {
	Verb     string // get, patch, delete
	Resource string // statefulsets.apps
	Scope    string // namespace "shop", or the cluster
	Cause    error  // what the server said
}

func (e *DeniedError) Error() string {
	return fmt.Sprintf("may not %s %s in %s: %v", e.Verb, e.Resource, e.Scope, e.Cause)
}

func (e *DeniedError) Unwrap() error { return e.Cause }

// ConditionReason is the reason that a condition shows for this error.
func (e *DeniedError) ConditionReason() condition.Reason { return condition.PermissionDenied }

// refusal gives a refused request its kind: a wait, a missing right, or itself.
// It reads the status of the answer, never its text.
func refusal(err error, verb string, key object.Key) error {
	var known interface{ ConditionReason() condition.Reason }
	switch {
	case errors.As(err, &known):
		return err
	case meta.IsNoMatchError(err):
		return &condition.WaitError{
			Message: fmt.Sprintf("the cluster does not serve %s (%s); install its CustomResourceDefinition", key.GVK.Kind, key.GVK.GroupVersion()),
			After:   noMatchRetry,
		}
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return &condition.WaitError{Message: fmt.Sprintf("namespace %q is being deleted", key.Namespace)}
	case delay(err) > 0:
		return &condition.WaitError{Message: fmt.Sprintf("the API server is busy and asks to wait before %s %s", gerunds[verb], key.Short()), After: delay(err)}
	case apierrors.IsForbidden(err):
		return &DeniedError{Verb: verb, Resource: resourceOf(err, key), Scope: scope(key), Cause: err}
	default:
		return fmt.Errorf("%s %s: %w", gerunds[verb], key.Short(), err)
	}
}

// delay is how long the server asks to wait before the next attempt (Retry-After).
func delay(err error) time.Duration {
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return time.Duration(seconds) * time.Second
}

var gerunds = map[string]string{"get": "reading", "patch": "applying", "delete": "deleting", "list": "listing"}

func scope(key object.Key) string {
	if key.Namespace == "" {
		return "the cluster"
	}
	return fmt.Sprintf("namespace %q", key.Namespace)
}

// resourceOf names the resource as the server does, or by its kind.
func resourceOf(err error, key object.Key) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		if d := status.Status().Details; d != nil && d.Kind != "" {
			return strings.TrimSuffix(d.Kind+"."+d.Group, ".")
		}
	}
	return key.GVK.GroupKind().String()
}

// isUnreadable reports whether the server could not make sense of what was applied: a
// field that its schema does not know, a value of another type, a key twice. It has
// no reason for that among its reasons. A store in trouble can answer alike, so it
// takes two such answers to be sure.
func isUnreadable(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	s := status.Status()
	return s.Code == http.StatusInternalServerError && s.Reason == metav1.StatusReasonUnknown && s.Details == nil
}

// unreadableError says so. The server names the path in its text.
func unreadableError(err error, key object.Key) error {
	return &condition.InvalidError{
		Field: key.Short(), Problem: fmt.Sprintf("the API server cannot read it: %v", err),
		Fix: "correct what is named, or install the version of the kind that knows it", After: unreadableRetry,
	}
}

// unnamed is the error for an object without a name; nil where it has one.
func unnamed(obj object.Object, key object.Key) error {
	switch {
	case obj.GetName() != "":
		return nil
	case obj.GetGenerateName() != "":
		return &condition.InvalidError{
			Field: fmt.Sprintf("%s %s…", key.GVK.Kind, obj.GetGenerateName()), Problem: "it has generateName and no name, so that every pass would make another one",
			Fix: "give it a name made of what it is for",
		}
	default:
		return &condition.InvalidError{Field: key.GVK.Kind, Problem: "it has no name", Fix: "give it one"}
	}
}

// isGone reports whether a request did not find the object that it was for: absent,
// or there after all (409), or replaced by another (422 on metadata.uid).
func isGone(err error) bool {
	switch {
	case apierrors.IsConflict(err):
		return true
	case apierrors.IsInvalid(err):
		var status apierrors.APIStatus
		if !errors.As(err, &status) || status.Status().Details == nil {
			return false
		}
		for _, c := range status.Status().Details.Causes {
			if c.Field == "metadata.uid" {
				return true
			}
		}
	}
	return false
}
