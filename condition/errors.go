package condition

import (
	"errors"
	"strings"
	"time"
)

// WaitError says that nothing is wrong, but something is not true yet. Whoever
// returns it expects to be asked again when the cluster changes.
type WaitError struct {
	Reason  Reason        // a row of the table; empty means Blocked
	Message string        // what is waited for, in the user's words
	After   time.Duration // when to look again without being woken by a watch; 0 means only a watch wakes
}

func (e *WaitError) Error() string { return e.Message }

// ConditionReason is the reason that a condition shows for this error.
func (e *WaitError) ConditionReason() Reason {
	if e.Reason == "" {
		return Blocked
	}
	return e.Reason
}

// InvalidError says that only the user can mend it: asking again without a
// change of the resource is useless.
type InvalidError struct {
	Field   string        // what is wrong, as the user knows it: spec.size, component "db"
	Problem string        // what is wrong with it
	Fix     string        // what to do; may be empty
	After   time.Duration // when to look again although nothing is seen to change; 0 means never
}

func (e *InvalidError) Error() string {
	var b strings.Builder
	b.WriteString(e.Field)
	if e.Field != "" {
		b.WriteString(": ")
	}
	b.WriteString(e.Problem)
	if e.Fix != "" {
		b.WriteString("; ")
		b.WriteString(e.Fix)
	}
	return b.String()
}

// ConditionReason is the reason that a condition shows for this error.
func (e *InvalidError) ConditionReason() Reason { return Invalid }

// reasoner is an error that knows its reason. Packages above implement it for
// their own errors, such as a missing permission.
type reasoner interface {
	error
	ConditionReason() Reason
}

// ReasonOf returns the reason that a condition shows for err: that of the first
// error in its tree which knows one, otherwise Error. Of several joined errors
// the one with the highest priority decides, a plain failure among them counting
// as Error.
func ReasonOf(err error) Reason {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		best := Reason("")
		for _, e := range joined.Unwrap() {
			if r := ReasonOf(e); best == "" || r.Priority() > best.Priority() {
				best = r
			}
		}
		if best != "" {
			return best
		}
		return Error
	}
	if r, ok := err.(reasoner); ok { //nolint:errorlint // as above
		return r.ConditionReason()
	}
	if inner := errors.Unwrap(err); inner != nil {
		return ReasonOf(inner)
	}
	return Error
}

// IsWait reports whether err means only that something is not true yet: every
// branch of its tree is a [WaitError]. It is false for nil.
func IsWait(err error) bool { return only[*WaitError](err) }

// IsInvalid reports whether only the user can mend err: every branch of its
// tree is an [InvalidError]. It is false for nil.
func IsInvalid(err error) bool { return only[*InvalidError](err) }

func only[E error](err error) bool {
	if err == nil {
		return false
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			if !only[E](e) {
				return false
			}
		}
		return len(joined.Unwrap()) > 0
	}
	if _, ok := err.(E); ok { //nolint:errorlint // as above
		return true
	}
	return only[E](errors.Unwrap(err))
}
