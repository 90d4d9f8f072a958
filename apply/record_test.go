package apply

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-go/armature/object"
)

// ownedEntry is an entry for an object of an owner, as the server writes it.
func ownedEntry(owner types.UID, field string) *metav1.ManagedFieldsEntry {
	raw := fmt.Sprintf(`{"f:data":{"f:%s":{}},"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"%s\"}":{}}}}`, field, owner)
	return &metav1.ManagedFieldsEntry{FieldsV1: metav1.NewFieldsV1(raw)}
}

func ownedObject(owner types.UID) map[string]any {
	reference := map[string]any{"apiVersion": "v1", "kind": "X", "name": "x", "uid": string(owner)}
	return map[string]any{"data": map[string]any{"k": "v"}, "metadata": map[string]any{"ownerReferences": []any{reference}}}
}

// Objects of one shape share what is compiled for it, whoever their owner is, and
// each is still judged by its own owner's reference.
func TestProgramsAreSharedBetweenOwners(t *testing.T) {
	r := &records{programs: &programs{}}
	const a, b = types.UID("uid-a"), types.UID("uid-b")
	ofA, err := r.program(a, ownedEntry(a, "k"))
	if err != nil {
		t.Fatal(err)
	}
	ofB, err := r.program(b, ownedEntry(b, "k"))
	if err != nil || ofA != ofB || len(r.programs.of) != 1 {
		t.Fatalf("%d programs, %v", len(r.programs.of), err)
	}
	tests := []struct {
		as, in types.UID
		want   bool
	}{{a, a, true}, {b, b, true}, {a, b, false}, {b, a, false}}
	for _, tt := range tests {
		if got := ofA.of(tt.as).exact(ownedObject(tt.as), treeNode(ownedObject(tt.in))); got != tt.want {
			t.Errorf("what %s desires in the object of %s is exact: %t", tt.as, tt.in, got)
		}
		lost := ownedObject(tt.in)
		lost["metadata"].(map[string]any)["ownerReferences"] = []any{}
		same := ofA.of(tt.as).project(treeNode(ownedObject(tt.in))) == ofA.of(tt.as).project(treeNode(lost))
		if same == tt.want {
			t.Errorf("losing the reference of %s shows to %s: %t", tt.in, tt.as, !same)
		}
	}
}

// What was compiled for objects that are gone is gone, too.
func TestProgramsGoWithTheirRecords(t *testing.T) {
	a := New(nil, "x", Options{})
	for i := range 10 {
		owner := types.UID(fmt.Sprint("uid-", i))
		for n := range 5 {
			p, err := a.records.program(owner, ownedEntry(owner, fmt.Sprint("of", i, "-", n)))
			if err != nil {
				t.Fatal(err)
			}
			a.records.put(owner, object.Key{Name: fmt.Sprint(n)}, record{program: p})
		}
	}
	count := func() int {
		a.records.programs.mu.Lock()
		defer a.records.programs.mu.Unlock()
		return len(a.records.programs.of)
	}
	runtime.GC()
	if n := count(); n != 50 {
		t.Fatalf("%d programs for 50 objects of as many shapes", n)
	}
	for i := range 10 {
		a.Forget(types.UID(fmt.Sprint("uid-", i)))
	}
	for end := time.Now().Add(10 * time.Second); count() > 0; time.Sleep(time.Millisecond) { // cleanups run when they run
		if runtime.GC(); time.Now().After(end) {
			t.Fatalf("%d programs are left for no object", count())
		}
	}
}

// An applier that nobody has any more goes, with all that it remembers.
func TestAnApplierCanBeDropped(t *testing.T) {
	gone := make(chan struct{})
	func() {
		a := New(nil, "x", Options{})
		runtime.AddCleanup(a, func(c chan struct{}) { close(c) }, gone)
		p, err := a.records.program("uid", ownedEntry("uid", "k"))
		if err != nil {
			t.Fatal(err)
		}
		a.records.put("uid", object.Key{Name: "n"}, record{program: p})
	}()
	for end := time.Now().Add(10 * time.Second); ; {
		runtime.GC()
		select {
		case <-gone:
			return
		case <-time.After(time.Millisecond):
		}
		if time.Now().After(end) {
			t.Fatal("it is still there")
		}
	}
}
