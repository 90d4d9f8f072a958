package apply

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/armature-go/armature/object"
)

const (
	// contested is how many times within contestedFor an object is made what it should
	// be, without a change of what that is, until this counts as a fight with somebody
	// who wants it otherwise.
	contested    = 5
	contestedFor = 10 * time.Minute

	// Between two corrections of a contested object there is a truce, which gets longer
	// each time.
	firstTruce   = 30 * time.Second
	longestTruce = 10 * time.Minute
)

// Note is something about an object that could not be honoured, for people. It is
// told in every pass for as long as it holds, in the same words.
type Note struct {
	Reason  string // in one word, such as Contested
	Message string // what, and what is done instead
}

// fight is what is remembered of corrections of one object.
type fight struct {
	fixes int       // since
	since time.Time // the first of them or, once they count as a fight, the last
	until time.Time // the end of the truce; zero is none
	about string    // who changes what; empty if it is no fight yet
}

// ends is when it is over if nothing more happens.
func (f fight) ends() time.Time {
	if f.until.After(f.since) {
		return f.until.Add(contestedFor)
	}
	return f.since.Add(contestedFor)
}

// notes tell of a fight that is not over.
func (f fight) notes(now time.Time) []Note {
	if f.about == "" || now.After(f.ends()) {
		return nil
	}
	return []Note{{Reason: "Contested", Message: f.about + "; it is corrected less and less often"}}
}

// suspects reports whether the next correction counts as a fight, so that it pays to
// look who wrote the object.
func (f fight) suspects() bool { return f.fixes+1 >= contested }

// corrected counts a correction. Seen is what was there before it, and live what is
// there now.
func (a *Applier) corrected(t target, f fight, seen object.Object, live *unstructured.Unstructured) fight {
	now := a.now()
	if f.fixes == 0 || now.After(f.ends()) {
		f = fight{since: now}
	}
	f.fixes++
	if f.fixes < contested {
		return f
	}
	f.since, f.until = now, now.Add(min(firstTruce<<min(f.fixes-contested, 10), longestTruce))
	f.about = a.opponent(t, seen, live)
	return f
}

// opponent says who changes what.
func (a *Applier) opponent(t target, seen object.Object, live *unstructured.Unstructured) string {
	holders, err := a.holders(t.owner, seen)
	if err != nil {
		return "something keeps changing it"
	}
	before, err := runtime.DefaultUnstructuredConverter.ToUnstructured(seen)
	if err != nil {
		return "something keeps changing it"
	}
	var fields, writers []string
	for _, c := range t.difference(before, live.Object, holders) {
		fields = append(fields, c.Path)
		if writer, ok := strings.CutPrefix(c.Reason, writtenBy); ok {
			writers = append(writers, writer)
		}
	}
	slices.Sort(writers)
	who := strings.Join(slices.Compact(writers), " and ")
	if who == "" {
		who = "something"
	}
	if len(fields) > 3 {
		fields = append(fields[:3], "more")
	}
	return fmt.Sprintf("%s keeps changing %s", who, strings.Join(fields, ", "))
}
