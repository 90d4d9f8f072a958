package demo

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// step is one thing that the demo shows.
type step struct {
	name    string
	acts    []act
	finally func(context.Context, *stage) error // looks at what no field shows; nil for nothing
}

// act is a command, and what has to come of it.
type act struct {
	do   string // what kubectl is told
	want []want
}

// want is a field to look at, and what it has to become.
type want struct {
	of    subject
	field field
	goal  goal
}

// subject is what is looked at: one object, or all that a selector takes.
type subject struct {
	resource schema.GroupVersionResource
	kind     string
	name     string // of the one object
	selector string // of several
}

// kinds that the demo looks at.
var (
	webapps      = schema.GroupVersionResource{Group: "examples.armature.dev", Version: "v1alpha1", Resource: "webapps"}
	deployments  = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	statefulsets = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}
	services     = schema.GroupVersionResource{Version: "v1", Resource: "services"}
	pods         = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	secrets      = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	claims       = schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"}
)

// one is a subject of one object.
func one(resource schema.GroupVersionResource, kind, name string) subject {
	return subject{resource: resource, kind: kind, name: name}
}

// allOf is a subject of the objects of a kind that belong to the sample.
func allOf(resource schema.GroupVersionResource) subject {
	return subject{resource: resource, kind: "all", name: resource.Resource, selector: "app.kubernetes.io/instance=shop"}
}

// what the demo looks at.
var (
	webapp     = one(webapps, "WebApp", "shop")
	frontend   = one(deployments, "Deployment", "shop-frontend")
	service    = one(services, "Service", "shop")
	storefront = one(services, "Service", "storefront")
	secret     = one(secrets, "Secret", "shop-tls")
)

// script is what the demo shows, in this order. The sample is the WebApp shop of
// version 1.9.0, with two frontend pods, one of the backend and a metrics exporter.
func script() []step {
	return []step{
		{"Scale it: edit the resource", []act{{
			`patch webapp shop --type=merge -p {"spec":{"replicas":3}}`, []want{
				{webapp, path(".spec.replicas"), becomes("3")},
				{frontend, path(".spec.replicas"), becomes("3")},
				{frontend, path(".status.readyReplicas"), becomes("3")},
				{webapp, state("Ready"), becomes("True Healthy")},
			},
		}}, nil},
		{"Delete a child by hand: it returns", []act{{
			`delete deployment shop-frontend`, []want{
				{frontend, uid(), returns()},
				{frontend, path(".status.readyReplicas"), becomes("3")},
				{webapp, state("Ready"), becomes("True Healthy")},
			},
		}}, nil},
		{"Edit a child by hand: the drift is corrected", []act{{
			`patch deployment shop-frontend --type=merge -p {"spec":{"replicas":9}}`, []want{
				{frontend, path(".spec.replicas"), undone()},
				{frontend, path(".metadata.resourceVersion"), changes()},
				{webapp, state("Ready"), becomes("True Healthy")},
			},
		}}, nil},
		{"Change the version: what was made for 1.x alone goes", []act{{
			`patch webapp shop --type=merge -p {"spec":{"version":"2.1.0"}}`, []want{
				{webapp, path(".spec.version"), becomes("2.1.0")},
				{frontend, image(), becomes("frontend:2.1.0")},
				{frontend, named("env", ".spec.template.spec.containers[0].env[*].name"), becomes("BACKEND")},
				{webapp, state("Ready"), becomes("True Healthy")},
			},
		}}, nil},
		{"Name a Secret that is not there: the frontend waits, then runs", []act{
			{`patch webapp shop --type=merge -p {"spec":{"tlsSecret":"shop-tls"}}`, []want{
				{webapp, state("FrontendReady"), becomes("False Blocked")},
				{webapp, message("FrontendReady"), becomes(`waiting for Secret "shop-tls" to exist`)},
			}},
			{`create secret generic shop-tls --from-literal=tls.crt=certificate --from-literal=tls.key=key`, []want{
				{frontend, named("volumes", ".spec.template.spec.volumes[*].secret.secretName"), becomes("shop-tls")},
				{webapp, state("FrontendReady"), becomes("True Healthy")},
				{webapp, state("Ready"), becomes("True Healthy")},
			}},
		}, nil},
		{"Suspend it, and resume: the pods go, the data stays", []act{
			{`patch webapp shop --type=merge -p {"spec":{"suspended":true}}`, []want{
				{webapp, state("Ready"), becomes("True Suspended")},
				{allOf(pods), count(), becomes("0")},
				{allOf(claims), count(), becomes("1")},
			}},
			{`patch webapp shop --type=merge -p {"spec":{"suspended":false}}`, []want{
				{allOf(pods), count(), becomes("5")},
				{webapp, state("Ready"), becomes("True Healthy")},
			}},
		}, nil},
		{"Rename a rendered object: the old one is pruned", []act{{
			`patch webapp shop --type=merge -p {"spec":{"serviceName":"storefront"}}`, []want{
				{storefront, uid(), appears()},
				{service, uid(), becomes(none)},
				{webapp, state("Ready"), becomes("True Healthy")},
			},
		}}, nil},
		{"Delete it: nothing is left but the Secret, which was never its own", []act{
			{`delete webapp shop`, []want{
				{webapp, uid(), becomes(none)},
				{allOf(deployments), count(), becomes("0")},
				{allOf(statefulsets), count(), becomes("0")},
				{allOf(services), count(), becomes("0")},
				{allOf(pods), count(), becomes("0")},
				{allOf(claims), count(), becomes("0")},
				{secret, uid(), stays()},
			}},
			{`delete secret shop-tls`, []want{{secret, uid(), becomes(none)}}},
		}, nothingLeft},
	}
}
