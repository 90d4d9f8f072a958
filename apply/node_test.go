package apply

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	kresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/armature-go/armature/object"
)

// kinds are the kinds of the laws.
var kinds = []object.Object{
	&appsv1.Deployment{}, &appsv1.StatefulSet{}, &appsv1.DaemonSet{}, &batchv1.Job{}, &batchv1.CronJob{}, &corev1.Pod{},
	&corev1.Service{}, &corev1.ConfigMap{}, &corev1.Secret{}, &corev1.ServiceAccount{}, &corev1.PersistentVolumeClaim{},
	&corev1.Namespace{}, &corev1.Event{}, &policyv1.PodDisruptionBudget{}, &networkingv1.Ingress{}, &networkingv1.NetworkPolicy{},
	&autoscalingv2.HorizontalPodAutoscaler{}, &rbacv1.Role{}, &rbacv1.RoleBinding{},
}

// law runs a check with random objects of every kind.
func law(t *testing.T, check func(t *testing.T, rng *rand.Rand, obj object.Object)) {
	t.Helper()
	for _, like := range kinds {
		t.Run(reflect.TypeOf(like).Elem().Name(), func(t *testing.T) {
			for seed := range uint64(150) {
				rng := rand.New(rand.NewPCG(seed, 7))
				obj := reflect.New(reflect.TypeOf(like).Elem()).Interface().(object.Object)
				random(rng, reflect.ValueOf(obj).Elem(), 0)
				check(t, rng, obj)
				if t.Failed() {
					t.Fatalf("at seed %d", seed)
				}
			}
		})
	}
}

// forms are an object as the converter makes a tree of it, and as a server sends it.
func forms(t *testing.T, obj any) map[string]map[string]any {
	t.Helper()
	converted, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]map[string]any{"converted": converted, "sent": sent(t, obj).(map[string]any)}
}

func sent(t *testing.T, obj any) (tree any) {
	t.Helper()
	raw, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	if err := utiljson.Unmarshal(raw, &tree); err != nil {
		t.Fatal(err)
	}
	return tree
}

