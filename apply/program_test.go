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
		{"we want an item more, in front", `{"n":1,"l":[{"type":"C"},{"type":"A","v":"x"},{"type":"B"}]}`, desired, false},
		{"we want another field, and ours is gone", `{"o":1,"l":[{"type":"A","v":"x"},{"type":"B"}]}`, `{"l":[{"type":"A","v":"x"},{"type":"B"}]}`, false},
		{"our item twice", desired, `{"n":1,"l":[{"type":"A","v":"x"},{"type":"B"},{"type":"B"}]}`, false},
		{"a number written otherwise", desired, `{"n":1.0,"l":[{"type":"A","v":"x"},{"type":"B"}]}`, true},
		{"null and absent", `{"n":null,"l":[{"type":"A","v":"x"},{"type":"B"}]}`, `{"l":[{"type":"A","v":"x"},{"type":"B"}]}`, true},
		{"we want an item less", `{"n":1,"l":[{"type":"A","v":"x"}]}`, desired, false},
		{"a list became a map", desired, `{"n":1,"l":{"type":"A"}}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set, err := compile([]byte(owned))
			if err != nil {
				t.Fatal(err)
			}
			if got := set.of("").exact(parse(t, tt.desired), treeNode(parse(t, tt.live))); got != tt.want {
				t.Errorf("exact is %t, want %t", got, tt.want)
			}
		})
	}
}

// What is owned as a whole is compared by what it says.
func TestExactLeaves(t *testing.T) {
	tests := []struct {
		name, owned, desired, live string
		want                       bool
	}{
		{"an empty text that is not stored", `{"f:a":{}}`, `{"a":""}`, `{}`, true},
		{"a text that is not stored", `{"f:a":{}}`, `{"a":"x"}`, `{}`, false},
		{"an empty list of items with keys, which owns nothing", `{"f:a":{}}`, `{"a":1,"l":[]}`, `{"a":1}`, true},
		{"an empty list that was taken over", `{"f:a":{}}`, `{"a":1,"l":[]}`, `{"a":1,"l":["x"]}`, false},
		{"an empty text that nobody owns, as a label that is gone", `{"f:a":{}}`, `{"a":1,"l":""}`, `{"a":1}`, false},
		{"an empty text in an atomic list, which may be a value that is gone", `{"f:l":{}}`, `{"l":[{"k":"a","v":""}]}`, `{"l":[{"k":"a"}]}`, false},
		{"a default in an atomic list", `{"f:l":{}}`, `{"l":[{"k":"a"}]}`, `{"l":[{"k":"a","v":"x"}]}`, false},
		{"a value that is gone from an atomic list", `{"f:l":{}}`, `{"l":[{"k":"a","v":"x"}]}`, `{"l":[{"k":"a"}]}`, false},
		{"an item more", `{"f:l":{}}`, `{"l":["x"]}`, `{"l":["x","y"]}`, false},
		{"an empty list that is stored as null", `{"f:l":{}}`, `{"l":[]}`, `{"l":null}`, true},
		{"a null", `{"f:l":{}}`, `{"l":[{"k":"a"}]}`, `{"l":[{"k":"a","v":null}]}`, true},
		{"a number of another Go type", `{"f:l":{}}`, `{"l":[5]}`, `{"l":[5.0]}`, true},
		{"another number", `{"f:l":{}}`, `{"l":[5]}`, `{"l":[5.5]}`, false},
		{"another type", `{"f:l":{}}`, `{"l":[5]}`, `{"l":["5"]}`, false},
		{"nothing declared where something is owned", `{"f:a":{"f:b":{}}}`, `{"a":{}}`, `{}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := compile([]byte(tt.owned))
			if err != nil {
				t.Fatal(err)
			}
			if got := p.of("").exact(parse(t, tt.desired), treeNode(parse(t, tt.live))); got != tt.want {
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
	want := p.of("").project(treeNode(parse(t, base)))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if same := p.of("").project(treeNode(parse(t, tt.live))) == want; same != tt.same {
				t.Errorf("the projection is the same: %t, want %t", same, tt.same)
			}
		})
	}
}

