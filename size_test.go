package armature_test

import (
	"fmt"
	"go/ast"
	"go/token"
)

// size: the budget. Taste shows in the tail, so the tail is what has limits.
func size(p *pkg, report report) {
	if p.isTypes() {
		return
	}
	exported := 0
	for _, f := range p.written() {
		if lines := p.fset.File(f.Package).LineCount(); lines > maxFile {
			report(f.Package, p.file(f), over(lines, "lines", maxFile))
		}
		for _, decl := range f.Decls {
			exported += countExported(decl)
			if fn, ok := decl.(*ast.FuncDecl); ok {
				first, last := p.fset.Position(fn.Pos()).Line, p.fset.Position(fn.End()).Line
				if lines := last - first + 1; lines > maxFunc {
					report(fn.Pos(), funcName(p, fn), over(lines, "lines", maxFunc))
				}
			}
		}
		for _, s := range signatures(p, f) {
			if n := s.typ.Params.NumFields(); n > maxParams {
				report(s.typ.Pos(), s.name, over(n, "parameters", maxParams))
			}
			if n := s.typ.TypeParams.NumFields(); n > maxTypes {
				report(s.typ.Pos(), s.name, over(n, "type parameters", maxTypes))
			}
		}
		for _, spec := range typeSpecs(f) {
			name := p.dir + "." + spec.Name.Name
			if n := spec.TypeParams.NumFields(); n > maxTypes {
				report(spec.Pos(), name, over(n, "type parameters", maxTypes))
			}
			if n := len(methods(spec)); n > maxMethods {
				report(spec.Pos(), name, over(n, "methods", maxMethods))
			}
		}
	}
	if exported > maxExported && p.name != "main" {
		report(p.files[0].Package, p.dir, over(exported, "exported names", maxExported))
	}
}

func over(n int, what string, limit int) string {
	return fmt.Sprintf("has %d %s, the limit is %d; simplify, or give the reason in the exceptions of policy_test.go", n, what, limit)
}

// countExported counts the names that a declaration adds to its package.
// Methods and fields are part of their type.
func countExported(decl ast.Decl) int {
	n := 0
	count := func(name *ast.Ident) {
		if name.IsExported() {
			n++
		}
	}
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Recv == nil {
			count(decl.Name)
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				count(spec.Name)
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					count(name)
				}
			}
		}
	}
	return n
}

// signature is a function, a method, or a method of an interface.
type signature struct {
	name     string // package.Function, package.Type.Method
	typ      *ast.FuncType
	exported bool
}

func signatures(p *pkg, f *ast.File) []signature {
	var all []signature
	for _, decl := range f.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok {
			all = append(all, signature{funcName(p, fn), fn.Type, fn.Name.IsExported() && (fn.Recv == nil || ast.IsExported(receiver(fn)))})
		}
	}
	for _, spec := range typeSpecs(f) {
		name := p.dir + "." + spec.Name.Name
		if typ, ok := spec.Type.(*ast.FuncType); ok {
			all = append(all, signature{name, typ, spec.Name.IsExported()})
		}
		for _, method := range methods(spec) {
			if typ, ok := method.Type.(*ast.FuncType); ok {
				exported := spec.Name.IsExported() && method.Names[0].IsExported()
				all = append(all, signature{name + "." + method.Names[0].Name, typ, exported})
			}
		}
	}
	return all
}

// typeSpecs returns the types that a file declares at its top.
func typeSpecs(f *ast.File) []*ast.TypeSpec {
	var all []*ast.TypeSpec
	for _, decl := range f.Decls {
		if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.TYPE {
			for _, spec := range gen.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok {
					all = append(all, spec)
				}
			}
		}
	}
	return all
}

// methods returns what an interface declares itself; a type that is no interface
// has none.
func methods(spec *ast.TypeSpec) []*ast.Field {
	iface, ok := spec.Type.(*ast.InterfaceType)
	if !ok {
		return nil
	}
	var all []*ast.Field
	for _, field := range iface.Methods.List {
		if len(field.Names) > 0 {
			all = append(all, field)
		}
	}
	return all
}

func funcName(p *pkg, fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return p.dir + "." + fn.Name.Name
	}
	return p.dir + "." + receiver(fn) + "." + fn.Name.Name
}

// receiver returns the name of the type that a method belongs to.
func receiver(fn *ast.FuncDecl) string {
	for node := range ast.Preorder(fn.Recv.List[0].Type) {
		if name, ok := node.(*ast.Ident); ok {
			return name.Name
		}
	}
	return ""
}
