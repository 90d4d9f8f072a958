package kind

import "github.com/armature-go/armature/condition"

// certificate is what is looked at of a Certificate of cert-manager.
type certificate struct {
	Metadata metadata `json:"metadata"`
	Status   struct {
		Conditions      reported `json:"conditions"`
		LastFailureTime string   `json:"lastFailureTime"` // only if the latest attempt failed
	} `json:"status"`
}

// certificateHealth: a certificate is of use as long as it is Ready, whatever becomes
// of its renewal. One that is not is waited for, until an attempt to issue it fails;
// the next attempt is waited for again.
func certificateHealth(live certificate) State {
	ready, issuing := live.Status.Conditions.of("Ready"), live.Status.Conditions.of("Issuing")
	failed := live.Status.LastFailureTime != "" && issuing.Status != isTrue
	switch {
	case ready.ObservedGeneration.before(live.Metadata.Generation):
		return State{condition.OperationPending, unobserved}
	case ready.Status == isTrue && failed:
		return State{condition.Operational, "issued; its renewal has failed: " + issuing.or("and is tried again later")}
	case ready.Status == isTrue:
		return State{condition.Operational, ready.or("issued")}
	case failed:
		return State{condition.OperationFailing, issuing.or(ready.or("it could not be issued, and is tried again later"))}
	default:
		return State{condition.OperationPending, issuing.or(ready.or("waiting for cert-manager to issue it"))}
	}
}

func issuerHealth(live report) State {
	return live.answer("Ready", "waiting for cert-manager to set it up")
}