// What is written of a node says where it ends, what it is, and what it is called.
func TestDifferentTreesHaveDifferentDigests(t *testing.T) {
	seen := map[hash]string{}
	for _, raw := range []string{
		`{}`, `{"a":{}}`, `{"a":[]}`, `{"a":[null]}`, `{"a":[[],[]]}`, `{"a":[[[]]]}`, `{"a":""}`, `{"a":0}`, `{"a":false}`, `{"a":true}`, `{"a":1}`, `{"a":1.5}`, `{"a":"1"}`, `{"b":"1"}`,
		`{"a":{"b":"1","c":"2"}}`, `{"a":{"b":"1"},"c":"2"}`, `{"a":["1"],"b":"1"}`, `{"a":["1","b"]}`, `{"a":["1b"]}`, `{"a":{"metadata":{},"kind":"A"}}`, `{"a":{"metadata":{},"kind":"B"}}`,
	} {
		sum := digest(parse(t, raw))
		if other, ok := seen[sum]; ok {
			t.Errorf("%s and %s have one digest", raw, other)
		}
		seen[sum] = raw
	}
	if digest(parse(t, `{"a":1,"b":null}`)) != digest(parse(t, `{"a":1.0}`)) {
		t.Error("one tree, written in two ways, has two digests")
	}
}

// The keys of an item are what tells it from the others, even where they are not owned.
func TestProjectionTellsItemsApart(t *testing.T) {
	p, err := compile([]byte(`{"f:l":{"k:{\"n\":\"a\"}":{"f:v":{}},"k:{\"n\":\"b\"}":{"f:v":{}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[hash]string{}
	for _, raw := range []string{`{}`, `{"l":[]}`, `{"l":{}}`, `{"l":[{"n":"a","v":1},{"n":"b","v":1}]}`, `{"l":[{"n":"b","v":1},{"n":"a","v":1}]}`, `{"l":[{"n":"a","v":1}]}`, `{"l":[{"n":"a"}]}`} {
		sum := p.of("").project(treeNode(parse(t, raw)))
		if other, ok := seen[sum]; ok {
			t.Errorf("%s and %s have one projection", raw, other)
		}
		seen[sum] = raw
	}
}

func TestContentIsWhatAnApplyCanChange(t *testing.T) {
	const base = `{"apiVersion":"v1","kind":"A","metadata":{"name":"a","labels":{"x":"y"}},"spec":{"a":1}}`
	tests := []struct {
		name, other string
		same        bool
	}{
		{"the same", base, true},
		{"no kind", `{"metadata":{"name":"a","labels":{"x":"y"}},"spec":{"a":1}}`, true},
		{"a status", `{"metadata":{"name":"a","labels":{"x":"y"}},"spec":{"a":1},"status":{"a":1}}`, true},
		{"what the server notes", `{"metadata":{"name":"a","labels":{"x":"y"},"resourceVersion":"1","generation":2,"creationTimestamp":"x","managedFields":[{}]},"spec":{"a":1}}`, true},
		{"another label", `{"metadata":{"name":"a","labels":{"x":"z"}},"spec":{"a":1}}`, false},
		{"another field of metadata", `{"metadata":{"name":"a","annotations":{"x":"y"}},"spec":{"a":1}}`, false},
		{"another value", `{"metadata":{"name":"a","labels":{"x":"y"}},"spec":{"a":2}}`, false},
		{"another field", `{"metadata":{"name":"a","labels":{"x":"y"}},"data":{"a":1}}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if same := contentHash(treeNode(parse(t, base))) == contentHash(treeNode(parse(t, tt.other))); same != tt.same {
				t.Errorf("the content is the same: %t, want %t", same, tt.same)
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
			if got := p.of("").unresolved(parse(t, tt.desired), treeNode(parse(t, tt.live))); got != tt.want {
				t.Errorf("unresolved is %q, want %q", got, tt.want)
			}
		})
	}
}

// What cannot be read makes a program that proves nothing.
func TestOpaque(t *testing.T) {
	for _, owned := range []string{`{"i:0":{}}`, `{"x:new":{}}`, `{"k:{":{}}`, `{"k:{}":{}}`, `{"v:{":{}}`, `{"f:a":{"i:0":{}}}`, `{"f:a":{},"v:1":{}}`} {
		p, err := compile([]byte(owned))
		if err != nil || !p.opaque || p.of("").exact(map[string]any{}, treeNode(map[string]any{})) {
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
		if p.of("").project(treeNode(tree)) != p.of("").project(treeNode(copied)) {
			t.Error("one tree has two projections")
		}
		if p.of("").exact(tree, treeNode(copied)) && p.of("").unresolved(tree, treeNode(copied)) != "" {
			t.Error("exact, and unresolved")
		}
	})
}
