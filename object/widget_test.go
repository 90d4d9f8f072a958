package object_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/armature-go/armature/object"
)

// widget is somebody's custom resource, with everything that the built-in kinds do
// not have and Go allows.
type widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   widgetSpec   `json:"spec"`
	Status widgetStatus `json:"status,omitempty"`
}

type widgetSpec struct {
	common   `json:",inline"`
	Unnamed  string
	Hidden   string            `json:"-"`
	private  string            //nolint:unused // nobody but Tree must notice it
	Zero     nested            `json:"zero,omitzero"`
	Pointers map[string]*int32 `json:"pointers,omitempty"`
	Items    []*limits         `json:"items,omitempty"`
	Numbered map[int]limits    `json:"numbered,omitempty"`
	Any      any               `json:"any,omitempty"`
	Raw      rawText           `json:"raw,omitempty"`
	RawToo   rawPointer        `json:"rawToo,omitempty"`
	Needed   limits            `json:"needed"`
	List     []string          `json:"list"`
	Nested   nested            `json:"nested,omitempty"`
}

type common struct {
	Limits limits `json:"limits,omitempty"`
}

type limits struct {
	CPU string `json:"cpu,omitempty"`
}

// nested always encodes something, and says nothing while it is zero.
type nested struct {
	Enabled bool              `json:"enabled"`
	Labels  map[string]string `json:"labels,omitempty"`
}

type widgetStatus struct {
	Phase string `json:"phase,omitempty"`
}

// rawText encodes itself.
type rawText struct{ text string }

func (r rawText) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{"text": r.text, "none": nil})
}

// rawPointer does so behind a pointer only.
type rawPointer struct{ text string }

func (r *rawPointer) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{"text": r.text})
}

func (w *widget) DeepCopyObject() runtime.Object { c := *w; return &c }

func TestTreeOfACustomType(t *testing.T) {
	const head = "apiVersion: acme.dev/v1\nkind: Widget\nmetadata:\n  name: w\nspec:\n"
	for _, tc := range []struct {
		name string
		spec widgetSpec
		want string // of the spec, or the error
	}{
		{"an empty one sends what is required", widgetSpec{}, "  Unnamed: \"\"\n  needed: {}\n"},
		{"an empty required list is a statement", widgetSpec{List: []string{}}, "  Unnamed: \"\"\n  list: []\n  needed: {}\n"},
		{"inline fields are the parent's own", widgetSpec{common: common{limits{"1"}}}, "  Unnamed: \"\"\n  limits:\n    cpu: \"1\"\n  needed: {}\n"},
		{"omitzero is as good as omitempty", widgetSpec{Zero: nested{Labels: map[string]string{}}}, "  Unnamed: \"\"\n  needed: {}\n"},
		{"and what is not zero is sent", widgetSpec{Zero: nested{Enabled: true}}, "  Unnamed: \"\"\n  needed: {}\n  zero:\n    enabled: true\n"},
		{"a map of nothing is nothing", widgetSpec{Pointers: map[string]*int32{"a": nil}}, "  Unnamed: \"\"\n  needed: {}\n"},
		{"nor does an empty map make a struct speak", widgetSpec{Nested: nested{Labels: map[string]string{}}}, "  Unnamed: \"\"\n  needed: {}\n"},
		{"a false beside something is said", widgetSpec{Nested: nested{Labels: map[string]string{"a": "b"}}}, "  Unnamed: \"\"\n  needed: {}\n  nested:\n    enabled: false\n    labels:\n      a: b\n"},
		{"an empty item is an item", widgetSpec{Items: []*limits{{}}}, "  Unnamed: \"\"\n  items:\n  - {}\n  needed: {}\n"},
		{"what encodes itself loses its nulls only", widgetSpec{Raw: rawText{"x"}}, "  Unnamed: \"\"\n  needed: {}\n  raw:\n    text: x\n"},
		{"even if only its pointer can", widgetSpec{RawToo: rawPointer{"x"}}, "  Unnamed: \"\"\n  needed: {}\n  rawToo:\n    text: x\n"},
		{"what hides in an interface is cleaned too, and stays", widgetSpec{Any: &common{}}, "  Unnamed: \"\"\n  any: {}\n  needed: {}\n"},
		{"a nil item has no place", widgetSpec{Items: []*limits{nil}}, `encoding Widget "w": spec.items[0]: a list must not hold null; remove the element`},
		{"a map that is not by text cannot be sent", widgetSpec{Numbered: map[int]limits{1: {}}}, `encoding Widget "w": cannot convert map`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := &widget{TypeMeta: metav1.TypeMeta{APIVersion: "acme.dev/v1", Kind: "Widget"}, Spec: tc.spec}
			w.Name, w.Spec.Hidden, w.Status.Phase = "w", "h", "Ready"
			got, isTree := strings.CutPrefix(treeText(w), head)
			if !isTree {
				if !strings.Contains(got, tc.want) {
					t.Errorf("got %s, want %s", got, tc.want)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

var _ object.Object = (*widget)(nil)
