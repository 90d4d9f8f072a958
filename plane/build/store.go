package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// keep is how many programs stay in the cache; each has about 150 MB.
const keep = 4

func cacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", errors.New("there is no place for the built program; set HOME or XDG_CACHE_HOME")
	}
	dir := filepath.Join(base, "armature")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", fmt.Errorf("%w; set XDG_CACHE_HOME to a directory that can be written", err)
	}
	return dir, nil
}

// fresh reports whether the program is in the cache, and marks it as used.
func fresh(path string) bool {
	now := time.Now() //nolint:forbidigo // the time of a file
	return os.Chtimes(path, now, now) == nil
}

func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		fmt.Fprintln(os.Stderr, "build: another process builds plane; waiting for it")
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return func() { _ = f.Close() }, nil
}

// install makes path the cached program, at once and as a whole: by a hard
// link, or by a copy if the cache is on another file system.
func install(cached, path string) error {
	from, err := os.Stat(cached)
	if err != nil {
		return err
	}
	if to, err := os.Stat(path); err == nil && os.SameFile(from, to) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // a folder of programs
		return err
	}
	part := fmt.Sprintf("%s.part%d", path, os.Getpid())
	if err := os.Link(cached, part); err != nil {
		if err := copyFile(cached, part); err != nil {
			return errors.Join(fmt.Errorf("installing %s: %w", path, err), ignoreMissing(os.Remove(part)))
		}
	}
	return os.Rename(part, path)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755) //nolint:gosec // a program is executed
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// link makes dir what KUBEBUILDER_ASSETS wants to name.
func link(program, dir string) error {
	target, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // a folder of programs
		return err
	}
	for _, name := range []string{"etcd", "kube-apiserver", "kubectl"} {
		path := filepath.Join(dir, name)
		if old, err := os.Readlink(path); err == nil && old == target {
			continue
		}
		if err := ignoreMissing(os.Remove(path)); err != nil {
			return err
		}
		if err := os.Symlink(target, path); err != nil {
			return err
		}
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// prune removes all but the programs that were used last. Links to them that
// were installed stay.
func prune(dir string, keep int) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	type program struct {
		path string
		used time.Time
	}
	var all []program
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, "plane-") || strings.Contains(name, ".") {
			continue
		}
		if info, err := e.Info(); err == nil {
			all = append(all, program{filepath.Join(dir, name), info.ModTime()})
		}
	}
	slices.SortFunc(all, func(x, y program) int { return cmp.Or(y.used.Compare(x.used), cmp.Compare(x.path, y.path)) })
	for _, p := range all[min(keep, len(all)):] {
		if err := ignoreMissing(os.Remove(p.path)); err != nil {
			return err
		}
	}
	return nil
}
