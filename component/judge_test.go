package component

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/kind"
	"github.com/armature-go/armature/object"
)

// noon is the present of these tests.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// objects reads what was found, such as web=Creating/Down, ~metrics=Failing: an
// object, how it is doing, what its kind would say after the grace period, where it
// says anything at all; ~ makes it auxiliary, and * is the component itself.
func objects(text string) []finding {
	var all []finding
	for item := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ' ' || r == ',' }) {
		name, state, _ := strings.Cut(item, "=")
		reason, verdict, judged := strings.Cut(state, "/")
		f := finding{State: State{
			Key:       object.Key{GVK: appsv1.SchemeGroupVersion.WithKind("Deployment"), Name: strings.TrimPrefix(name, "~")},
			Reason:    condition.Reason(reason),
			Message:   "is " + strings.ToLower(reason),
			Auxiliary: strings.HasPrefix(name, "~"),
		}}
		if name == "*" {
			f.Key = object.Key{}
		}
		if judged {
			f.grace = func() kind.State {
				return kind.State{Reason: condition.Reason(verdict), Message: "counts as " + strings.ToLower(verdict)}
			}
		}
		all = append(all, f)
	}
	return all
}

// since reads a condition such as False/Creating 3m: what it says, and for how long
// it has said so.
func since(t *testing.T, text string) metav1.Condition {
	t.Helper()
	c := metav1.Condition{Type: "WebReady"}
	if text == "" {
		return c
	}
	state, age, _ := strings.Cut(text, " ")
	status, reason, _ := strings.Cut(state, "/")
	ago, err := time.ParseDuration(age)
	if err != nil {
		t.Fatal(err)
	}
	c.Status, c.Reason, c.LastTransitionTime = metav1.ConditionStatus(status), reason, metav1.NewTime(noon.Add(-ago))
	return c
}

// stored is the condition as it is after the pass, in the words of since.
func stored(previous, c metav1.Condition) string {
	var list []metav1.Condition
	if previous.Reason != "" {
		list = append(list, previous)
	}
	condition.Set(&list, c, metav1.NewTime(noon))
	got, _ := condition.Find(list, "WebReady")
	return fmt.Sprintf("%s/%s %s: %s", got.Status, got.Reason, short(noon.Sub(got.LastTransitionTime.Time)), got.Message)
}

