package armature_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// layer is a row of the architecture. Its packages may import what lies below
// them and, of the outside world, only what the row allows; the standard
// library is free. "compose/..." is compose and everything in it.
type layer struct {
	pkgs    []string
	outside []string // path prefixes
}

// data, client and runtime are what the rows allow of the outside world.
var (
	data    = []string{"k8s.io/api", "k8s.io/apimachinery", "github.com/armature-go/armature/api"}
	client  = append([]string{"k8s.io/client-go", "sigs.k8s.io/controller-runtime/pkg/client"}, data...)
	runtime = append([]string{"sigs.k8s.io/controller-runtime"}, client...)
)

// layers lists the packages of the library from the bottom up. Rows may name
// packages that are still to be written.
var layers = []layer{
	{[]string{"object"}, data},
	{[]string{"condition", "feature", "merge", "schema/...", "edit"}, data},
	{[]string{"kind"}, data},
	{[]string{"resource", "compose/..."}, data},
	{[]string{"apply"}, client},
	{[]string{"component"}, client},
	{[]string{"external"}, client}, // implements an interface that component owns
	{[]string{"operator", "cluster/..."}, runtime},
	{[]string{"armaturetest/..."}, append([]string{"github.com/google/go-cmp"}, runtime...)},
}

// special lists the libraries that one package may use beyond those of its row.
var special = map[string][]string{
	"apply":        {"github.com/go-logr/logr"},
	"feature":      {"github.com/Masterminds/semver/v3"},
	"schema":       {"go.yaml.in/yaml/v3"},
	"armaturetest": {"k8s.io/apiextensions-apiserver", "sigs.k8s.io/yaml"},
	"operator":     {"github.com/spf13/cobra", "github.com/prometheus/client_golang", "github.com/go-logr/logr", "k8s.io/klog/v2"},
}

// apart lists what must not meet although one lies below the other.
var apart = [][2]string{
	{"component", "compose"}, // both speak lists of objects
	{"external", "compose"},
	{"cluster", "apply"}, // a product returns components and writes nothing
	{"operator", "compose"},
}

func TestImportsPointDown(t *testing.T) {
	repo := readRepository(t)
	graph := map[string][]string{}
	for _, p := range repo.packages {
		if p.module == "." && p.dir != "." {
			graph[p.dir] = p.imports()
		}
	}
	if len(graph) == 0 {
		t.Fatal("found no package")
	}
	for _, problem := range upward(layers, repo.modules["."], graph) {
		t.Error(problem)
	}
}

// The types of our APIs are for everybody, so they bring nothing along.
func TestAPIImportsOnlyTypes(t *testing.T) {
	repo := readRepository(t)
	for _, p := range repo.packages {
		if p.module != "api" {
			continue
		}
		for _, imported := range p.imports() {
			if first, _, _ := strings.Cut(imported, "/"); strings.Contains(first, ".") && !within(imported, data) {
				t.Errorf("%s imports %s; the api module is light for those who import it, so keep this in the library", p.path, imported)
			}
		}
	}
}

// upward returns what is wrong with the imports of a library. The graph maps
// its packages, named below the module, to what they import.
func upward(layers []layer, module string, graph map[string][]string) []string {
	var problems []string
	for pkg, imports := range graph {
		row := rowOf(layers, pkg)
		if row < 0 {
			problems = append(problems, pkg+" is in no layer; add it to the table in arch_test.go, as far down as it can live")
			continue
		}
		allowed := slices.Concat(layers[row].outside, special[pkg])
		for _, imported := range imports {
			if problem := offence(layers, module, pkg, imported, allowed); problem != "" {
				problems = append(problems, pkg+" imports "+imported+", "+problem)
			}
		}
	}
	slices.Sort(problems)
	return problems
}

