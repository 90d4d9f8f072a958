package apply_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/object"
)

// An amendment is written to exactly what was seen, or not at all.
func TestAmendHoldsForWhatWasSeen(t *testing.T) {
	f := setUp(t)
	f.apply(f.configMap("cm", "k=1"), object.OpCreated)
	seen := f.live("cm")
	changed := seen.DeepCopy()
	changed.Data["step"] = "1"
	f.must(f.Patch(t.Context(), f.configMap("cm"), client.RawPatch(types.MergePatchType, []byte(`{"data":{"theirs":"x"}}`)), client.FieldOwner("a-person")))
	if _, err := f.applier.Amend(t.Context(), f.owner, seen, changed); !condition.IsWait(err) {
		t.Errorf("amending what has changed: %v, want a wait", err)
	}
	seen = f.live("cm")
	changed = seen.DeepCopy()
	changed.Data["step"] = "1"
	res, err := f.applier.Amend(t.Context(), f.owner, seen, changed)
	if err != nil || res.Op != object.OpUpdated || fmt.Sprint(f.live("cm").Data) != "map[k:1 step:1 theirs:x]" {
		t.Errorf("%q, %v, %v", res.Op, err, f.live("cm").Data)
	}
	seen = f.live("cm")
	f.must(f.Delete(t.Context(), f.configMap("cm")))
	f.apply(f.configMap("cm", "k=1"), object.OpCreated)
	changed = seen.DeepCopy()
	changed.Data["step"] = "2"
	if _, err := f.applier.Amend(t.Context(), f.owner, seen, changed); !condition.IsWait(err) || f.live("cm").Data["step"] != "" {
		t.Errorf("amending what was made anew: %v, %v", err, f.live("cm").Data)
	}
}

func TestAmendTouchesOnlyOurs(t *testing.T) {
	f := setUp(t)
	f.must(f.Create(t.Context(), f.configMap("theirs", "k=1"), client.FieldOwner("a-person")))
	seen := f.live("theirs")
	changed := seen.DeepCopy()
	changed.Data["k"] = "2"
	if res, err := f.applier.Amend(t.Context(), f.owner, seen, changed); err != nil || res.Op != object.OpNone || f.live("theirs").Data["k"] != "1" {
		t.Errorf("%q, %v", res.Op, err)
	}
	f.apply(f.configMap("ours", "k=1"), object.OpCreated)
	if _, err := f.applier.Amend(t.Context(), f.owner, f.live("ours"), f.live("theirs")); err == nil {
		t.Error("an object was amended to be another")
	}
}
