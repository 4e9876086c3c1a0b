//go:build !unix

package child

import "os/exec"

// group does nothing: this system has no process groups.
func group(*exec.Cmd) {}

// killGroup does nothing: only the process itself can be killed.
func killGroup(int) {}
