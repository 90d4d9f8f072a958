package operator_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/api"
	"github.com/armature-go/armature/armaturetest"
	"github.com/armature-go/armature/component"
	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/operator"
	"github.com/armature-go/armature/resource"
)

// thing is the custom resource of these tests.
type thing struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   thingSpec   `json:"spec,omitempty"`
	Status thingStatus `json:"status,omitempty"`
}

type thingSpec struct {
	Value string `json:"value,omitempty"`
}

type thingStatus struct {
	api.Status `json:",inline"`
}

func (x *thing) Conditions() *[]metav1.Condition { return &x.Status.Conditions }
func (x *thing) RuntimeStatus() *api.Status      { return &x.Status.Status }

func (x *thing) DeepCopyObject() runtime.Object {
	c := *x
	x.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	x.Status.Status.DeepCopyInto(&c.Status.Status)
	return &c
}

type thingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []thing `json:"items"`
}

func (l *thingList) DeepCopyObject() runtime.Object {
	c := *l
	c.Items = nil
	for _, x := range l.Items {
		c.Items = append(c.Items, *x.DeepCopyObject().(*thing))
	}
	return &c
}

// blunt is a kind whose conditions are not a list-map.
type blunt struct{ thing }

func (x *blunt) DeepCopyObject() runtime.Object {
	return &blunt{*x.thing.DeepCopyObject().(*thing)}
}

type bluntList struct{ thingList }

func (l *bluntList) DeepCopyObject() runtime.Object {
	return &bluntList{*l.thingList.DeepCopyObject().(*thingList)}
}

func addThings(scheme *runtime.Scheme) error {
	gv := schema.GroupVersion{Group: "test.armature.dev", Version: "v1"}
	scheme.AddKnownTypeWithName(gv.WithKind("Thing"), &thing{})
	scheme.AddKnownTypeWithName(gv.WithKind("ThingList"), &thingList{})
	scheme.AddKnownTypeWithName(gv.WithKind("Blunt"), &blunt{})
	scheme.AddKnownTypeWithName(gv.WithKind("BluntList"), &bluntList{})
	metav1.AddToGroupVersion(scheme, gv)
	return nil
}

type builder = func(*thing, *resource.Facts) ([]component.Component, error)

var configMaps = operator.Kinds{
	Owns:  []object.Object{&corev1.ConfigMap{}},
	Reads: []object.Object{&corev1.Secret{}},
}

// fixture is one operator in one namespace.
type fixture struct {
	*testing.T
	client.WithWatch

	cluster *armaturetest.Cluster
	ns      string
	name    string   // of the operator
	former  []string // names that it had before
}

// setUp makes a namespace on the shared server.
func setUp(t *testing.T) *fixture {
	t.Helper()
	t.Parallel()
	cluster := armaturetest.Server(t)
	cluster.InstallCRDs(t, os.DirFS("../testdata/crd"))
	ns := cluster.Namespace(t)
	return &fixture{T: t, WithWatch: cluster.Client(t, addThings), cluster: cluster, ns: ns, name: "op-" + ns}
}

// run runs an operator for things until the test ends.
func (f *fixture) run(kinds operator.Kinds, build builder) {
	f.Helper()
	f.runWith(kinds, build, func(*rest.Config) {})
}

// runWith is run with a change of how the operator reaches the server.
func (f *fixture) runWith(kinds operator.Kinds, build builder, change func(*rest.Config)) {
	f.Helper()
	f.Cleanup(f.startWith(kinds, build, change))
}

// start is run with the means to end the operator earlier.
func (f *fixture) start(kinds operator.Kinds, build builder) (stop func()) {
	f.Helper()
	return f.startWith(kinds, build, func(*rest.Config) {})
}

func (f *fixture) startWith(kinds operator.Kinds, build builder, change func(*rest.Config)) (stop func()) {
	f.Helper()
	cfg := f.cluster.Config()
	change(cfg)
	ctx, cancel := context.WithCancel(f.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- operator.Run(ctx, operator.Options{
			Name: f.name, Scheme: []func(*runtime.Scheme) error{addThings}, Controllers: []operator.Controller{operator.For(build, kinds)}, Former: f.former,
		}, operator.Settings{Config: cfg, Namespaces: []string{f.ns}, Resync: 500 * time.Millisecond})
	}()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			f.Errorf("the operator ended with: %v", err)
		}
	}
}

func (f *fixture) create(name, value string) *thing {
	f.Helper()
	x := &thing{ObjectMeta: metav1.ObjectMeta{Namespace: f.ns, Name: name}, Spec: thingSpec{Value: value}}
	if err := f.Create(f.Context(), x); err != nil {
		f.Fatal(err)
	}
	return x
}

// edit changes the value of a thing, whatever its status has become meanwhile.
func (f *fixture) edit(x *thing, value string) {
	f.Helper()
	base := x.DeepCopyObject().(*thing)
	x.Spec.Value = value
	if err := f.Patch(f.Context(), x, client.MergeFrom(base)); err != nil {
		f.Fatal(err)
	}
}

// wait waits until the condition of the thing reads as wanted: "Ready True Healthy",
// and in any text after that, its message contains it.
func (f *fixture) wait(name, want string) {
	f.Helper()
	words := strings.SplitN(want, " ", 4)
	armaturetest.Eventually(f, 20*time.Second, func() string {
		x := &thing{}
		if err := f.Get(f.Context(), client.ObjectKey{Namespace: f.ns, Name: name}, x); err != nil {
			return err.Error()
		}
		c, _ := condition.Find(x.Status.Conditions, words[0])
		got := fmt.Sprintf("%s %s %s %s", c.Type, c.Status, c.Reason, c.Message)
		if !strings.HasPrefix(got, strings.Join(words[:3], " ")+" ") || len(words) == 4 && !strings.Contains(c.Message, words[3]) || c.ObservedGeneration != x.Generation {
			return fmt.Sprintf("want %q, got %q (generation %d of %d)", want, got, c.ObservedGeneration, x.Generation)
		}
		return ""
	})
}

func (f *fixture) configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: f.ns, Name: name}}
}

// holding makes a component of one ConfigMap that holds the thing's value.
func holding(x *thing, name string) component.Component {
	return component.Component{Name: "store", Condition: "StoreReady", Resources: []component.Resource{
		resource.Manage(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: x.Namespace, Name: name}, Data: map[string]string{"value": x.Spec.Value}}),
	}}
}

// absent is a kind that no server knows.
type absent struct{ thing }

func (x *absent) DeepCopyObject() runtime.Object { return &absent{*x.thing.DeepCopyObject().(*thing)} }

func addAbsent(scheme *runtime.Scheme) error {
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "test.armature.dev", Version: "v1", Kind: "Absent"}, &absent{})
	return nil
}

func contains(s, part string) bool { return strings.Contains(s, part) }

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(m.Run())
}
