package apply_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	kresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/object"
)

// samplesOfEach is how many samples of each kind are applied, and those that need rows
// of the table that none before has needed.
const samplesOfEach = 3

// notExact are the samples that the server stores otherwise than they are sent, and
// why that cannot be helped.
var notExact = map[string]func(tree map[string]any) string{
	"HorizontalPodAutoscaler": emptyIsFilled("spec", "behavior"),
	"CSIDriver":               emptyIsFilled("spec"),
}

// emptyIsFilled is for what is ours as a whole only because it is empty.
func emptyIsFilled(path ...string) func(tree map[string]any) string {
	return func(tree map[string]any) string {
		if node, has, _ := unstructured.NestedMap(tree, path...); has && len(node) == 0 {
			return "it is sent empty, and the server fills it"
		}
		return ""
	}
}

// What is sent of a built-in kind is what the server stores of it: after one apply, a
// process that knows nothing sees that there is nothing to do.
func TestBuiltinKindsAreExactAfterOneApply(t *testing.T) {
	f := setUp(t)
	f.must(typesOf(f.Scheme()))
	owner := f.clusterOwner()
	hits := &rowHits{seen: map[string]bool{}}
	t.Run("kinds", func(t *testing.T) {
		for i, kind := range sampleKinds {
			t.Run(kind.name, func(t *testing.T) {
				t.Parallel()
				own := *f
				own.T = t
				if kind.alone {
					own.ns = f.cluster.Namespace(t)
					own.owner = own.thing("owner")
				}
				if kind.cluster {
					own.owner = owner
				}
				for n := uint64(0); n < samplesOfEach || n < 60 && hits.lack(kind.name); n++ {
					o := own.forms(sample(rand.New(rand.NewPCG(n, uint64(len(kind.name)))), kind, own.ns, fmt.Sprintf("%s-%d-%d", f.ns, i, n)))
					if hits.needs(o) || n < samplesOfEach {
						own.exactAfterOneApply(o)
					}
				}
			})
		}
	})
	hits.check(t)
}

// clusterOwner makes an owner for cluster-scoped objects.
func (f *fixture) clusterOwner() *unstructured.Unstructured {
	f.Helper()
	u := &unstructured.Unstructured{}
	u.SetAPIVersion("rbac.authorization.k8s.io/v1")
	u.SetKind("ClusterRole")
	u.SetName(f.ns + "-owner")
	f.must(f.Create(f.Context(), u))
	f.Cleanup(func() { _ = f.Delete(context.Background(), u) })
	return u
}

// People write what says nothing, and charts do. The server stores most of that as
// if it were not there. Inside of what is owned as a whole, such as a toleration, an
// empty text may as well be a value that is gone, so there it is not exact.
func TestWhatSaysNothingIsExact(t *testing.T) {
	f := setUp(t)
	for i, text := range []string{
		`{hostNetwork: false, serviceAccountName: "", nodeSelector: {}, tolerations: [], affinity: {}, securityContext: {}}`,
		`{volumes: [], initContainers: [], imagePullSecrets: [], dnsConfig: {options: []}}`,
		`{volumes: [{name: v, secret: {secretName: s, items: []}}, {name: w, emptyDir: {medium: ""}}]}`,
		`{containers: [{name: main, image: "x:1", args: [], env: [{name: A, value: ""}], resources: {limits: {}}, stdin: false}]}`,
	} {
		u := &unstructured.Unstructured{}
		f.must(yaml.Unmarshal([]byte(`{apiVersion: v1, kind: PodTemplate, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: main, image: "x:1"}]}}}`), &u.Object))
		u.SetNamespace(f.ns)
		u.SetName(fmt.Sprint("t", i))
		var more map[string]any
		f.must(yaml.Unmarshal([]byte(text), &more))
		for k, v := range more {
			f.must(unstructured.SetNestedField(u.Object, v, "template", "spec", k))
		}
		f.apply(u, object.OpCreated)
		c := &counted{Client: f.WithWatch}
		if res, err := apply.New(c, controller, apply.Options{}).Apply(t.Context(), f.owner, "store", u); err != nil || c.applies != 0 || res.Again != 0 {
			t.Errorf("%s: %d applies, again in %s, %v", text, c.applies, res.Again, err)
		}
		if res, err := apply.New(c, controller, apply.Options{}).Apply(t.Context(), f.owner, "store", f.filled(u)); err != nil || res.Op != object.OpUpdated {
			t.Errorf("%s, and then more: %q, %v", text, res.Op, err)
		}
	}
}

