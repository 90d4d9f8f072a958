package object_test

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/armature-go/armature/object"
)

func TestUnions(t *testing.T) {
	deployment := schema.GroupKind{Group: "apps", Kind: "Deployment"}
	const pod = `{spec: {template: {spec: %}}}`
	tests := []struct {
		name          string
		kind          schema.GroupKind
		desired, live string // of the pod
		refused       string
		want          string // pointer and value
	}{
		{
			"another source of a volume", deployment, `{volumes: [{name: b, emptyDir: {}}]}`, `{volumes: [{name: a, secret: {}}, {name: b, configMap: {name: c}}]}`,
			"spec.template.spec.volumes[1].configMap", `/spec/template/spec/volumes/1 {"emptyDir":{},"name":"b"}`,
		},
		{
			"a union elsewhere", deployment, `{volumes: [{name: b, emptyDir: {}}]}`, `{volumes: [{name: b, configMap: {name: c}}]}`,
			"spec.template.spec.containers[0].image", "",
		},
		{
			"a sibling of the same name", deployment, `{volumes: [{name: b, emptyDir: {}}]}`, `{volumes: [{name: b, configMap: {name: c}}]}`,
			"spec.template.spec.volumesOther", "",
		},
		{
			"the same source, and more", deployment, `{volumes: [{name: b, configMap: {name: c}}]}`, `{volumes: [{name: b, configMap: {name: c, defaultMode: 420}}]}`,
			"spec.template.spec.volumes[0].configMap", "",
		},
		{
			"nothing chosen", deployment, `{containers: [{name: a, env: [{name: A}]}]}`, `{containers: [{name: a, env: [{name: A, value: x}]}]}`,
			"spec.template.spec.containers[0].env[0]", "",
		},
		{
			"a value for a source, with what others set beside", deployment, `{containers: [{name: a, livenessProbe: {exec: {command: [x]}}}]}`,
			`{containers: [{name: a, livenessProbe: {httpGet: {port: 80}, periodSeconds: 5}}]}`,
			"spec.template.spec.containers[0].livenessProbe.httpGet", `/spec/template/spec/containers/0/livenessProbe {"exec":{"command":["x"]},"periodSeconds":5}`,
		},
		{
			"a kind that is not in the table",
			schema.GroupKind{Group: "example.com", Kind: "Other"},
			`{volumes: [{name: b, emptyDir: {}}]}`, `{volumes: [{name: b, configMap: {name: c}}]}`,
			"spec.template.spec.volumes[0].configMap", "",
		},
		{
			"another item", deployment, `{volumes: [{name: b, emptyDir: {}}]}`, `{volumes: [{name: a, configMap: {name: c}}]}`,
			"spec.template.spec.volumes[0].configMap", "",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			trees := make([]map[string]any, 2)
			for i, text := range []string{tt.desired, tt.live} {
				if err := yaml.Unmarshal([]byte(strings.Replace(pod, "%", text, 1)), &trees[i]); err != nil {
					t.Fatal(err)
				}
			}
			before := runtime.DeepCopyJSON(trees[1])
			var got []string
			for _, r := range object.Unions(tt.kind, trees[0], trees[1], []string{tt.refused}) {
				raw, err := json.Marshal(r.Value)
				if err != nil || r.Live == nil {
					t.Fatal(r, err)
				}
				got = append(got, r.Pointer+" "+string(raw))
			}
			if strings.Join(got, ", ") != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if !equality.Semantic.DeepEqual(trees[1], before) {
				t.Error("the live tree was changed")
			}
		})
	}
}
