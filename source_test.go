package armature_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// repository is the Go code of all modules below one directory, as syntax.
type repository struct {
	fset     *token.FileSet
	modules  map[string]string // directory → module path
	packages []*pkg            // by directory
}

// pkg is one directory of Go code.
type pkg struct {
	fset   *token.FileSet
	path   string // its import path
	dir    string // below the root of the repository, "." for the root itself
	module string // the directory of its module
	name   string
	files  []*ast.File // without tests, generated ones among them
	tests  []*ast.File
}

// readRepository parses what stands in the working directory: go test runs the
// tests of a package in its directory, and these are those of the root.
func readRepository(t *testing.T) *repository {
	t.Helper()
	return parse(t, os.DirFS("."))
}

// readArchive parses a repository that is written down in a txtar file, and
// returns its file "want" too.
func readArchive(t *testing.T, file string) (repo *repository, want string) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fsys, err := txtar.FS(archive)
	if err != nil {
		t.Fatal(err)
	}
	text, err := fs.ReadFile(fsys, "want")
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return parse(t, fsys), string(text)
}

// rewrite replaces the file "want" of an archive.
func rewrite(t *testing.T, file, want string) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range archive.Files {
		if archive.Files[i].Name == "want" {
			archive.Files[i].Data = []byte(want)
		}
	}
	if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

// skipped are directories without code of ours.
var skipped = regexp.MustCompile(`^([._].+|bin|testdata|vendor)$`)

func parse(t *testing.T, fsys fs.FS) *repository {
	t.Helper()
	repo := &repository{fset: token.NewFileSet(), modules: map[string]string{}}
	dirs := map[string]*pkg{}
	err := fs.WalkDir(fsys, ".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && skipped.MatchString(entry.Name()):
			return fs.SkipDir
		case entry.Name() == "go.mod":
			text, err := fs.ReadFile(fsys, file)
			if line := moduleLine.FindSubmatch(text); line != nil {
				repo.modules[path.Dir(file)] = string(line[1])
			}
			return err
		case path.Ext(file) != ".go":
			return nil
		}
		text, err := fs.ReadFile(fsys, file)
		if err != nil {
			return err
		}
		syntax, err := parser.ParseFile(repo.fset, file, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		p := dirs[path.Dir(file)]
		if p == nil {
			p = &pkg{fset: repo.fset, dir: path.Dir(file)}
			dirs[p.dir] = p
			repo.packages = append(repo.packages, p)
		}
		if strings.HasSuffix(file, "_test.go") {
			p.tests = append(p.tests, syntax)
			return nil
		}
		p.name = syntax.Name.Name
		p.files = append(p.files, syntax)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	repo.packages = slices.DeleteFunc(repo.packages, func(p *pkg) bool { return len(p.files) == 0 })
	for _, p := range repo.packages {
		p.module = repo.moduleOf(p.dir)
		below := strings.TrimPrefix(strings.TrimPrefix(p.dir, p.module), "/")
		if p.module == "." && p.dir != "." {
			below = p.dir
		}
		p.path = path.Join(repo.modules[p.module], below)
	}
	return repo
}

var moduleLine = regexp.MustCompile(`(?m)^module (\S+)$`)

// moduleOf returns the directory of the module that dir belongs to.
func (r *repository) moduleOf(dir string) string {
	for ; dir != "."; dir = path.Dir(dir) {
		if _, ok := r.modules[dir]; ok {
			return dir
		}
	}
	return "."
}

// imports returns what the package imports, its tests aside.
func (p *pkg) imports() []string {
	var all []string
	for _, f := range p.files {
		for _, spec := range f.Imports {
			all = append(all, importPath(spec))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func importPath(spec *ast.ImportSpec) string {
	name, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		panic(err) // the parser has accepted it
	}
	return name
}

// written returns the files that somebody wrote.
func (p *pkg) written() []*ast.File {
	return slices.DeleteFunc(slices.Clone(p.files), ast.IsGenerated)
}

// file returns the name of a file, below the root of the repository.
func (p *pkg) file(f *ast.File) string { return p.fset.Position(f.Package).Filename }

// isTypes says whether the package holds the Go types of an API: those of the
// api module, and every package that is named for an API version.
func (p *pkg) isTypes() bool {
	return p.module == "api" || apiVersion.MatchString(path.Base(p.dir))
}

var apiVersion = regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]+)?$`)

// isProgram says whether nobody imports the package: a command, or a module
// that promises nothing as a library.
func (p *pkg) isProgram() bool {
	return p.name == "main" || slices.Contains([]string{"plane", "tools", "bench", "kind/crdtest", "cmd/armature"}, p.module)
}

// isOurs says whether the package is only for work on the repository.
func (p *pkg) isOurs() bool {
	return slices.Contains([]string{"tools", "bench", "kind/crdtest"}, p.module)
}

// importOf finds which import the X of X.Sel stands for: its path, or nothing
// if X is no package of the file.
func importOf(f *ast.File, sel *ast.SelectorExpr) string {
	x, ok := sel.X.(*ast.Ident)
	if !ok {
		return ""
	}
	for _, spec := range f.Imports {
		name := path.Base(importPath(spec))
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if name == x.Name {
			return importPath(spec)
		}
	}
	return ""
}
