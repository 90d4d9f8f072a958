package webapp_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	kresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-go/armature/armaturetest"
	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/operators/webapp"
	"github.com/armature-go/armature/operators/webapp/v1alpha1"
	"github.com/armature-go/armature/resource"
)

func shop(change ...func(*v1alpha1.WebApp)) *v1alpha1.WebApp {
	app := &v1alpha1.WebApp{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shop"},
		Spec: v1alpha1.WebAppSpec{
			Version: "2.1.0", Replicas: 2,
			Backend: v1alpha1.BackendSpec{Replicas: 1, Storage: kresource.MustParse("1Gi")},
		},
	}
	for _, f := range change {
		f(app)
	}
	return app
}

func TestRender(t *testing.T) {
	scheme := armaturetest.Scheme(t, v1alpha1.AddToScheme)
	cert := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shop-tls"},
		Data:       map[string][]byte{"tls.crt": []byte("a certificate"), "tls.key": []byte("its key")},
	}
	key := object.Key{GVK: corev1.SchemeGroupVersion.WithKind("Secret"), Namespace: "default", Name: "shop-tls"}
	tests := []struct {
		golden string
		app    *v1alpha1.WebApp
	}{
		{"plain", shop()},
		{"version-1", shop(func(app *v1alpha1.WebApp) { app.Spec.Version = "1.9.0" })},
		{"tls", shop(func(app *v1alpha1.WebApp) { app.Spec.TLSSecret = "shop-tls" })},
		{"metrics", shop(func(app *v1alpha1.WebApp) { app.Spec.Metrics = true })},
		{"renamed", shop(func(app *v1alpha1.WebApp) { app.Spec.ServiceName = "storefront" })},
	}
	for _, tt := range tests {
		t.Run(tt.golden, func(t *testing.T) {
			components, err := webapp.Components(tt.app, resource.NewFacts(scheme, map[object.Key]object.Object{key: cert}))
			if err != nil {
				t.Fatal(err)
			}
			armaturetest.Golden(t, "testdata/"+tt.golden+".yaml", armaturetest.Render(t, scheme, components...))
		})
	}
}

func TestFrontendWaitsForItsCertificate(t *testing.T) {
	scheme := armaturetest.Scheme(t, v1alpha1.AddToScheme)
	key := object.Key{GVK: corev1.SchemeGroupVersion.WithKind("Secret"), Namespace: "default", Name: "shop-tls"}
	secret := func(data map[string][]byte) object.Object {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shop-tls"}, Data: data}
	}
	tests := []struct {
		name string
		fact object.Object
		want string
	}{
		{"no Secret", nil, `waiting for Secret "shop-tls" to exist`},
		{"no certificate in it", secret(map[string][]byte{"tls.key": []byte("k")}), `waiting for key tls.crt in Secret "shop-tls"`},
		{"an empty key", secret(map[string][]byte{"tls.crt": []byte("c"), "tls.key": {}}), `waiting for key tls.key in Secret "shop-tls"`},
		{"both keys", secret(map[string][]byte{"tls.crt": []byte("c"), "tls.key": []byte("k")}), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			app := shop(func(app *v1alpha1.WebApp) { app.Spec.TLSSecret = "shop-tls" })
			components, err := webapp.Components(app, resource.NewFacts(scheme, map[object.Key]object.Object{key: tt.fact}))
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if err := components[1].Err; err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("the frontend says %q, want %q", got, tt.want)
			}
			if components[0].Err != nil {
				t.Errorf("the backend is held back, too: %v", components[0].Err)
			}
		})
	}
}

func ExampleComponents() {
	components, err := webapp.Components(shop(), resource.NewFacts(nil, nil))
	if err != nil {
		panic(err)
	}
	for _, c := range components {
		fmt.Println(c.Name, "reports", c.Condition)
		for _, r := range c.Resources {
			d := r.Declaration()
			if on, _ := d.Gate.Enabled(); on {
				fmt.Printf("  %T %s\n", d.Object, d.Object.GetName())
			}
		}
	}
	// Output:
	// backend reports BackendReady
	//   *v1.Service shop-backend
	//   *v1.StatefulSet shop-backend
	// frontend reports FrontendReady
	//   *v1.Service shop
	//   *v1.Deployment shop-frontend
}
