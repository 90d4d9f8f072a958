package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const modulePath = "github.com/armature-go/armature/plane"

// compilerFlags are the same everywhere: with others Go's build cache is of no
// use, and everything is compiled again.
var compilerFlags = []string{"-trimpath", "-gcflags=all=-dwarf=false"}

// unknown stands for the commit, which modules do not tell.
const unknown = "0000000000000000000000000000000000000000"

// module is the source of plane.
type module struct {
	dir        string
	kubernetes string // version of k8s.io/kubernetes, such as v1.37.2
}

var kubernetesLine = regexp.MustCompile(`(?m)^\s*k8s\.io/kubernetes (v1\.\d+\.\d+\S*)$`)

// readModule reads the module in dir and refuses any other than plane.
func readModule(dir string) (module, error) {
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil || !strings.HasPrefix(string(data), "module "+modulePath+"\n") {
		return module{}, errors.New("this is not the folder of plane; write go run -C plane ./build")
	}
	found := kubernetesLine.FindStringSubmatch(string(data))
	if found == nil {
		return module{}, errors.New("go.mod does not require a release of k8s.io/kubernetes, which gives plane its version")
	}
	return module{dir: dir, kubernetes: found[1]}, nil
}

// linkerFlags stamp the version: clients parse what the API server reports,
// and refuse what an unstamped one says.
func (m module) linkerFlags() string {
	parts := strings.SplitN(strings.TrimPrefix(m.kubernetes, "v"), ".", 3)
	const component, client = "k8s.io/component-base/version.", "k8s.io/client-go/pkg/version."
	stamps := []string{
		component + "gitVersion=" + m.kubernetes,
		component + "gitMajor=" + parts[0],
		component + "gitMinor=" + parts[1],
		component + "gitCommit=" + unknown,
		component + "gitTreeState=clean",
		component + "buildDate=1970-01-01T00:00:00Z", // the same input gives the same program
		client + "gitVersion=" + m.kubernetes,
		client + "gitCommit=" + unknown,
	}
	return "-s -w -X " + strings.Join(stamps, " -X ")
}

// key is a hash of everything that the program is made of.
func (m module) key(tool string) (string, error) {
	files := []string{"go.mod", "go.sum"}
	err := filepath.WalkDir(m.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(m.dir, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if rel == "build" || d.Name() == "testdata" || len(rel) > 1 && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(rel, ".go") && !strings.HasSuffix(rel, "_test.go") {
			files = append(files, rel)
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("reading the source of plane: %w", err)
	}
	slices.Sort(files)
	h := sha256.New()
	fmt.Fprintln(h, tool, compilerFlags, m.linkerFlags())
	for _, name := range files {
		if err := add(h, m.dir, name); err != nil {
			return "", fmt.Errorf("reading the source of plane: %w", err)
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

func add(h io.Writer, dir, name string) error {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(h, "%s %d\n%s", name, len(data), data)
	return err
}

// toolchain is the version of Go that would build, and for what.
func toolchain(ctx context.Context) (string, error) {
	cmd := goCommand(ctx, "env", "GOVERSION", "GOOS", "GOARCH")
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("asking Go for its version: %s; plane needs the Go that its go.mod names, or newer", lastLine(complaint.String(), err))
	}
	return strings.Join(strings.Fields(string(out)), " "), nil
}

func lastLine(text string, err error) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return last
	}
	return err.Error()
}

// goCommand runs go outside any workspace and without flags from the
// environment, so that every build finds the same cache.
func goCommand(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOFLAGS=")
	return cmd
}
