package demo

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// scratch is a directory that goes with the demo. Who holds its lock uses it.
type scratch struct {
	dir  string
	lock *os.File
}

// scratchName begins the names of the directories that demos work in.
const scratchName = "armature-demo-"

// newScratch makes a directory, and removes those of demos that were killed.
func newScratch() (*scratch, error) {
	sweep()
	dir, err := os.MkdirTemp("", scratchName)
	if err != nil {
		return nil, fmt.Errorf("making a directory for the demo: %w; set TMPDIR to one that can be written", err)
	}
	return take(dir)
}

// take holds a directory until this process ends or removes it.
func take(dir string) (*scratch, error) {
	lock, err := os.OpenFile(filepath.Join(dir, "demo.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = lock.Close()
		return nil, fmt.Errorf("locking %s: %w", dir, err)
	}
	return &scratch{dir, lock}, nil
}

func (s *scratch) path(name string) string { return filepath.Join(s.dir, name) }

// remove is best effort: the next demo sweeps.
func (s *scratch) remove() {
	_ = os.RemoveAll(s.dir)
	_ = s.lock.Close()
}

// young is how old a directory is whose demo may be just about to take it.
const young = time.Minute

// sweep removes the directories that nobody holds.
func sweep() {
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), scratchName+"*"))
	if err != nil {
		return
	}
	for _, dir := range dirs {
		info, err := os.Stat(dir)
		if err != nil || time.Since(info.ModTime()) < young { //nolint:forbidigo // compared with the time of a file
			continue
		}
		if s, err := take(dir); err == nil {
			s.remove()
		}
	}
}
