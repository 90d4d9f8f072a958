package resource_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/feature"
	"github.com/armature-go/armature/kind"
	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/resource"
)

var (
	on, off = feature.When(true), feature.When(false)
	broken  = feature.Version("latest", "<2.0.0")
	errBoom = errors.New("boom")
)

func settings(data ...string) *corev1.ConfigMap {
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "settings"}, Data: map[string]string{}}
	for _, key := range data {
		c.Data[key] = "base"
	}
	return c
}

// write notes the order in which mutations run, in the object itself.
func write(word string) func(*corev1.ConfigMap) error {
	return func(c *corev1.ConfigMap) error {
		c.Data["log"] = strings.TrimSpace(c.Data["log"] + " " + word)
		return nil
	}
}

func refuse(*corev1.ConfigMap) error { return errBoom }

// rendered is the log of the rendered object, or the error.
func rendered(m *resource.Managed[*corev1.ConfigMap]) string {
	obj, err := m.Declaration().Render()
	if err != nil {
		return err.Error()
	}
	return obj.(*corev1.ConfigMap).Data["log"]
}

func TestRender(t *testing.T) {
	unset, set := resource.NewCell[string]("host"), resource.NewCell[string]("host")
	set.Set("")
	host := func(c *corev1.ConfigMap, v string) error { return write(fmt.Sprintf("%q", v))(c) }
	const unreadable = `mutation "b": comparing version "latest" with "<2.0.0": this is not a semantic version; write one such as 1.9.0 or v2.0.0-rc.1`
	for _, tc := range []struct {
		name string
		in   *resource.Managed[*corev1.ConfigMap]
		want string
	}{
		{"without mutations it is the baseline", resource.Manage(settings("log")), "base"},
		{"mutations run in their order", resource.Manage(settings()).Mutate("b", on, write("1")).Mutate("a", on, write("2")), "1 2"},
		{"each sees what the one before left", resource.Manage(settings("log")).Mutate("a", on, write("1")), "base 1"},
		{"the zero gate is on", resource.Manage(settings()).Mutate("a", feature.Gate{}, write("1")), "1"},
		{"one that is off does not run", resource.Manage(settings()).Mutate("a", on, write("1")).Mutate("b", off, refuse).Mutate("c", on, write("3")), "1 3"},
		{"a gate that cannot be read is an error", resource.Manage(settings()).Mutate("a", on, write("1")).Mutate("b", broken, write("2")), unreadable},
		{"the first error ends it", resource.Manage(settings()).Mutate("a", on, refuse).Mutate("b", broken, write("2")), `mutation "a": boom`},
		{"an unset cell is waited for", resource.Manage(settings()).MutateUsing("a", on, resource.Using(unset, host)), `mutation "a": waiting for data "host"`},
		{"unless the mutation is off", resource.Manage(settings()).Mutate("a", on, write("1")).MutateUsing("b", off, resource.Using(unset, host)), "1"},
		{"an empty value is a value", resource.Manage(settings()).MutateUsing("a", on, resource.Using(set, host)), `""`},
		{"both kinds of mutation share one order", resource.Manage(settings()).MutateUsing("a", on, resource.Using(set, host)).Mutate("b", on, write("2")), `"" 2`},
		{"a missing function is an error", resource.Manage(settings()).Mutate("a", on, nil), `mutation "a": it has no function`},
		{"and so is one of a cell", resource.Manage(settings()).MutateUsing("a", on, resource.Using[*corev1.ConfigMap](set, nil)), `mutation "a": it has no function`},
		{"where it is off it is not missed", resource.Manage(settings("log")).Mutate("a", off, nil), "base"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := rendered(tc.in); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestRenderKeepsTheKindOfAnError(t *testing.T) {
	cell := resource.NewCell[string]("host")
	m := resource.Manage(settings()).MutateUsing("a", on, resource.Using(cell, func(*corev1.ConfigMap, string) error { return nil }))
	if _, err := m.Declaration().Render(); !condition.IsWait(err) {
		t.Errorf("%v is no wait", err)
	}
	m = resource.Manage(settings()).Mutate("a", on, func(*corev1.ConfigMap) error { return &condition.InvalidError{Field: "spec.size"} })
	if _, err := m.Declaration().Render(); !condition.IsInvalid(err) {
		t.Errorf("%v does not say that the user has to act", err)
	}
}

// TestRenderLaws renders random chains of mutations: rendering depends on nothing
// that was rendered before, changes no baseline, and what is off might as well not
// be there.
func TestRenderLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for i := range 5_000 {
		base := settings([]string{"log", "size"}[:rng.IntN(3)]...)
		before := base.DeepCopy()
		all, enabled := resource.Manage(base), resource.Manage(base)
		var want []string
		if base.Data["log"] != "" {
			want = append(want, "base")
		}
		for n := range rng.IntN(6) {
			name := fmt.Sprint("m", n)
			gate := []feature.Gate{on, off, {}, feature.Not(off)}[rng.IntN(4)]
			all.Mutate(name, gate, write(name))
			if isOn, _ := gate.Enabled(); isOn {
				enabled.Mutate(name, on, write(name))
				want = append(want, name)
			}
		}
		first, err := all.Declaration().Render()
		if err != nil {
			t.Fatal(err)
		}
		for law, m := range map[string]*resource.Managed[*corev1.ConfigMap]{"rendering again": all, "leaving out what is off": enabled} {
			again, err := m.Declaration().Render()
			if diff := cmp.Diff(first, again); diff != "" || err != nil {
				t.Fatalf("run %d: %s gives another object: %v\n%s", i, law, err, diff)
			}
		}
		if got := first.(*corev1.ConfigMap).Data["log"]; got != strings.Join(want, " ") {
			t.Fatalf("run %d: the order was %q, want %q", i, got, want)
		}
		first.SetName("changed")
		first.(*corev1.ConfigMap).Data["log"] = "changed"
		if diff := cmp.Diff(before, base); diff != "" {
			t.Fatalf("run %d: the baseline has changed:\n%s", i, diff)
		}
	}
}

func TestGuard(t *testing.T) {
	base := settings()
	spoil := func(c *corev1.ConfigMap) error {
		c.Data["log"] = "spoilt"
		return nil
	}
	look := func(c *corev1.ConfigMap) error {
		if c.Data["log"] != "" {
			return errors.New("it got an object that somebody changed")
		}
		return nil
	}
	for _, tc := range []struct {
		name string
		in   *resource.Managed[*corev1.ConfigMap]
		want string
	}{
		{"none lets pass", resource.Manage(base), "<nil>"},
		{"each gets a copy of its own", resource.Manage(base).Guard(spoil).Guard(look), "<nil>"},
		{"it sees the baseline, not the mutations", resource.Manage(base).Mutate("a", on, write("1")).Guard(look), "<nil>"},
		{"the first that objects decides", resource.Manage(base).Guard(look).Guard(refuse).Guard(func(*corev1.ConfigMap) error { return errors.New("late") }), "boom"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := fmt.Sprint(tc.in.Declaration().Guard()); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
	if len(base.Data) > 0 {
		t.Errorf("the baseline has changed: %v", base.Data)
	}
}

func TestExtract(t *testing.T) {
	live := settings("size")
	size := func(c *corev1.ConfigMap) (string, bool) {
		v, ok := c.Data["size"]
		delete(c.Data, "size")
		return v, ok
	}
	a, b, none := resource.NewCell[string]("a"), resource.NewCell[string]("b"), resource.NewCell[string]("none")
	d := resource.Manage(settings()).Extract(
		resource.Into(a, size),
		resource.Into(b, size), // sees a copy of its own
		resource.Into(none, func(*corev1.ConfigMap) (string, bool) { return "ignored", false }),
	).Declaration()
	if err := d.Extract(live); err != nil {
		t.Fatal(err)
	}
	if !a.IsSet() || !b.IsSet() || none.IsSet() {
		t.Errorf("set are %v %v %v, want true true false", a.IsSet(), b.IsSet(), none.IsSet())
	}
	if live.Data["size"] != "base" {
		t.Error("extracting changed the live object")
	}
	if got, want := fmt.Sprint(d.Extract(&corev1.Secret{})), "the live object is a *v1.Secret, not a *v1.ConfigMap"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestHealth(t *testing.T) {
	rule := func(c *corev1.ConfigMap, op object.Op) kind.State {
		c.Data["seen"] = "yes"
		return kind.State{Reason: condition.Healthy, Message: string(op)}
	}
	live := settings()
	d := resource.Manage(settings()).Health(rule).Declaration()
	if got, want := d.Health(live, object.OpCreated), (kind.State{Reason: condition.Healthy, Message: "created"}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if len(live.Data) > 0 {
		t.Error("the rule changed the live object")
	}
	if got := d.Health(&corev1.Secret{}, object.OpNone); got.Reason != condition.Error || !strings.Contains(got.Message, "*v1.Secret") {
		t.Errorf("an object of another type is judged %v", got)
	}
	if resource.Manage(settings()).Health(rule).Health(nil).Declaration().Health != nil {
		t.Error("nil does not bring the rule of the kind back")
	}
}

// TestDeclaration pins what each of the four says about itself.
func TestDeclaration(t *testing.T) {
	base, cell := settings(), resource.NewCell[string]("size")
	size := resource.Into(cell, func(*corev1.ConfigMap) (string, bool) { return "", true })
	use := resource.Using(cell, func(*corev1.ConfigMap, string) error { return nil })
	for _, tc := range []struct {
		name string
		in   resource.Resource
		want string
	}{
		{"a managed object counts and is on", resource.Manage(base), "manage required, gate on: renders"},
		{"auxiliary", resource.Manage(base).Auxiliary(), "manage auxiliary, gate on: renders"},
		{"all of several gates must be on", resource.Manage(base).GatedBy(on).GatedBy(off), "manage required, gate off: renders"},
		{"in any order", resource.Manage(base).GatedBy(off).GatedBy(on), "manage required, gate off: renders"},
		{"a gate that cannot be read is neither on nor off", resource.Manage(base).GatedBy(on).GatedBy(broken), "manage required, gate broken: renders"},
		{"mutations are listed, also those that are off", resource.Manage(base).Mutate("a", on, refuse).Mutate("b", off, refuse), "manage required, gate on: renders a+ b-"},
		{"it reads what its mutations use", resource.Manage(base).MutateUsing("a", on, use), "manage required, gate on: renders a+ reads size"},
		{"also where it is not known whether they run", resource.Manage(base).MutateUsing("a", broken, use), "manage required, gate on: renders a! reads size"},
		{"but not what one uses that is off", resource.Manage(base).MutateUsing("a", off, use), "manage required, gate on: renders a-"},
		{"it writes what it extracts", resource.Manage(base).Extract(size), "manage required, gate on: renders writes size"},
		{"an observed object must exist", resource.Observe(base), "observe required, gate on: absence fails"},
		{"or is waited for", resource.Observe(base).BlockOnAbsence(), "observe required, gate on: absence blocks"},
		{"or may be missing", resource.Observe(base).IgnoreIfAbsent().Extract(size), "observe required, gate on: absence ignored writes size"},
		{"the last word on absence counts", resource.Observe(base).IgnoreIfAbsent().BlockOnAbsence(), "observe required, gate on: absence blocks"},
		{"it is tracked", resource.Manage(base).Tracked().Tracked(), "manage required, gate on: renders tracked"},
		{"it is shared", resource.Manage(base).Shared(), "manage required, gate on: renders shared"},
		{"what is removed may be tracked", resource.Remove(base).Tracked(), "remove required, gate on: tracked"},
		{"and what is released", resource.Release(base).Tracked(), "release required, gate on: tracked"},
		{"a removed object is only named", resource.Remove(base), "remove required, gate on:"},
		{"and so is a released one", resource.Release(base), "release required, gate on:"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := tc.in.Declaration()
			if got := describe(d); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
			if d.Object != object.Object(base) || len(d.Problems) > 0 {
				t.Errorf("it is about %v and has problems %q", d.Object, d.Problems)
			}
			if got := describe(tc.in.Declaration()); got != tc.want {
				t.Errorf("asked again it says %s", got)
			}
		})
	}
}

// state writes what a gate says as one sign.
func state(g feature.Gate) string {
	switch isOn, err := g.Enabled(); {
	case err != nil:
		return "!"
	case isOn:
		return "+"
	default:
		return "-"
	}
}

func describe(d resource.Declaration) string {
	words := []string{fmt.Sprintf("%s %s, gate %s:", d.Mode, d.Participation, map[string]string{"+": "on", "-": "off", "!": "broken"}[state(d.Gate)])}
	if d.Absence != "" {
		words = append(words, "absence "+string(d.Absence))
	}
	if d.Render != nil && d.Guard != nil {
		words = append(words, "renders")
	}
	if d.Ownership != object.Controlled {
		words = append(words, string(d.Ownership))
	}
	for _, m := range d.Mutations {
		words = append(words, m.Name+state(m.Gate))
	}
	for _, c := range d.Reads {
		words = append(words, "reads "+c.Name())
	}
	for _, c := range d.Writes {
		words = append(words, "writes "+c.Name())
	}
	return strings.Join(words, " ")
}

func TestProblems(t *testing.T) {
	cell := resource.NewCell[string]("size")
	use := resource.Using(cell, func(*corev1.ConfigMap, string) error { return nil })
	for _, tc := range []struct {
		name string
		in   resource.Resource
		want []string
	}{
		{"a mutation without a function", resource.Manage(settings()).Mutate("a", on, nil), []string{`mutation "a" has no function`}},
		{"also where it is off", resource.Manage(settings()).Mutate("a", off, nil), []string{`mutation "a" has no function`}},
		{"a change without a function", resource.Manage(settings()).MutateUsing("a", on, resource.Using[*corev1.ConfigMap](cell, nil)), []string{`mutation "a" has no function`}},
		{"a mutation without a name", resource.Manage(settings()).Mutate("", on, write("1")), []string{"a mutation has no name"}},
		{"two of one name", resource.Manage(settings()).Mutate("a", on, write("1")).MutateUsing("a", on, use), []string{`two mutations are named "a"`}},
		{"also where they exclude each other", resource.Manage(settings()).Mutate("a", on, write("1")).Mutate("a", off, write("2")), []string{`two mutations are named "a"`}},
		{"a change of no cell", resource.Manage(settings()).MutateUsing("a", on, resource.Using((*resource.Cell[string])(nil), func(*corev1.ConfigMap, string) error { return nil })), []string{`mutation "a" uses no cell`}},
		{"no change at all", resource.Manage(settings()).MutateUsing("a", on, resource.Change[*corev1.ConfigMap]{}), []string{`mutation "a" uses no cell`}},
		{"a guard without a function", resource.Manage(settings()).Guard(nil), []string{"a guard has no function"}},
		{"an output without a function", resource.Manage(settings()).Extract(resource.Into[*corev1.ConfigMap](cell, nil)), []string{`no function extracts data "size"`}},
		{"an observed one too", resource.Observe(settings()).Extract(resource.Into[*corev1.ConfigMap](cell, nil)), []string{`no function extracts data "size"`}},
		{"two ownerships", resource.Manage(settings()).Shared().Tracked(), []string{"it is both shared and tracked"}},
		{"all at once", resource.Manage(settings()).Mutate("", on, nil).Guard(nil), []string{"a mutation has no name", `mutation "" has no function`, "a guard has no function"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.in.Declaration().Problems); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// A nil object and a nil pointer are one mistake, which is found by its Object
// being nil; nothing panics before that.
func TestNil(t *testing.T) {
	var missing *corev1.ConfigMap
	var nothing object.Object
	for name, r := range map[string]resource.Resource{
		"manage nil pointer":   resource.Manage(missing).Mutate("a", on, write("1")).Guard(refuse).Auxiliary(),
		"manage nil interface": resource.Manage(nothing),
		"observe nil pointer":  resource.Observe(missing).BlockOnAbsence(),
		"remove nil pointer":   resource.Remove(missing),
		"release nil pointer":  resource.Release(missing),
		"nil Managed":          (*resource.Managed[*corev1.ConfigMap])(nil),
		"nil Observed":         (*resource.Observed[*corev1.ConfigMap])(nil),
		"nil Removed":          (*resource.Removed[*corev1.ConfigMap])(nil),
		"nil Released":         (*resource.Released[*corev1.ConfigMap])(nil),
	} {
		if d := r.Declaration(); d.Object != nil || d.Mode == "" || d.Render != nil {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// stray copies itself as something else.
type stray struct{ corev1.ConfigMap }

func (*stray) DeepCopyObject() runtime.Object { return &corev1.Secret{} }

func TestACopyOfAnotherType(t *testing.T) {
	d := resource.Manage(&stray{}).Guard(func(*stray) error { return nil }).Declaration()
	_, err := d.Render()
	for _, err := range []error{err, d.Guard()} {
		if want := "copying *resource_test.stray: its DeepCopyObject returns another type"; fmt.Sprint(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A mistake in the rendered object is traced to the step that made it.
func TestOriginNamesTheStep(t *testing.T) {
	env := func(name, value string) func(*corev1.Pod) error {
		return func(p *corev1.Pod) error {
			c := &p.Spec.Containers[0]
			c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: value})
			return nil
		}
	}
	first := func(p *corev1.Pod) error {
		c := &p.Spec.Containers[0]
		c.Env = append([]corev1.EnvVar{{Name: "FIRST"}}, c.Env...)
		return nil
	}
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Env: []corev1.EnvVar{{Name: "MODE", Value: "a"}}}}}}
	m := resource.Manage(pod).
		Mutate("twice", on, env("MODE", "a")).
		Mutate("off", off, env("MODE", "z")).
		Mutate("override", on, env("MODE", "b")).
		Mutate("in front", on, first)
	for path, want := range map[string]string{
		"spec.containers[0].env[0]":      `mutation "in front"`,
		"spec.containers[0].env[1]":      "the baseline",
		"spec.containers[0].env[2]":      `mutation "twice"`,
		"spec.containers[0].env[3]":      `mutation "override"`,
		"spec.containers[0].name":        "the baseline",
		"spec.containers[0].env[4]":      "",
		"spec.containers[9].env[0].name": "",
		"spec.hostname":                  "",
	} {
		if got := m.Declaration().Origin(path); got != want {
			t.Errorf("%s is from %q, want %q", path, got, want)
		}
	}
}
