//go:build unix

package child

import (
	"os/exec"
	"syscall"
)

// group makes the process that c starts the first of a group of its own: signals
// of the terminal do not reach it, and killGroup reaches its children.
func group(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills the group of a process.
func killGroup(pid int) { syscall.Kill(-pid, syscall.SIGKILL) }
