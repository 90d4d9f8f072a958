package webapp

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-go/armature/component"
	"github.com/armature-go/armature/feature"
	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/operators/webapp/v1alpha1"
	"github.com/armature-go/armature/resource"
)

// Components is the whole operator: what should exist for one WebApp.
func Components(app *v1alpha1.WebApp, facts *resource.Facts) ([]component.Component, error) {
	cert, err := certificate(app, facts)
	return []component.Component{backend(app), frontend(app, cert, err)}, nil
}

func backend(app *v1alpha1.WebApp) component.Component {
	return component.Component{
		Name:      "backend",
		Condition: "BackendReady",
		Grace:     5 * time.Minute,
		Suspend:   app.Spec.Suspended,
		Resources: []component.Resource{
			resource.Manage(backendService(app)),
			resource.Manage(backendStatefulSet(app)),
		},
	}
}

// frontend is the part that users meet. Without its certificate it cannot be built,
// which leaves the backend alone.
func frontend(app *v1alpha1.WebApp, cert *corev1.Secret, err error) component.Component {
	return component.Component{
		Name:      "frontend",
		Condition: "FrontendReady",
		After:     []component.Prerequisite{component.DependsOn("BackendReady")},
		Grace:     5 * time.Minute,
		Suspend:   app.Spec.Suspended,
		Err:       err,
		Resources: []component.Resource{
			resource.Manage(frontendService(app)),
			resource.Manage(frontendDeployment(app)).
				Mutate("session-cookie", feature.Version(app.Spec.Version, "<2.0.0"), keepSessionsInCookies).
				Mutate("tls", feature.When(cert != nil), serveTLS(cert)),
			resource.Manage(exporterDeployment(app)).
				GatedBy(feature.When(app.Spec.Metrics)).
				Auxiliary(),
		},
	}
}

// certificate is the fact that the frontend needs: the Secret with its TLS keys. It
// is nil where the WebApp names none.
func certificate(app *v1alpha1.WebApp, facts *resource.Facts) (*corev1.Secret, error) {
	if app.Spec.TLSSecret == "" {
		return nil, nil //nolint:nilnil // plain HTTP needs no certificate
	}
	cert, ok := resource.Fact[*corev1.Secret](facts, types.NamespacedName{Namespace: app.Namespace, Name: app.Spec.TLSSecret})
	if !ok {
		return nil, wait("Secret %q to exist", app.Spec.TLSSecret)
	}
	for _, key := range []string{corev1.TLSCertKey, corev1.TLSPrivateKeyKey} {
		if len(cert.Data[key]) == 0 {
			return nil, wait("key %s in Secret %q", key, app.Spec.TLSSecret)
		}
	}
	return cert, nil
}

// names of what belongs to one WebApp. 52 bytes leave room for what controllers
// append to the name of a StatefulSet.
func name(app *v1alpha1.WebApp, part string) string { return object.Name(52, app.Name, part) }

func labels(app *v1alpha1.WebApp, part string) map[string]string {
	return map[string]string{
		"app.kubernetes.io/name":      "webapp",
		"app.kubernetes.io/instance":  object.Name(object.MaxName, app.Name),
		"app.kubernetes.io/component": part,
	}
}

func meta(app *v1alpha1.WebApp, name, part string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: app.Namespace, Name: name, Labels: labels(app, part)}
}
