//go:build unix

package child

import (
	"os/exec"
	"syscall"
)

// group makes c start its process in a new process group: signals of the terminal do not
// reach it, and killGroup reaches its children.
func group(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills the process group of a process.
func killGroup(pid int) { syscall.Kill(-pid, syscall.SIGKILL) }
