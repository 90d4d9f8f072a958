package apply

import (
	"encoding/json"
	"testing"

	"github.com/armature-go/armature/object"
)

func TestConcede(t *testing.T) {
	tests := []struct {
		name, path           string
		desired, live, owned string
		yielded, ignored     string // what is sent
	}{
		{"nobody has set it", "spec.replicas", `{"spec":{"replicas":2,"a":1}}`, `{"spec":{"a":1}}`, `{"f:spec":{"f:a":{}}}`, `{"spec":{"a":1,"replicas":2}}`, `{"spec":{"a":1}}`},
		{"it is ours", "spec.replicas", `{"spec":{"replicas":2}}`, `{"spec":{"replicas":2}}`, `{"f:spec":{"f:replicas":{}}}`, `{"spec":{"replicas":2}}`, `{"spec":{"replicas":2}}`},
		{"it is ours, and is to be another", "spec.replicas", `{"spec":{"replicas":3}}`, `{"spec":{"replicas":2}}`, `{"f:spec":{"f:replicas":{}}}`, `{"spec":{"replicas":3}}`, `{"spec":{"replicas":2}}`},
		{"it is somebody else's", "spec.replicas", `{"spec":{"replicas":2}}`, `{"spec":{"replicas":5}}`, `{"f:spec":{"f:a":{}}}`, `{"spec":{}}`, `{"spec":{}}`},
		{"it was ours, and is no longer desired", "spec.replicas", `{"spec":{}}`, `{"spec":{"replicas":5}}`, `{"f:spec":{"f:replicas":{}}}`, `{"spec":{"replicas":5}}`, `{"spec":{"replicas":5}}`},
		{
			"in all items, by their names", "hooks[].ca", `{"hooks":[{"name":"a","ca":"x"},{"name":"b","ca":"x"},{"name":"c","ca":"x"}]}`,
			`{"hooks":[{"name":"b","ca":"injected"},{"name":"a","ca":"x"}]}`, `{"f:hooks":{"k:{\"name\":\"a\"}":{"f:ca":{}},"k:{\"name\":\"b\"}":{"f:name":{}}}}`,
			`{"hooks":[{"ca":"x","name":"a"},{"name":"b"},{"ca":"x","name":"c"}]}`, `{"hooks":[{"ca":"x","name":"a"},{"name":"b"},{"name":"c"}]}`,
		},
		{
			"in one item", "c[name=b].r", `{"c":[{"name":"a","r":1},{"name":"b","r":1}]}`, `{"c":[{"name":"a","r":2},{"name":"b","r":2}]}`, `{"f:c":{"k:{\"name\":\"a\"}":{"f:r":{}}}}`,
			`{"c":[{"name":"a","r":1},{"name":"b"}]}`, `{"c":[{"name":"a","r":1},{"name":"b"}]}`,
		},
		{"nothing there", "spec.deep.field", `{"a":1}`, `{"spec":{"deep":{"field":1}}}`, `{"f:a":{}}`, `{"a":1}`, `{"a":1}`},
		{"below what is ours as a whole", "spec.size", `{"spec":{"size":1}}`, `{"spec":{"size":2}}`, `{"f:spec":{}}`, `{"spec":{"size":1}}`, `{"spec":{"size":2}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path, err := object.ParsePath(tt.path)
			if err != nil {
				t.Fatal(err)
			}
			p, err := compile([]byte(tt.owned))
			if err != nil {
				t.Fatal(err)
			}
			desired, live := parse(t, tt.desired).(map[string]any), parse(t, tt.live).(map[string]any)
			ours := holder{ours: true, owns: p.of("")}
			for want, sent := range map[string]map[string]any{
				"yielded " + tt.yielded: concede(desired, live, ours, []object.Path{path}, nil),
				"ignored " + tt.ignored: concede(desired, live, ours, nil, []object.Path{path}),
			} {
				raw, err := json.Marshal(sent)
				if err != nil || want[len("yielded "):] != string(raw) {
					t.Errorf("%s: sent is %s, %v", want, raw, err)
				}
			}
			if raw, _ := json.Marshal(desired); digest(desired) != digest(parse(t, tt.desired)) {
				t.Errorf("what is desired was changed: %s", raw)
			}
		})
	}
}
