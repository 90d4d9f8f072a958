package armature_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// writers are the packages that may change what is in a cluster, each with what
// it writes. Everything else renders, reads, or asks one of them.
var writers = map[string]string{
	"apply":        "objects, the status and the finalizers of their owner",
	"operator":     "events, leases and access reviews",
	"armaturetest": "what a test needs before it starts: namespaces and definitions",
}

func TestOnlyWritersWrite(t *testing.T) {
	listed := list(t)
	for _, path := range slices.Sorted(maps.Keys(listed.files)) {
		if _, dir, _ := strings.Cut(path, "/armature/"); writers[dir] != "" {
			continue
		}
		for _, at := range listed.writes(t, path, listed.files[path]) {
			t.Errorf("%s: writes to the cluster; only %s may, so say what should be there and let apply do it",
				at, strings.Join(slices.Sorted(maps.Keys(writers)), ", "))
		}
	}
}

func TestOnlyWritersWriteCanFail(t *testing.T) {
	file := filepath.Join("testdata", "writer", "writer.go")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var want []int
	number := 0
	for line := range strings.Lines(string(text)) {
		if number++; strings.HasSuffix(line, "// writes\n") {
			want = append(want, number)
		}
	}
	listed := list(t, "k8s.io/client-go/kubernetes", "k8s.io/client-go/tools/cache", controllerutil)
	var got []int
	for _, at := range listed.writes(t, "writer", []string{file}) {
		got = append(got, at.Line)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

const controllerutil = "sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

// isWrite says whether a function is one of the ways to change a cluster.
func isWrite(fn *types.Func) bool {
	if fn.Pkg() == nil {
		return false
	}
	from := fn.Pkg().Path()
	switch {
	case from == controllerutil:
		return strings.HasPrefix(fn.Name(), "CreateOr")
	case from == "sigs.k8s.io/controller-runtime/pkg/client", within(from, []string{"k8s.io/client-go"}):
		return writing[fn.Name()] && !within(from, []string{"k8s.io/client-go/tools/cache"}) && fn.Signature().Recv() != nil
	default:
		return false
	}
}

var writing = map[string]bool{
	"Create": true, "Update": true, "UpdateStatus": true, "Patch": true, "Apply": true, "ApplyStatus": true,
	"Delete": true, "DeleteAllOf": true, "DeleteCollection": true, "Post": true, "Put": true,
}

// listing is the library and all that it links.
type listing struct {
	files   map[string][]string // of our packages, by import path
	exports map[string]string   // files with what the compiler knows, by import path
}

// list asks the go command, which compiles what it has not compiled yet. More
// packages than those of the library can be named.
func list(t *testing.T, more ...string) *listing {
	t.Helper()
	args := append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,GoFiles,Export,DepOnly", "./..."}, more...)
	cmd := exec.CommandContext(t.Context(), "go", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	l := &listing{files: map[string][]string{}, exports: map[string]string{}}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath string   `json:"ImportPath"`
			Dir        string   `json:"Dir"`
			Export     string   `json:"Export"`
			GoFiles    []string `json:"GoFiles"`
			DepOnly    bool     `json:"DepOnly"`
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return l
		} else if err != nil {
			t.Fatal(err)
		}
		l.exports[p.ImportPath] = p.Export
		if !p.DepOnly && !slices.Contains(more, p.ImportPath) {
			for _, name := range p.GoFiles {
				l.files[p.ImportPath] = append(l.files[p.ImportPath], filepath.Join(p.Dir, name))
			}
		}
	}
}

// writes type-checks the files of one package and returns where they write.
func (l *listing) writes(t *testing.T, path string, files []string) []token.Position {
	t.Helper()
	fset := token.NewFileSet()
	var syntax []*ast.File
	for _, file := range files {
		f, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		syntax = append(syntax, f)
	}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(l.exports[path])
	})}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	if _, err := config.Check(path, fset, syntax, info); err != nil {
		t.Fatal(err)
	}
	var found []token.Position
	for name, object := range info.Uses {
		if fn, ok := object.(*types.Func); ok && isWrite(fn) {
			found = append(found, fset.Position(name.Pos()))
		}
	}
	slices.SortFunc(found, func(a, b token.Position) int {
		if a.Filename != b.Filename {
			return strings.Compare(a.Filename, b.Filename)
		}
		return a.Offset - b.Offset
	})
	return found
}
