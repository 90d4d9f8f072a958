package component

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/feature"
	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/resource"
)

// config is a ConfigMap in the owner's namespace.
func config(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
}

func secret(name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
}

func in[T object.Object](namespace string, obj T) T {
	obj.SetNamespace(namespace)
	return obj
}

// with is a component of these resources.
func with(name string, resources ...Resource) Component {
	return Component{Name: name, Condition: strings.ToUpper(name[:1]) + name[1:] + "Ready", Resources: resources}
}

func change(c Component, f func(*Component)) Component {
	f(&c)
	return c
}

var (
	cell    = resource.NewCell[string]("address")
	another = resource.NewCell[string]("address")
	keep    = func(*corev1.ConfigMap) error { return nil }
	give    = resource.Into(cell, func(*corev1.ConfigMap) (string, bool) { return "", true })
	take    = resource.Using(cell, func(*corev1.ConfigMap, string) error { return nil })
	take2   = resource.Using(another, func(*corev1.ConfigMap, string) error { return nil })
	never   = feature.When(false)
	unread  = feature.Version("latest", "<2.0.0")
)

func producer(name string) *resource.Managed[*corev1.ConfigMap] {
	return resource.Manage(config(name)).Extract(give)
}

func consumer(name string) *resource.Managed[*corev1.ConfigMap] {
	return resource.Manage(config(name)).MutateUsing("use", feature.Gate{}, take)
}

var long = strings.Repeat("w", 64)

// noLabel is what is wrong with a label value, in the words of Kubernetes.
func noLabel(value string) string { return strings.Join(validation.IsValidLabelValue(value), "; ") }

