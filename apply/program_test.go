package apply

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
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
			set, err := compile([]byte(owned))
			if err != nil {
				t.Fatal(err)
			}
			if got := set.exact(parse(t, tt.desired), parse(t, tt.live)); got != tt.want {
				t.Errorf("exact is %t, want %t", got, tt.want)
			}
		})
	}
}

func TestProjection(t *testing.T) {
	const owned = `{"f:n":{},"f:atomic":{},"f:l":{"k:{\"name\":\"a\"}":{".":{},"f:name":{},"f:v":{}},"k:{\"name\":\"b\"}":{".":{},"f:name":{}}},"f:set":{"v:\"x\"":{},"v:\"y\"":{}}}`
	const base = `{"n":1,"atomic":["p","q"],"l":[{"name":"a","v":"1"},{"name":"b"}],"set":["x","y"]}`
	tests := []struct {
		name, live string
		same       bool
	}{
		{"the same", base, true},
		{"a number written otherwise", `{"n":1.0,"atomic":["p","q"],"l":[{"name":"a","v":"1"},{"name":"b"}],"set":["x","y"]}`, true},
		{"somebody else's field", `{"m":2,"n":1,"atomic":["p","q"],"l":[{"name":"a","v":"1"},{"name":"b"}],"set":["x","y"]}`, true},
		{"somebody else's field in our item", `{"n":1,"atomic":["p","q"],"l":[{"name":"a","v":"1","w":2},{"name":"b"}],"set":["x","y"]}`, true},
		{"somebody else's item in front", `{"n":1,"atomic":["p","q"],"l":[{"name":"z"},{"name":"a","v":"1"},{"name":"b"}],"set":["w","x","y"]}`, true},
		{"another value", `{"n":2,"atomic":["p","q"],"l":[{"name":"a","v":"1"},{"name":"b"}],"set":["x","y"]}`, false},
		{"a value of another type", `{"n":"1","atomic":["p","q"],"l":[{"name":"a","v":"1"},{"name":"b"}],"set":["x","y"]}`, false},
		{"a field gone", `{"atomic":["p","q"],"l":[{"name":"a","v":"1"},{"name":"b"}],"set":["x","y"]}`, false},
		{"appended to an atomic list", `{"n":1,"atomic":["p","q","r"],"l":[{"name":"a","v":"1"},{"name":"b"}],"set":["x","y"]}`, false},
		{"our items in another order", `{"n":1,"atomic":["p","q"],"l":[{"name":"b"},{"name":"a","v":"1"}],"set":["x","y"]}`, false},
		{"our item twice", `{"n":1,"atomic":["p","q"],"l":[{"name":"a","v":"1"},{"name":"b"},{"name":"b"}],"set":["x","y"]}`, false},
		{"our item gone", `{"n":1,"atomic":["p","q"],"l":[{"name":"a","v":"1"}],"set":["x","y"]}`, false},
		{"a value of the set gone", `{"n":1,"atomic":["p","q"],"l":[{"name":"a","v":"1"},{"name":"b"}],"set":["x"]}`, false},
		{"a list became a map", `{"n":1,"atomic":["p","q"],"l":{"name":"a"},"set":["x","y"]}`, false},
	}
	p, err := compile([]byte(owned))
	if err != nil {
		t.Fatal(err)
	}
	want := p.project(parse(t, base))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if same := p.project(parse(t, tt.live)) == want; same != tt.same {
				t.Errorf("the projection is the same: %t, want %t", same, tt.same)
			}
		})
	}
}

func TestUnresolved(t *testing.T) {
	tests := []struct{ name, owned, desired, live, want string }{
		{"all is there", `{"f:a":{},"f:l":{"k:{\"n\":1}":{"f:n":{}}}}`, `{"a":1,"l":[{"n":1}]}`, `{"a":1,"l":[{"n":1}]}`, ""},
		{"stored under another name", `{"f:stringData":{"f:k":{}}}`, `{"stringData":{"k":"v"}}`, `{"data":{"k":"dg=="}}`, ".stringData.k"},
		{"nothing was said", `{"f:a":{}}`, `{"a":""}`, `{}`, ""},
		{"a key that the server fills in", `{"f:ports":{"k:{\"p\":\"\"}":{"f:p":{}}}}`, `{"ports":[{"p":""}]}`, `{"ports":[{"p":"TCP"}]}`, `.ports[k:{"p":""}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := compile([]byte(tt.owned))
			if err != nil {
				t.Fatal(err)
			}
			if got := p.unresolved(parse(t, tt.desired), parse(t, tt.live), ""); got != tt.want {
				t.Errorf("unresolved is %q, want %q", got, tt.want)
			}
		})
	}
}

// What cannot be read makes a program that proves nothing.
func TestOpaque(t *testing.T) {
	for _, owned := range []string{`{"i:0":{}}`, `{"x:new":{}}`, `{"k:{":{}}`, `{"k:{}":{}}`, `{"v:{":{}}`, `{"f:a":{"i:0":{}}}`, `{"f:a":{},"v:1":{}}`} {
		p, err := compile([]byte(owned))
		if err != nil || !p.opaque || p.exact(map[string]any{}, map[string]any{}) {
			t.Errorf("%s: %v, opaque %t", owned, err, p.opaque)
		}
	}
	for _, owned := range []string{``, `[]`, `{"f:a":1}`, `{"f:a":`} {
		if _, err := compile([]byte(owned)); err == nil {
			t.Errorf("%q was read", owned)
		}
	}
}

func FuzzProgram(f *testing.F) {
	f.Add(`{"f:a":{},"f:l":{"k:{\"type\":\"A\"}":{"f:type":{}}}}`, `{"a":1,"l":[{"type":"A"}]}`)
	f.Add(`{"f:a":{".":{}},"v:1":{},"i:0":{}}`, `{"a":{}}`)
	f.Add(`{"f:l":{"k:{":{}}}`, `{"l":[1,null,"x"]}`)
	f.Add(`{"f:l":{"v:\"x\"":{},"v:1":{}}}`, `{"l":["x",1,1]}`)
	f.Fuzz(func(t *testing.T, fields, raw string) {
		p, err := compile([]byte(fields))
		var tree map[string]any
		if err != nil || utiljson.Unmarshal([]byte(raw), &tree) != nil {
			return
		}
		copied := runtime.DeepCopyJSON(tree)
		if p.project(tree) != p.project(copied) {
			t.Error("one tree has two projections")
		}
		if p.exact(tree, copied) && p.unresolved(tree, copied, "") != "" {
			t.Error("exact, and unresolved")
		}
	})
}