func compiled(t *testing.T, claims map[string]any) *program {
	t.Helper()
	raw, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	p, err := compile(raw)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What is remembered of an unstructured answer holds for a typed cache.
func TestBothFormsOfAnObjectReadTheSame(t *testing.T) {
	exact := map[bool]int{}
	law(t, func(t *testing.T, rng *rand.Rand, obj object.Object) {
		t.Helper()
		for name, tree := range forms(t, obj) {
			if digest(obj) != digest(tree) {
				t.Errorf("%s: another digest of the whole", name)
			}
			if contentHash(nodeOf(obj)) != contentHash(treeNode(tree)) {
				t.Errorf("%s: another digest of the content", name)
			}
			owned := someOf(rng, tree)
			p := compiled(t, owned)
			if p.of("").project(nodeOf(obj)) != p.of("").project(treeNode(tree)) {
				t.Errorf("%s: another projection of %v", name, owned)
			}
			for _, desired := range []any{restricted(owned, tree), restricted(owned, changed(rng, tree)), tree} {
				verdict := p.of("").exact(desired, treeNode(tree))
				if p.of("").exact(desired, nodeOf(obj)) != verdict {
					t.Errorf("%s: exact is another for %v", name, owned)
				}
				exact[verdict]++
				if p.of("").unresolved(desired, nodeOf(obj)) != p.of("").unresolved(desired, treeNode(tree)) {
					t.Errorf("%s: another field is unresolved for %v", name, owned)
				}
			}
		}
	})
	if exact[true] < 1000 || exact[false] < 1000 {
		t.Errorf("%d were exact and %d were not", exact[true], exact[false])
	}
}

// A change is seen in the projection where it is of what is owned, and only there.
func TestTheProjectionShowsWhatIsOwnedAndNothingElse(t *testing.T) {
	seen := map[bool]int{}
	for _, like := range kinds {
		for seed := range uint64(200) {
			rng := rand.New(rand.NewPCG(seed, 8))
			obj := reflect.New(reflect.TypeOf(like).Elem()).Interface().(object.Object)
			random(rng, reflect.ValueOf(obj).Elem(), 0)
			before := sent(t, obj).(map[string]any)
			owned := someOf(rng, before)
			after := changed(rng, before)
			other := reflect.New(reflect.TypeOf(like).Elem()).Interface().(object.Object)
			if runtime.DefaultUnstructuredConverter.FromUnstructured(after, other) != nil {
				continue // what was changed is not free, such as a time
			}
			after = sent(t, other).(map[string]any)
			p := compiled(t, owned)
			if p.opaque {
				t.Fatalf("%T %d: the program of %v is opaque", like, seed, owned)
			}
			same := reflect.DeepEqual(restricted(owned, before), restricted(owned, after))
			if got := p.of("").project(nodeOf(obj)) == p.of("").project(nodeOf(other)); got != same {
				t.Fatalf("%T %d: the projection is the same: %t, what is owned is the same: %t", like, seed, got, same)
			}
			seen[same]++
		}
	}
	if seen[true] < 200 || seen[false] < 200 {
		t.Errorf("of the changes %d were of what is owned and %d were not", seen[false], seen[true])
	}
}

type (
	embedded struct {
		Name  string `json:"name"`
		Inner int    `json:"inner,omitempty"`
	}
	pointed struct {
		Far string `json:"far"`
	}
	byPointer struct{ n int }
	quiet     struct{ N int }
	odd       struct {
		embedded `json:",inline"`
		*pointed

		Own     string `json:"name"` // hides the embedded one
		NoTag   int
		Dash    string              `json:"-"`
		Named   embedded            `json:"named"`
		Any     any                 `json:"any"`
		Bytes   []byte              `json:"bytes"`
		Few     [2]int              `json:"few"`
		Small   float32             `json:"small"`
		Whole   float64             `json:"whole"`
		Big     uint64              `json:"big"`
		ByInt   map[int]string      `json:"byInt"`
		ByKind  map[metav1.Time]int `json:"-"`
		Address netip.Addr          `json:"address"`
		Pointer byPointer           `json:"pointer"`
		Quiet   quiet               `json:"quiet,omitzero"`
		Zero    metav1.Time         `json:"zero,omitzero"`
		ZeroAt  *metav1.Time        `json:"zeroAt,omitzero"`
		ZeroInt *int                `json:"zeroInt,omitzero"`
		Empty   quiet               `json:"empty,omitempty"`
		Took    metav1.Duration     `json:"took"`
		Micro   metav1.MicroTime    `json:"micro"`
		Raw     json.RawMessage     `json:"raw"`
		Ports   map[string]intstr.IntOrString
		Sizes   corev1.ResourceList
		Lists   [][]*string
		Nested  map[string]map[string]string
		Kind    map[string]corev1.Protocol
		hidden  string
	}
)

func (p *byPointer) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, `{"n":%d}`, p.n), nil }

func (q quiet) IsZero() bool { return q.N < 2 }