// filled is a pod template with something where there was nothing.
func (f *fixture) filled(u *unstructured.Unstructured) *unstructured.Unstructured {
	f.Helper()
	u = u.DeepCopy()
	f.must(unstructured.SetNestedMap(u.Object, map[string]any{"disk": "fast"}, "template", "spec", "nodeSelector"))
	return u
}

// Once a choice was sent as a whole, another one replaces it.
func TestTheMemberOfAUnionCanBeReplaced(t *testing.T) {
	f := setUp(t)
	volume := func(source string) string {
		return `template: {metadata: {labels: {a: b}}, spec: {containers: [{name: main, image: "x:1"}], volumes: [{name: v` + source + `}]}}`
	}
	for i, tc := range []struct{ kind, first, then string }{
		{"Deployment", "strategy: {type: RollingUpdate}", "strategy: {type: Recreate}"},
		{"Deployment", "strategy: {rollingUpdate: {maxSurge: 1}}", "strategy: {type: Recreate}"},
		{"StatefulSet", "updateStrategy: {type: RollingUpdate}", "updateStrategy: {type: OnDelete}"},
		{"StatefulSet", "updateStrategy: {rollingUpdate: {maxUnavailable: 2}}", "updateStrategy: {type: OnDelete}"},
		{"DaemonSet", "updateStrategy: {type: RollingUpdate}", "updateStrategy: {type: OnDelete}"},
		{"Deployment", volume(""), volume(", configMap: {name: c}")},
		{"Deployment", volume(", configMap: {name: c}"), volume("")},
		{"Deployment", volume(", configMap: {name: c}"), volume(", secret: {secretName: s}")},
	} {
		t.Run(tc.kind+" "+tc.first, func(t *testing.T) {
			for n, text := range []string{tc.first, tc.then} {
				u := &unstructured.Unstructured{}
				f.must(yaml.Unmarshal([]byte(`{apiVersion: apps/v1, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: main, image: "x:1"}]}}}}`), &u.Object))
				u.SetKind(tc.kind)
				u.SetNamespace(f.ns)
				u.SetName(fmt.Sprint("u", i))
				var more map[string]any
				f.must(yaml.Unmarshal([]byte(text), &more))
				for k, v := range more {
					f.must(unstructured.SetNestedField(u.Object, v, "spec", k))
				}
				if _, err := f.applier.Apply(t.Context(), f.owner, "store", u); err != nil {
					t.Errorf("step %d: %v", n, err)
				}
			}
		})
	}
}

// What trees refuse, the server refuses, too, or takes for something new each time.
func TestTheServerTakesNothingThatTreesRefuse(t *testing.T) {
	f := setUp(t)
	pod := func(spec string) string {
		return "{apiVersion: v1, kind: PodTemplate, template: {metadata: {labels: {a: b}}, spec: " + spec + "}}"
	}
	for i, text := range []string{
		pod(`{containers: [{name: a, image: x, env: [{name: A, value: "1"}, {name: A, value: "2"}]}]}`),
		pod(`{containers: [{name: a, image: x, ports: [{containerPort: 80}, {containerPort: 80, protocol: TCP}]}]}`),
		pod(`{containers: [{name: a, image: x, volumeMounts: [{name: v, mountPath: /x}, {name: v, mountPath: /x}]}], volumes: [{name: v}]}`),
		pod(`{containers: [{name: a, image: x}], volumes: [{name: v}, {name: v}]}`),
		pod(`{containers: [{name: a, image: x}, {name: a, image: x}]}`),
		pod(`{containers: [{name: "", image: x}]}`),
		pod(`{containers: [{name: a, image: x, ports: [{containerPort: 80, protocol: ""}]}]}`),
		`{apiVersion: v1, kind: Service, spec: {ports: [{name: a, port: 80}, {name: b, port: 80, protocol: TCP}]}}`,
	} {
		u := &unstructured.Unstructured{}
		f.must(yaml.Unmarshal([]byte(text), &u.Object))
		u.SetNamespace(f.ns)
		u.SetName(fmt.Sprint("r", i))
		_, err := f.applier.Apply(t.Context(), f.owner, "store", u)
		if payload, ok := errors.AsType[*object.PayloadError](err); !ok || payload.Path == "" {
			t.Errorf("%s: %v", text, err)
		}
		versions := map[string]bool{}
		for range 3 {
			sent := u.DeepCopy()
			if err := f.WithWatch.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(sent), client.FieldOwner("someone")); err == nil {
				versions[sent.GetResourceVersion()] = true
			}
		}
		if len(versions) != 0 && len(versions) != 3 {
			t.Errorf("%s: the server takes it, and it comes to rest", text)
		}
	}
}