// offence says what is wrong with one import, or nothing.
func offence(layers []layer, module, pkg, imported string, allowed []string) string {
	inside, ours := strings.CutPrefix(imported, module+"/")
	if ours && !within(imported, allowed) { // modules below ours, such as api, are outside
		above, below := rowOf(layers, pkg), rowOf(layers, inside)
		switch {
		case below < 0:
			return "which is in no layer"
		case family(layers, above, pkg) != "" && family(layers, above, pkg) == family(layers, below, inside):
			return ""
		case below == above:
			return "which is beside it; move what both need down, or one of them up"
		case below > above:
			return "which is above it; take a value or an interface instead"
		}
		for _, pair := range apart {
			if within(pkg, pair[:1]) && within(inside, pair[1:]) {
				return "which it must not know"
			}
		}
		return ""
	}
	first, _, _ := strings.Cut(imported, "/")
	switch {
	case !strings.Contains(first, "."): // standard library
		return ""
	case within(imported, allowed):
		return ""
	case within(imported, runtime):
		return "and its layer never talks to a cluster"
	default:
		return "which its layer does not allow; if the library needs it, add it to the table and to docs/decisions/dependencies.md"
	}
}

// within says whether name is one of the paths, or below one.
func within(name string, paths []string) bool {
	return slices.ContainsFunc(paths, func(p string) bool { return name == p || strings.HasPrefix(name, p+"/") })
}

// rowOf returns the row of a package, -1 if it is in none.
func rowOf(layers []layer, pkg string) int {
	return slices.IndexFunc(layers, func(l layer) bool {
		return slices.Contains(l.pkgs, pkg) || slices.ContainsFunc(l.pkgs, func(entry string) bool { return inFamily(pkg, entry) })
	})
}

// family returns the "/..." entry of a row that a package belongs to, if it
// belongs to one: its packages may import each other.
func family(layers []layer, row int, pkg string) string {
	for _, entry := range layers[row].pkgs {
		if inFamily(pkg, entry) {
			return entry
		}
	}
	return ""
}

func inFamily(pkg, entry string) bool {
	root := path.Dir(entry)
	return path.Base(entry) == "..." && (pkg == root || strings.HasPrefix(pkg, root+"/"))
}

// Every kind of offence, and what is no offence, in a graph that is made up.
func TestImportsPointDownCanFail(t *testing.T) {
	const mod = "example.org/m"
	cases := []struct {
		name, pkg, imports string
		want               string
	}{
		{"down", "resource", mod + "/object", ""},
		{"the standard library", "object", "net/http", ""},
		{"a library of the row", "object", "k8s.io/apimachinery/pkg/runtime", ""},
		{"a library of the package alone", "feature", "github.com/Masterminds/semver/v3", ""},
		{"the family", "compose/emit", mod + "/compose", ""},
		{"the client of an upper row", "component", "sigs.k8s.io/controller-runtime/pkg/client", ""},
		{"a package that is in no row", "util", "fmt", "util is in no layer; add it to the table in arch_test.go, as far down as it can live"},
		{"an import that is in no row", "kind", mod + "/util", "kind imports example.org/m/util, which is in no layer"},
		{"up", "object", mod + "/apply", "object imports example.org/m/apply, which is above it; take a value or an interface instead"},
		{"up into a family", "kind", mod + "/cluster/logging", "kind imports example.org/m/cluster/logging, which is above it; take a value or an interface instead"},
		{"sideways", "condition", mod + "/merge", "condition imports example.org/m/merge, which is beside it; move what both need down, or one of them up"},
		{"sideways into a family", "operator", mod + "/cluster", "operator imports example.org/m/cluster, which is beside it; move what both need down, or one of them up"},
		{"what must stay apart", "component", mod + "/compose/policy", "component imports example.org/m/compose/policy, which it must not know"},
		{"a client in a pure package", "resource", "sigs.k8s.io/controller-runtime/pkg/client", "resource imports sigs.k8s.io/controller-runtime/pkg/client, and its layer never talks to a cluster"},
		{"a manager below the runtime", "component", "sigs.k8s.io/controller-runtime/pkg/manager", "component imports sigs.k8s.io/controller-runtime/pkg/manager, and its layer never talks to a cluster"},
		{"an unknown library", "operator", "github.com/stretchr/testify", "operator imports github.com/stretchr/testify, which its layer does not allow; if the library needs it, add it to the table and to docs/decisions/dependencies.md"},
		{"a path that only begins alike", "object", "k8s.io/apiserver/pkg/server", "object imports k8s.io/apiserver/pkg/server, which its layer does not allow; if the library needs it, add it to the table and to docs/decisions/dependencies.md"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := strings.Join(upward(layers, mod, map[string][]string{c.pkg: {c.imports}}), "\n")
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