// Go values that built-in kinds have not, and their users may have.
func TestGoValuesReadAsTheirJSON(t *testing.T) {
	now := metav1.NewTime(time.Unix(1e9, 0))
	full := odd{
		embedded: embedded{"hidden", 1}, pointed: &pointed{"far"}, Own: "own", NoTag: 1, Dash: "x", Named: embedded{Name: "n"},
		Any: []any{1, int32(2), 2.5, nil, map[string]string{"k": "v"}}, Bytes: []byte("bytes"), Few: [2]int{1, 2}, Small: 0.1, Whole: 3, Big: math.MaxUint64,
		ByInt: map[int]string{1: "x"}, Address: netip.MustParseAddr("::1"), Pointer: byPointer{1}, Quiet: quiet{2},
		Zero: now, ZeroAt: &now, ZeroInt: new(0), Took: metav1.Duration{Duration: time.Minute}, Micro: metav1.NewMicroTime(now.Time), Raw: json.RawMessage(`{"a":[1,1.5]}`),
		Ports: map[string]intstr.IntOrString{"a": intstr.FromInt32(1), "b": intstr.FromString("http")},
		Sizes: corev1.ResourceList{corev1.ResourceCPU: kresource.MustParse("1500m")}, Lists: [][]*string{{new("x")}, {nil}, nil, {}},
		Nested: map[string]map[string]string{"a": {"b": "c"}, "n": nil}, Kind: map[string]corev1.Protocol{"a": corev1.ProtocolTCP}, hidden: "x",
	}
	for name, value := range map[string]*odd{"full": &full, "zero": {}, "blank": {Any: []string{}, Bytes: []byte{}, Quiet: quiet{1}, ZeroAt: &metav1.Time{}}} {
		t.Run(name, func(t *testing.T) {
			want, _ := sent(t, value).(map[string]any)
			if got, _ := plain(goNode(value)).(map[string]any); !reflect.DeepEqual(got, plain(treeNode(want))) {
				t.Errorf("got  %v\nwant %v", got, plain(treeNode(want)))
			}
			for _, name := range []string{"name", "inner", "far", "NoTag", "quiet", "hidden", "Dash", "byInt"} {
				if !reflect.DeepEqual(plain(goNode(value).field(name)), plain(treeNode(want[name]))) {
					t.Errorf("field %s: got %v, want %v", name, plain(goNode(value).field(name)), want[name])
				}
			}
		})
	}
}

// plain is the tree of a node.
func plain(n node) any {
	switch n.kind {
	case mapping:
		m := map[string]any{}
		for name, sub := range n.fields() {
			m[name] = plain(sub)
		}
		return m
	case sequence:
		l := []any{}
		for i := range n.len() {
			l = append(l, plain(n.item(i)))
		}
		return l
	case null:
		return nil
	default:
		return fmt.Sprint(string(rune(n.kind)), n.text, n.number)
	}
}

// What cannot be written as JSON is like nothing that a server says.
func TestWhatCannotBeReadIsLikeNothing(t *testing.T) {
	for _, value := range []any{make(chan int), func() {}, complex(1, 1), intstr.IntOrString{Type: 7}, json.RawMessage("{"), &runtime.RawExtension{Raw: []byte("{")}} {
		if n := goNode(value); n.kind != unreadable {
			t.Errorf("%T reads as %q", value, n.kind)
		}
	}
}

// A typed object that was read as protobuf has lost the kind of the objects in it.
func TestKindsOfNestedObjectsDoNotCount(t *testing.T) {
	set := &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}}}
	tree := sent(t, set).(map[string]any)
	claim := tree["spec"].(map[string]any)["volumeClaimTemplates"].([]any)[0].(map[string]any)
	claim["apiVersion"], claim["kind"] = "v1", "PersistentVolumeClaim"
	claim["metadata"].(map[string]any)["creationTimestamp"] = nil // as older servers say
	p := compiled(t, map[string]any{"f:spec": map[string]any{"f:volumeClaimTemplates": map[string]any{}}})
	if p.of("").project(nodeOf(set)) != p.of("").project(treeNode(tree)) || contentHash(nodeOf(set)) != contentHash(treeNode(tree)) {
		t.Error("the typed object reads differently from what the server said")
	}
	if !p.of("").exact(map[string]any{"spec": map[string]any{"volumeClaimTemplates": []any{claim}}}, nodeOf(set)) {
		t.Error("the typed object is not exact")
	}
	claim["metadata"].(map[string]any)["name"] = "other"
	if p.of("").project(nodeOf(set)) == p.of("").project(treeNode(tree)) {
		t.Error("another claim has the same projection")
	}
}