// mistakes are the components that Validate refuses, each for one reason.
var mistakes = []struct {
	name       string
	components []Component
	want       string
}{
	{"a component without a name", []Component{{Condition: "WebReady"}}, "component 1: it has no name"},
	{"two of one name", []Component{with("web"), change(with("web"), func(c *Component) { c.Condition = "OtherReady" })}, `component "web": another component has this name`},
	{"a name that is no label value", []Component{with("web/1")}, `component "web/1": its name is no label value: ` + noLabel("web/1")},
	{"a name that is too long for one", []Component{with(long)}, `component "` + long + `": its name is no label value: ` + noLabel(long)},
	{"no condition type", []Component{{Name: "web"}}, `component "web": it has no condition type`},
	{"two of one condition type", []Component{with("web"), change(with("db"), func(c *Component) { c.Condition = "WebReady" })}, `component "db": component "web" has condition type WebReady too`},
	{"the condition type of the whole", []Component{{Name: "web", Condition: "Ready"}}, `component "web": condition type Ready is the sum of all components; name it after what the component does`},
	{"a negative grace period", []Component{change(with("web"), func(c *Component) { c.Grace = -time.Second })}, `component "web": its grace period is negative: -1s; 0 means no limit`},
	{"a nil prerequisite", []Component{change(with("web"), func(c *Component) { c.After = []Prerequisite{DependsOn("DbReady"), nil} })}, `component "web", prerequisite 2: it is nil`},

	{"a nil resource", []Component{with("web", resource.Manage(config("a")), nil)}, `component "web", resource 2: it is nil`},
	{"a nil object", []Component{with("web", resource.Manage((*corev1.ConfigMap)(nil)))}, `component "web", resource 1: its object is nil`},
	{"a nil pointer to a resource", []Component{with("web", (*resource.Observed[*corev1.Secret])(nil))}, `component "web", resource 1: its object is nil`},
	{"an object without a name", []Component{with("web", resource.Manage(config("")))}, `component "web", resource 1: the object has no name`},
	{"an object of no known type", []Component{with("web", resource.Manage(&metav1.PartialObjectMetadata{}))}, `component "web", resource 1: reading the kind of *v1.PartialObjectMetadata: the scheme does not know this type; register its API group (AddToScheme)`},
	{"an object twice in a component", []Component{with("web", resource.Manage(config("a")), resource.Manage(config("a")))}, `component "web", ConfigMap a: the component has two resources for this object`},
	{"in whatever way", []Component{with("web", resource.Manage(config("a")), resource.Remove(config("a")))}, `component "web", ConfigMap a: the component has two resources for this object`},
	{"also where it is only observed", []Component{with("web", resource.Observe(secret("a")), resource.Observe(secret("a")))}, `component "web", Secret a: the component has two resources for this object`},
	{"an object in two components", []Component{with("web", resource.Manage(config("a"))), with("db", resource.Manage(config("a")))}, `component "db", ConfigMap a: the object is in component "web" too; an object belongs to one component; the others may observe it`},
	{"managed here and removed there", []Component{with("web", resource.Manage(config("a"))), with("db", resource.Remove(config("a")))}, `component "db", ConfigMap a: the object is in component "web" too; an object belongs to one component; the others may observe it`},

	{"a kind that is not declared", []Component{with("web", resource.Manage(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a"}}))}, `component "web", Pod a: kind Pod (v1) is not declared; add it to operator.Kinds.Owns`},
	{"a kind that may only be read", []Component{with("web", resource.Manage(secret("a")))}, `component "web", Secret a: kind Secret (v1) is not declared; add it to operator.Kinds.Owns`},
	{"also to remove it", []Component{with("web", resource.Remove(secret("a")))}, `component "web", Secret a: kind Secret (v1) is not declared; add it to operator.Kinds.Owns`},
	{"also to let go of it", []Component{with("web", resource.Release(secret("a")))}, `component "web", Secret a: kind Secret (v1) is not declared; add it to operator.Kinds.Owns`},
	{"a kind that may not even be read", []Component{with("web", resource.Observe(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a"}}))}, `component "web", Pod a: kind Pod (v1) is not declared; add it to operator.Kinds.Reads`},
	{"an object in a foreign namespace", []Component{with("web", resource.Manage(in("bank", config("a"))))}, `component "web", ConfigMap a: it is in namespace "bank", and its owner in "shop"; set its namespace to "shop", or let it be tracked: resource.Manage(…).Tracked()`},
	{"also to observe it", []Component{with("web", resource.Observe(in("bank", secret("a"))))}, `component "web", Secret a: it is in namespace "bank", and its owner in "shop"; set its namespace to "shop"`},
	{"an object without a namespace", []Component{with("web", resource.Manage(in("", config("a"))))}, `component "web", ConfigMap a: it has no namespace; set its namespace to "shop"`},
	{"also to observe it, which needs one", []Component{with("web", resource.Observe(in("", secret("a"))))}, `component "web", Secret a: it has no namespace; set its namespace to "shop"`},
	{"a namespace where there is none", []Component{with("web", resource.Observe(in("shop", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}})))}, `component "web", Namespace a: it has namespace "shop", and its kind is cluster-scoped; leave its namespace empty`},

	{"a mutation without a function", []Component{with("web", resource.Manage(config("a")).Mutate("m", feature.Gate{}, nil))}, `component "web", ConfigMap a: mutation "m" has no function`},
	{"two mutations of one name", []Component{with("web", resource.Manage(config("a")).Mutate("m", feature.Gate{}, keep).Mutate("m", never, keep))}, `component "web", ConfigMap a: two mutations are named "m"`},
	{"a gate that cannot be read", []Component{with("web", resource.Manage(config("a")).GatedBy(unread))}, `component "web", ConfigMap a: comparing version "latest" with "<2.0.0": this is not a semantic version; write one such as 1.9.0 or v2.0.0-rc.1`},

	{"data that nobody extracts", []Component{with("web", consumer("b"))}, `component "web", ConfigMap b: it uses data "address", which no resource before it extracts`},
	{"a reader before its producer", []Component{with("web", consumer("b"), producer("a"))}, `component "web", ConfigMap b: it uses data "address", which no resource before it extracts`},
	{"a reader that is its own producer", []Component{with("web", consumer("a").Extract(give))}, `component "web", ConfigMap a: it uses data "address", which no resource before it extracts`},
	{"a producer that is off", []Component{with("web", producer("a").GatedBy(never), consumer("b"))}, `component "web", ConfigMap b: it uses data "address", which no resource before it extracts`},
	{"a producer in another component", []Component{with("db", producer("a")), with("web", consumer("b"))}, `component "web", ConfigMap b: it uses data "address", which no resource before it extracts`},
	{"two pieces of data of one name", []Component{with("web", producer("a"), resource.Manage(config("b")).Extract(resource.Into(another, func(*corev1.ConfigMap) (string, bool) { return "", true })))}, `component "web", ConfigMap b: two data cells are named "address"`},
	{"a nil cell", []Component{with("web", resource.Manage(config("a")).Extract(resource.Into((*resource.Cell[string])(nil), func(*corev1.ConfigMap) (string, bool) { return "", true })))}, `component "web", ConfigMap a: it names a data cell that is nil`},
	{"no cell at all", []Component{with("web", resource.Manage(config("a")).Extract(resource.Output[*corev1.ConfigMap]{}))}, `component "web", ConfigMap a: it names a data cell that is nil`},
}

// TestValidate makes every mistake on its own: it is refused in these words, shows
// in the owner's condition, and nothing is done, not even to what is right.
func TestValidate(t *testing.T) {
	for _, tc := range mistakes {
		t.Run(tc.name, func(t *testing.T) {
			c, owner := newCluster(t), newShop()
			env := c.env(noon)
			components := append([]Component{with("sound", resource.Manage(config("sound")), resource.Remove(config("old")))}, tc.components...)
			want := tc.want
			if strings.HasPrefix(want, "component 1:") {
				want = strings.Replace(want, "1", "2", 1)
			}
			err := Validate(env, owner, components)
			if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if !condition.IsInvalid(err) {
				t.Errorf("%T is not the user's to mend", err)
			}
			refused(t, c, owner, Run(t.Context(), env, owner, components), want)
		})
	}
}

// refused demands that a pass has done nothing but say why.
func refused(t *testing.T, c *cluster, owner *shop, res Result, want string) {
	t.Helper()
	if len(c.calls) > 0 || len(res.Reports) > 0 || len(res.Changes) > 0 {
		t.Errorf("something was done: %q, %v, %v", c.calls, res.Reports, res.Changes)
	}
	if res.Err != nil || res.After != 0 {
		t.Errorf("it is tried again (%v, %s), and nothing will have changed", res.Err, res.After)
	}
	got, ok := condition.Find(owner.Status.Conditions, Ready)
	if !ok || len(owner.Status.Conditions) != 1 || got != res.Ready {
		t.Errorf("the owner shows %v, and the result is %v", owner.Status.Conditions, res.Ready)
	}
	if got.Status != metav1.ConditionFalse || got.Reason != string(condition.Invalid) || got.Message != want || got.ObservedGeneration != 1 {
		t.Errorf("the condition is %s/%s@%d: %s", got.Status, got.Reason, got.ObservedGeneration, got.Message)
	}
}

// TestValidateAll makes all mistakes at once, and gets all the answers at once, and
// some more, for what all of them do to each other.
func TestValidateAll(t *testing.T) {
	c, owner := newCluster(t), newShop()
	var components []Component
	var want []string
	for _, tc := range mistakes {
		want = append(want, strings.Replace(tc.want, "component 1:", fmt.Sprintf("component %d:", len(components)+1), 1))
		components = append(components, tc.components...)
	}
	err := Validate(c.env(noon), owner, components)
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("the errors are not joined: %v", err)
	}
	said := map[string]bool{}
	for _, one := range joined.Unwrap() {
		invalid, ok := errors.AsType[*condition.InvalidError](one)
		if !ok || invalid.Field == "" || invalid.Problem == "" {
			t.Errorf("%#v does not say what is wrong with what", one)
		}
		said[one.Error()] = true
	}
	for _, text := range want {
		if !said[text] {
			t.Errorf("nobody says %s", text)
		}
	}
	refused(t, c, owner, Run(t.Context(), c.env(noon), owner, components), strings.ReplaceAll(err.Error(), "\n", "; "))
}

// What looks like a mistake and is none.
func TestValidateAccepts(t *testing.T) {
	cluster := func() *shop {
		s := newShop()
		s.Namespace = ""
		return s
	}
	ns := func(name string) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	for _, tc := range []struct {
		name       string
		owner      *shop
		components []Component
	}{
		{"nothing at all", newShop(), nil},
		{"a component without resources", newShop(), []Component{with("web")}},
		{"an object that two components observe", newShop(), []Component{with("web", resource.Observe(secret("a"))), with("db", resource.Observe(secret("a")))}},
		{"one that a component manages and another observes", newShop(), []Component{with("web", resource.Manage(config("a"))), with("db", resource.Observe(config("a")))}},
		{"and the other way around", newShop(), []Component{with("db", resource.Observe(config("a"))), with("web", resource.Manage(config("a")))}},
		{"two objects of one name", newShop(), []Component{with("web", resource.Manage(config("a")), resource.Observe(secret("a")))}},
		{"objects that are tracked, wherever they are", newShop(), []Component{with("web",
			resource.Manage(in("bank", config("a"))).Tracked(), resource.Manage(config("b")).Tracked(), resource.Remove(in("bank", config("c"))).Tracked(), resource.Release(in("bank", config("d"))).Tracked(),
		)}},
		{"a cluster-scoped object to look at", newShop(), []Component{with("web", resource.Observe(ns("a")))}},
		{"a cluster-scoped owner of anything", cluster(), []Component{with("web", resource.Observe(ns("a")), resource.Manage(config("a")), resource.Manage(in("bank", config("a"))))}},
		{"a reader after its producer", newShop(), []Component{with("web", producer("a"), consumer("b"), consumer("c"))}},
		{"a producer that is only observed", newShop(), []Component{with("web", resource.Observe(config("a")).Extract(give), consumer("b"))}},
		{"two producers of one cell", newShop(), []Component{with("web", producer("a"), producer("b"), consumer("c"))}},
		{"a reader that is off with its producer", newShop(), []Component{with("web", producer("a").GatedBy(never), consumer("b").GatedBy(never))}},
		{"a use of data that is off", newShop(), []Component{with("web", resource.Manage(config("a")).MutateUsing("m", never, take2))}},
		{"two cells of one name in two components", newShop(), []Component{
			with("web", producer("a"), consumer("b")),
			with("db", resource.Manage(config("c")).Extract(resource.Into(another, func(*corev1.ConfigMap) (string, bool) { return "", true }))),
		}},
		{"a mutation's gate that cannot be read, which only rendering tells", newShop(), []Component{with("web", resource.Manage(config("a")).Mutate("m", unread, keep))}},
		{"a component's gate that cannot be read, which its condition tells", newShop(), []Component{change(with("web"), func(c *Component) { c.Gate = unread })}},
		{"what a component is made of that could not be built", newShop(), []Component{change(with("web", nil, resource.Manage((*corev1.ConfigMap)(nil))), func(c *Component) { c.Err = errors.New("boom") })}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := Validate(newCluster(t).env(noon), tc.owner, tc.components); err != nil {
				t.Error(err)
			}
		})
	}
}

// A cluster-scoped owner cannot say in which namespace an object belongs, and an
// owner in a namespace can own nothing that is cluster-scoped.
func TestValidateScopes(t *testing.T) {
	c := newCluster(t)
	env := c.env(noon)
	env.Owns = append(env.Owns, kinds["Namespace"])
	nobody := &unstructured.Unstructured{}
	nobody.SetAPIVersion("example.com/v1")
	nobody.SetKind("Widget")
	nobody.SetName("a")
	env.Owns = append(env.Owns, nobody.GroupVersionKind())
	cluster := newShop()
	cluster.Namespace = ""
	for _, tc := range []struct {
		name  string
		owner *shop
		in    Resource
		want  string
	}{
		{"a namespace of its own", newShop(), resource.Manage(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}}), `component "web", Namespace a: it is cluster-scoped, and its owner is not, so that it cannot own it; observe it, leave it to a cluster-scoped owner, or let it be tracked: resource.Manage(…).Tracked()`},
		{"an object that has to be somewhere", cluster, resource.Manage(in("", config("a"))), `component "web", ConfigMap a: it has no namespace`},
		{"a kind of which nothing is known", newShop(), resource.Manage(nobody), `component "web", Widget a: it has no namespace, and its owner cannot own what is cluster-scoped; set its namespace to "shop", or let it be tracked: resource.Manage(…).Tracked()`},
		{"which may be fine elsewhere", cluster, resource.Manage(nobody), "<nil>"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := fmt.Sprint(Validate(env, tc.owner, []Component{with("web", tc.in)})); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}
