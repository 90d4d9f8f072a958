package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFresh(t *testing.T) {
	cases := []struct {
		name, script string
		code         int
		changed      []string
	}{
		{"nothing changes", "cat kept > /dev/null", 0, nil},
		{"a file is written as it was", "printf same > kept", 0, nil},
		{"a file changes", "printf other > kept", 1, []string{"kept"}},
		{"files come and go", "touch new; rm deep/gone", 1, []string{"deep/gone", "new"}},
		{"what is built does not count", "touch bin/new .git/new", 0, nil},
		{"the command fails", "exit 3", 1, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, file := range []string{"kept", "deep/gone", "bin/program", ".git/HEAD"} {
				file = filepath.Join(dir, file)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte("same"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			var out strings.Builder
			if code := run(t.Context(), dir, []string{"sh", "-c", c.script}, &out, &out); code != c.code {
				t.Errorf("exit status %d, want %d:\n%s", code, c.code, out.String())
			}
			var changed []string
			for line := range strings.Lines(out.String()) {
				if name, ok := strings.CutPrefix(line, "   "); ok {
					changed = append(changed, strings.TrimSpace(name))
				}
			}
			if !slices.Equal(changed, c.changed) {
				t.Errorf("names %q as changed, want %q", changed, c.changed)
			}
		})
	}
	if code := run(t.Context(), t.TempDir(), nil, os.Stdout, os.Stderr); code != 2 {
		t.Errorf("exit status %d without a command, want 2", code)
	}
}
