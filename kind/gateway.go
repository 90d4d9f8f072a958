package kind

import (
	"cmp"

	"github.com/armature-go/armature/condition"
)

// gateway is what is looked at of a Gateway.
type gateway struct {
	Metadata metadata `json:"metadata"`
	Status   struct {
		Conditions reported `json:"conditions"`
		Addresses  []struct {
			Value string `json:"value"`
		} `json:"addresses"`
	} `json:"status"`
}

// patient are the reasons for which a gateway or a route is not so yet; for others it
// never will be.
var patient = map[string]bool{"Pending": true, "NotReconciled": true, "AddressNotAssigned": true}

// refuses reports whether a condition says no for good.
func (c told) refuses() bool { return c.Status == isFalse && !patient[c.Reason] }

func gatewayHealth(live gateway) State {
	accepted, programmed := live.Status.Conditions.of("Accepted"), live.Status.Conditions.of("Programmed")
	generation := live.Metadata.Generation
	switch {
	case accepted.ObservedGeneration.before(generation), programmed.ObservedGeneration.before(generation):
		return State{condition.OperationPending, unobserved}
	case accepted.refuses():
		return State{condition.OperationFailing, accepted.text()}
	case programmed.refuses():
		return State{condition.OperationFailing, programmed.text()}
	case programmed.Status != isTrue:
		return State{condition.OperationPending, programmed.or("waiting for a gateway controller to program it")}
	}
	for _, at := range live.Status.Addresses {
		if at.Value != "" {
			return State{condition.Operational, "reachable at " + at.Value}
		}
	}
	return State{condition.Operational, programmed.or("programmed")}
}

// route is what is looked at of an HTTPRoute or a GRPCRoute.
type route struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		ParentRefs []parent `json:"parentRefs"`
	} `json:"spec"`
	Status struct {
		Parents []struct {
			ParentRef  parent   `json:"parentRef"`
			Conditions reported `json:"conditions"`
		} `json:"parents"`
	} `json:"status"`
}

// parent is what a route wants to be attached to.
type parent struct {
	Group       *string `json:"group"` // empty is the core group, and absent is that of gateways
	Kind        string  `json:"kind"`
	Namespace   string  `json:"namespace"`
	Name        string  `json:"name"`
	SectionName string  `json:"sectionName"`
	Port        int64   `json:"port"`
}

// is reports whether both name the same, seen from a namespace.
func (p parent) is(other parent, namespace string) bool {
	group := func(p parent) string {
		if p.Group == nil {
			return gatewayGroup
		}
		return *p.Group
	}
	return group(p) == group(other) && cmp.Or(p.Kind, gatewayKind) == cmp.Or(other.Kind, gatewayKind) &&
		cmp.Or(p.Namespace, namespace) == cmp.Or(other.Namespace, namespace) &&
		p.Name == other.Name && p.SectionName == other.SectionName && p.Port == other.Port
}

func (p parent) String() string { return cmp.Or(p.Kind, gatewayKind) + " " + p.Name }

const (
	gatewayGroup = "gateway.networking.k8s.io"
	gatewayKind  = "Gateway"
)

// attachment is what one parent says about a route, and whether traffic comes by it.
type attachment struct {
	State

	serves bool
}

// attachments returns what each parent says that the route names. Controllers keep what
// they have said about others, which it names no longer.
func (r route) attachments() []attachment {
	var all []attachment
	for _, ref := range r.Spec.ParentRefs {
		found := false
		for _, p := range r.Status.Parents {
			if p.ParentRef.is(ref, r.Metadata.Namespace) {
				all, found = append(all, attached(ref, p.Conditions, r.Metadata.Generation)), true
			}
		}
		if !found {
			all = append(all, attachment{State: State{condition.OperationPending, "waiting for " + ref.String() + " to take it"}})
		}
	}
	return all
}

// attached is the word of one parent. References that do not resolve, and rules that
// are left out, spoil some of the traffic and not all of it.
func attached(ref parent, said reported, generation int64) attachment {
	accepted, resolved, partly := said.of("Accepted"), said.of("ResolvedRefs"), said.of("PartiallyInvalid")
	serves := accepted.Status == isTrue
	switch {
	case accepted.ObservedGeneration.before(generation), resolved.ObservedGeneration.before(generation):
		return attachment{State{condition.OperationPending, ref.String() + ": " + unobserved}, serves}
	case accepted.refuses():
		return attachment{State{condition.OperationFailing, ref.String() + ": " + accepted.text()}, serves}
	case resolved.refuses():
		return attachment{State{condition.OperationFailing, ref.String() + ": " + resolved.text()}, serves}
	case partly.Status == isTrue && !partly.ObservedGeneration.before(generation):
		return attachment{State{condition.OperationFailing, ref.String() + ": " + partly.text()}, serves}
	case serves && resolved.Status == isTrue:
		return attachment{State{condition.Operational, "attached to " + ref.String()}, serves}
	}
	waiting := "waiting for " + ref.String() + " to take it"
	if serves {
		waiting = ref.String() + ": waiting for its references to be resolved"
	}
	return attachment{State{condition.OperationPending, waiting}, serves}
}

// routeHealth is the worst of what the parents say. A route that names none asks
// nobody for anything.
func routeHealth(live route) State {
	worst := State{condition.Operational, "it names no parent"}
	for i, v := range live.attachments() {
		if i == 0 || v.Reason.Priority() > worst.Reason.Priority() {
			worst = v.State
		}
	}
	return worst
}

// routeGrace: a route is down where no parent has accepted it.
func routeGrace(live route) State {
	s := routeHealth(live)
	if s.Reason == condition.Operational {
		return State{condition.Healthy, s.Message}
	}
	for _, v := range live.attachments() {
		if v.serves {
			return State{condition.Degraded, s.Message}
		}
	}
	return lenient.of(s)
}
