package component

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-go/armature/api"
	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/feature"
	"github.com/armature-go/armature/kind"
	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/resource"
)

var errBoom = errors.New("boom")

// deployment is a Deployment in the owner's namespace.
func deployment(name string) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
}

func mutate(f func(*corev1.ConfigMap) error) *resource.Managed[*corev1.ConfigMap] {
	return resource.Manage(config("a")).Mutate("m", feature.Gate{}, f)
}

// said is the condition of a component after a pass.
func said(r Report) string {
	return fmt.Sprintf("%s/%s: %s", r.Condition.Status, r.Condition.Reason, r.Condition.Message)
}

// A pass reports what it changed, and why where that does not go without saying.
func TestRunReportsChanges(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   []Component
		want string
	}{
		{"created", []Component{with("web", resource.Manage(config("new")))}, "created ConfigMap new"},
		{"updated", []Component{with("web", resource.Manage(config("old")))}, "updated ConfigMap old"},
		{"what is as it should be is no change", []Component{with("web", resource.Manage(config("same")))}, "none"},
		{"observed", []Component{with("web", resource.Observe(config("same")))}, "none"},
		{"removed", []Component{with("web", resource.Remove(config("old")))}, "deleted ConfigMap old because it is no longer wanted"},
		{"what is gone is not removed again", []Component{with("web", resource.Remove(config("gone")))}, "none"},
		{"switched off", []Component{with("web", resource.Manage(config("old")).GatedBy(never))}, "deleted ConfigMap old because it is no longer wanted"},
		{"let go of", []Component{with("web", resource.Release(config("old")))}, "released ConfigMap old because it is released"},
		{"disabled", []Component{change(with("web", resource.Manage(config("old"))), func(c *Component) { c.Gate = never })}, "deleted ConfigMap old because the component is disabled"},
		{"suspended", []Component{change(with("web", resource.Manage(deployment("old"))), func(c *Component) { c.Suspend = true })}, "created Deployment old because the component is suspended"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, owner := newCluster(t), newShop()
			for _, name := range []string{"old", "same"} {
				c.put("keeper", config(name))
			}
			same := config("same")
			same.SetGroupVersionKind(kinds["ConfigMap"])
			c.desired["ConfigMap same"] = same
			fails := change(with("keeper"), func(c *Component) { c.Err = errBoom }) // so that nothing is pruned
			res := Run(t.Context(), c.env(noon), owner, append(tc.in, fails))
			if got := changes(res.Reports[0].Changes); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func changes(all []Change) string {
	var texts []string
	for _, ch := range all {
		text := string(ch.Op) + " " + ch.Key.Short()
		if ch.Cause != "" {
			text += " because " + ch.Cause
		}
		if object.IsNil(ch.Object) || ch.Object.GetName() != ch.Key.Name {
			text += ", but of which object?"
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 {
		return "none"
	}
	return strings.Join(texts, "; ")
}

// What is pruned is of no component.
func TestRunReportsPruning(t *testing.T) {
	c := newCluster(t)
	for _, name := range []string{"c", "a", "b"} {
		c.put("web", config(name))
	}
	res := Run(t.Context(), c.env(noon), newShop(), []Component{with("web", resource.Manage(config("b")))})
	const want = "deleted ConfigMap a because it is no longer rendered; deleted ConfigMap c because it is no longer rendered"
	if got := changes(res.Changes); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// States are told in the order of the resources, whatever the order of the work was.
func TestRunReportsStates(t *testing.T) {
	scaler := named(t, newScheme(t), "HorizontalPodAutoscaler", "hpa")
	resources := []Resource{
		resource.Manage(deployment("web")), resource.Manage(config("silent")), resource.Manage(scaler),
		resource.Manage(deployment("metrics")).Auxiliary(), resource.Manage(deployment("blocked")).Guard(func(*appsv1.Deployment) error { return &condition.WaitError{Message: "a licence"} }),
		resource.Manage(deployment("behind")),
	}
	for _, tc := range []struct {
		name    string
		suspend bool
		want    string
	}{
		{"converging", false, "Deployment web Creating, HorizontalPodAutoscaler hpa OperationPending, Deployment metrics Creating (auxiliary), Deployment blocked Blocked, Deployment behind Scaling"},
		{"suspended", true, "Deployment web Suspended, HorizontalPodAutoscaler hpa Suspended, Deployment metrics Suspended, Deployment blocked Suspended, Deployment behind Suspended"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCluster(t)
			c.put("web", deployment("behind"))
			res := Run(t.Context(), c.env(noon), newShop(), []Component{{Name: "web", Condition: "WebReady", Suspend: tc.suspend, Resources: resources}})
			var got []string
			for _, s := range res.Reports[0].States {
				text := s.Key.Short() + " " + string(s.Reason)
				if s.Auxiliary {
					text += " (auxiliary)"
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// Code of the author may panic anywhere: it is the error of its component, with the
// stack for the log, and the components after it go on.
func TestRunContainsPanics(t *testing.T) {
	boom := func() { panic("boom") }
	suspended := func(c *Component) { c.Suspend = true }
	loud := kind.Kind{
		GVK:     kinds["Secret"],
		Suspend: kind.Suspension{How: kind.Keep, Status: func(object.Object) kind.State { boom(); return kind.State{} }},
	}
	judged := kind.Kind{
		GVK:    kinds["Service"],
		Health: func(object.Object, object.Op) kind.State { return kind.State{Reason: condition.OperationPending} },
		Grace:  func(object.Object) kind.State { boom(); return kind.State{} },
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a"}}
	for _, tc := range []struct {
		name string
		in   Component
	}{
		{"a mutation", with("web", mutate(func(*corev1.ConfigMap) error { boom(); return nil }))},
		{"a guard", with("web", resource.Manage(config("a")).Guard(func(*corev1.ConfigMap) error { boom(); return nil }))},
		{"a health rule", with("web", resource.Manage(config("a")).Health(func(*corev1.ConfigMap, object.Op) kind.State { boom(); return kind.State{} }))},
		{"an extraction", with("web", resource.Manage(config("a")).Extract(resource.Into(resource.NewCell[int]("n"), func(*corev1.ConfigMap) (int, bool) { boom(); return 0, false })))},
		{"a mutation that uses data", with("web", producer("b"), resource.Manage(config("a")).MutateUsing("m", feature.Gate{}, resource.Using(cell, func(*corev1.ConfigMap, string) error { boom(); return nil })))},
		{"a prerequisite", change(with("web"), func(c *Component) { c.After = []Prerequisite{crashing(boom)} })},
		{"a rule of suspension", change(with("web", resource.Manage(secret("a"))), suspended)},
		{"a grace rule", change(with("web", resource.Manage(service)), func(c *Component) { c.Grace = time.Minute })},
		{"a missing observer", with("web", resource.Observe(secret("tls")))},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, owner := newCluster(t), newShop()
			env := c.env(noon)
			env.Owns = append(env.Owns, kinds["Secret"])
			env.Kinds = kind.Builtin().With(loud, judged)
			if tc.name == "a missing observer" {
				env.Observer = nil
			}
			c.put("web", config("stale"))
			owner.Status.Conditions = []metav1.Condition{{Type: "WebReady", Status: metav1.ConditionFalse, Reason: string(condition.OperationPending), LastTransitionTime: metav1.NewTime(noon.Add(-time.Hour))}}
			if tc.name == "a prerequisite" {
				clear(c.owned)
			}
			res := Run(t.Context(), env, owner, []Component{tc.in, with("other", resource.Manage(config("other")))})
			crash, ok := errors.AsType[*PanicError](res.Err)
			if !ok || crash.Component != "web" || len(crash.Stack) == 0 {
				t.Fatalf("the error is %v", res.Err)
			}
			if got := said(res.Reports[0]); !strings.HasPrefix(got, `False/Error: the code of component "web" panicked: `) {
				t.Errorf("web is %s", got)
			}
			if got := said(res.Reports[1]); got != "True/Healthy: Component is healthy." || res.Reports[1].Err != nil {
				t.Errorf("other is %s (%v)", got, res.Reports[1].Err)
			}
			if slices.ContainsFunc(c.calls, func(call string) bool { return strings.HasPrefix(call, "delete") }) {
				t.Errorf("a pass that panicked deleted: %q", c.calls)
			}
		})
	}
}

// crashing is a prerequisite that panics.
type crashing func()

func (c crashing) Met(Owner) (bool, string) { c(); return false, "" }

// The error of a pass names the component, keeps what can be told apart by type,
// and gathers what failed everywhere.
func TestRunErrors(t *testing.T) {
	c := newCluster(t)
	c.faults["apply ConfigMap a"] = errBoom
	c.faults["apply ConfigMap b"] = &condition.InvalidError{Field: "spec", Problem: "wrong"}
	c.faults["apply ConfigMap c"] = &condition.WaitError{Message: "soon", After: time.Minute}
	c.faults["apply ConfigMap d"] = errors.Join(errBoom, &condition.WaitError{Message: "soon", After: time.Second})
	var components []Component
	for _, name := range []string{"a", "b", "c", "d"} {
		components = append(components, with("x"+name, resource.Manage(config(name))))
	}
	res := Run(t.Context(), c.env(noon), newShop(), components)
	if got, want := text(res.Err), `component "xa": boom; component "xd": boom; soon`; got != want || !errors.Is(res.Err, errBoom) {
		t.Errorf("got %s, want %s", got, want)
	}
	if res.After != time.Minute {
		t.Errorf("look again in %s, want 1m", res.After)
	}
	for i, want := range []string{"False/Error: boom", "False/Invalid: spec: wrong", "False/Blocked: ConfigMap c: soon", "False/Error: boom; soon"} {
		if got := said(res.Reports[i]); got != want {
			t.Errorf("component %d is %s, want %s", i, got, want)
		}
	}
}

// Several waits of one resource are all told; the shortest says when to look again.
func TestRunGathersWaits(t *testing.T) {
	wait := func(after time.Duration, message string) error {
		return &condition.WaitError{Message: message, After: after}
	}
	c := newCluster(t)
	guard := func(*corev1.ConfigMap) error {
		return errors.Join(wait(time.Hour, "a key"), fmt.Errorf("looking around: %w", wait(time.Minute, "a lock")), wait(0, "a lock"))
	}
	res := Run(t.Context(), c.env(noon), newShop(), []Component{with("web", resource.Manage(config("a")).Guard(guard))})
	if got, want := said(res.Reports[0]), "False/Blocked: ConfigMap a: a key; a lock"; got != want || res.After != time.Minute {
		t.Errorf("got %s, to be looked at in %s; want %s", got, res.After, want)
	}
}

// A wait has a reason of its own if there is a word for it, and is an error if the
// word says something else.
func TestRunReasonsOfWaits(t *testing.T) {
	for _, tc := range []struct {
		reason condition.Reason
		want   string
	}{
		{"", "False/Blocked: ConfigMap a: soon"},
		{condition.OperationPending, "False/OperationPending: ConfigMap a: soon"},
		{condition.Healthy, "False/Error!: ConfigMap a: guard: soon"},
		{condition.Disabled, "False/Error!: ConfigMap a: guard: soon"},
		{condition.PrerequisiteNotMet, "False/Error!: ConfigMap a: guard: soon"},
		{condition.Down, "False/Error!: ConfigMap a: guard: soon"},
		{"Soonish", "False/Error!: ConfigMap a: guard: soon"},
	} {
		c := newCluster(t)
		aux := resource.Manage(config("a")).Auxiliary().Guard(func(*corev1.ConfigMap) error { return &condition.WaitError{Reason: tc.reason, Message: "soon"} })
		res := Run(t.Context(), c.env(noon), newShop(), []Component{with("web", aux)})
		r := res.Reports[0]
		if got := fmt.Sprintf("%s/%s%s: %s", r.Condition.Status, r.Condition.Reason, mark(r.Err, r.After), r.Condition.Message); got != tc.want {
			t.Errorf("a wait for the reason %q is %s, want %s", tc.reason, got, tc.want)
		}
	}
}

// reasoned is an error of a package above, which knows its reason.
type reasoned condition.Reason

func (r reasoned) Error() string                     { return "for a reason" }
func (r reasoned) ConditionReason() condition.Reason { return condition.Reason(r) }

// An error may know its reason, as far as that is one for an error.
func TestRunReasonsOfErrors(t *testing.T) {
	for reason, want := range map[condition.Reason]condition.Reason{
		condition.PermissionDenied: condition.PermissionDenied,
		condition.Conflict:         condition.Conflict,
		condition.FeatureGateError: condition.Error,
		condition.Healthy:          condition.Error,
		condition.Suspended:        condition.Error,
		"Fancy":                    condition.Error,
	} {
		c := newCluster(t)
		c.faults["apply ConfigMap a"] = fmt.Errorf("applying: %w", reasoned(reason))
		r := Run(t.Context(), c.env(noon), newShop(), []Component{with("web", resource.Manage(config("a")))}).Reports[0]
		if r.Condition.Status != metav1.ConditionFalse || r.Condition.Reason != string(want) || r.Err == nil {
			t.Errorf("an error for the reason %q is %s (%v), want %s", reason, said(r), r.Err, want)
		}
	}
}

// Nothing is judged by a pass that cannot begin.
func TestRunCannotBegin(t *testing.T) {
	for _, tc := range []struct {
		name string
		err  error
		want string
	}{
		{"it failed", errBoom, "False/Error!: boom"},
		{"it waits", &condition.WaitError{Message: "soon", After: time.Minute}, "False/Blocked (look again in 1m): soon"},
		{"the user has to act", &condition.InvalidError{Field: "spec", Problem: "wrong"}, "False/Invalid: spec: wrong"},
		{"the user, or time, has to act", errors.Join(&condition.InvalidError{Field: "spec", Problem: "wrong", After: time.Minute}, &condition.InvalidError{Field: "name", Problem: "bad", After: time.Hour}), "False/Invalid (look again in 1m): spec: wrong; name: bad"},
		{"a wait does not excuse a failure", errors.Join(&condition.WaitError{Message: "soon", After: time.Minute}, errBoom), "False/Error!: soon; boom"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, owner := newCluster(t), newShop()
			c.faults["owned"] = tc.err
			res := Run(t.Context(), c.env(noon), owner, []Component{with("web", resource.Manage(config("a")))})
			if got := fmt.Sprintf("%s/%s%s: %s", res.Ready.Status, res.Ready.Reason, mark(res.Err, res.After), res.Ready.Message); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			if len(c.calls) > 0 || res.Reports != nil || len(owner.Status.Conditions) != 1 {
				t.Errorf("something was done: %q, %v, %v", c.calls, res.Reports, owner.Status.Conditions)
			}
			if again := Failed(c.env(noon), owner, tc.err); again.Ready != res.Ready || again.After != res.After {
				t.Errorf("Failed says %v", again)
			}
		})
	}
}

// What was checked is what is applied: a mutation cannot make another object of it.
func TestRunKeepsIdentity(t *testing.T) {
	wipe := func(c *corev1.ConfigMap) error {
		*c = corev1.ConfigMap{ObjectMeta: c.ObjectMeta}
		return nil
	}
	for _, tc := range []struct {
		name   string
		mutate func(*corev1.ConfigMap) error
		want   string
	}{
		{"another name", func(c *corev1.ConfigMap) error { c.Name = "b"; return nil }, "False/Invalid: ConfigMap a: a mutation makes another object of it, shop/b; name the baseline as the object is to be named"},
		{"another namespace", func(c *corev1.ConfigMap) error { c.Namespace = "bank"; return nil }, "False/Invalid: ConfigMap a: a mutation makes another object of it, bank/a; name the baseline as the object is to be named"},
		{"its kind comes back", wipe, "True/Healthy: Component is healthy."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCluster(t)
			res := Run(t.Context(), c.env(noon), newShop(), []Component{with("web", mutate(tc.mutate))})
			if got := said(res.Reports[0]); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
			if sent := c.desired["ConfigMap a"]; sent != nil && sent.GetObjectKind().GroupVersionKind() != kinds["ConfigMap"] {
				t.Errorf("what was sent is a %s", sent.GetObjectKind().GroupVersionKind())
			}
		})
	}
}

// A pass begins with unset cells, and so with nothing of the pass before, whoever
// keeps its components.
func TestRunClearsCells(t *testing.T) {
	c, address := newCluster(t), resource.NewCell[string]("address")
	read := func(s *corev1.Secret) (string, bool) { v, ok := s.Annotations["address"]; return v, ok }
	components := []Component{with("web",
		resource.Observe(secret("a")).IgnoreIfAbsent().Extract(resource.Into(address, read)),
		resource.Manage(config("b")).MutateUsing("m", feature.Gate{}, resource.Using(address, func(c *corev1.ConfigMap, v string) error {
			c.Data = map[string]string{"address": v}
			return nil
		})),
	)}
	c.put("", c.overlay(secret("a"), `{"metadata":{"annotations":{"address":"10.0.0.1"}}}`))
	for _, want := range []string{"True/Healthy: Component is healthy.", `False/Blocked: ConfigMap b: waiting for data "address"`} {
		if got := said(Run(t.Context(), c.env(noon), newShop(), components).Reports[0]); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		clear(c.foreign)
	}
}

// The same pass again asks for the same and changes nothing.
func TestRunTwice(t *testing.T) {
	c, owner := newCluster(t), newShop()
	c.answers["Deployment web"] = `{"status":{"readyReplicas":1,"updatedReplicas":1,"replicas":1}}`
	components := []Component{with("web", resource.Manage(config("a")), resource.Manage(deployment("web"))), with("db", resource.Manage(config("b")))}
	first := Run(t.Context(), c.env(noon), owner, components)
	calls := c.takeCalls()
	before := slices.Clone(owner.Status.Conditions)
	second := Run(t.Context(), c.env(noon.Add(time.Hour)), owner, components)
	if diff := cmp.Diff(calls, c.takeCalls()); diff != "" {
		t.Errorf("the calls have changed:\n%s", diff)
	}
	if diff := cmp.Diff(before, owner.Status.Conditions); diff != "" {
		t.Errorf("the conditions have changed:\n%s", diff)
	}
	for i, r := range second.Reports {
		if len(r.Changes) > 0 || r.Condition != first.Reports[i].Condition {
			t.Errorf("%s changed %v", r.Name, r.Changes)
		}
	}
}

// Objects are labelled for the component that applies them, and the conditions are
// of the owner's generation.
func TestRunTellsWhose(t *testing.T) {
	c, owner := newCluster(t), newShop()
	owner.Generation = 7
	res := Run(t.Context(), c.env(noon), owner, []Component{with("web", resource.Manage(config("a"))), change(with("off"), func(c *Component) { c.Gate = never }), change(with("wrong"), func(c *Component) { c.Err = errBoom })})
	if got := c.owned[c.key(config("a"))].GetLabels()["armature.dev/component"]; got != "web" {
		t.Errorf("the object is of component %q", got)
	}
	for _, cond := range append(owner.Status.Conditions, res.Ready) {
		if cond.ObservedGeneration != 7 || cond.LastTransitionTime.Time != noon {
			t.Errorf("%s is of generation %d and %s", cond.Type, cond.ObservedGeneration, cond.LastTransitionTime)
		}
	}
}

// Whether a component has started is remembered where the owner has a place for it,
// and told by its objects where it has none.
func TestRunStarted(t *testing.T) {
	after := change(with("web", resource.Manage(config("a"))), func(c *Component) { c.After = []Prerequisite{DependsOn("DbReady")} })
	mark := func(started bool) *shop {
		s := newShop()
		s.Status.Components = []api.ComponentStatus{{Name: "db", Started: true}, {Name: "web", Started: started}}
		return s
	}
	up := newShop()
	up.Status.Conditions = []metav1.Condition{{Type: "DbReady", Status: metav1.ConditionTrue, Reason: "Healthy", ObservedGeneration: 1}}
	plain := func() *forgetful {
		return &forgetful{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "shop", Generation: 1}}
	}
	for _, tc := range []struct {
		name  string
		owner Owner
		of    string // the component of an object that exists
		want  bool
	}{
		{"nothing is known", newShop(), "", false},
		{"what it comes after is there", up, "", true},
		{"it has started before", mark(true), "", true},
		{"it has not started before", mark(false), "", false},
		{"an object of it exists", newShop(), "web", true},
		{"an object of another component exists", newShop(), "db", false},
		{"an owner without a place for it", plain(), "", false},
		{"whose component has an object", plain(), "web", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCluster(t)
			if tc.of != "" {
				c.put(tc.of, config("something"))
			}
			r := Run(t.Context(), c.env(noon), tc.owner, []Component{after}).Reports[0]
			if applied := slices.Contains(c.calls, "apply ConfigMap a"); applied != tc.want || r.Started != tc.want {
				t.Errorf("applied: %v, started: %v, want %v; %s", applied, r.Started, tc.want, said(r))
			}
		})
	}
}

func TestDependsOn(t *testing.T) {
	for _, tc := range []struct {
		name string
		have *metav1.Condition
		want string
	}{
		{"True and current", &metav1.Condition{Status: metav1.ConditionTrue, ObservedGeneration: 2}, ""},
		{"True and not being up is True, too", &metav1.Condition{Status: metav1.ConditionTrue, Reason: "Disabled", ObservedGeneration: 2}, ""},
		{"not there", nil, "waiting for condition DbReady, which is not there yet"},
		{"False", &metav1.Condition{Status: metav1.ConditionFalse, Message: "0 of 1 ready", ObservedGeneration: 2}, "waiting for condition DbReady to become True (currently False: 0 of 1 ready)"},
		{"Unknown", &metav1.Condition{Status: metav1.ConditionUnknown, Message: "who knows", ObservedGeneration: 2}, "waiting for condition DbReady to become True (currently Unknown: who knows)"},
		{"True of an older generation", &metav1.Condition{Status: metav1.ConditionTrue, ObservedGeneration: 1}, "waiting for condition DbReady to be judged anew after the last change"},
	} {
		owner := newShop()
		owner.Generation = 2
		if tc.have != nil {
			tc.have.Type = "DbReady"
			owner.Status.Conditions = []metav1.Condition{*tc.have}
		}
		ok, waiting := DependsOn("DbReady").Met(owner)
		if ok != (tc.want == "") || waiting != tc.want {
			t.Errorf("%s: %v, %q, want %q", tc.name, ok, waiting, tc.want)
		}
	}
}

// A rule of suspension that answers with nonsense, or cannot answer, is an error;
// what it was asked about does not count as suspended.
func TestSuspensionRules(t *testing.T) {
	rule := func(s kind.Suspension) *kind.Table {
		return kind.Builtin().With(kind.Kind{GVK: kinds["ConfigMap"], Suspend: s})
	}
	answer := func(reason condition.Reason, message string) func(object.Object) kind.State {
		return func(object.Object) kind.State { return kind.State{Reason: reason, Message: message} }
	}
	for _, tc := range []struct {
		name string
		rule kind.Suspension
		want string
	}{
		{"it rests", kind.Suspension{How: kind.Keep, Status: answer(condition.Suspended, "kept")}, "True/Suspended: All resources are suspended."},
		{"it is on its way", kind.Suspension{How: kind.Pause, Status: answer(condition.Suspending, "one to go")}, "False/Suspending: ConfigMap a: one to go"},
		{"it has not begun", kind.Suspension{How: kind.Pause, Status: answer(condition.PendingSuspension, "in a queue")}, "False/PendingSuspension: ConfigMap a: in a queue"},
		{"it cannot be told", kind.Suspension{How: kind.Pause, Status: answer(condition.Error, "not an object")}, "False/Error: ConfigMap a: not an object"},
		{"an unknown word", kind.Suspension{How: kind.Pause, Status: answer("Asleep", "")}, `False/Error: ConfigMap a: its suspension rule answers "Asleep", which is no state of an object; answer with a reason of package condition that is`},
		{"a word about something else", kind.Suspension{How: kind.Pause, Status: answer(condition.Healthy, "all is well")}, "False/Error: ConfigMap a: all is well"},
		{"it cannot be changed", kind.Suspension{How: kind.Pause, Mutate: func(object.Object) error { return errBoom }, Status: answer(condition.Suspended, "")}, "False/Error: suspending ConfigMap a: boom"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCluster(t)
			env := c.env(noon)
			env.Kinds = rule(tc.rule)
			res := Run(t.Context(), env, newShop(), []Component{{Name: "web", Condition: "WebReady", Suspend: true, Resources: []Resource{resource.Manage(config("a"))}}})
			if got := said(res.Reports[0]); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// The content mutations run before the one that brings to rest, and both from a
// fresh copy: nothing is applied twice.
func TestSuspensionRendersOnce(t *testing.T) {
	c := newCluster(t)
	grow := func(d *appsv1.Deployment) error {
		d.Spec.Replicas = new(int32(5))
		d.Spec.Template.Spec.Containers = append(d.Spec.Template.Spec.Containers, corev1.Container{Name: "web"})
		return nil
	}
	components := []Component{{Name: "web", Condition: "WebReady", Suspend: true, Resources: []Resource{
		resource.Manage(deployment("web")).Mutate("grow", feature.Gate{}, grow),
	}}}
	for range 2 {
		Run(t.Context(), c.env(noon), newShop(), components)
		sent := c.desired["Deployment web"].(*appsv1.Deployment)
		if n := len(sent.Spec.Template.Spec.Containers); *sent.Spec.Replicas != 0 || n != 1 {
			t.Errorf("%d replicas of %d containers were sent, want 0 of 1", *sent.Spec.Replicas, n)
		}
	}
}

// Without a clock the system's is used.
func TestSystemClock(t *testing.T) {
	c, owner := newCluster(t), newShop()
	env := c.env(noon)
	env.Now = nil
	before := time.Now()
	res := Run(t.Context(), env, owner, []Component{with("web")})
	if at := res.Ready.LastTransitionTime.Time; at.Before(before) || at.After(time.Now()) {
		t.Errorf("the condition is of %s", at)
	}
}

// A pass takes as long as its clock says.
func TestTook(t *testing.T) {
	c := newCluster(t)
	env := c.env(noon)
	now := noon
	env.Now = func() time.Time { now = now.Add(time.Second); return now }
	if r := Run(t.Context(), env, newShop(), []Component{with("web", resource.Manage(config("a")))}).Reports[0]; r.Took <= 0 || r.Took > time.Minute {
		t.Errorf("it took %s", r.Took)
	}
}

// An answer of another type than what was asked for is an error that says so.
func TestRunExtractsFromTheRightType(t *testing.T) {
	c := newCluster(t)
	res := Run(t.Context(), c.env(noon), newShop(), []Component{with("web", stranger{})})
	if got, want := said(res.Reports[0]), "False/Error: ConfigMap a: extracting data: boom"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// stranger is a resource that somebody else has written.
type stranger struct{}

func (stranger) Declaration() resource.Declaration {
	d := resource.Manage(config("a")).Declaration()
	d.Extract = func(object.Object) error { return errBoom }
	return d
}
