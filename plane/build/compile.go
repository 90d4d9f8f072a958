package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

// compile builds the program and shows how far it is.
func compile(ctx context.Context, m module, out string) error {
	p := newProgress(os.Stderr)
	p.say("plane has to be built; looking at what Go's build cache has")
	total, err := missing(ctx, m, p)
	if err != nil {
		return err
	}
	p.say(announce(total))
	p.expect(total)
	args := append([]string{"build", "-v"}, compilerFlags...)
	cmd := goCommand(ctx, append(args, "-ldflags="+m.linkerFlags(), "-o", out, ".")...)
	cmd.Dir = m.dir
	if err := p.run(ctx, cmd); err != nil {
		return err
	}
	p.say(fmt.Sprintf("plane is built after %s", p.elapsed()))
	return nil
}

// missing counts the packages that Go would have to compile. The first time it
// fetches modules.
func missing(ctx context.Context, m module, p *progress) (int, error) {
	args := append([]string{"list", "-deps"}, compilerFlags...)
	cmd := goCommand(ctx, append(args, "-f", "{{if .StaleReason}}{{.ImportPath}}{{end}}", ".")...)
	cmd.Dir = m.dir
	var out strings.Builder
	cmd.Stdout = &out
	if err := p.run(ctx, cmd); err != nil {
		return 0, err
	}
	return len(strings.Fields(out.String())), nil
}

// run runs go, shows progress meanwhile and explains a failure.
func (p *progress) run(ctx context.Context, cmd *exec.Cmd) error {
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	stop := p.tick()
	rest := p.follow(stderr)
	err = cmd.Wait()
	stop()
	if ctx.Err() != nil {
		return errors.New("interrupted; what was compiled is kept, the next build goes on from there")
	}
	if err != nil {
		return explain(rest, err)
	}
	return nil
}

// many is more packages than an edit of plane can make stale.
const many = 500

func announce(total int) string {
	if total > many {
		return fmt.Sprintf("%d packages to compile: about ten minutes on two cores, once; the result is kept", total)
	}
	return fmt.Sprintf("%d packages to compile: about half a minute; the result is kept", total)
}

// moduleTrouble is how go speaks of modules that it cannot get; it has no
// other way to tell.
var moduleTrouble = regexp.MustCompile(`^go: |module lookup disabled|dial tcp|no such host|i/o timeout|connection refused|TLS handshake|` +
	`no required module provides|missing go\.sum entry|410 Gone|404 Not Found|403 Forbidden|502 Bad Gateway`)

// explain turns what go printed into one answer. Trouble with modules is
// told apart because its remedy is not in the source.
func explain(lines []string, err error) error {
	for _, l := range lines {
		if moduleTrouble.MatchString(l) {
			return fmt.Errorf("the modules that plane is made of are not complete here and could not be fetched (%s); check the network and GOPROXY, and try again",
				strings.TrimPrefix(l, "go: "))
		}
	}
	if text := strings.TrimSpace(strings.Join(lines, "\n")); text != "" {
		return fmt.Errorf("compiling plane: %w\n%s", err, text)
	}
	return fmt.Errorf("compiling plane: %w", err)
}

// importPath matches the lines of go build -v that name a package.
var importPath = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._~+-]*(/[A-Za-z0-9._~+-]+)*$`)

// follow counts packages until the output ends and returns all other lines.
func (p *progress) follow(r io.Reader) []string {
	var rest []string
	scan := bufio.NewScanner(r)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		switch line := scan.Text(); {
		case importPath.MatchString(line):
			p.compiled()
		case strings.HasPrefix(line, "go: downloading "):
			p.downloaded()
		default:
			rest = append(rest, line)
		}
	}
	return rest
}

const interval = 20 * time.Second
