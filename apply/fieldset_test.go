package apply

import (
	"encoding/json"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

func parse(t *testing.T, raw string) any {
	t.Helper()
	var v map[string]any
	if err := utiljson.Unmarshal([]byte(raw), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestExact(t *testing.T) {
	const owned = `{"f:n":{},"f:l":{".":{},"k:{\"type\":\"A\"}":{".":{},"f:type":{},"f:v":{}},"k:{\"type\":\"B\"}":{".":{},"f:type":{}}}}`
	const desired = `{"n":1,"l":[{"type":"A","v":"x"},{"type":"B"}]}`
	tests := []struct {
		name, desired, live string
		want                bool
	}{
		{"the same", desired, desired, true},
		{"somebody else's field beside ours", desired, `{"n":1,"m":2,"l":[{"type":"A","v":"x"},{"type":"B"}]}`, true},
		{"somebody else's field in our item", desired, `{"n":1,"l":[{"type":"A","v":"x","w":1},{"type":"B"}]}`, true},
		{"somebody else's item between ours", desired, `{"n":1,"l":[{"type":"A","v":"x"},{"type":"C"},{"type":"B"}]}`, true},
		{"another value", desired, `{"n":2,"l":[{"type":"A","v":"x"},{"type":"B"}]}`, false},
		{"another value in an item", desired, `{"n":1,"l":[{"type":"A","v":"y"},{"type":"B"}]}`, false},
		{"a field gone", desired, `{"l":[{"type":"A","v":"x"},{"type":"B"}]}`, false},
		{"an item gone", desired, `{"n":1,"l":[{"type":"A","v":"x"}]}`, false},
		{"our items in another order", desired, `{"n":1,"l":[{"type":"B"},{"type":"A","v":"x"}]}`, false},
		{"we want a field more", `{"n":1,"o":1,"l":[{"type":"A","v":"x"},{"type":"B"}]}`, desired, false},
		{"we want a field less", `{"l":[{"type":"A","v":"x"},{"type":"B"}]}`, desired, false},
		{"we want an item more", `{"n":1,"l":[{"type":"A","v":"x"},{"type":"B"},{"type":"C"}]}`, desired, false},
		{"we want an item less", `{"n":1,"l":[{"type":"A","v":"x"}]}`, desired, false},
		{"a list became a map", desired, `{"n":1,"l":{"type":"A"}}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set, err := fieldsOf(&metav1.ManagedFieldsEntry{FieldsV1: metav1.NewFieldsV1(owned)})
			if err != nil {
				t.Fatal(err)
			}
			if got := exact(set, parse(t, tt.desired), parse(t, tt.live)); got != tt.want {
				t.Errorf("exact is %t, want %t", got, tt.want)
			}
		})
	}
}

func FuzzFieldset(f *testing.F) {
	f.Add(`{"f:a":{},"f:l":{"k:{\"type\":\"A\"}":{"f:type":{}}}}`, `{"a":1,"l":[{"type":"A"}]}`)
	f.Add(`{"f:a":{".":{}},"v:1":{},"i:0":{}}`, `{"a":{}}`)
	f.Add(`{"f:l":{"k:{":{}}}`, `{"l":[1,null,"x"]}`)
	f.Add(`{"f:a":null}`, `{"a":null}`)
	f.Fuzz(func(t *testing.T, fields, tree string) {
		set, err := fieldsOf(&metav1.ManagedFieldsEntry{FieldsV1: metav1.NewFieldsV1(fields)})
		var v map[string]any
		if err != nil || json.Unmarshal([]byte(tree), &v) != nil {
			return
		}
		if exact(set, v, map[string]any{}) && len(set) > 0 && len(v) > 0 {
			for name, below := range set {
				if name != "." && len(below) == 0 && v[name[2:]] != nil {
					t.Errorf("%s is exact in an empty object for %s", tree, fields)
				}
			}
		}
	})
}
