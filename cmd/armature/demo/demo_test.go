package demo

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/jsonpath"
)

func TestGoals(t *testing.T) {
	for _, test := range []struct {
		name   string
		goal   goal
		values string
		want   bool
	}{
		{"a value that it has", becomes("3"), "2 3", true},
		{"a value that it had", becomes("3"), "3 2", false},
		{"by another's hand, and back", undone(), "3 9 3", true},
		{"nobody's hand was seen", undone(), "3", false},
		{"the hand's work is still there", undone(), "3 9", false},
		{"an edit alone", changes(), "10 11", false},
		{"an edit and what undid it", changes(), "10 11 12", true},
		{"as another", returns(), "a none b", true},
		{"as itself", returns(), "a none a", false},
		{"not yet", returns(), "a none", false},
		{"new", appears(), "none a", true},
		{"known before", appears(), "a", false},
		{"left alone", stays(), "a", true},
		{"never there", stays(), "none", false},
		{"replaced", stays(), "a b", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.goal.met(strings.Fields(test.values)); got != test.want {
				t.Errorf("%s, wanted %q: %t", test.values, test.goal.text, got)
			}
		})
	}
}

func TestFields(t *testing.T) {
	obj := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"uid": "1111-2222", "generation": int64(2)},
		"spec": map[string]any{"replicas": int64(3), "template": map[string]any{"spec": map[string]any{"containers": []any{
			map[string]any{"image": "registry.example.com/web:1", "env": []any{map[string]any{"name": "A"}, map[string]any{"name": "B"}}},
		}}}},
		"status": map[string]any{"conditions": []any{
			map[string]any{"type": "Ready", "status": "False", "reason": "Blocked", "message": "waiting", "observedGeneration": int64(2), "lastTransitionTime": "2026-01-02T00:00:00Z"},
			map[string]any{"type": "OldReady", "status": "True", "reason": "Healthy", "observedGeneration": int64(1), "lastTransitionTime": "2026-01-01T00:00:00Z"},
		}},
	}}
	for _, test := range []struct {
		field   field
		want    string
		current bool
	}{
		{path(".spec.replicas"), "3", true},
		{path(".spec.missing"), none, true},
		{named("env", ".spec.template.spec.containers[0].env[*].name"), "A B", true},
		{image(), "web:1", true},
		{uid(), "1111", true},
		{count(), "1", true},
		{state("Ready"), "False Blocked", true},
		{message("Ready"), "waiting", true},
		{state("OldReady"), "True Healthy", false},
		{state("NoReady"), none, false},
	} {
		if got, current := test.field.read([]*unstructured.Unstructured{obj}); got != test.want || current != test.current {
			t.Errorf("%s: got %q (current: %t), want %q (%t)", test.field.name, got, current, test.want, test.current)
		}
		if got, _ := test.field.read(nil); got != none && got != "0" {
			t.Errorf("%s of nothing: got %q", test.field.name, got)
		}
	}
	if got, want := lastCondition(obj), "its last condition is Ready False Blocked: waiting"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A path that cannot be read would be waited for in vain.
func TestScriptIsSound(t *testing.T) {
	for _, step := range script() {
		if step.name == "" || len(step.acts) == 0 {
			t.Errorf("step %q has no name or shows nothing", step.name)
		}
		for _, a := range step.acts {
			if a.do == "" || len(a.want) == 0 {
				t.Errorf("step %q: %q wants nothing", step.name, a.do)
			}
			for _, w := range a.want {
				if !strings.HasPrefix(w.field.name, ".") {
					continue
				}
				if err := jsonpath.New("").Parse("{" + w.field.name + "}"); err != nil {
					t.Errorf("step %q: %v", step.name, err)
				}
			}
		}
	}
}

func TestWay(t *testing.T) {
	for _, test := range []struct{ values, want string }{
		{"3", "3, as before"},
		{"2 3", "2 → 3"},
		{"5 4 3 0", "5 → 4 → 3 → 0"},
		{"5 4 3 2 1 0", "5 → 4 → … → 0"},
	} {
		if got := way(strings.Fields(test.values)); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// What is shown can be typed.
func TestQuoted(t *testing.T) {
	const want = `patch webapp shop --type=merge -p '{"spec":{"replicas":3}}'`
	if got := quoted(`patch webapp shop --type=merge -p {"spec":{"replicas":3}}`); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