// forms are an object in the two forms that authors give it, and its tree.
type forms struct {
	typed   object.Object
	untyped *unstructured.Unstructured
	tree    map[string]any
}

// forms returns the forms of obj. The unstructured one is as its author would have
// written it in YAML: what he said, which is what the tree has kept, in his words.
func (f *fixture) forms(obj object.Object) forms {
	f.Helper()
	tree, err := object.Tree(f.Scheme(), obj)
	f.must(err)
	gvk, err := object.GVK(f.Scheme(), obj)
	f.must(err)
	raw, err := json.Marshal(obj)
	f.must(err)
	u := &unstructured.Unstructured{}
	f.must(utiljson.Unmarshal(raw, &u.Object))
	text := u.Object["stringData"]
	u.Object, _ = common(u.Object, tree).(map[string]any)
	if text != nil {
		u.Object["stringData"] = text
	}
	u.SetGroupVersionKind(gvk)
	respell(gvk.Kind, u.Object, "")
	return forms{obj, u, tree}
}

func (f *fixture) exactAfterOneApply(o forms) {
	f.Helper()
	name := o.untyped.GetName()
	if again, err := object.Tree(f.Scheme(), o.untyped); err != nil || !equality.Semantic.DeepEqual(o.tree, again) {
		f.Errorf("%s: the unstructured form has another tree: %v\n%s", name, err, cmp.Diff(o.tree, again))
	}
	if _, err := f.applier.Apply(f.Context(), f.owner, "store", o.typed); err != nil {
		text, _ := json.MarshalIndent(o.tree, "", " ")
		f.Fatalf("%s: %v\n%s", name, err, text)
	}
	f.Cleanup(func() { // the context of the test is done by then
		_ = f.Delete(context.Background(), o.untyped, client.PropagationPolicy(metav1.DeletePropagationBackground))
	})
	reason := ""
	if why := notExact[o.untyped.GetKind()]; why != nil {
		reason = why(o.tree)
	}
	for form, desired := range map[string]object.Object{"typed": o.typed, "unstructured": o.untyped} {
		c := &counted{Client: f.WithWatch}
		res, err := apply.New(c, controller, apply.Options{}).Apply(f.Context(), f.owner, "store", desired)
		if err != nil {
			f.Fatalf("%s, %s: %v", name, form, err)
		}
		if exact := c.applies == 0 && res.Op == object.OpNone; exact != (reason == "") {
			live, err := runtime.DefaultUnstructuredConverter.ToUnstructured(res.Live)
			f.must(err)
			f.Errorf("%s, %s: %d applies, %q; known as not exact: %q\n%s", name, form, c.applies, res.Op, reason, strings.Join(differences(o.tree, live, ""), "\n"))
		}
	}
}

// rowOf is a row of the table of package object.
type rowOf struct {
	text     string
	pattern  *regexp.Regexp
	quantity bool
}

// rows are the rows of the table of package object, which lists them for this.
var rows = sync.OnceValue(func() []rowOf {
	raw, err := os.ReadFile("../object/testdata/rows.golden.txt")
	if err != nil {
		panic(err)
	}
	var out []rowOf
	for line := range strings.Lines(string(raw)) {
		line, ofQuantity := strings.CutSuffix(strings.TrimSpace(line), " quantity")
		out = append(out, rowOf{line, regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(line), `\{\}`, `\..+`) + "$"), ofQuantity})
	}
	return out
})

// respell writes the quantities of a node in another way than the API server does.
func respell(kind string, node any, path string) {
	switch node := node.(type) {
	case map[string]any:
		for k, v := range node {
			at := strings.TrimPrefix(path+"."+k, ".")
			if text, ok := v.(string); ok && slices.ContainsFunc(rows(), func(r rowOf) bool { return r.quantity && r.matches(kind, at) }) {
				node[k] = otherwise(text)
			}
			respell(kind, v, at)
		}
	case []any:
		for _, v := range node {
			respell(kind, v, path+"[]")
		}
	}
}

