package bound

import (
	"os/exec"
	"syscall"
)

// bind lets the kernel send a signal to the process when its parent is gone.
func bind(cmd *exec.Cmd, onLoss syscall.Signal) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: onLoss}
}
