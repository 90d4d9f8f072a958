package component

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-go/armature/api"
	"github.com/armature-go/armature/condition"
	"github.com/armature-go/armature/feature"
	"github.com/armature-go/armature/kind"
	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/resource"
)

// TestRunGolden plays the scripts of testdata/run. A script declares components and
// says what the cluster is like and what goes wrong in it:
//
//	component NAME [after=TYPE] [grace=5m] [off] [broken] [suspend] [err=KIND:text]
//	                               a second one of a name takes the place of the first
//	  manage|observe|remove|release KIND NAME [modifier…]
//	gone NAME                      the component is declared no longer
//	ours COMPONENT KIND NAME JSON  an object of ours exists
//	theirs KIND NAME JSON          an object of somebody else's exists
//	vanish KIND NAME               an object exists no longer
//	live KIND NAME JSON            what the cluster adds to it when it is applied
//	fault VERB KIND NAME KIND:text the call fails: wait, later, invalid, error, panic
//	mend                           nothing fails any longer
//	change                         the owner's spec changes
//	at DURATION                    the time
//	pass
//
// Modifiers are aux, off, guard=KIND:text, health=REASON[:text], absent=block,
// absent=ignore, replicas=2, writes=CELL (out of the annotation of that name) and
// reads=CELL (into the data of a ConfigMap, or an annotation). In texts _ stands for
// a blank.
//
// What a pass does is written as it does it, then what it reports: for each component
// its condition, with ! where the pass is to be retried, and when to look again.
func TestRunGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/run/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			golden(t, file, newScript(t).play)
		})
	}
}

// script is the state of a script that is being played.
type script struct {
	t       *testing.T
	cluster *cluster
	owner   *shop
	now     time.Time
	decls   []*declared
	latest  *declared // where resources are added
	out     strings.Builder
}

// declared is a component as the script writes it, to be made anew for each pass.
type declared struct {
	head  []string
	lines [][]string
}

func newScript(t *testing.T) *script {
	t.Helper()
	return &script{t: t, cluster: newCluster(t), owner: newShop(), now: noon}
}

func (s *script) play(in string) string {
	s.t.Helper()
	for line := range strings.Lines(in) {
		if words := strings.Fields(line); len(words) > 0 {
			s.line(line, words)
		}
	}
	return s.out.String()
}

func (s *script) line(line string, words []string) {
	s.t.Helper()
	c := s.cluster
	rest := func(n int) string { return strings.Join(words[n:], " ") }
	switch words[0] {
	case "component":
		s.latest = &declared{head: words[1:]}
		at := slices.IndexFunc(s.decls, func(have *declared) bool { return have.head[0] == words[1] })
		if at < 0 {
			s.decls = append(s.decls, s.latest)
		} else {
			s.decls[at] = s.latest
		}
	case "gone":
		s.decls = slices.DeleteFunc(s.decls, func(have *declared) bool { return have.head[0] == words[1] })
	case "manage", "observe", "remove", "release":
		s.latest.lines = append(s.latest.lines, words)
	case "ours":
		c.put(words[1], c.overlay(named(s.t, c.scheme, words[2], words[3]), rest(4)))
	case "theirs":
		c.put("", c.overlay(named(s.t, c.scheme, words[1], words[2]), rest(3)))
	case "vanish":
		key := c.key(named(s.t, c.scheme, words[1], words[2]))
		delete(c.owned, key)
		delete(c.foreign, key)
	case "live":
		c.answers[rest(1)[:len(words[1]+" "+words[2])]] = rest(3)
	case "fault":
		c.faults[strings.Join(words[1:len(words)-1], " ")] = s.fault(words[len(words)-1])
	case "mend":
		clear(c.faults)
	case "change":
		s.owner.Generation++
	case "at":
		after, err := time.ParseDuration(words[1])
		if err != nil {
			s.t.Fatal(err)
		}
		s.now = noon.Add(after)
	case "pass":
		s.pass()
	default:
		s.t.Fatalf("what is %q?", line)
	}
}

// fault reads KIND:text.
func (s *script) fault(text string) error {
	which, text, _ := strings.Cut(text, ":")
	text = strings.ReplaceAll(text, "_", " ")
	switch which {
	case "wait":
		return &condition.WaitError{Message: text}
	case "later":
		return &condition.WaitError{Message: text, After: 30 * time.Second}
	case "invalid":
		return &condition.InvalidError{Field: "spec.size", Problem: text}
	case "error":
		return errors.New(text)
	case "panic":
		return crash{errors.New(text)}
	}
	s.t.Fatalf("what kind of error is %q?", which)
	return nil
}

