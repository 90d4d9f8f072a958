package apply_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-go/armature/apply"
	"github.com/armature-go/armature/object"
)

// Two writers want one field otherwise. That is told, with the other's name, and the
// corrections get rarer; when it is over, all is as before.
func TestAFightIsToldAndGetsRarer(t *testing.T) {
	f := setUp(t)
	now := time.Now()
	c := &counted{Client: &gate{Client: f.WithWatch}}
	a := apply.New(c, controller, apply.Options{Live: f.WithWatch, Now: func() time.Time { return now }})
	pass := func() (apply.Result, int) {
		t.Helper()
		c.applies = 0
		res, err := a.Apply(t.Context(), f.owner, "store", f.configMap("cm", "k=ours", "calm=x"))
		if err != nil {
			t.Fatal(err)
		}
		return res, c.applies
	}
	other := func() {
		t.Helper()
		body := client.RawPatch(types.MergePatchType, []byte(`{"data":{"k":"theirs"}}`))
		f.must(f.Patch(t.Context(), f.configMap("cm"), body, client.FieldOwner("another-operator")))
	}
	pass()
	const told = `"another-operator" keeps changing data.k; it is corrected less and less often`
	for i := range 5 {
		now = now.Add(time.Second)
		other()
		res, sent := pass()
		if sent != 1 || res.Op != object.OpUpdated {
			t.Fatalf("correction %d: %d applies, %q", i+1, sent, res.Op)
		}
		if got := fmt.Sprint(res.Notes); (got == fmt.Sprintf("[{Contested %s}]", told)) != (i == 4) || i < 4 && len(res.Notes) > 0 {
			t.Errorf("after correction %d it is told that %s", i+1, got)
		}
	}
	for _, truce := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute} {
		other()
		res, sent := pass()
		if sent != 0 || res.Op != object.OpNone || res.Again <= truce-time.Second || res.Again > truce || len(res.Notes) != 1 {
			t.Errorf("in a truce of %s: %d applies, again in %s, %v", truce, sent, res.Again, res.Notes)
		}
		now = now.Add(truce)
		if res, sent = pass(); sent != 1 || len(res.Notes) != 1 || f.live("cm").Data["k"] != "ours" {
			t.Errorf("after a truce of %s: %d applies, %v", truce, sent, res.Notes)
		}
	}
	res, sent := pass()
	if sent != 0 || len(res.Notes) != 1 || res.Again == 0 {
		t.Errorf("while it is quiet: %d applies, again in %s, %v", sent, res.Again, res.Notes)
	}
	now = now.Add(res.Again) // the truce ends
	res, _ = pass()
	now = now.Add(res.Again)
	if res, sent = pass(); sent != 0 || len(res.Notes) != 0 || res.Again > 30*time.Minute {
		t.Errorf("when it is over: %d applies, %v", sent, res.Notes)
	}
	other()
	if res, sent = pass(); sent != 1 || len(res.Notes) != 0 {
		t.Errorf("a single correction later: %d applies, %v", sent, res.Notes)
	}
}

// A change of what is desired is applied at once, fight or no fight.
func TestAFightDoesNotHoldBackAChange(t *testing.T) {
	f := setUp(t)
	f.apply(f.configMap("cm", "k=0"), object.OpCreated)
	for i := range 7 {
		body := client.RawPatch(types.MergePatchType, []byte(`{"data":{"k":"theirs"}}`))
		f.must(f.Patch(t.Context(), f.configMap("cm"), body, client.FieldOwner("another-operator")))
		want := object.OpUpdated
		if i >= 5 {
			want = object.OpNone
		}
		f.apply(f.configMap("cm", "k=0"), want)
	}
	f.apply(f.configMap("cm", "k=1"), object.OpUpdated)
}
