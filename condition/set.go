package condition

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxMessage is the longest message that the API server accepts in a condition.
const maxMessage = 32768

// Set stores c in conditions, in place of the one of its type, and reports whether
// that changed anything. The list stays sorted by type; the order alone is not a
// change. A nil list stores nothing.
//
// The transition time is kept while the status stays the same and becomes now when
// it changes. A caller that wants the time to start anew without a change of status
// says so by setting c.LastTransitionTime, which is then taken. Times are compared
// by the second, because that is what the API server keeps of them. A message that
// the API server would refuse for its length is cut.
func Set(conditions *[]metav1.Condition, c metav1.Condition, now metav1.Time) bool {
	if conditions == nil {
		return false
	}
	c.Message = cut(c.Message)
	list := *conditions
	i := slices.IndexFunc(list, func(have metav1.Condition) bool { return have.Type == c.Type })
	changed := true
	if i < 0 {
		if c.LastTransitionTime.IsZero() {
			c.LastTransitionTime = now
		}
		list = append(list, c)
	} else {
		c.LastTransitionTime = transition(list[i], c, now)
		changed = list[i] != c
		list[i] = c
	}
	slices.SortStableFunc(list, func(a, b metav1.Condition) int { return cmp.Compare(a.Type, b.Type) })
	*conditions = list
	return changed
}

// Find returns the condition of a type, and whether there is one.
func Find(conditions []metav1.Condition, typ string) (metav1.Condition, bool) {
	for _, c := range conditions {
		if c.Type == typ {
			return c, true
		}
	}
	return metav1.Condition{}, false
}

// transition returns the time since which next, which follows have, is what it is.
func transition(have, next metav1.Condition, now metav1.Time) metav1.Time {
	at := have.LastTransitionTime
	if next.Status != have.Status || at.IsZero() {
		at = now
	}
	if !next.LastTransitionTime.IsZero() {
		at = next.LastTransitionTime
	}
	if at.Unix() == have.LastTransitionTime.Unix() {
		return have.LastTransitionTime
	}
	return at
}

// cut shortens a message to what the API server accepts.
func cut(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	const more = "…"
	return strings.ToValidUTF8(message[:maxMessage-len(more)], "") + more
}
