package condition

import (
	"cmp"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Part is one of the things that a condition sums up: the name by which people call
// it, and the type of the condition that says how it is.
type Part struct {
	Name      string
	Condition string
}

// What is said about a part whose condition does not speak for the present.
const (
	unwrittenMessage = "Component has not been reconciled yet."
	staleMessage     = "The latest change has not been reconciled yet."
	noPartsMessage   = "No components were aggregated."
)

// Aggregate sums up the conditions of the parts as one condition of type typ, for
// the given generation of their owner. It writes nothing and leaves the transition
// time to [Set].
//
//   - Truth is unanimous: True only if every part is True for this generation. A
//     part whose condition is absent, older than generation or of status Unknown is
//     not ready. Nothing at all is not ready either.
//   - The reason is that of the part with the highest [Reason.Priority] among those
//     that are not True, or among all if all are; the first one of equals. A reason
//     that has no row weighs as much as Blocked: somebody else says that something
//     is missing, and how bad that is we cannot know.
//   - The message counts, and then says for every part that is not True what its
//     condition says: 1 of 3 ready; Server: 2 of 3 pods updated; Backups: waiting for
//     Secret "s3". Parts that are True without being up are counted apart: 1 of 2
//     ready, 1 suspended.
func Aggregate(typ string, generation int64, conditions []metav1.Condition, parts ...Part) metav1.Condition {
	out := metav1.Condition{
		Type: typ, Status: metav1.ConditionFalse, ObservedGeneration: generation,
		Reason: string(Unknown), Message: noPartsMessage,
	}
	if len(parts) == 0 {
		return out
	}
	var all, open []metav1.Condition // all parts, and those that are not True
	var said []string
	for _, p := range parts {
		c := current(conditions, p, generation)
		all = append(all, c)
		if c.Status != metav1.ConditionTrue {
			open = append(open, c)
			said = append(said, say(p, c))
		}
	}
	out.Message = strings.Join(append([]string{count(all)}, said...), "; ")
	if len(open) == 0 {
		out.Status = metav1.ConditionTrue
		out.Reason = gravest(all)
		return out
	}
	out.Reason = gravest(open)
	return out
}

// current returns what the part's condition says about this generation.
func current(conditions []metav1.Condition, p Part, generation int64) metav1.Condition {
	c, ok := Find(conditions, p.Condition)
	switch {
	case !ok:
		return metav1.Condition{Status: metav1.ConditionFalse, Reason: string(Unknown), Message: unwrittenMessage}
	case c.ObservedGeneration < generation && c.Status == metav1.ConditionTrue:
		return metav1.Condition{Status: metav1.ConditionFalse, Reason: string(Unknown), Message: staleMessage}
	}
	return c
}

// say returns the part's name and its message, ready to stand in a list.
func say(p Part, c metav1.Condition) string {
	message := strings.TrimSuffix(strings.TrimSpace(c.Message), ".")
	if message == "" {
		return p.Name
	}
	return p.Name + ": " + message
}

// resting are the categories whose reasons are True without anything being up, with
// the word for it.
var resting = []struct {
	category Category
	word     string
}{
	{CategorySuspension, "suspended"},
	{CategoryOff, "disabled"},
}

// count returns how many of the conditions are ready, such as 2 of 3 ready, 1 suspended.
func count(all []metav1.Condition) string {
	up, by := 0, map[Category]int{} // True conditions, all of them and by category
	for _, c := range all {
		if c.Status == metav1.ConditionTrue {
			row, _ := Lookup(Reason(c.Reason))
			by[row.Category]++
			up++
		}
	}
	texts := []string{""}
	for _, r := range resting {
		if n := by[r.category]; n > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", n, r.word))
			up -= n
		}
	}
	texts[0] = fmt.Sprintf("%d of %d ready", up, len(all))
	return strings.Join(texts, ", ")
}

// gravest returns the reason of the highest weight, the first one of equals.
func gravest(conditions []metav1.Condition) string {
	best := conditions[0]
	for _, c := range conditions[1:] {
		if weight(c) > weight(best) {
			best = c
		}
	}
	return cmp.Or(best.Reason, string(Unknown)) // the API server refuses a condition without a reason
}

// weight is the priority of the condition's reason among others.
func weight(c metav1.Condition) int {
	if row, ok := Lookup(Reason(c.Reason)); ok {
		return row.Priority
	}
	return Blocked.Priority()
}
