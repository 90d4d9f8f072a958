package component

import (
	"slices"
	"strings"
	"time"

	"github.com/armature-go/armature/condition"
)

// remedy says what helps against an error: to look again after a time, to retry
// what failed, or neither, where only a watch or the user can help.
func remedy(err error) (after time.Duration, failed error) {
	switch wait := waiting(err); {
	case wait != nil:
		after = wait.After
	case condition.IsInvalid(err):
		for _, invalid := range leaves[*condition.InvalidError](err) {
			after = sooner(after, invalid.After)
		}
	default:
		failed = err
	}
	return after, failed
}

// reasonOf is the reason that a condition shows for err. It is one that a component
// can have while it converges, whatever the error says of itself.
func reasonOf(err error) condition.Reason {
	if wait := waiting(err); wait != nil {
		return wait.ConditionReason()
	}
	reason := condition.ReasonOf(err)
	if row, _ := condition.Lookup(reason); row.Category == condition.CategoryFailure && converges(reason) {
		return reason
	}
	return condition.Error
}

// waiting is all that err waits for, as one; nil if err is anything else. A wait
// whose reason says that something is ready, or is no state of an object, is none.
func waiting(err error) *condition.WaitError {
	if !condition.IsWait(err) {
		return nil
	}
	one := &condition.WaitError{Reason: condition.ReasonOf(err)}
	if row, _ := condition.Lookup(one.Reason); !ofObject(one.Reason) || one.Reason.Ready() || row.Category == condition.CategoryFailure {
		return nil
	}
	var texts []string
	for _, wait := range leaves[*condition.WaitError](err) {
		texts = append(texts, wait.Message)
		one.After = sooner(one.After, wait.After)
	}
	one.Message = strings.Join(slices.Compact(texts), "; ")
	return one
}

// leaves returns the errors of one type in the tree of an error, from left to right.
func leaves[E error](err error) []E {
	if leaf, ok := err.(E); ok { //nolint:errorlint // the tree is walked by hand, branch by branch
		return []E{leaf}
	}
	switch err := err.(type) { //nolint:errorlint // as above
	case interface{ Unwrap() []error }:
		var all []E
		for _, e := range err.Unwrap() {
			all = append(all, leaves[E](e)...)
		}
		return all
	case interface{ Unwrap() error }:
		return leaves[E](err.Unwrap())
	default:
		return nil
	}
}

// text writes an error for a condition, on one line.
func text(err error) string {
	return strings.ReplaceAll(err.Error(), "\n", "; ") // joined errors have a line each
}

// sooner returns the shorter of two waits; 0 is no wait at all.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