func (s *script) pass() {
	var components []Component
	for _, d := range s.decls {
		components = append(components, s.component(d))
	}
	env := s.cluster.env(s.now)
	res := Run(s.t.Context(), env, s.owner, components)
	fmt.Fprintf(&s.out, "pass at %s\n", short(s.now.Sub(noon)))
	applied := map[string]bool{}
	for _, call := range s.cluster.takeCalls() {
		verb, name, _ := strings.Cut(call, " ")
		if verb == "apply" && !applied[name] && s.cluster.desired[name] != nil {
			call += s.cluster.show(name)
			applied[name] = true
		}
		fmt.Fprintf(&s.out, "    %s\n", call)
	}
	s.owner.Status.Components = nil
	for _, r := range res.Reports {
		fmt.Fprintf(&s.out, "  %s %s/%s%s: %s\n", r.Name, r.Condition.Status, r.Condition.Reason, mark(r.Err, r.After), r.Condition.Message)
		s.owner.Status.Components = append(s.owner.Status.Components, api.ComponentStatus{Name: r.Name, Condition: r.Condition.Type, Started: r.Started})
	}
	fmt.Fprintf(&s.out, "  Ready %s/%s%s: %s\n", res.Ready.Status, res.Ready.Reason, mark(res.Err, res.After), res.Ready.Message)
}

func mark(err error, after time.Duration) string {
	text := ""
	if err != nil {
		text = "!"
	}
	if after > 0 {
		text += " (look again in " + short(after) + ")"
	}
	return text
}

// component makes what the script declares.
func (s *script) component(d *declared) Component {
	name := d.head[0]
	c := Component{Name: name, Condition: strings.ToUpper(name[:1]) + name[1:] + "Ready"}
	for _, word := range d.head[1:] {
		switch key, value, _ := strings.Cut(word, "="); key {
		case "after":
			c.After = append(c.After, DependsOn(value))
		case "grace":
			var err error
			if c.Grace, err = time.ParseDuration(value); err != nil {
				s.t.Fatal(err)
			}
		case "off":
			c.Gate = feature.When(false)
		case "broken":
			c.Gate = feature.Version("latest", "<2.0.0")
		case "suspend":
			c.Suspend = true
		case "err":
			c.Err = s.fault(value)
		default:
			s.t.Fatalf("a component cannot be %q", word)
		}
	}
	cells := map[string]*resource.Cell[string]{}
	for _, words := range d.lines {
		c.Resources = append(c.Resources, s.resource(cells, words))
	}
	return c
}

func (s *script) resource(cells map[string]*resource.Cell[string], words []string) Resource {
	obj := named(s.t, s.cluster.scheme, words[1], words[2])
	switch words[0] {
	case "remove":
		return resource.Remove(obj)
	case "release":
		return resource.Release(obj)
	}
	m, o := resource.Manage(obj), resource.Observe(obj)
	for _, word := range words[3:] {
		key, value, _ := strings.Cut(word, "=")
		cell := cells[value]
		if cell == nil && (key == "writes" || key == "reads") {
			cell = resource.NewCell[string](value)
			cells[value] = cell
		}
		switch key {
		case "writes":
			out := resource.Into(cell, func(live object.Object) (string, bool) {
				v, ok := live.GetAnnotations()[value]
				return v, ok
			})
			m, o = m.Extract(out), o.Extract(out)
		case "absent":
			o = map[string]func() *resource.Observed[object.Object]{"block": o.BlockOnAbsence, "ignore": o.IgnoreIfAbsent}[value]()
		default:
			s.modify(m, key, value, cell)
		}
	}
	if words[0] == "observe" {
		return o
	}
	return m
}

// modify applies a modifier that only a managed resource has.
func (s *script) modify(m *resource.Managed[object.Object], key, value string, cell *resource.Cell[string]) {
	switch key {
	case "aux":
		m.Auxiliary()
	case "off":
		m.GatedBy(feature.When(false))
	case "guard":
		m.Guard(func(object.Object) error {
			err := s.fault(value)
			if err, ok := err.(crash); ok { //nolint:errorlint // made in the line before
				panic(err.Error())
			}
			return err
		})
	case "health":
		reason, message, _ := strings.Cut(value, ":")
		state := kind.State{Reason: condition.Reason(reason), Message: strings.ReplaceAll(message, "_", " ")}
		m.Health(func(object.Object, object.Op) kind.State { return state })
	case "replicas":
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil {
			s.t.Fatal(err)
		}
		m.Mutate("replicas", feature.Gate{}, func(obj object.Object) error {
			switch obj := obj.(type) {
			case *appsv1.Deployment:
				obj.Spec.Replicas = new(int32(n))
			case *appsv1.StatefulSet:
				obj.Spec.Replicas = new(int32(n))
			}
			return nil
		})
	case "reads":
		m.MutateUsing("use "+value, feature.Gate{}, resource.Using(cell, func(obj object.Object, v string) error {
			if config, ok := obj.(*corev1.ConfigMap); ok {
				config.Data = map[string]string{value: v}
				return nil
			}
			annotations := map[string]string{value: v}
			maps.Copy(annotations, obj.GetAnnotations())
			obj.SetAnnotations(annotations)
			return nil
		}))
	default:
		s.t.Fatalf("a resource cannot be %q", key)
	}
}
