package steer

import (
	"strings"
	"testing"
	"time"
)

func TestParsePod(t *testing.T) {
	for _, row := range []struct {
		name        string
		annotations map[string]string
		want        Pod
	}{
		{"nothing", nil, Pod{}},
		{"annotations of others", map[string]string{"example.com/hold": "true"}, Pod{}},
		{"late", map[string]string{ReadyAfter: "1.5s"}, Pod{ReadyAfter: 1500 * time.Millisecond}},
		{"held", map[string]string{Hold: "true"}, Pod{Hold: true}},
		{"not held", map[string]string{Hold: "false"}, Pod{}},
		{"ends well", map[string]string{RunFor: "0s"}, Pod{Exits: true}},
		{"ends badly at once", map[string]string{ExitCode: "255"}, Pod{Exits: true, ExitCode: 255}},
		{"ends badly later", map[string]string{RunFor: "2m", ExitCode: "3"}, Pod{Exits: true, RunFor: 2 * time.Minute, ExitCode: 3}},
		{"crashes", map[string]string{CrashLoop: "true"}, Pod{Exits: true, CrashLoop: true, ExitCode: 1}},
		{"crashes with a code", map[string]string{CrashLoop: "true", ExitCode: "137"}, Pod{Exits: true, CrashLoop: true, ExitCode: 137}},
		{"no image", map[string]string{PullFail: "true"}, Pod{PullFail: true}},
		{"stops slowly", map[string]string{StopAfter: "3s"}, Pod{StopAfter: 3 * time.Second}},
	} {
		got, problem := ParsePod(row.annotations)
		if problem != nil || got != row.want {
			t.Errorf("%s: %+v, %v; want %+v", row.name, got, problem, row.want)
		}
	}
}

func TestParsePodExplains(t *testing.T) {
	for _, row := range []struct {
		annotation, value, want string
	}{
		{ReadyAfter, "soon", `annotation plane.armature.dev/ready-after: "soon" is not a duration; write for example "500ms", "1.5s" or "2m"`},
		{RunFor, "-1s", `annotation plane.armature.dev/run-for: "-1s" is not a duration; write for example "500ms", "1.5s" or "2m"`},
		{StopAfter, "", `annotation plane.armature.dev/stop-after: "" is not a duration; write for example "500ms", "1.5s" or "2m"`},
		{ExitCode, "256", `annotation plane.armature.dev/exit-code: "256" is not an exit code; write a number from 0 to 255`},
		{Hold, "yes", `annotation plane.armature.dev/hold: "yes" is not a switch; write "true" or "false", or remove the annotation`},
		{CrashLoop, "3", `annotation plane.armature.dev/crash-loop: "3" is not a switch; write "true" or "false", or remove the annotation`},
		{PullFail, "TRUE", `annotation plane.armature.dev/pull-fail: "TRUE" is not a switch; write "true" or "false", or remove the annotation`},
	} {
		got, problem := ParsePod(map[string]string{row.annotation: row.value})
		if problem == nil || problem.Error() != row.want {
			t.Errorf("%s=%q: %v\nwant %s", row.annotation, row.value, problem, row.want)
		}
		if got != (Pod{}) {
			t.Errorf("%s=%q: half understood as %+v", row.annotation, row.value, got)
		}
	}
}

func TestParseNode(t *testing.T) {
	for value, want := range map[string]bool{"true": true, "false": false} {
		if down, problem := ParseNode(map[string]string{Down: value}); down != want || problem != nil {
			t.Errorf("%q: %t, %v", value, down, problem)
		}
	}
	if down, problem := ParseNode(map[string]string{Down: "maybe"}); !down || problem == nil || !strings.Contains(problem.Error(), Down) {
		t.Errorf("a bad value: %t, %v", down, problem)
	}
}

func FuzzParsePod(f *testing.F) {
	f.Add("1s", "true", "7")
	f.Add("", "", "")
	f.Add("-9223372036854775808ns", "maybe", "-1")
	f.Fuzz(func(t *testing.T, duration, toggle, code string) {
		p, problem := ParsePod(map[string]string{
			ReadyAfter: duration, RunFor: duration, StopAfter: duration,
			Hold: toggle, CrashLoop: toggle, PullFail: toggle, ExitCode: code,
		})
		if problem != nil {
			if p != (Pod{}) || !strings.HasPrefix(problem.Annotation, Prefix) || problem.Want == "" {
				t.Fatalf("%+v with %+v", p, problem)
			}
			return
		}
		if p.ReadyAfter < 0 || p.ExitCode < 0 || p.ExitCode > 255 || !p.Exits {
			t.Fatalf("accepted %+v", p)
		}
	})
}
