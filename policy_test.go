package armature_test

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/doc"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite what the archives in testdata want")

// A policy is a rule of the repository that no linter knows.
type policy struct {
	name  string
	check func(p *pkg, report report)
}

// report takes one breach. The subject is what an exception would name.
type report func(at token.Pos, subject, message string)

var policies = []policy{
	{"error-text", errorText},
	{"package-comment", packageComment},
	{"names", names},
	{"size", size},
	{"example", example},
	{"boolean", boolean},
	{"clock", clock},
	{"context", rootContext},
	{"kind-switch", kindSwitch},
	{"boundary", boundary},
}

// exceptions are the subjects for which a policy does not hold, each with the
// reason. The list is meant to hurt: simplify first. An entry that is no longer
// needed is an error.
var exceptions = map[string]map[string]string{
	"size": {
		"condition": "the table of states is the package, and each of its reasons is a name that operators use",
	},
	"boolean": {
		"feature.When": "a gate is a boolean with a name; this is the one place where they meet",
	},
}

// Small numbers are a choice, see CONTRIBUTING.md. They count lines as an
// editor does, and no generated code.
const (
	maxFile     = 600
	maxFunc     = 80
	maxExported = 40
	maxParams   = 6
	maxMethods  = 4
	maxTypes    = 2
	maxComment  = 10 // lines of a package comment outside of doc.go
	maxSynopsis = 120
)

func TestPolicies(t *testing.T) {
	repo := readRepository(t)
	if len(repo.packages) == 0 {
		t.Fatal("found no package")
	}
	for _, policy := range policies {
		t.Run(policy.name, func(t *testing.T) {
			excused := exceptions[policy.name]
			needed := map[string]bool{}
			for _, breach := range repo.breaches(policy) {
				if excused[breach.subject] != "" {
					needed[breach.subject] = true
					continue
				}
				t.Error(breach)
			}
			for subject := range excused {
				if !needed[subject] {
					t.Errorf("%s keeps to the policy now; remove it from the exceptions in policy_test.go", subject)
				}
			}
		})
	}
}

// testdata/policy/<name>.txtar is a small repository that breaks the policy in
// every way there is and keeps to it in others. Its file "want" has the breaches.
func TestPoliciesCanFail(t *testing.T) {
	for _, policy := range policies {
		t.Run(policy.name, func(t *testing.T) {
			file := filepath.Join("testdata", "policy", policy.name+".txtar")
			repo, want := readArchive(t, file)
			var got strings.Builder
			for _, breach := range repo.breaches(policy) {
				fmt.Fprintln(&got, breach)
			}
			switch {
			case *update:
				rewrite(t, file, got.String())
			case got.String() == "":
				t.Error("nothing in the archive breaks the policy")
			case got.String() != want:
				t.Errorf("got:\n%s\nwant:\n%s\n-update rewrites it", got.String(), want)
			}
		})
	}
}

// breach is one place that breaks a policy.
type breach struct {
	at      token.Position
	subject string
	message string
}

func (b breach) String() string {
	return fmt.Sprintf("%s:%d: %s %s", b.at.Filename, b.at.Line, b.subject, b.message)
}

func (r *repository) breaches(policy policy) []breach {
	var all []breach
	for _, p := range r.packages {
		policy.check(p, func(at token.Pos, subject, message string) {
			all = append(all, breach{r.fset.Position(at), subject, message})
		})
	}
	slices.SortStableFunc(all, func(a, b breach) int {
		return cmp.Or(cmp.Compare(a.at.Filename, b.at.Filename), cmp.Compare(a.at.Line, b.at.Line))
	})
	return all
}

// errorText: what an error says is for people. A program that reads it breaks
// when the text is improved.
func errorText(p *pkg, report report) {
	const message = "matches an error by its text; use errors.Is or errors.AsType"
	for _, f := range p.written() {
		for node := range ast.Preorder(f) {
			switch node := node.(type) {
			case *ast.CallExpr:
				sel, ok := node.Fun.(*ast.SelectorExpr)
				if !ok || !slices.ContainsFunc(node.Args, isErrorText) {
					continue
				}
				from := importOf(f, sel)
				if (from == "strings" && !lays.MatchString(sel.Sel.Name)) || from == "regexp" || matches.MatchString(sel.Sel.Name) {
					report(node.Pos(), sel.Sel.Name, message)
				}
			case *ast.BinaryExpr:
				if (node.Op == token.EQL || node.Op == token.NEQ) && (isErrorText(node.X) || isErrorText(node.Y)) {
					report(node.Pos(), node.Op.String(), message)
				}
			case *ast.SwitchStmt:
				if node.Tag != nil && isErrorText(node.Tag) {
					report(node.Pos(), "switch", message)
				}
			}
		}
	}
}

