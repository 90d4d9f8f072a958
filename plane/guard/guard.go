// Package guard ends a process whose parent is gone.
//
// The kernel can kill a child when the thread that forked it ends
// (Pdeathsig), but a program that merely runs a component, as envtest does,
// does not ask for that. So every component also looks at its parent from
// time to time and leaves when it has been handed to another one.
package guard

import (
	"os"
	"strconv"
	"time"
)

const (
	// ParentEnv holds the process id of the parent. A program that starts
	// plane sets it to its own id to close the moment between fork and the
	// first instruction of the child; without it the parent seen at start
	// counts.
	ParentEnv = "PLANE_PARENT"
	// SwitchEnv set to "off" lets components live on without their parent.
	SwitchEnv = "PLANE_GUARD"
)

// atStart is read while packages are initialised, long before main runs.
var atStart = os.Getppid()

const interval = 200 * time.Millisecond

// Watch calls gone once, from another goroutine, when the parent of this
// process has ended. It does nothing if the guard is switched off.
func Watch(gone func()) {
	if os.Getenv(SwitchEnv) == "off" {
		return
	}
	want := expected(os.Getenv(ParentEnv), atStart)
	go func() {
		for os.Getppid() == want {
			time.Sleep(interval)
		}
		gone()
	}()
}

// expected is the parent to insist on: the one that was announced, else the
// one that was there at the start.
func expected(announced string, seen int) int {
	if pid, err := strconv.Atoi(announced); err == nil && pid > 0 {
		return pid
	}
	return seen
}

// Environ returns env with this process announced as the parent of the
// process that will get it.
func Environ(env []string) []string {
	return append(Clean(env), ParentEnv+"="+strconv.Itoa(os.Getpid()))
}

// Clean returns env without an announced parent, for processes that are not
// components.
func Clean(env []string) []string {
	out := make([]string, 0, len(env)+1)
	for _, kv := range env {
		if len(kv) > len(ParentEnv) && kv[:len(ParentEnv)+1] == ParentEnv+"=" {
			continue
		}
		out = append(out, kv)
	}
	return out
}
