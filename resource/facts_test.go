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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/resource"
)

var (
	secretKind    = corev1.SchemeGroupVersion.WithKind("Secret")
	configKind    = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	namespaceKind = corev1.SchemeGroupVersion.WithKind("Namespace")
)

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	if err := corev1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return s
}

func in(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "shop", Name: name}
}

func secretKey(name string) object.Key {
	return object.Key{GVK: secretKind, Namespace: "shop", Name: name}
}

func TestFacts(t *testing.T) {
	known := map[object.Key]object.Object{
		secretKey("tls"):                        &corev1.Secret{Type: "there"},
		secretKey("none"):                       nil,
		secretKey("gone"):                       (*corev1.Secret)(nil),
		{GVK: namespaceKind, Name: "shop"}:      &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}},
		{GVK: secretKind, Name: "tls"}:          &corev1.Secret{Type: "of no namespace"},
		{GVK: configKind, Namespace: "shop"}:    &corev1.ConfigMap{},
		{GVK: secretKind, Namespace: "elsewhe"}: &corev1.Secret{},
	}
	size := len(known)
	facts := resource.NewFacts(scheme(t), known)
	secret := func(name string) string {
		s, ok := resource.Fact[*corev1.Secret](facts, in(name))
		if !ok {
			if s != nil {
				t.Errorf("%s: there is none, and yet there is %v", name, s)
			}
			return "none"
		}
		return string(s.Type)
	}
	for _, tc := range []struct {
		name    string
		ask     func() string
		want    string
		unknown string // after the question
	}{
		{"a known object is returned", func() string { return secret("tls") }, "there", ""},
		{"a known absence is an answer", func() string { return secret("none") }, "none", ""},
		{"a nil pointer says the same", func() string { return secret("gone") }, "none", ""},
		{"what is not known has to be found out", func() string { return secret("s3") }, "none", "v1/Secret/shop/s3"},
		{"asking twice does not make two questions", func() string { return secret("s3") }, "none", "v1/Secret/shop/s3"},
		{"no namespace means cluster-scoped", func() string {
			ns, ok := resource.Fact[*corev1.Namespace](facts, types.NamespacedName{Name: "shop"})
			return fmt.Sprint(ok && ns.Name == "shop")
		}, "true", "v1/Secret/shop/s3"},
		{"the kind is part of the question", func() string {
			_, ok := resource.Fact[*corev1.ConfigMap](facts, in("tls"))
			return fmt.Sprint(ok)
		}, "false", "v1/Secret/shop/s3 v1/ConfigMap/shop/tls"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.ask(); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			if got := join(facts.Unknown()); got != tc.unknown {
				t.Errorf("unknown is %s, want %s", got, tc.unknown)
			}
		})
	}
	const asked = "v1/Secret/shop/tls v1/Secret/shop/none v1/Secret/shop/gone v1/Secret/shop/s3 v1/Namespace/shop v1/ConfigMap/shop/tls"
	if got := join(facts.Asked()); got != asked {
		t.Errorf("asked was\n%s, want\n%s", got, asked)
	}
	facts.Asked()[0] = object.Key{}
	if join(facts.Asked()) != asked {
		t.Error("whoever looks at the questions can change them")
	}
	if facts.Err() != nil || len(known) != size {
		t.Errorf("error %v, and %d known objects of %d", facts.Err(), len(known), size)
	}
}

func join(keys []object.Key) string {
	var all []string
	for _, k := range keys {
		all = append(all, k.String())
	}
	return strings.Join(all, " ")
}

func TestFactsAreCopies(t *testing.T) {
	secret := &corev1.Secret{Data: map[string][]byte{"key": []byte("value")}}
	facts := resource.NewFacts(scheme(t), map[object.Key]object.Object{secretKey("tls"): secret})
	for range 2 {
		got, ok := resource.Fact[*corev1.Secret](facts, in("tls"))
		if !ok || string(got.Data["key"]) != "value" {
			t.Fatalf("got %v %v", got, ok)
		}
		got.Data["key"][0] = 'X'
		got.Data["more"] = nil
	}
	if string(secret.Data["key"]) != "value" || len(secret.Data) != 1 {
		t.Errorf("the fact has become %q", secret.Data)
	}
}

func TestFactsThatCannotBeAsked(t *testing.T) {
	for _, tc := range []struct {
		name string
		ask  func(*resource.Facts) bool
		want string
	}{
		{"a type of no scheme", func(f *resource.Facts) bool {
			_, ok := resource.Fact[*metav1.PartialObjectMetadata](f, in("x"))
			return ok
		}, `asking for fact "shop/x": reading the kind of *v1.PartialObjectMetadata: the scheme does not know this type; register its API group (AddToScheme)`},
		{"no type in particular", func(f *resource.Facts) bool {
			_, ok := resource.Fact[object.Object](f, in("x"))
			return ok
		}, `asking for fact "shop/x": reading the kind of an object: the object is nil`},
		{"an answer of another type", func(f *resource.Facts) bool {
			_, ok := resource.Fact[*corev1.Secret](f, in("untyped"))
			return ok
		}, `asking for fact "shop/untyped": the live object is a *unstructured.Unstructured, not a *v1.Secret`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			facts := resource.NewFacts(scheme(t), map[object.Key]object.Object{secretKey("untyped"): &unstructured.Unstructured{}})
			if tc.ask(facts) {
				t.Error("there is an answer")
			}
			first := facts.Err()
			if fmt.Sprint(first) != tc.want {
				t.Errorf("got  %v\nwant %s", first, tc.want)
			}
			resource.Fact[*metav1.PartialObjectMetadata](facts, in("later"))
			if !errors.Is(facts.Err(), first) {
				t.Error("a later error took the place of the first")
			}
		})
	}
}

// TestFactsLaws asks random questions: what is unknown was asked and is not known,
// and once it is known, nothing is unknown any more.
func TestFactsLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	s := scheme(t)
	for i := range 2_000 {
		known := map[object.Key]object.Object{}
		for n := range 5 {
			switch rng.IntN(3) {
			case 0:
				known[secretKey(fmt.Sprint(n))] = &corev1.Secret{}
			case 1:
				known[secretKey(fmt.Sprint(n))] = nil
			}
		}
		questions := make([]string, rng.IntN(8))
		for n := range questions {
			questions[n] = fmt.Sprint(rng.IntN(5))
		}
		ask := func() *resource.Facts {
			facts := resource.NewFacts(s, known)
			for _, q := range questions {
				_, ok := resource.Fact[*corev1.Secret](facts, in(q))
				if ok != (known[secretKey(q)] != nil) {
					t.Fatalf("run %d: %s is there: %v", i, q, ok)
				}
			}
			return facts
		}
		first := ask()
		for _, key := range first.Unknown() {
			if _, ok := known[key]; ok {
				t.Fatalf("run %d: %s is known", i, key)
			}
			known[key] = nil
		}
		second := ask()
		if left := second.Unknown(); len(left) > 0 {
			t.Fatalf("run %d: still unknown: %v", i, left)
		}
		if diff := cmp.Diff(first.Asked(), second.Asked()); diff != "" {
			t.Fatalf("run %d: the questions have changed:\n%s", i, diff)
		}
	}
}
