// Command build builds plane and keeps the result.
//
// The ten minutes that this takes with an empty cache are spent once.
//
//	go run -C plane ./build -o ../bin/plane [-assets DIR]
//
// It has to be run in the folder of the module plane and imports nothing but
// the standard library, so that it compiles in a moment.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	output := flag.String("o", "", "install the program here; empty only builds it into the cache")
	assets := flag.String("assets", "", "make this directory usable as KUBEBUILDER_ASSETS")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "build: %q is not expected; the flags are -o FILE and -assets DIR\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM) //nolint:forbidigo // the root of the process
	defer stop()
	if err := run(ctx, *output, *assets); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop was called
	}
}

func run(ctx context.Context, output, assets string) error {
	if _, err := exec.LookPath("go"); err != nil {
		return errors.New("the go command is not in PATH; install Go 1.26 or newer and try again")
	}
	m, err := readModule(".")
	if err != nil {
		return err
	}
	tool, err := toolchain(ctx)
	if err != nil {
		return err
	}
	key, err := m.key(tool)
	if err != nil {
		return err
	}
	dir, err := cacheDir()
	if err != nil {
		return err
	}
	cached := filepath.Join(dir, "plane-"+key)
	if err := ensure(ctx, m, cached); err != nil {
		return err
	}
	if output != "" {
		if err := install(cached, output); err != nil {
			return err
		}
	}
	if assets != "" {
		target := cached
		if output != "" {
			target = output
		}
		return link(target, assets)
	}
	return nil
}

// ensure builds the program into the cache unless it is there. Of several
// processes that want the same one, one builds and the others wait.
func ensure(ctx context.Context, m module, cached string) error {
	if fresh(cached) {
		return nil
	}
	unlock, err := lock(filepath.Join(filepath.Dir(cached), "plane.lock"))
	if err != nil {
		return err
	}
	defer unlock()
	if fresh(cached) { // somebody built it while we waited
		return nil
	}
	part := cached + ".part"
	if err := compile(ctx, m, part); err != nil {
		return errors.Join(err, ignoreMissing(os.Remove(part)))
	}
	if err := os.Chmod(part, 0o555); err != nil { //nolint:gosec // a program is executed
		return err
	}
	if err := os.Rename(part, cached); err != nil {
		return err
	}
	return prune(filepath.Dir(cached), keep)
}
