package command

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestDirectory(t *testing.T) {
	for _, row := range []struct {
		name, flag, plane, data, home, want string
	}{
		{"the flag comes first", "/flag", "/env", "/data", "/home", "/flag"},
		{"then PLANE_DIR", "", "/env", "/data", "/home", "/env"},
		{"then XDG_DATA_HOME", "", "", "/data", "/home", "/data/armature/plane"},
		{"then the home directory", "", "", "", "/home", "/home/.local/share/armature/plane"},
	} {
		t.Setenv("PLANE_DIR", row.plane)
		t.Setenv("XDG_DATA_HOME", row.data)
		t.Setenv("HOME", row.home)
		if got, err := directory(row.flag); err != nil || got != row.want {
			t.Errorf("%s: %q, %v; want %q", row.name, got, err, row.want)
		}
	}
	t.Setenv("HOME", "")
	if _, err := directory(""); err == nil || !strings.Contains(err.Error(), "--dir") {
		t.Errorf("without any: %v", err)
	}
	if got, err := directory("relative"); err != nil || !filepath.IsAbs(got) {
		t.Errorf("a relative directory: %q, %v", got, err)
	}
}

func TestQuote(t *testing.T) {
	for path, want := range map[string]string{
		"/tmp/plane-1_a":  "/tmp/plane-1_a",
		"/tmp/my plane":   "'/tmp/my plane'",
		"/tmp/$HOME":      "'/tmp/$HOME'",
		"/tmp/it's":       `'/tmp/it'\''s'`,
		"/tmp/größe/ключ": "/tmp/größe/ключ",
	} {
		if got := quote(path); got != want {
			t.Errorf("%s is quoted as %s, want %s", path, got, want)
		}
	}
}

func TestParseRule(t *testing.T) {
	dir := "/before"
	r, err := parseRule([]string{"--dir", "/after", "--status", "429", "--method", "get", "--method", "PATCH", "--share", "0.25"}, &dir)
	if err != nil || r.String() != "--status 429 --share 0.25 --method GET --method PATCH" || dir != "/after" {
		t.Errorf("%v in %s, %v", r, dir, err)
	}
}

// FuzzMain feeds command lines that start nothing, and looks for panics and for exit codes that mean nothing.
func FuzzMain(f *testing.F) {
	for _, seed := range []string{"", "help", "fault proxy --share NaN", "fault\x00", "status -o", "kubectl --dir"} {
		f.Add(seed)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Fields(line)
		if len(args) > 0 && slices.Contains([]string{"up", "run", serveName}, args[0]) {
			return // it might start one
		}
		t.Setenv("PLANE_DIR", dir)
		var out, errs bytes.Buffer
		code := Main(t.Context(), args, Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, Program{Kubectl: func([]string) int { return 0 }})
		if code < 0 || code > 3 || code != 0 && errs.Len() == 0 {
			t.Fatalf("exit code %d, stderr %q", code, errs.String())
		}
	})
}
