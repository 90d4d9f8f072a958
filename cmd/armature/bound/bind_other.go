//go:build unix && !linux

package bound

import (
	"os/exec"
	"syscall"
)

// bind gives the process a group. Only Linux tells a process that its parent is gone.
func bind(cmd *exec.Cmd, _ syscall.Signal) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
