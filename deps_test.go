package armature_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every direct requirement has its reason in docs/decisions/dependencies.md,
// under the heading of its module, and no line there has lost its requirement.
func TestDependenciesHaveReasons(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("docs", "decisions", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	reasons := reasonsIn(string(text))
	for dir := range readRepository(t).modules {
		file := filepath.ToSlash(filepath.Join(dir, "go.mod"))
		mod, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(requiredBy(string(mod)), reasons[file]); diff != "" {
			t.Errorf("%s requires (-) what docs/decisions/dependencies.md gives reasons for (+):\n%s", file, diff)
		}
		delete(reasons, file)
	}
	for file := range reasons {
		t.Errorf("docs/decisions/dependencies.md gives reasons for %s, which does not exist", file)
	}
}

var (
	heading     = regexp.MustCompile("^## .*\\(`(.+)`\\)")
	reason      = regexp.MustCompile("^\\| `([^`]+)` \\| .+ \\|")
	requirement = regexp.MustCompile(`^(?:require )?\t?(\S+\.\S+/\S+) v\S+$`)
	tool        = regexp.MustCompile(`^(?:tool )?\t?(\S+)/cmd/\S+$`)
)

// reasonsIn returns the modules that the document gives reasons for, by go.mod.
func reasonsIn(document string) map[string][]string {
	reasons := map[string][]string{}
	file := ""
	for line := range strings.Lines(document) {
		if found := heading.FindStringSubmatch(line); found != nil {
			file = found[1]
		} else if found := reason.FindStringSubmatch(line); found != nil {
			reasons[file] = append(reasons[file], found[1])
		}
	}
	return reasons
}

// requiredBy returns what a go.mod requires directly, and the modules of its
// tools, without modules of our own.
func requiredBy(mod string) []string {
	var required []string
	for line := range strings.Lines(mod) {
		line = strings.TrimRight(line, "\n")
		for _, pattern := range []*regexp.Regexp{requirement, tool} {
			if found := pattern.FindStringSubmatch(line); found != nil && !strings.HasPrefix(found[1], "github.com/armature-go/") {
				required = append(required, found[1])
			}
		}
	}
	slices.Sort(required)
	return slices.Compact(required)
}

func TestDependenciesHaveReasonsCanFail(t *testing.T) {
	const mod = `module github.com/armature-go/armature/x

require k8s.io/api v0.37.2

require (
	example.org/b v1.0.0
	example.org/c v1.0.0 // indirect
	github.com/armature-go/armature v0.0.0
)

tool (
	example.org/a/v2/cmd/lint
	example.org/a/v2/cmd/format
)

replace github.com/armature-go/armature => ../
`
	want := []string{"example.org/a/v2", "example.org/b", "k8s.io/api"}
	if diff := cmp.Diff(want, requiredBy(mod)); diff != "" {
		t.Error(diff)
	}
	const document = "# Title\n\n## X (`x/go.mod`)\n\n| module | why |\n|---|---|\n| `example.org/b` | for b |\n| `example.org/d` | |\n| `example.org/e` | for e |\n"
	if diff := cmp.Diff(map[string][]string{"x/go.mod": {"example.org/b", "example.org/e"}}, reasonsIn(document)); diff != "" {
		t.Error(diff)
	}
}