var (
	matches = regexp.MustCompile(`^(Match|Find)`)                       // methods of a regular expression
	lays    = regexp.MustCompile(`^(Replace|ReplaceAll|Lines|Trim.*)$`) // functions that lay a text out for people
)

// isErrorText says whether the expression is a call x.Error() without arguments.
func isErrorText(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) > 0 {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Error"
}

// packageComment: one comment for each package, its first sentence short enough
// for a list, a long one in doc.go.
func packageComment(p *pkg, report report) {
	files := p.written()
	if len(files) == 0 {
		return
	}
	var commented []*ast.File
	for _, f := range files {
		if f.Doc != nil && f.Doc.Text() != "" {
			commented = append(commented, f)
		}
	}
	if len(commented) == 0 {
		report(files[0].Package, p.dir, "has no package comment; say what question the package answers")
		return
	}
	for _, f := range commented[1:] {
		report(f.Doc.Pos(), p.dir, "has a second package comment; keep one")
	}
	first := commented[0]
	text := first.Doc.Text()
	if lines := strings.Count(text, "\n"); lines > maxComment && path.Base(p.file(first)) != "doc.go" {
		report(first.Doc.Pos(), p.dir, fmt.Sprintf("has a package comment of %d lines; over %d it belongs in doc.go", lines, maxComment))
	}
	if synopsis := new(doc.Package).Synopsis(text); len(synopsis) > maxSynopsis {
		report(first.Doc.Pos(), p.dir, fmt.Sprintf("has a first sentence of %d bytes; at most %d fit into a list", len(synopsis), maxSynopsis))
	}
}

// names: a drawer for everything gets everything.
func names(p *pkg, report report) {
	if drawers.MatchString(p.name) || drawers.MatchString(path.Base(p.dir)) {
		report(p.files[0].Package, p.dir, "is named for no idea; name the package for the question it answers")
	}
	for _, f := range p.written() {
		stem := strings.TrimSuffix(path.Base(p.file(f)), ".go")
		if drawers.MatchString(stem) || drawerFiles.MatchString(stem) {
			report(f.Package, p.file(f), "is named for no idea; name the file for the type or the verb in it")
		}
	}
}

var (
	drawers     = regexp.MustCompile(`^(utils?|commons?|helpers?|misc|shared|generic|base|core|lib|managers?|types)$`)
	drawerFiles = regexp.MustCompile(`^(interfaces?|constants?|consts?|vars|functions)$`)
)

// example: every package that does something shows how, and the example runs.
func example(p *pkg, report report) {
	if p.isProgram() || p.isTypes() || slices.Contains(strings.Split(p.dir, "/"), "internal") {
		return
	}
	files := p.written()
	behaves := slices.ContainsFunc(files, func(f *ast.File) bool {
		return slices.ContainsFunc(f.Decls, func(d ast.Decl) bool {
			fn, ok := d.(*ast.FuncDecl)
			return ok && fn.Name.IsExported() && (fn.Recv == nil || ast.IsExported(receiver(fn)))
		})
	})
	shown := slices.ContainsFunc(doc.Examples(p.tests...), func(e *doc.Example) bool { return e.Output != "" || e.EmptyOutput })
	if behaves && !shown {
		report(files[0].Package, p.dir, "has no Example with an Output comment; write the shortest program that shows its use")
	}
}

// boolean: f(x, true, false) says nothing. A named type does, and so does a
// field of an options struct.
func boolean(p *pkg, report report) {
	const message = "takes a boolean; use a named type, or a field whose zero value is right"
	if p.isProgram() {
		return
	}
	for _, f := range p.written() {
		for _, s := range signatures(p, f) {
			if s.exported && slices.ContainsFunc(s.typ.Params.List, func(param *ast.Field) bool { return isBool(param.Type) }) {
				report(s.typ.Pos(), s.name, message)
			}
		}
	}
}

