package condition

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Category groups reasons that are dealt with alike.
type Category string

// The categories. A reason of an operator takes one of them, but not CategoryUnwritten.
const (
	CategoryFailure      Category = "failure"      // nothing moves until a person acts or the error ends
	CategoryGrace        Category = "grace"        // the verdict at the end of the grace period
	CategorySuspension   Category = "suspension"   // asked to rest, by its spec
	CategoryOff          Category = "off"          // its gate is off
	CategoryFailing      Category = "failing"      // tried, and cannot converge
	CategoryPrecondition Category = "precondition" // not started or held back, until something else is true
	CategoryConverging   Category = "converging"   // being brought to its desired state
	CategoryRunning      Category = "running"      // a task at work
	CategoryWaiting      Category = "waiting"      // somebody else has to act, and will
	CategoryReady        Category = "ready"        // as it should be
	CategoryUnwritten    Category = "unwritten"    // no pass has reached it
)

// Row is everything the library knows about one reason.
type Row struct {
	Reason   Reason
	Priority int                    // who speaks for many; see [Reason.Priority]
	Status   metav1.ConditionStatus // of a condition with this reason
	Category Category
	Graded   bool   // at the end of the grace period a verdict replaces it
	Sticky   bool   // during the grace period it is kept while the message moves on
	Meaning  string // one sentence for the user's documentation
}

// topPriority is the highest priority there is: nothing outweighs a failure.
const topPriority = 20

// builtin is the vocabulary. Order in the file is free; Rows sorts.
var builtin = []Row{
	{Error, 20, metav1.ConditionFalse, CategoryFailure, false, false, "A request or a computation went wrong; it is tried again with growing pauses."},
	{FeatureGateError, 20, metav1.ConditionFalse, CategoryFailure, false, false, "Whether this is on cannot be decided, for example because a version cannot be read."},
	{Invalid, 20, metav1.ConditionFalse, CategoryFailure, false, false, "The resource asks for something that cannot be done; the message names the field to change."},
	{PermissionDenied, 20, metav1.ConditionFalse, CategoryFailure, false, false, "The operator lacks a right; the message names the verb, the resource and the scope."},
	{Conflict, 20, metav1.ConditionFalse, CategoryFailure, false, false, "An object or a field belongs to somebody else; the message names the owner."},
	{Down, 19, metav1.ConditionFalse, CategoryGrace, false, false, "The grace period is over and nothing of it works."},
	{Degraded, 18, metav1.ConditionFalse, CategoryGrace, false, false, "The grace period is over and only a part of it works."},
	{PendingSuspension, 17, metav1.ConditionFalse, CategorySuspension, false, false, "Suspension was asked for and has not begun."},
	{Suspending, 16, metav1.ConditionFalse, CategorySuspension, false, false, "It is being brought to rest."},
	{Suspended, 15, metav1.ConditionTrue, CategorySuspension, false, false, "It rests, as asked."},
	{Disabled, 14, metav1.ConditionTrue, CategoryOff, false, false, "It is switched off, and nothing of it exists."},
	{Failing, 13, metav1.ConditionFalse, CategoryFailing, true, false, "Its pods cannot be brought up as things are."},
	{OperationFailing, 12, metav1.ConditionFalse, CategoryFailing, true, false, "Whoever has to provide it reports that it cannot."},
	{TaskFailing, 11, metav1.ConditionFalse, CategoryFailing, true, false, "A task ended without success."},
	{Blocked, 10, metav1.ConditionFalse, CategoryPrecondition, true, false, "Something that has to be there first is not; the message names it."},
	{PrerequisiteNotMet, 10, metav1.ConditionFalse, CategoryPrecondition, false, false, "It has not been started, because it comes after something that is not ready."},
	{Scaling, 9, metav1.ConditionFalse, CategoryConverging, true, true, "The number of ready pods is not the wanted one, with nothing changed by us."},
	{TaskRunning, 8, metav1.ConditionFalse, CategoryRunning, true, false, "A task is at work."},
	{Updating, 7, metav1.ConditionFalse, CategoryConverging, true, true, "A change is being rolled out."},
	{Creating, 6, metav1.ConditionFalse, CategoryConverging, true, true, "It is being brought up for the first time."},
	{OperationPending, 5, metav1.ConditionFalse, CategoryWaiting, true, false, "Whoever has to provide it has not done so yet."},
	{TaskPending, 4, metav1.ConditionFalse, CategoryWaiting, true, false, "A task has not been started yet."},
	{Healthy, 3, metav1.ConditionTrue, CategoryReady, false, false, "All of it is up and current."},
	{Operational, 2, metav1.ConditionTrue, CategoryReady, false, false, "It has been provided and works."},
	{Completed, 1, metav1.ConditionTrue, CategoryReady, false, false, "Its tasks have ended with success."},
	{Unknown, 0, metav1.ConditionFalse, CategoryUnwritten, false, false, "No pass has reached it yet."},
}