// short writes a duration without the zeros at its end.
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// The grace period is five minutes.
func TestJudge(t *testing.T) {
	const (
		creating = "Deployment web: is creating"
		healthy  = "Component is healthy."
		expired  = "; the grace period is over, and what has not converged works all the same"
	)
	for _, tc := range []struct {
		name     string
		previous string
		found    string
		want     string
	}{
		// readiness
		{"nothing to wait for is healthy", "", "", "True/Healthy 0s: " + healthy},
		{"all ready is ready at once", "False/Creating 3m", "web=Healthy", "True/Healthy 0s: " + healthy},
		{"what has been ready stays so", "True/Healthy 3m", "web=Healthy", "True/Healthy 3m: " + healthy},
		{"the highest ready reason speaks", "", "job=Completed, lb=Operational", "True/Operational 0s: " + healthy},
		{"alone, a task is completed", "", "job=Completed", "True/Completed 0s: " + healthy},
		{"ready after having been off keeps its time", "True/Disabled 3m", "web=Healthy", "True/Healthy 3m: " + healthy},
		{"one that is not ready decides", "True/Healthy 3m", "db=Healthy, web=Updating", "False/Updating 0s: Deployment web: is updating"},

		// who counts
		{"an auxiliary object does not count", "", "~web=Failing", "True/Healthy 0s: " + healthy},
		{"but for one that is blocked", "", "~web=Blocked", "False/Blocked 0s: Deployment web: is blocked"},
		{"and one that cannot be judged", "", "~web=Error", "False/Error 0s: Deployment web: is error"},
		{"it has no say after the grace period", "False/Creating 6m", "~web=Failing/Down, db=Creating/Degraded", "False/Degraded 6m: Component is degraded: Deployment db: counts as degraded"},

		// reason and message
		{"the highest priority gives the reason", "", "db=Creating, web=Failing, lb=OperationPending", "False/Failing 0s: Deployment web: is failing"},
		{"texts of one priority are joined", "", "db=Creating, web=Creating", "False/Creating 0s: Deployment db: is creating; Deployment web: is creating"},
		{"a text without an object stands alone", "", "*=Blocked", "False/Blocked 0s: is blocked"},
		{"a blocked object outweighs one on its way", "", "db=Scaling, web=Blocked", "False/Blocked 0s: Deployment web: is blocked"},

		// where patience begins
		{"at the first look", "", "web=Creating", "False/Creating 0s: " + creating},
		{"when it stops being ready", "True/Healthy 3h", "web=Scaling", "False/Scaling 0s: Deployment web: is scaling"},
		{"when it was held back by a prerequisite", "False/PrerequisiteNotMet 3h", "web=Creating", "False/Creating 0s: " + creating},
		{"when it was disabled", "True/Disabled 3h", "web=Creating", "False/Creating 0s: " + creating},
		{"when its gate could not be read", "False/FeatureGateError 3h", "web=Creating", "False/Creating 0s: " + creating},
		{"when it was being suspended", "False/Suspending 3h", "web=Creating", "False/Creating 0s: " + creating},
		{"when it was suspended", "True/Suspended 3h", "web=Creating", "False/Creating 0s: " + creating},
		{"when nobody had looked", "False/Unknown 3h", "web=Creating", "False/Creating 0s: " + creating},
		{"when somebody else wrote the condition", "False/SomebodyElses 3h", "web=Creating", "False/Creating 0s: " + creating},
		{"when somebody else did not know", "Unknown/Creating 3h", "web=Creating", "False/Creating 0s: " + creating},
		{"an error does not make it begin again", "False/Error 3m", "web=Creating", "False/Creating 3m: " + creating},
		{"nor does a missing right", "False/PermissionDenied 3m", "web=Creating", "False/Creating 3m: " + creating},
		{"nor does another reason", "False/Blocked 3m", "web=Creating", "False/Creating 3m: " + creating},
		{"an error begins it, too", "False/PrerequisiteNotMet 3h", "web=Error", "False/Error 0s: Deployment web: is error"},

		// reasons that stay
		{"creating stays creating", "False/Creating 3m", "web=Scaling", "False/Creating 3m: Deployment web: is scaling"},
		{"updating stays updating", "False/Updating 3m", "web=Scaling", "False/Updating 3m: Deployment web: is scaling"},
		{"scaling stays scaling", "False/Scaling 3m", "web=Failing", "False/Scaling 3m: Deployment web: is failing"},
		{"an error is told all the same", "False/Creating 3m", "web=Conflict", "False/Conflict 3m: Deployment web: is conflict"},
		{"other reasons do not stay", "False/TaskRunning 3m", "job=TaskPending", "False/TaskPending 3m: Deployment job: is taskpending"},
		{"failing does not stay", "False/Failing 3m", "web=Updating", "False/Updating 3m: Deployment web: is updating"},

		// the end of the grace period
		{"is not its last moment", "False/Creating 5m", "web=Creating/Down", "False/Creating 5m: " + creating},
		{"is the moment after", "False/Creating 5m0.001s", "web=Creating/Down", "False/Down 5m0.001s: Component is down: Deployment web: counts as down"},
		{"the worst verdict wins", "False/Creating 6m", "db=Creating/Degraded, web=Creating/Down, lb=Creating/Degraded", "False/Down 6m: Component is down: Deployment web: counts as down"},
		{"equal verdicts are all told", "False/Creating 6m", "db=Creating/Degraded, lb=Updating/Degraded", "False/Degraded 6m: Component is degraded: Deployment db: counts as degraded; Deployment lb: counts as degraded"},
		{"a verdict can get worse", "False/Degraded 6m", "web=Creating/Down", "False/Down 6m: Component is down: Deployment web: counts as down"},
		{"and better", "False/Down 6m", "web=Creating/Degraded", "False/Degraded 6m: Component is degraded: Deployment web: counts as degraded"},
		{"and give way", "False/Down 6m", "web=Healthy/Healthy", "True/Healthy 0s: " + healthy},
		{"what is ready is not asked", "False/Creating 6m", "db=Healthy/Down, web=Creating/Degraded", "False/Degraded 6m: Component is degraded: Deployment web: counts as degraded"},
		{"a block is down, whatever its object would say", "False/Blocked 6m", "web=Blocked/Healthy", "False/Down 6m: Component is down: Deployment web: is blocked"},
		{"and so is one of the whole component", "False/Blocked 6m", "*=Blocked", "False/Down 6m: Component is down: is blocked"},
		{"nobody to ask is down", "False/TaskRunning 6m", "job=TaskRunning", "False/Down 6m: Component is down: it did not converge within its grace period; Deployment job: is taskrunning"},
		{"those who can be asked decide", "False/TaskRunning 6m", "job=TaskRunning, web=Creating/Degraded", "False/Degraded 6m: Component is degraded: Deployment web: counts as degraded"},
		{"a verdict of healthy lets the reason be", "False/Creating 6m", "web=Scaling/Healthy", "False/Creating 6m: Deployment web: is scaling" + expired},
		{"a verdict that cannot be given is an error", "False/Creating 6m", "web=Creating/Error", "False/Error 6m: Deployment web: counts as error"},
		{"an error is not graded", "False/Error 6m", "web=Error/Down", "False/Error 6m: Deployment web: is error"},
		{"what just began is not graded", "False/Suspending 6m", "web=Creating/Down", "False/Creating 0s: " + creating},

		// answers that no rule can give
		{"an unknown word is an error", "", "web=Fine", `False/Error 0s: Deployment web: its health rule answers "Fine", which is no state of an object; answer with a reason of package condition that is`},
		{"also beside others", "True/Healthy 1m", "db=Healthy, web=Fine", `False/Error 0s: Deployment web: its health rule answers "Fine", which is no state of an object; answer with a reason of package condition that is`},
		{"also of an auxiliary object", "", "~web=Fine", `False/Error 0s: Deployment web: its health rule answers "Fine", which is no state of an object; answer with a reason of package condition that is`},
		{"suspended is no health, though it is True", "", "web=Suspended", `False/Error 0s: Deployment web: its health rule answers "Suspended", which is no state of an object; answer with a reason of package condition that is`},
		{"nor is a verdict", "", "web=Degraded", `False/Error 0s: Deployment web: its health rule answers "Degraded", which is no state of an object; answer with a reason of package condition that is`},
		{"nor is what only a component can be", "", "web=PrerequisiteNotMet", `False/Error 0s: Deployment web: its health rule answers "PrerequisiteNotMet", which is no state of an object; answer with a reason of package condition that is`},
		{"an unknown verdict is an error", "False/Creating 6m", "web=Creating/Fine", `False/Error 6m: Deployment web: its grace rule answers "Fine", which is no state of an object; answer with a reason of package condition that is`},
		{"a verdict must be one", "False/Creating 6m", "web=Creating/Operational", `False/Error 6m: Deployment web: its grace rule answers "Operational", which is no state of an object; answer with a reason of package condition that is`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			previous := since(t, tc.previous)
			c := judge(objects(tc.found), previous, 5*time.Minute, noon)
			if got := stored(previous, c); got != tc.want {
				t.Errorf("%s, then %s\ngot  %s\nwant %s", tc.previous, tc.found, got, tc.want)
			}
			if c.Type != "WebReady" {
				t.Errorf("the condition is of type %q", c.Type)
			}
		})
	}
}

