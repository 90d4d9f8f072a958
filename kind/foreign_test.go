package kind_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/kind"
	"github.com/armature-go/armature/object"
)

// seen is one observation of an object without a Go type, all of generation 2: its
// spec and status as JSON, and what its rules are to say.
type seen struct {
	name         string
	spec, status string
	op           object.Op
	health       string
	grace        string // reason alone
}

func untypedObject(apiVersion, name, spec, status string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	text := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"a","namespace":"shop","generation":2},"spec":{%s},"status":{%s}}`, apiVersion, name, spec, status)
	if err := u.UnmarshalJSON([]byte(text)); err != nil {
		panic(err.Error() + " in " + text)
	}
	return u
}

func checkSeen(t *testing.T, apiVersion, name string, cases []seen) {
	t.Helper()
	for _, tc := range cases {
		t.Run(name+"/"+tc.name, func(t *testing.T) {
			obj := untypedObject(apiVersion, name, tc.spec, tc.status)
			row := rules(t, obj)
			if got := say(row.Health(obj, tc.op)); got != tc.health {
				t.Errorf("health:\ngot  %s\nwant %s", got, tc.health)
			}
			if got := string(row.Grace(obj).Reason); got != tc.grace {
				t.Errorf("grace: got %s, want %s", got, tc.grace)
			}
		})
	}
}

// cond writes a condition; about is the generation that it is about, 0 for untold.
func cond(typ, status, reason, message string, about int) string {
	text := fmt.Sprintf(`{"type":%q,"status":%q`, typ, status)
	for field, value := range map[string]string{"reason": reason, "message": message} {
		if value != "" {
			text += fmt.Sprintf(`,%q:%q`, field, value)
		}
	}
	if about > 0 {
		text += fmt.Sprintf(`,"observedGeneration":%d`, about)
	}
	return text + "}"
}

func conds(all ...string) string { return `"conditions":[` + strings.Join(all, ",") + `]` }

const old = "waiting for its controller to observe the latest spec"

func TestCertManager(t *testing.T) {
	const failed = `,"lastFailureTime":"2026-01-01T00:00:00Z","failedIssuanceAttempts":1`
	notReady := cond("Ready", "False", "DoesNotExist", "there is no Secret", 2)
	ready := cond("Ready", "True", "Ready", "up to date", 2)
	denied := cond("Issuing", "False", "Failed", "the CA says no", 2)
	checkSeen(t, "cert-manager.io/v1", "Certificate", []seen{
		{"nobody has looked at it", "", "", object.OpCreated, "OperationPending: waiting for cert-manager to issue it", "Degraded"},
		{"it is being issued", "", conds(cond("Issuing", "True", "DoesNotExist", "issuing", 2), notReady), object.OpNone, "OperationPending: issuing", "Degraded"},
		{"not ready, and no word of issuing", "", conds(notReady), object.OpNone, "OperationPending: there is no Secret", "Degraded"},
		{"issued", "", conds(ready), object.OpNone, "Operational: up to date", "Healthy"},
		{"issued, generation untold", "", conds(cond("Ready", "True", "", "", 0)), object.OpNone, "Operational: issued", "Healthy"},
		{"issued for an older spec", "", conds(cond("Ready", "True", "", "up to date", 1)), object.OpUpdated, "OperationPending: " + old, "Degraded"},
		{"being renewed", "", conds(ready, cond("Issuing", "True", "Renewing", "renewing", 2)), object.OpNone, "Operational: up to date", "Healthy"},
		{"its renewal failed", "", conds(ready, denied) + failed, object.OpNone, "Operational: issued; its renewal has failed: the CA says no", "Healthy"},
		{"refused", "", conds(notReady, denied) + failed, object.OpNone, "OperationFailing: the CA says no", "Down"},
		{"refused, and tried again", "", conds(notReady, cond("Issuing", "True", "", "", 2)) + failed, object.OpNone, "OperationPending: there is no Secret", "Degraded"},
	})
	for _, name := range []string{"Issuer", "ClusterIssuer", "APIService"} {
		apiVersion, typ, waiting := "cert-manager.io/v1", "Ready", "waiting for cert-manager to set it up"
		if name == "APIService" {
			apiVersion, typ, waiting = "apiregistration.k8s.io/v1", "Available", "waiting for the API server to find it available"
		}
		checkSeen(t, apiVersion, name, []seen{
			{"nobody has looked at it", "", "", object.OpCreated, "OperationPending: " + waiting, "Degraded"},
			{"in doubt", "", conds(cond(typ, "Unknown", "", "asking", 2)), object.OpNone, "OperationPending: asking", "Degraded"},
			{"of use", "", conds(cond(typ, "True", "", "registered", 2)), object.OpNone, "Operational: registered", "Healthy"},
			{"of an older spec", "", conds(cond(typ, "True", "", "registered", 1)), object.OpNone, "OperationPending: " + old, "Degraded"},
			{"of no use", "", conds(cond(typ, "False", "ErrInit", "", 2)), object.OpNone, "OperationFailing: " + typ + " is False: ErrInit", "Down"},
			{"a failure of an older spec", "", conds(cond(typ, "False", "ErrInit", "", 1)), object.OpNone, "OperationPending: " + old, "Degraded"},
		})
	}
}

func TestDefinition(t *testing.T) {
	established := cond("Established", "True", "InitialNamesAccepted", "the names have been accepted", 0)
	checkSeen(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", []seen{
		{"just created", "", "", object.OpCreated, "OperationPending: waiting for the API server to establish it", "Degraded"},
		{"names accepted, not established", "", conds(cond("NamesAccepted", "True", "", "", 0), cond("Established", "False", "Installing", "", 0)), object.OpNone, "OperationPending: waiting for the API server to establish it", "Degraded"},
		{"established", "", conds(cond("NamesAccepted", "True", "", "", 0), established), object.OpNone, "Operational: the names have been accepted", "Healthy"},
		{"its names are taken", "", conds(cond("NamesAccepted", "False", "PluralConflict", "shops is taken", 0)), object.OpNone, "OperationFailing: shops is taken", "Down"},
		{"its new names are taken", "", conds(established, cond("NamesAccepted", "False", "PluralConflict", "shops is taken", 0)), object.OpNone, "OperationFailing: shops is taken", "Degraded"},
	})
}

func TestGateway(t *testing.T) {
	accepted := cond("Accepted", "True", "Accepted", "", 2)
	checkSeen(t, "gateway.networking.k8s.io/v1", "Gateway", []seen{
		{"as the API server makes it", "", conds(cond("Accepted", "Unknown", "Pending", "Waiting for controller", 0), cond("Programmed", "Unknown", "Pending", "Waiting for controller", 0)), object.OpCreated, "OperationPending: Waiting for controller", "Degraded"},
		{"nothing said", "", "", object.OpNone, "OperationPending: waiting for a gateway controller to program it", "Degraded"},
		{"accepted, without an address", "", conds(accepted, cond("Programmed", "False", "AddressNotAssigned", "no address yet", 2)), object.OpNone, "OperationPending: no address yet", "Degraded"},
		{"programmed", "", conds(accepted, cond("Programmed", "True", "Programmed", "", 2)), object.OpNone, "Operational: programmed", "Healthy"},
		{"programmed, with an address", "", conds(accepted, cond("Programmed", "True", "Programmed", "", 2)) + `,"addresses":[{"type":"IPAddress","value":"192.0.2.1"}]`, object.OpNone, "Operational: reachable at 192.0.2.1", "Healthy"},
		{"not accepted", "", conds(cond("Accepted", "False", "InvalidParameters", "no such parameters", 2), cond("Programmed", "True", "", "", 2)), object.OpNone, "OperationFailing: no such parameters", "Down"},
		{"cannot be programmed", "", conds(accepted, cond("Programmed", "False", "AddressNotUsable", "the address is taken", 2)), object.OpNone, "OperationFailing: the address is taken", "Down"},
		{"programmed for an older spec", "", conds(cond("Accepted", "True", "Accepted", "", 2), cond("Programmed", "True", "", "", 1)), object.OpNone, "OperationPending: " + old, "Degraded"},
		{"accepted for an older spec", "", conds(cond("Accepted", "False", "Invalid", "", 1), cond("Programmed", "True", "", "", 2)), object.OpNone, "OperationPending: " + old, "Degraded"},
	})
}

func TestRoutes(t *testing.T) {
	const front, back = `"parentRefs":[{"name":"front"}]`, `"parentRefs":[{"name":"front"},{"group":"","kind":"Service","name":"back","port":80}]`
	says := func(ref string, conditions ...string) string {
		return fmt.Sprintf(`{"parentRef":%s,"controllerName":"example.org/c",%s}`, ref, conds(conditions...))
	}
	parents := func(all ...string) string { return `"parents":[` + strings.Join(all, ",") + `]` }
	const ref, full, service = `{"name":"front"}`, `{"group":"gateway.networking.k8s.io","kind":"Gateway","namespace":"shop","name":"front"}`, `{"group":"","kind":"Service","name":"back","port":80}`
	accepted, resolved := cond("Accepted", "True", "Accepted", "", 2), cond("ResolvedRefs", "True", "ResolvedRefs", "", 2)
	unresolved := cond("ResolvedRefs", "False", "BackendNotFound", "no Service b", 2)
	refused := cond("Accepted", "False", "NotAllowedByListeners", "not from here", 2)
	for _, name := range []string{"HTTPRoute", "GRPCRoute"} {
		checkSeen(t, "gateway.networking.k8s.io/v1", name, []seen{
			{"it names nobody", "", "", object.OpCreated, "Operational: it names no parent", "Healthy"},
			{"nobody has taken it", front, "", object.OpCreated, "OperationPending: waiting for Gateway front to take it", "Degraded"},
			{"attached", front, parents(says(ref, accepted, resolved)), object.OpNone, "Operational: attached to Gateway front", "Healthy"},
			{"attached, spelled out", front, parents(says(full, accepted, resolved)), object.OpNone, "Operational: attached to Gateway front", "Healthy"},
			{"a parent in doubt", front, parents(says(ref, cond("Accepted", "Unknown", "Pending", "", 0))), object.OpNone, "OperationPending: waiting for Gateway front to take it", "Degraded"},
			{"accepted, not yet resolved", front, parents(says(ref, accepted)), object.OpNone, "OperationPending: Gateway front: waiting for its references to be resolved", "Degraded"},
			{"refused", front, parents(says(ref, refused, resolved)), object.OpNone, "OperationFailing: Gateway front: not from here", "Down"},
			{"refused for now", front, parents(says(ref, cond("Accepted", "False", "Pending", "", 2))), object.OpNone, "OperationPending: waiting for Gateway front to take it", "Degraded"},
			{"a backend is missing", front, parents(says(ref, accepted, unresolved)), object.OpNone, "OperationFailing: Gateway front: no Service b", "Degraded"},
			{"a rule is left out", front, parents(says(ref, accepted, resolved, cond("PartiallyInvalid", "True", "UnsupportedValue", "Dropped Rule 2", 2))), object.OpNone, "OperationFailing: Gateway front: Dropped Rule 2", "Degraded"},
			{"a rule was left out of an older spec", front, parents(says(ref, accepted, resolved, cond("PartiallyInvalid", "True", "UnsupportedValue", "Dropped Rule 2", 1))), object.OpNone, "Operational: attached to Gateway front", "Healthy"},
			{"attached with an older spec", front, parents(says(ref, cond("Accepted", "True", "Accepted", "", 1), resolved)), object.OpUpdated, "OperationPending: Gateway front: " + old, "Degraded"},
			{"resolved with an older spec", front, parents(says(ref, accepted, cond("ResolvedRefs", "False", "BackendNotFound", "", 1))), object.OpUpdated, "OperationPending: Gateway front: " + old, "Degraded"},
			{"one of two has taken it", back, parents(says(ref, accepted, resolved)), object.OpNone, "OperationPending: waiting for Service back to take it", "Degraded"},
			{"both have taken it", back, parents(says(ref, accepted, resolved), says(service, accepted, resolved)), object.OpNone, "Operational: attached to Gateway front", "Healthy"},
			{"one of two refuses it", back, parents(says(ref, accepted, resolved), says(service, refused)), object.OpNone, "OperationFailing: Service back: not from here", "Degraded"},
			{"two controllers, one refuses it", front, parents(says(ref, accepted, resolved), says(ref, refused)), object.OpNone, "OperationFailing: Gateway front: not from here", "Degraded"},
			{"a parent of yesterday does not count", front, parents(says(service, refused), says(ref, accepted, resolved)), object.OpNone, "Operational: attached to Gateway front", "Healthy"},
			{"another listener is another parent", `"parentRefs":[{"name":"front","sectionName":"tls"}]`, parents(says(ref, accepted, resolved)), object.OpNone, "OperationPending: waiting for Gateway front to take it", "Degraded"},
		})
	}
}

func TestPostgresCluster(t *testing.T) {
	const three, rest = `"instances":3`, `"phase":"Cluster in healthy state"`
	status := func(ready int, phase, more string) string {
		return fmt.Sprintf(`"instances":3,"readyInstances":%d,%s,%s`, ready, phase, more)
	}
	yes, no := conds(cond("Ready", "True", "ClusterIsReady", "", 0)), conds(cond("Ready", "False", "ClusterIsNotReady", "", 0))
	checkSeen(t, "postgresql.cnpg.io/v1", "Cluster", []seen{
		{"nobody has looked at it", three, "", object.OpCreated, "Creating: 0 of 3 instances ready", "Down"},
		{"its primary comes up", three, status(0, `"phase":"Setting up primary"`, no), object.OpCreated, "Creating: 0 of 3 instances ready: Setting up primary", "Down"},
		{"a replica is made", three, status(1, `"phase":"Creating a new replica"`, no), object.OpNone, "Scaling: 1 of 3 instances ready: Creating a new replica", "Degraded"},
		{"all there", three, status(3, rest, yes), object.OpNone, "Healthy: 3 of 3 instances ready", "Healthy"},
		{"all there, and it does not say so", three, status(3, rest, no), object.OpNone, "Updating: 3 of 3 instances ready", "Degraded"},
		{"more were asked for", `"instances":4`, status(3, rest, yes), object.OpUpdated, "Updating: 3 of 4 instances ready", "Degraded"},
		{"it switches over", three, status(3, `"phase":"Switchover in progress"`, no), object.OpNone, "Updating: 3 of 3 instances ready: Switchover in progress", "Degraded"},
		{"it cannot be made", three, status(0, `"phase":"Unable to create required cluster objects","phaseReason":"no such class"`, no), object.OpCreated, "Failing: no such class", "Down"},
		{"it cannot recover", three, status(1, `"phase":"Cluster is unrecoverable and needs manual intervention"`, no), object.OpNone, "Failing: Cluster is unrecoverable and needs manual intervention", "Degraded"},
	})
}

// A Cluster of CloudNativePG is brought to rest by an annotation, beside those that it has.
func TestHibernation(t *testing.T) {
	obj := untypedObject("postgresql.cnpg.io/v1", "Cluster", `"instances":3`, conds(cond("cnpg.io/hibernation", "True", "Hibernated", "", 0)))
	obj.SetAnnotations(map[string]string{"owner": "me"})
	row := rules(t, obj)
	for _, want := range []string{"Suspending: waiting for the annotation cnpg.io/hibernation to be set", "Suspended: hibernated, with its data"} {
		if got := say(row.Suspend.Status(obj)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if err := row.Suspend.Mutate(obj); err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprint(obj.GetAnnotations()); got != "map[cnpg.io/hibernation:on owner:me]" {
		t.Error(got)
	}
	for status, want := range map[string]string{"": "Suspending: waiting for the hibernation to begin", conds(cond("cnpg.io/hibernation", "False", "", "pods are ending", 0)): "Suspending: pods are ending"} {
		at := untypedObject("postgresql.cnpg.io/v1", "Cluster", "", status)
		at.SetAnnotations(obj.GetAnnotations())
		if got := say(row.Suspend.Status(at)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if err := row.Suspend.Mutate(&corev1.Pod{}); err == nil {
		t.Error("a Pod was hibernated")
	}
}

func TestFind(t *testing.T) {
	ready := cond("Ready", "True", "Done", "all is well", 2)
	for _, tc := range []struct {
		name   string
		status string
		op     object.Op
		want   string
	}{
		{"no status at all", "", object.OpCreated, ""},
		{"a status that says nothing", `"phase":"Active"`, object.OpNone, ""},
		{"conditions about other things", conds(cond("Synced", "False", "", "", 2)), object.OpNone, ""},
		{"ready", conds(ready), object.OpNone, "Healthy: all is well"},
		{"ready, in no words", conds(cond("Ready", "True", "", "", 0)), object.OpNone, "Healthy: Ready is True"},
		{"ready with the latest spec", `"observedGeneration":2,` + conds(ready), object.OpNone, "Healthy: all is well"},
		{"ready with an older spec", `"observedGeneration":1,` + conds(ready), object.OpNone, "Updating: " + old},
		{"created, and its condition is older", conds(cond("Ready", "True", "", "", 1)), object.OpCreated, "Creating: " + old},
		{"an older spec, and nothing else", `"observedGeneration":1`, object.OpNone, "Updating: " + old},
		{"nobody has looked at it, in the words of a Go type", `"observedGeneration":0`, object.OpCreated, ""},
		{"not ready, just created", conds(cond("Ready", "False", "Waiting", "waiting for a disk", 2)), object.OpCreated, "Creating: waiting for a disk"},
		{"not ready any more", conds(cond("Ready", "False", "Waiting", "", 2)), object.OpNone, "Updating: Ready is False: Waiting"},
		{"in doubt", conds(cond("Ready", "Unknown", "", "asking", 2)), object.OpNone, "Updating: asking"},
		{"at work, though ready", conds(ready, cond("Reconciling", "True", "Progressing", "rolling out", 2)), object.OpNone, "Updating: rolling out"},
		{"at work on what was just created", conds(cond("Reconciling", "True", "", "", 0)), object.OpCreated, "Creating: Reconciling is True"},
		{"stuck", conds(cond("Reconciling", "True", "", "", 2), cond("Stalled", "True", "Quota", "the quota is used up", 2), cond("Ready", "False", "", "", 2)), object.OpCreated, "Failing: the quota is used up"},
		{"neither stuck nor at work", conds(cond("Stalled", "False", "", "", 2), cond("Reconciling", "False", "", "", 2), ready), object.OpNone, "Healthy: all is well"},
		{"stuck with an older spec", `"observedGeneration":1,` + conds(cond("Stalled", "True", "", "", 1)), object.OpUpdated, "Updating: " + old},
		{"stuck with an older spec, by the condition alone", conds(cond("Stalled", "True", "", "", 1), ready), object.OpNone, "Healthy: all is well"},
		{"conditions of another form", `"conditions":["Ready"]`, object.OpNone, ""},
		{"conditions that are none", `"conditions":{"Ready":true}`, object.OpNone, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			obj := untypedObject("example.org/v1", "Gadget", "", tc.status)
			row := kind.Builtin().Find(obj.GroupVersionKind())
			if got := say(row.Health(obj, tc.op)); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			if row.GVK != obj.GroupVersionKind() || row.Grace != nil || row.Suspend.How != "" || row.Scope != "" {
				t.Errorf("got %v", row)
			}
		})
	}
}

// A row that somebody has added is found before the rules for what has none.
func TestFindPrefersRows(t *testing.T) {
	obj := untypedObject("example.org/v1", "Gadget", "", conds(cond("Ready", "False", "", "", 2)))
	silent := kind.Kind{GVK: obj.GroupVersionKind(), Category: kind.Static, Scope: kind.Namespaced}
	table := kind.Builtin().With(silent)
	if row := table.Find(silent.GVK); row.Health != nil || row.Category != kind.Static {
		t.Errorf("got %v", row)
	}
	var none *kind.Table
	if s := none.Find(silent.GVK).Health(obj, object.OpNone); s.Reason == "" {
		t.Error("a nil table judges by nothing")
	}
	for _, odd := range []object.Object{nil, (*corev1.Pod)(nil), (*unstructured.Unstructured)(nil), &unstructured.Unstructured{}} {
		if s := none.Find(silent.GVK).Health(odd, object.OpNone); s != (kind.State{}) {
			t.Errorf("%T: %v", odd, s)
		}
	}
}

// foreign makes a random live object of a kind without a Go type, with all that rules
// of such kinds look at.
func foreign(rng *rand.Rand, gvk schema.GroupVersionKind) *unstructured.Unstructured {
	var said []string
	for _, typ := range []string{"Ready", "Issuing", "Stalled", "Reconciling", "Accepted", "Programmed", "ResolvedRefs", "PartiallyInvalid", "Available", "Established", "NamesAccepted", "cnpg.io/hibernation"} {
		if rng.IntN(3) > 0 {
			said = append(said, cond(typ, one(rng, "True", "False", "Unknown"), one(rng, "", "Pending", "Odd"), one(rng, "", "m"), rng.IntN(4)))
		}
	}
	status := []string{conds(said...), fmt.Sprintf(`"readyInstances":%d`, rng.IntN(3)), fmt.Sprintf(`"phase":%q`, one(rng, "", "Cluster in healthy state", "Invalid cluster definition", "Odd"))}
	if rng.IntN(2) == 0 {
		status = append(status, fmt.Sprintf(`"observedGeneration":%d`, rng.IntN(4)))
	}
	if rng.IntN(3) == 0 {
		status = append(status, `"lastFailureTime":"2026-01-01T00:00:00Z"`, `"addresses":[{"value":"192.0.2.1"}]`)
	}
	if rng.IntN(4) > 0 {
		status = append(status, fmt.Sprintf(`"parents":[{"parentRef":{"name":%q},%s},{"parentRef":{"name":"b"},%s}]`, one(rng, "a", "c"), conds(said...), conds(said[:len(said)/2]...)))
	}
	refs := one(rng, "[]", `[{"name":"a"}]`, `[{"name":"a"},{"name":"b"}]`)
	return untypedObject(gvk.GroupVersion().String(), gvk.Kind, fmt.Sprintf(`"instances":%d,"parentRefs":%s`, rng.IntN(3), refs), strings.Join(status, ","))
}

// Whatever stands in an object, its rules answer: in words of theirs, or that they
// cannot read it.
func TestRulesOnGarbage(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	words := []string{"metadata", "generation", "annotations", "spec", "instances", "parentRefs", "name", "status", "conditions", "type", "Ready", "Accepted", "True", "False", "observedGeneration", "parents", "parentRef", "phase", "containerStatuses", "state", "replicas"}
	var garbage func(depth int) any
	garbage = func(depth int) any {
		switch n := rng.IntN(8); {
		case n == 0:
			return nil
		case n == 1:
			return rng.Int64N(5)
		case n == 2 || depth == 0:
			return one(rng, words...)
		case n == 3:
			return []any{garbage(depth - 1), garbage(depth - 1)}
		}
		tree := map[string]any{}
		for range 5 {
			tree[one(rng, words...)] = garbage(depth - 1)
		}
		return tree
	}
	rows := append(kind.Builtin().Kinds(), kind.Builtin().Find(schema.GroupVersionKind{Kind: "Gadget"}))
	for range 500 {
		obj := &unstructured.Unstructured{Object: map[string]any{"metadata": garbage(1), "spec": garbage(3), "status": garbage(5)}}
		for _, k := range rows {
			if k.Health == nil {
				continue
			}
			health := k.Health(obj, object.OpNone)
			if health.Reason != condition.Error && health.Reason != "" && !slices.Contains(says[cmp.Or(k.Category, kind.Workload)], health.Reason) {
				t.Fatalf("%s of %v: %v", k.GVK.Kind, obj.Object, health)
			}
			if k.Grace != nil {
				if grace := k.Grace(obj); (grace.Reason == condition.Healthy) != health.Reason.Ready() || (grace.Reason == condition.Error) != (health.Reason == condition.Error) {
					t.Fatalf("%s of %v: health %v, grace %v", k.GVK.Kind, obj.Object, health, grace)
				}
			}
			if k.Suspend.Status != nil {
				k.Suspend.Status(obj)
			}
		}
	}
}
