package kind_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/kind"
	"github.com/armature-go/armature/object"
)

// Cluster is a Go type as somebody else may have it for a kind of which the library
// has none.
type Cluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Instances int `json:"instances"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration int64              `json:"observedGeneration"`
		ReadyInstances     int                `json:"readyInstances"`
		Phase              string             `json:"phase"`
		PhaseReason        string             `json:"phaseReason"`
		Conditions         []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

func (c *Cluster) DeepCopyObject() runtime.Object { copied := *c; return &copied }

// A type of somebody else is judged like the same object without its type.
func TestTypesOfOthers(t *testing.T) {
	gvk := schema.GroupVersionKind{Group: "postgresql.cnpg.io", Version: "v1", Kind: "Cluster"}
	row, unknown := kind.Builtin().Find(gvk), new(kind.Table).Find(gvk)
	rng := rand.New(rand.NewPCG(17, 18))
	for range 300 {
		u := foreign(rng, gvk)
		text, err := u.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		typed := &Cluster{}
		if err := json.Unmarshal(text, typed); err != nil {
			t.Fatal(err)
		}
		for name, rule := range map[string]func(object.Object) kind.State{
			"health":   func(obj object.Object) kind.State { return row.Health(obj, object.OpNone) },
			"grace":    row.Grace,
			"rest":     row.Suspend.Status,
			"fallback": func(obj object.Object) kind.State { return unknown.Health(obj, object.OpUpdated) },
		} {
			if with, without := rule(typed), rule(u); with != without {
				t.Fatalf("%s: %v, and without its type %v", name, with, without)
			}
		}
	}
}

// What brings an object to rest leaves the annotations alone that it was given.
func TestHibernationOfATypeOfOthers(t *testing.T) {
	shared := map[string]string{"owner": "me", "cnpg.io/hibernation": "off"}
	obj := &Cluster{ObjectMeta: metav1.ObjectMeta{Annotations: shared}}
	row := kind.Builtin().Find(schema.GroupVersionKind{Group: "postgresql.cnpg.io", Version: "v1", Kind: "Cluster"})
	if err := row.Suspend.Mutate(obj); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(obj.Annotations); got != "map[cnpg.io/hibernation:on owner:me]" || shared["cnpg.io/hibernation"] != "off" {
		t.Errorf("got %s, and the map that was given is %v", got, shared)
	}
	wrong := foreign(rand.New(rand.NewPCG(1, 1)), schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Gadget"})
	if s := row.Health(wrong, object.OpNone); s.Reason != condition.Error || s.Message != "this is a Gadget where a Cluster is expected" {
		t.Errorf("got %v", s)
	}
}