func TestNoGracePeriodIsPatienceForEver(t *testing.T) {
	previous := since(t, "False/Creating 1000h")
	c := judge(objects("web=Creating/Down"), previous, 0, noon)
	if got, want := stored(previous, c), "False/Creating 1000h: Deployment web: is creating"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// An operator's own reasons behave as their rows say.
func TestJudgeOwnReasons(t *testing.T) {
	const meaning = "For a test."
	condition.MustRegister(
		condition.Row{Reason: "LicenceMissing", Priority: 10, Status: metav1.ConditionFalse, Category: condition.CategoryPrecondition, Meaning: meaning},
		condition.Row{Reason: "Restoring", Priority: 9, Status: metav1.ConditionFalse, Category: condition.CategoryConverging, Graded: true, Sticky: true, Meaning: meaning},
		condition.Row{Reason: "Serving", Priority: 3, Status: metav1.ConditionTrue, Category: condition.CategoryReady, Meaning: meaning},
	)
	for _, tc := range []struct{ name, previous, found, want string }{
		{"a ready one is True", "", "web=Serving", "True/Serving 0s: Component is healthy."},
		{"a graded one is graded", "False/Restoring 6m", "db=Restoring/Degraded", "False/Degraded 6m: Component is degraded: Deployment db: counts as degraded"},
		{"a sticky one stays", "False/Restoring 2m", "db=Creating", "False/Restoring 2m: Deployment db: is creating"},
		{"one that is not graded has all the time in the world", "False/LicenceMissing 6m", "db=LicenceMissing/Down", "False/LicenceMissing 6m: Deployment db: is licencemissing"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			previous := since(t, tc.previous)
			if got := stored(previous, judge(objects(tc.found), previous, 5*time.Minute, noon)); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestGraceLeft(t *testing.T) {
	at := func(d time.Duration) time.Time { return noon.Add(d) }
	for _, tc := range []struct {
		name   string
		since  string // of noon
		grace  time.Duration
		judged time.Duration // after noon
		now    time.Duration
		want   time.Duration
	}{
		{"it ends a second after its end", "False/Creating 0s", 5 * time.Minute, 0, 0, 5*time.Minute + time.Second},
		{"what has passed does not count again", "False/Creating 3m", 5 * time.Minute, 0, 0, 2*time.Minute + time.Second},
		{"of a fraction of a second the API server knows nothing", "False/Creating -900ms", 5 * time.Minute, 900 * time.Millisecond, 900 * time.Millisecond, 5*time.Minute + 100*time.Millisecond},
		{"the last moment is not over", "False/Creating 5m", 5 * time.Minute, 0, 0, time.Second},
		{"it may end between judging and asking", "False/Creating 5m", 5 * time.Minute, 0, 3 * time.Second, time.Second},
		{"once judged there is nothing to look for", "False/Creating 5m1s", 5 * time.Minute, 0, 0, 0},
		{"a verdict is not awaited", "False/Degraded 1m", 5 * time.Minute, 0, 0, 0},
		{"without a grace period there is no end", "False/Creating 1m", 0, 0, 0, 0},
		{"a ready component has none", "True/Healthy 1m", 5 * time.Minute, 0, 0, 0},
		{"nor has an error", "False/Error 1m", 5 * time.Minute, 0, 0, 0},
		{"nor one that has not begun", "False/PrerequisiteNotMet 1m", 5 * time.Minute, 0, 0, 0},
		{"a block has", "False/Blocked 1m", 5 * time.Minute, 0, 0, 4*time.Minute + time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := graceLeft(since(t, tc.since), tc.grace, at(tc.judged), at(tc.now)); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// TestJudgeGolden plays the histories of testdata/judge: one pass per line, as the
// time and what was found, or as the time, an arrow and what the component was told
// instead, such as -> False/PrerequisiteNotMet. The grace period is five minutes;
// each pass is told with the time since when the condition has its status, and when
// to look again.
func TestJudgeGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/judge/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			golden(t, file, func(in string) string { return history(t, in) })
		})
	}
}

func history(t *testing.T, in string) string {
	t.Helper()
	const grace = 5 * time.Minute
	var conditions []metav1.Condition
	var out strings.Builder
	for line := range strings.Lines(in) {
		when, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		after, err := time.ParseDuration(when)
		if err != nil {
			t.Fatal(err)
		}
		now := noon.Add(after)
		previous, _ := condition.Find(conditions, "WebReady")
		previous.Type = "WebReady"
		var c metav1.Condition
		state, told := strings.CutPrefix(strings.TrimSpace(what), "-> ")
		if told {
			c = since(t, state+" 0s")
			c.LastTransitionTime, c.Message = metav1.Time{}, "(told)"
		} else {
			c = judge(objects(what), previous, grace, now)
		}
		condition.Set(&conditions, c, metav1.NewTime(now))
		c, _ = condition.Find(conditions, "WebReady")
		again := ""
		if left := graceLeft(c, grace, now, now); left > 0 && !told {
			again = ", look again in " + short(left)
		}
		fmt.Fprintf(&out, "%s %s/%s since %s%s\n    %s\n", when, c.Status, c.Reason, short(c.LastTransitionTime.Sub(noon)), again, c.Message)
	}
	return out.String()
}

// golden compares what a case leads to with what its archive wants: a comment that
// says why the case exists, a file "in" and a file "want", which -update rewrites.
func golden(t *testing.T, file string, run func(in string) string) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(archive.Comment) == 0 || len(archive.Files) != 2 || archive.Files[0].Name != "in" || archive.Files[1].Name != "want" {
		t.Fatalf("%s needs a comment and the files in and want", file)
	}
	got := run(string(archive.Files[0].Data))
	if *update {
		archive.Files[1].Data = []byte(got)
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := string(archive.Files[1].Data); got != want {
		t.Errorf("%sgot\n%swant\n%s", archive.Comment, got, want)
	}
}
