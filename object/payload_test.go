package object_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/armature-go/armature/object"
)

// What the API server would refuse, or add to in every apply, is refused before
// anything is sent, whoever encodes it.
func TestTreeRefuses(t *testing.T) {
	deployment := func(spec string) string {
		return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: " + spec + "}}"
	}
	for _, tc := range []struct {
		name, yaml string
		untyped    bool
		want       object.PayloadError
	}{
		{
			name: "a port without a protocol, explicitly", untyped: true, yaml: deployment(`{containers: [{name: web, ports: [{containerPort: 80}, {containerPort: 81, protocol: ""}]}]}`),
			want: object.PayloadError{
				Path: "spec.template.spec.containers[0].ports[1].protocol", In: `container "web"`,
				Problem: "is empty, but tells the items of the list apart", Fix: "leave it out for TCP, or write a value",
			},
		},
		{
			name: "a container without a name", yaml: deployment(`{containers: [{name: web}, {name: ""}]}`),
			want: object.PayloadError{Path: "spec.template.spec.containers[1].name", Problem: "is empty, but tells the items of the list apart", Fix: "write a value"},
		},
		{
			name: "a variable twice", yaml: deployment(`{containers: [{name: a}, {name: web, env: [{name: A, value: s3cret}, {name: B}, {name: A, value: t0ken}]}]}`),
			want: object.PayloadError{
				Path: "spec.template.spec.containers[1].env[2]", Other: "spec.template.spec.containers[1].env[0]", In: `container "web"`,
				Problem: `has the same name "A"`, Fix: "remove one of the two, or tell them apart",
			},
		},
		{
			name: "a port twice, by default", yaml: deployment(`{initContainers: [{name: web, ports: [{containerPort: 80}, {containerPort: 80, protocol: UDP}, {name: http, containerPort: 80, protocol: TCP}]}]}`),
			want: object.PayloadError{
				Path: "spec.template.spec.initContainers[0].ports[2]", Other: "spec.template.spec.initContainers[0].ports[0]", In: `initContainer "web"`,
				Problem: `has the same containerPort 80 and protocol "TCP"`, Fix: "remove one of the two, or tell them apart",
			},
		},
		{
			name: "a container twice", yaml: deployment(`{containers: [{name: web}, {name: web}]}`),
			want: object.PayloadError{
				Path: "spec.template.spec.containers[1]", Other: "spec.template.spec.containers[0]",
				Problem: `has the same name "web"`, Fix: "remove one of the two, or tell them apart",
			},
		},
		{
			name: "a volume twice", yaml: deployment(`{volumes: [{name: v}, {name: v, configMap: {name: c}}]}`),
			want: object.PayloadError{
				Path: "spec.template.spec.volumes[1]", Other: "spec.template.spec.volumes[0]",
				Problem: `has the same name "v"`, Fix: "remove one of the two, or tell them apart",
			},
		},
		{
			name: "two volumes mounted at one path", yaml: deployment(`{containers: [{name: web, volumeMounts: [{name: a, mountPath: /x}, {name: b, mountPath: /x}]}]}`),
			want: object.PayloadError{
				Path: "spec.template.spec.containers[0].volumeMounts[1]", Other: "spec.template.spec.containers[0].volumeMounts[0]", In: `container "web"`,
				Problem: `has the same mountPath "/x"`, Fix: "remove one of the two, or tell them apart",
			},
		},
		{
			name: "a port of a Service twice", yaml: "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{name: a, port: 80}, {name: b, port: 80, protocol: TCP}]}",
			want: object.PayloadError{
				Path: "spec.ports[1]", Other: "spec.ports[0]", Problem: `has the same port 80 and protocol "TCP"`, Fix: "remove one of the two, or tell them apart",
			},
		},
		{
			name: "a null in a list", untyped: true, yaml: deployment(`{containers: [null]}`),
			want: object.PayloadError{Path: "spec.template.spec.containers[0]", Problem: "a list must not hold null", Fix: "remove the element"},
		},
		{
			name: "a text that is none", untyped: true, yaml: "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {port: 1}",
			want: object.PayloadError{Path: `stringData["port"]`, Problem: "must be a string"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, form := range []string{"in.yaml", "unstructured.yaml"} {
				if tc.untyped && form == "in.yaml" {
					continue
				}
				_, err := object.Tree(scheme, read(t, txtar.File{Name: form, Data: []byte(tc.yaml)}))
				got, ok := errors.AsType[*object.PayloadError](err)
				if !ok {
					t.Fatalf("%s: got %v", form, err)
				}
				if diff := cmp.Diff(tc.want, *got); diff != "" {
					t.Errorf("%s: -want +got\n%s", form, diff)
				}
				if strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "t0ken") {
					t.Errorf("the message holds a value: %v", err)
				}
			}
		})
	}
}

func TestPayloadErrorReadsWell(t *testing.T) {
	for _, tc := range []struct {
		err  object.PayloadError
		want string
	}{
		{
			object.PayloadError{Path: "spec.containers[0].env[3]", In: `container "web"`, Problem: `has the same name "A"`, Other: "spec.containers[0].env[1]", Fix: "remove one of the two, or tell them apart"},
			`spec.containers[0].env[3] (container "web"): has the same name "A" as spec.containers[0].env[1]; remove one of the two, or tell them apart`,
		},
		{object.PayloadError{Path: "data", Problem: "is odd"}, "data: is odd"},
	} {
		if got := tc.err.Error(); got != tc.want {
			t.Errorf("got  %s\nwant %s", got, tc.want)
		}
	}
}

// Two items that lack a key are no duplicates: what they lack is for the API server
// to name.
func TestTreeLeavesMissingKeysToTheServer(t *testing.T) {
	const text = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{image: a}, {image: b}, odd, {name: [x]}, {name: [x]}], imagePullSecrets: [{}, {}]}"
	if _, err := object.Tree(scheme, read(t, txtar.File{Name: "unstructured.yaml", Data: []byte(text)})); err != nil {
		t.Error(err)
	}
}
