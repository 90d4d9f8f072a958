// Command fresh runs a command and fails if that changes a file below the working directory.
//
//	fresh make generate
//
// It is how a check says that what is checked in is what its generator makes.
// The exit status is 0 if nothing changed, 1 if something did or the command
// failed, and 2 without a command.
package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, ".", os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, dir string, command []string, stdout, stderr io.Writer) int {
	if len(command) == 0 {
		fmt.Fprintln(stderr, "usage: fresh command [argument …]")
		return 2
	}
	changed, err := changes(ctx, dir, command, stdout, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "fresh:", err)
		return 1
	}
	if len(changed) > 0 {
		fmt.Fprintf(stderr, "%s changed what is checked in; read the difference, then commit it:\n", strings.Join(command, " "))
		for _, name := range changed {
			fmt.Fprintln(stderr, "  ", name)
		}
		return 1
	}
	return 0
}

// changes runs the command in dir and returns the files that are not what they
// were before, sorted.
func changes(ctx context.Context, dir string, command []string, stdout, stderr io.Writer) ([]string, error) {
	before, err := sums(dir)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, stdout, stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("running %s: %w", strings.Join(command, " "), err)
	}
	after, err := sums(dir)
	if err != nil {
		return nil, err
	}
	var changed []string
	all := maps.Clone(before)
	maps.Copy(all, after)
	for name := range all {
		if before[name] != after[name] { // a file that is not there has no sum
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	return changed, nil
}

// sums returns the checksum of every file below dir, but for hidden directories
// and bin.
func sums(dir string) (map[string][sha256.Size]byte, error) {
	files := map[string][sha256.Size]byte{}
	fsys := os.DirFS(dir)
	err := fs.WalkDir(fsys, ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && (entry.Name() == "bin" || strings.HasPrefix(entry.Name(), ".")):
			return fs.SkipDir
		case !entry.Type().IsRegular():
			return nil
		}
		text, err := fs.ReadFile(fsys, path)
		files[path] = sha256.Sum256(text)
		return err
	})
	return files, err
}
