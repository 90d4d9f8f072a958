package condition

// Reason is why a condition is as it is: the text of its reason field. Reasons are
// API; people and tools compare them. The built-in ones are the constants below,
// whose names are their strings.
type Reason string

// What no part of the cluster can mend by itself.
const (
	Error            Reason = "Error"
	FeatureGateError Reason = "FeatureGateError"
	Invalid          Reason = "Invalid"
	PermissionDenied Reason = "PermissionDenied"
	Conflict         Reason = "Conflict"
)

// Verdicts after the grace period.
const (
	Down     Reason = "Down"
	Degraded Reason = "Degraded"
)

// Switched off, or on the way there.
const (
	PendingSuspension Reason = "PendingSuspension"
	Suspending        Reason = "Suspending"
	Suspended         Reason = "Suspended"
	Disabled          Reason = "Disabled"
)

// Cannot come true as things are.
const (
	Failing          Reason = "Failing"
	OperationFailing Reason = "OperationFailing"
	TaskFailing      Reason = "TaskFailing"
)

// Held back by something else.
const (
	Blocked            Reason = "Blocked"
	PrerequisiteNotMet Reason = "PrerequisiteNotMet"
)

// On the way.
const (
	Scaling          Reason = "Scaling"
	TaskRunning      Reason = "TaskRunning"
	Updating         Reason = "Updating"
	Creating         Reason = "Creating"
	OperationPending Reason = "OperationPending"
	TaskPending      Reason = "TaskPending"
)

// As it should be.
const (
	Healthy     Reason = "Healthy"
	Operational Reason = "Operational"
	Completed   Reason = "Completed"
)

// Unknown stands for a condition that nobody has written yet.
const Unknown Reason = "Unknown"

// Priority is the reason's weight: of several conditions that are not True, the one
// of the highest priority speaks for all. A reason without a row has priority 0.
func (r Reason) Priority() int {
	row, _ := Lookup(r)
	return row.Priority
}

// Ready reports whether the reason says that something is up and doing its work:
// its row is True and of the ready category. Suspended and Disabled are True and
// not Ready. A reason without a row is not Ready.
func (r Reason) Ready() bool {
	row, ok := Lookup(r)
	return ok && row.Category == CategoryReady
}