// otherwise writes a quantity in another way.
func otherwise(text string) any {
	q := kresource.MustParse(text)
	switch {
	case q.Format == kresource.BinarySI && q.Value()%1024 == 0:
		return fmt.Sprintf("%dKi", q.Value()/1024)
	case q.MilliValue()%1000 != 0:
		return q.AsDec().String()
	case q.Value() == 2:
		return int64(2)
	default:
		return fmt.Sprintf("%dm", q.MilliValue())
	}
}

// common returns what of a node is in another one, too, with the values of the first.
func common(node, other any) any {
	switch node := node.(type) {
	case map[string]any:
		o, _ := other.(map[string]any)
		out := map[string]any{}
		for k, v := range node {
			there, ok := o[k]
			m, isMap := v.(map[string]any)
			more, _ := there.(map[string]any)
			encoded := isMap && len(m) == 0 && (k == "conditions" || k == "status" && len(more) > 0) // by Go, not by the author
			if ok && !encoded {
				out[k] = common(v, there)
			}
		}
		return out
	case []any:
		o, _ := other.([]any)
		out := []any{}
		for i, v := range node[:min(len(node), len(o))] {
			out = append(out, common(v, o[i]))
		}
		return out
	default:
		return node
	}
}

// differences lists where live is not what was sent. Items of lists are told apart by
// their position, which is good enough for a message.
func differences(sent, live any, path string) []string {
	var out []string
	switch sent := sent.(type) {
	case map[string]any:
		l, ok := live.(map[string]any)
		for k, v := range sent {
			out = append(out, differences(v, l[k], path+"."+k)...)
		}
		if len(sent) > 0 && ok {
			return out
		}
	case []any:
		l, ok := live.([]any)
		if ok && len(l) == len(sent) {
			for i := range sent {
				out = append(out, differences(sent[i], l[i], fmt.Sprintf("%s[%d]", path, i))...)
			}
			return out
		}
	}
	if !equality.Semantic.DeepEqual(sent, live) {
		out = append(out, fmt.Sprintf("%s: sent %v, stored %v", path, sent, live))
	}
	return out
}

// rowHits remembers what trees have beyond, or otherwise than, what their authors
// wrote: which rows of the table of package object the samples have needed.
type rowHits struct {
	mu   sync.Mutex
	seen map[string]bool
}

var (
	inPod       = regexp.MustCompile(`^(spec\.jobTemplate\.spec\.template\.spec|spec\.template\.spec|template\.spec|spec)\.`)
	inContainer = regexp.MustCompile(`(initContainers|ephemeralContainers)\[`)
)

// matches reports whether the row is about what is at the path in the kind.
func (r rowOf) matches(kind, at string) bool {
	pod := inContainer.ReplaceAllString(inPod.ReplaceAllString(at, ""), "containers[")
	return r.pattern.MatchString(kind+" "+at) || r.pattern.MatchString("pod "+pod)
}

// needs reports whether an object needs a row that no object before it has needed,
// and remembers those that it needs.
func (h *rowHits) needs(o forms) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	found := false
	for _, at := range additions(o.untyped.Object, o.tree, "") {
		for _, r := range rows() {
			if !h.seen[r.text] && r.matches(o.untyped.GetKind(), at) {
				h.seen[r.text], found = true, true
			}
		}
	}
	return found
}

// lack reports whether a row that may be about the kind was not seen.
func (h *rowHits) lack(kind string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(rows(), func(r rowOf) bool {
		return !h.seen[r.text] && (strings.HasPrefix(r.text, kind+" ") || strings.HasPrefix(r.text, "pod "))
	})
}

// additions lists the paths at which sent has something else than was written.
func additions(written, sent any, path string) []string {
	var out []string
	switch sent := sent.(type) {
	case map[string]any:
		w, _ := written.(map[string]any)
		for _, k := range slices.Sorted(maps.Keys(sent)) {
			at := strings.TrimPrefix(path+"."+k, ".")
			if _, ok := w[k]; !ok {
				out = append(out, at)
			}
			out = append(out, additions(w[k], sent[k], at)...)
		}
	case []any:
		w, _ := written.([]any)
		for i := range w {
			out = append(out, additions(w[i], sent[i], path+"[]")...)
		}
	default:
		if written != nil && written != sent {
			out = append(out, path)
		}
	}
	return out
}

// check demands that every row was seen.
func (h *rowHits) check(t *testing.T) {
	t.Helper()
	for _, r := range rows() {
		if !h.seen[r.text] {
			t.Errorf("no sample has needed the row %q", r.text)
		}
	}
}