// vocabulary is a set of rows that can be extended while others read it.
type vocabulary struct {
	mu   sync.RWMutex
	rows map[Reason]Row
}

// table is the one vocabulary of the process.
var table = newVocabulary(builtin...)

func newVocabulary(rows ...Row) *vocabulary {
	v := &vocabulary{rows: make(map[Reason]Row, len(rows))}
	for _, r := range rows {
		v.rows[r.Reason] = r
	}
	return v
}

// Lookup returns the row of a reason, and whether there is one. A reason without a
// row was written by somebody else, or is not a reason. Safe for concurrent use.
func Lookup(r Reason) (Row, bool) {
	table.mu.RLock()
	defer table.mu.RUnlock()
	row, ok := table.rows[r]
	return row, ok
}

// Rows returns a copy of the whole table by falling priority, reasons of one
// priority in alphabetical order. Safe for concurrent use.
func Rows() []Row { return table.sorted() }

// MustRegister adds an operator's own reasons; call it at start-up, beside the
// declaration of the constants. It panics, and adds nothing, if a row is not sound
// or says something else about a reason that has a row. Adding the same row twice
// is fine. Safe for concurrent use.
func MustRegister(rows ...Row) {
	if err := table.add(rows...); err != nil {
		panic("condition.MustRegister: " + err.Error())
	}
}

func (v *vocabulary) sorted() []Row {
	v.mu.RLock()
	defer v.mu.RUnlock()
	rows := make([]Row, 0, len(v.rows))
	for _, r := range v.rows {
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Reason, b.Reason))
	})
	return rows
}

func (v *vocabulary) add(rows ...Row) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	added := make(map[Reason]Row, len(rows))
	for _, r := range rows {
		if err := r.check(); err != nil {
			return fmt.Errorf("reason %q: %w", r.Reason, err)
		}
		for _, known := range []map[Reason]Row{v.rows, added} {
			if old, ok := known[r.Reason]; ok && old != r {
				return fmt.Errorf("reason %q: it has a row already, which says something else; choose another word", r.Reason)
			}
		}
		added[r.Reason] = r
	}
	maps.Copy(v.rows, added)
	return nil
}

// reasonSyntax is what the API server accepts in a reason, less the signs that a
// word does not need.
var reasonSyntax = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,62}$`)

// truth lists, for every category, what a condition with a reason of it can be.
var truth = map[Category][]metav1.ConditionStatus{
	CategoryFailure:      {metav1.ConditionFalse},
	CategoryGrace:        {metav1.ConditionFalse},
	CategorySuspension:   {metav1.ConditionFalse, metav1.ConditionTrue},
	CategoryOff:          {metav1.ConditionTrue},
	CategoryFailing:      {metav1.ConditionFalse},
	CategoryPrecondition: {metav1.ConditionFalse},
	CategoryConverging:   {metav1.ConditionFalse},
	CategoryRunning:      {metav1.ConditionFalse},
	CategoryWaiting:      {metav1.ConditionFalse},
	CategoryReady:        {metav1.ConditionTrue},
}

// check returns what is wrong with a row that somebody wants to add, or nil.
func (r Row) check() error {
	possible, known := truth[r.Category]
	switch {
	case !reasonSyntax.MatchString(string(r.Reason)):
		return errors.New("a reason is one CamelCase word, such as SecretMissing")
	case r.Priority < 1 || r.Priority > topPriority:
		return fmt.Errorf("priority %d is not between 1 and %d", r.Priority, topPriority)
	case !known:
		return fmt.Errorf("a reason of an operator cannot be of category %q", r.Category)
	case !slices.Contains(possible, r.Status):
		return fmt.Errorf("status %q does not go with category %q", r.Status, r.Category)
	case r.Graded && r.Status == metav1.ConditionTrue:
		return errors.New("what is True is not graded")
	case r.Sticky && !r.Graded:
		return errors.New("only what is graded can be sticky")
	case !strings.HasSuffix(r.Meaning, ".") || strings.ContainsAny(r.Meaning, "\n|"):
		return errors.New("its meaning has to be one sentence on one line, ending in a full stop")
	}
	return nil
}
