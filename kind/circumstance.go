package kind

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
)

// circumstance is when a line of the table holds.
type circumstance struct {
	name  string
	holds func(p *pass) bool
}

// change is what the API server accepts of a field that is immutable otherwise. It is
// asked about the desired and the live value, either of which is nil where there is
// none, and returns what is to be sent and whether that is accepted.
type change struct {
	name   string
	accept func(p *pass, desired, live any) (any, bool)
}

var (
	sealed    = &circumstance{"immutable is set", func(p *pass) bool { return p.live("immutable") == true }}
	bound     = &circumstance{"the claim is bound", func(p *pass) bool { return p.live("status", "phase") == "Bound" }}
	gated     = &circumstance{"the pod waits for its gates", func(p *pass) bool { return length(p.live("spec", "schedulingGates")) > 0 }}
	unstarted = &circumstance{"suspended and never started", func(p *pass) bool {
		return p.live("spec", "suspend") == true && p.live("status", "startTime") == nil
	}}
	idle = &circumstance{"suspended without a pod", func(p *pass) bool {
		active, _ := p.live("status", "active").(int64)
		return p.live("spec", "suspend") == true && active == 0 && (p.live("status", "startTime") == nil || p.restsAsJob())
	}}
	driven    = &circumstance{"a driver has it", func(p *pass) bool { return p.live("spec", "csi") != nil }}
	addressed = &circumstance{"it has an address before and after", func(p *pass) bool {
		return p.live("spec", "type") != "ExternalName" && p.serviceType() != "ExternalName"
	}}
	balanced = &circumstance{"type LoadBalancer before and after", func(p *pass) bool {
		return p.live("spec", "type") == "LoadBalancer" && p.serviceType() == "LoadBalancer"
	}}
	checked = &circumstance{"type LoadBalancer with local traffic before and after", func(p *pass) bool {
		return balanced.holds(p) && p.live("spec", "externalTrafficPolicy") == "Local" && p.becomes("Cluster", "spec", "externalTrafficPolicy") == "Local"
	}}
	onNodes = &circumstance{"a type with node ports before and after", func(p *pass) bool {
		return slices.Contains(nodePortTypes, p.live("spec", "type")) && slices.Contains(nodePortTypes, p.serviceType())
	}}
)

var nodePortTypes = []any{"NodePort", "LoadBalancer"}

var (
	once = &change{"set once", func(_ *pass, desired, live any) (any, bool) { return desired, desired != nil && live == nil }}
	drop = &change{"items removed", func(_ *pass, desired, live any) (any, bool) {
		for _, item := range list(desired) {
			if !contains(live, item) {
				return nil, false
			}
		}
		return desired, live != nil
	}}
	extend = &change{"entries added", func(_ *pass, desired, live any) (any, bool) {
		d, _ := desired.(map[string]any)
		l, _ := live.(map[string]any)
		if d == nil {
			return nil, false
		}
		out := maps.Clone(d)
		for k, v := range l {
			if own, ok := d[k]; ok && !equal(own, v) {
				return nil, false
			}
			out[k] = v // it stays in any case, and must not be taken back
		}
		return out, true
	}}
	add = &change{"items added", func(_ *pass, desired, live any) (any, bool) {
		return tolerations(list(desired), list(live))
	}}
	second = &change{"all but the first", func(_ *pass, desired, live any) (any, bool) {
		d, l := list(desired), list(live)
		return desired, len(l) == 0 || len(d) > 0 && len(d) != len(l) && equal(d[0], l[0])
	}}
	grow = &change{"growth", func(_ *pass, desired, live any) (any, bool) {
		d, okD := amountOf(desired)
		l, okL := amountOf(live)
		return desired, okD && okL && d.Cmp(l) >= 0
	}}
	shorten = &change{"a sooner end", func(_ *pass, desired, live any) (any, bool) {
		d, ok := desired.(int64)
		l, had := live.(int64)
		return desired, ok && (!had || d <= l)
	}}
	elastic = &change{"together with parallelism, if indexed", func(p *pass, desired, _ any) (any, bool) {
		return desired, desired != nil && p.live("spec", "completionMode") == "Indexed" && equal(p.becomes(int64(1), "spec", "parallelism"), desired)
	}}
)

// restsAsJob reports whether the Job controller has seen the suspension.
func (p *pass) restsAsJob() bool {
	return slices.ContainsFunc(list(p.live("status", "conditions")), func(c any) bool {
		return at(c, "type") == "Suspended" && at(c, "status") == "True"
	})
}

// serviceType is the type that a Service will have.
func (p *pass) serviceType() any { return p.becomes("ClusterIP", "spec", "type") }

// becomes is the value that a field will have: the one that is desired, else the
// server's default if we take ours back, else the live one.
func (p *pass) becomes(standard any, path ...string) any {
	if v := at(p.desired, path...); v != nil {
		return v
	}
	if v := at(p.state.Object, path...); v != nil && at(p.state.Owned, path...) == nil {
		return v
	}
	return standard
}

// live returns a value of the live object, nil if there is none.
func (p *pass) live(path ...string) any { return at(p.state.Object, path...) }

// at returns what is at a path of fields, nil if nothing is.
func at(node any, path ...string) any {
	for _, name := range path {
		m, ok := node.(map[string]any)
		if !ok {
			return nil
		}
		node = m[name]
	}
	return node
}

func list(node any) []any {
	items, _ := node.([]any)
	return items
}

func length(node any) int { return len(list(node)) }

func contains(items, item any) bool {
	return slices.ContainsFunc(list(items), func(other any) bool { return equal(item, other) })
}

// tolerations are the desired ones with those that the server gave to a live pod, and
// whether all that the pod has are among them. How long one tolerates may be changed.
func tolerations(desired, live []any) ([]any, bool) {
	const seconds = "tolerationSeconds"
	out := slices.Clone(desired)
	for _, item := range live {
		switch {
		case slices.ContainsFunc(desired, func(other any) bool { return alike(without(item, seconds), without(other, seconds)) }):
		case slices.Contains(givenTolerations, at(item, "key")):
			out = append(out, item)
		default:
			return nil, false
		}
	}
	return out, len(desired) > 0
}

// givenTolerations are what every pod is given that does not have them.
var givenTolerations = []any{"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}

func amountOf(node any) (resource.Quantity, bool) {
	text, ok := node.(string)
	if !ok {
		return resource.Quantity{}, false
	}
	q, err := resource.ParseQuantity(text)
	return q, err == nil
}
