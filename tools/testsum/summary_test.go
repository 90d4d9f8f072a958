package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the want files in testdata")

// Each testdata/<case>.json was printed by go test -json; <case>.want is what
// testsum makes of it, and testdata/skips.txt is the list of skips for all.
func TestSummary(t *testing.T) {
	streams, err := filepath.Glob("testdata/*.json")
	if err != nil || len(streams) == 0 {
		t.Fatalf("no streams in testdata: %v", err)
	}
	for _, stream := range streams {
		t.Run(strings.TrimSuffix(filepath.Base(stream), ".json"), func(t *testing.T) {
			stdin, err := os.Open(stream)
			if err != nil {
				t.Fatal(err)
			}
			defer stdin.Close()
			var out strings.Builder
			code := run(t.Context(), []string{"-skips", "testdata/skips.txt"}, stdin, &out, &out)
			if green := strings.Contains(out.String(), " passed, 0 failed, "); green != (code == 0) {
				t.Errorf("exit status %d does not fit the last line:\n%s", code, out.String())
			}

			file := strings.TrimSuffix(stream, ".json") + ".want"
			if *update {
				if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if out.String() != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s\n-update rewrites it", out.String(), want)
			}
		})
	}
}

func TestExitStatus(t *testing.T) {
	pass := `echo '{"Action":"pass","Package":"p","Test":"TestA"}'; echo '{"Action":"pass","Package":"p"}'`
	cases := []struct {
		name string
		args []string
		code int
		last string
	}{
		{"everything passes", []string{pass}, 0, "1 passed, 0 failed, 0 skipped; 0 tests met an API server"},
		{"two commands add up", []string{pass, pass}, 0, "2 passed, 0 failed, 0 skipped; 0 tests met an API server"},
		{"a command fails without naming a test", []string{pass, "exit 3"}, 1, "1 passed, 1 failed, 0 skipped; 0 tests met an API server"},
		{"a command prints what is no event", []string{"echo no JSON; " + pass}, 0, "1 passed, 0 failed, 0 skipped; 0 tests met an API server"},
		{"no test at all", []string{"true"}, 1, "0 passed, 1 failed, 0 skipped; 0 tests met an API server"},
		{"no such list of skips", []string{"-skips", "testdata/nowhere.txt", pass}, 2, "testsum: reading the list of skips: open testdata/nowhere.txt: no such file or directory"},
		{"a skip without a reason", []string{"-skips", "testdata/unreasoned-skips.txt", pass}, 2, "testsum: testdata/unreasoned-skips.txt:2: write it as: package TestName # reason"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			code := run(t.Context(), c.args, strings.NewReader(""), &out, &out)
			if code != c.code {
				t.Errorf("exit status %d, want %d", code, c.code)
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if last := lines[len(lines)-1]; last != c.last {
				t.Errorf("last line is %q, want %q; all of it:\n%s", last, c.last, out.String())
			}
		})
	}
}
