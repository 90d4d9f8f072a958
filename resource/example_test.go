package resource_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-go/armature/feature"
	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/resource"
)

func Example() {
	settings := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "settings"},
		Data:       map[string]string{"log": "info"},
	}
	set := func(key, value string) func(*corev1.ConfigMap) error {
		return func(c *corev1.ConfigMap) error {
			c.Data[key] = value
			return nil
		}
	}
	for _, version := range []string{"1.9.0", "2.1.0"} {
		d := resource.Manage(settings).
			Mutate("sessions", feature.Version(version, "<2.0.0"), set("sessions", "cookie")).
			Mutate("tracing", feature.When(true), set("log", "debug")).
			Declaration()
		obj, err := d.Render()
		if err != nil {
			panic(err)
		}
		fmt.Println(version, obj.(*corev1.ConfigMap).Data)
	}
	fmt.Println("baseline", settings.Data)
	// Output:
	// 1.9.0 map[log:debug sessions:cookie]
	// 2.1.0 map[log:debug]
	// baseline map[log:info]
}

// A value that is known only once an object is live comes through a cell. Here the
// test plays the runtime and sets it.
func ExampleUsing() {
	address := resource.NewCell[string]("address")
	d := resource.Manage(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "client"}}).
		MutateUsing("address", feature.Gate{}, resource.Using(address, func(c *corev1.ConfigMap, ip string) error {
			c.Data = map[string]string{"server": ip + ":5432"}
			return nil
		})).
		Declaration()

	_, err := d.Render()
	fmt.Println(err)

	address.Set("10.0.0.7")
	obj, err := d.Render()
	fmt.Println(obj.(*corev1.ConfigMap).Data, err)
	// Output:
	// mutation "address": waiting for data "address"
	// map[server:10.0.0.7:5432] <nil>
}

func ExampleFact() {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		panic(err)
	}
	secret := corev1.SchemeGroupVersion.WithKind("Secret")
	known := map[object.Key]object.Object{
		{GVK: secret, Namespace: "shop", Name: "tls"}: &corev1.Secret{Data: map[string][]byte{"tls.crt": []byte("…")}},
		{GVK: secret, Namespace: "shop", Name: "s3"}:  nil, // looked for, and not there
	}
	facts := resource.NewFacts(scheme, known)
	for _, name := range []string{"tls", "s3", "smtp"} {
		s, ok := resource.Fact[*corev1.Secret](facts, types.NamespacedName{Namespace: "shop", Name: name})
		fmt.Println(name, ok, ok && len(s.Data["tls.crt"]) > 0)
	}
	fmt.Println("unknown:", facts.Unknown())
	// Output:
	// tls true true
	// s3 false false
	// smtp false false
	// unknown: [v1/Secret/shop/smtp]
}
