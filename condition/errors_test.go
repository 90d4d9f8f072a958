package condition_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/armature-go/armature/condition"
)

func TestErrorsSayWhatToDo(t *testing.T) {
	tests := []struct {
		err  condition.InvalidError
		want string
	}{
		{condition.InvalidError{Field: "spec.size", Problem: "it is negative", Fix: "write 0 or more"}, "spec.size: it is negative; write 0 or more"},
		{condition.InvalidError{Field: "spec.size", Problem: "it is negative"}, "spec.size: it is negative"},
		{condition.InvalidError{Problem: "nothing is declared"}, "nothing is declared"},
	}
	for _, tt := range tests {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestKindsOfErrors(t *testing.T) {
	var (
		wait     = &condition.WaitError{Message: "soon"}
		creating = &condition.WaitError{Reason: condition.Creating, Message: "soon"}
		invalid  = &condition.InvalidError{Problem: "wrong"}
		failure  = errors.New("connection refused")
	)
	tests := []struct {
		name          string
		err           error
		reason        condition.Reason
		wait, invalid bool
	}{
		{"a wait is Blocked unless it says otherwise", wait, condition.Blocked, true, false},
		{"a wait with a reason", creating, condition.Creating, true, false},
		{"invalid", invalid, condition.Invalid, false, true},
		{"anything else", failure, condition.Error, false, false},
		{"wrapped", fmt.Errorf("component %q: %w", "db", wait), condition.Blocked, true, false},
		{"wrapped twice", fmt.Errorf("a: %w", fmt.Errorf("b: %w", invalid)), condition.Invalid, false, true},
		{"joined waits: the weightiest speaks", errors.Join(creating, wait), condition.Blocked, true, false},
		{"joined with a failure", errors.Join(wait, failure), condition.Error, false, false},
		{"joined, wrapped and joined", errors.Join(fmt.Errorf("x: %w", errors.Join(invalid, invalid)), invalid), condition.Invalid, false, true},
		{"invalid and waiting is neither alone", errors.Join(invalid, wait), condition.Invalid, false, false},
		{"several with %w", fmt.Errorf("%w and %w", wait, creating), condition.Blocked, true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := condition.ReasonOf(tt.err); got != tt.reason {
				t.Errorf("reason %s, want %s", got, tt.reason)
			}
			if got := condition.IsWait(tt.err); got != tt.wait {
				t.Errorf("IsWait %t, want %t", got, tt.wait)
			}
			if got := condition.IsInvalid(tt.err); got != tt.invalid {
				t.Errorf("IsInvalid %t, want %t", got, tt.invalid)
			}
		})
	}
	if condition.IsWait(nil) || condition.IsInvalid(nil) {
		t.Error("no error is of a kind")
	}
}