func isBool(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == "bool"
	case *ast.StarExpr:
		return isBool(e.X)
	case *ast.Ellipsis:
		return isBool(e.Elt)
	case *ast.ArrayType:
		return isBool(e.Elt)
	default:
		return false
	}
}

// clock: what reads the system clock cannot be tested at another time.
func clock(p *pkg, report report) {
	if p.isOurs() {
		return
	}
	forbid(p, "time", []string{"Now", "Since", "Until"},
		"reads the system clock; take a func() time.Time, nil for the system's, and say so in a nolint:forbidigo comment where that is decided", report)
}

// rootContext: a library that makes its own context cannot be stopped.
func rootContext(p *pkg, report report) {
	if p.isOurs() || p.name == "main" {
		return
	}
	forbid(p, "context", []string{"Background", "TODO"},
		"makes a context that nobody can cancel; take one, or explain it in a nolint:forbidigo comment", report)
}

// forbid reports the use of some names of a package, but where a comment on the
// line turns the linter of the same purpose off.
func forbid(p *pkg, from string, forbidden []string, message string, report report) {
	for _, f := range p.written() {
		excused := map[int]bool{}
		for _, group := range f.Comments {
			for _, c := range group.List {
				if strings.HasPrefix(c.Text, "//nolint:forbidigo // ") {
					excused[p.fset.Position(c.Pos()).Line] = true
				}
			}
		}
		for node := range ast.Preorder(f) {
			sel, ok := node.(*ast.SelectorExpr)
			if !ok || !slices.Contains(forbidden, sel.Sel.Name) || importOf(f, sel) != from {
				continue
			}
			if line := p.fset.Position(sel.Pos()).Line; !excused[line] {
				report(sel.Pos(), from+"."+sel.Sel.Name, message)
			}
		}
	}
}

// kindSwitch: what is special about a kind is a row of the table in kind. The
// plane knows no library, so it is free.
func kindSwitch(p *pkg, report report) {
	const message = "decides by kind; what differs between kinds is a row of the table in package kind"
	if p.dir == "kind" || p.module == "plane" || p.isTypes() {
		return
	}
	for _, f := range p.written() {
		for node := range ast.Preorder(f) {
			switch node := node.(type) {
			case *ast.TypeSwitchStmt:
				if slices.ContainsFunc(caseValues(node.Body), func(e ast.Expr) bool { return isAPIType(f, e) }) {
					report(node.Pos(), "switch", message)
				}
			case *ast.SwitchStmt:
				sel, ok := node.Tag.(*ast.SelectorExpr)
				if ok && sel.Sel.Name == "Kind" && slices.ContainsFunc(caseValues(node.Body), isText) {
					report(node.Pos(), "switch", message)
				}
			}
		}
	}
}

func caseValues(body *ast.BlockStmt) []ast.Expr {
	var all []ast.Expr
	for _, stmt := range body.List {
		if clause, ok := stmt.(*ast.CaseClause); ok {
			all = append(all, clause.List...)
		}
	}
	return all
}

func isAPIType(f *ast.File, e ast.Expr) bool {
	star, ok := e.(*ast.StarExpr)
	if !ok {
		return false
	}
	sel, ok := star.X.(*ast.SelectorExpr)
	return ok && strings.HasPrefix(importOf(f, sel), "k8s.io/api/")
}

func isText(e ast.Expr) bool {
	lit, ok := e.(*ast.BasicLit)
	return ok && lit.Kind == token.STRING
}

// boundary: the plane is two thousand packages. It is reached as a process.
func boundary(p *pkg, report report) {
	if p.module == "plane" {
		return
	}
	heavy := []string{"k8s.io/kubernetes", "go.etcd.io/etcd", "github.com/armature-go/armature/plane"}
	for _, f := range slices.Concat(p.files, p.tests) {
		for _, spec := range f.Imports {
			if within(importPath(spec), heavy) {
				report(spec.Pos(), p.dir, "imports "+importPath(spec)+"; run the plane binary instead")
			}
		}
	}
}
