package object_test

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-go/armature/object"
)

func named(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

func TestKeyOf(t *testing.T) {
	widget := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "acme.dev/v1", "kind": "Widget", "metadata": map[string]any{"name": "w"}}}
	claimed := &corev1.Secret{ObjectMeta: named("shop", "tls"), TypeMeta: metav1.TypeMeta{APIVersion: "acme.dev/v1", Kind: "Secret"}}
	halfTyped := &corev1.Secret{ObjectMeta: named("shop", "tls"), TypeMeta: metav1.TypeMeta{Kind: "Secret"}}
	var typedNil *corev1.Secret

	twice := runtime.NewScheme()
	twice.AddKnownTypeWithName(schema.GroupVersionKind{Group: "a.dev", Version: "v1", Kind: "Secret"}, &corev1.Secret{})
	twice.AddKnownTypeWithName(schema.GroupVersionKind{Group: "b.dev", Version: "v1", Kind: "Secret"}, &corev1.Secret{})

	for _, tc := range []struct {
		name   string
		scheme *runtime.Scheme
		obj    object.Object
		want   string // key | short, or the error
	}{
		{"a typed object gets its kind from the scheme", scheme, &appsv1.Deployment{ObjectMeta: named("shop", "web")}, "apps/v1/Deployment/shop/web | Deployment web"},
		{"the core group has no name", scheme, &corev1.ConfigMap{ObjectMeta: named("shop", "settings")}, "v1/ConfigMap/shop/settings | ConfigMap settings"},
		{"a cluster-scoped object has no namespace", scheme, &corev1.Namespace{ObjectMeta: named("", "shop")}, "v1/Namespace/shop | Namespace shop"},
		{"an unstructured object needs no scheme", nil, widget, "acme.dev/v1/Widget/w | Widget w"},
		{"what the object says of itself wins", scheme, claimed, "acme.dev/v1/Secret/shop/tls | Secret tls"},
		{"half a kind is none", scheme, halfTyped, "v1/Secret/shop/tls | Secret tls"},
		{"nil has no kind", scheme, nil, "the object is nil"},
		{"a nil pointer has none either", scheme, typedNil, "the object is nil"},
		{"no scheme and no kind", nil, &corev1.Secret{}, "it carries none, and there is no scheme to ask"},
		{"a type that nobody registered", runtime.NewScheme(), &corev1.Secret{}, "register its API group (AddToScheme)"},
		{"a type that was registered twice", twice, &corev1.Secret{}, "set apiVersion and kind on the object"},
		{"an unstructured object without a kind", scheme, &unstructured.Unstructured{}, "kind"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			key, err := object.KeyOf(tc.scheme, tc.obj)
			got := key.String() + " | " + key.Short()
			if err != nil {
				got = err.Error()
			}
			if got != tc.want && (err == nil || !strings.Contains(got, tc.want)) {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestIsNil(t *testing.T) {
	var typedNil *corev1.Secret
	if !object.IsNil(nil) || !object.IsNil(typedNil) {
		t.Error("nil and a nil pointer must both count as nil")
	}
	if object.IsNil(&corev1.Secret{}) {
		t.Error("an empty object is not nil")
	}
}

func TestNew(t *testing.T) {
	a, b := object.New[*corev1.Secret](), object.New[*corev1.Secret]()
	if a == nil || a == b {
		t.Errorf("want two new objects, got %p and %p", a, b)
	}
	if got := object.New[object.Object](); got != nil {
		t.Errorf("an interface cannot be made, got %T", got)
	}
}

func ExampleKeyOf() {
	web := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	key, err := object.KeyOf(scheme, web)
	fmt.Println(key, err)
	fmt.Println(key.Short())
	// Output:
	// apps/v1/Deployment/shop/web <nil>
	// Deployment web
}
