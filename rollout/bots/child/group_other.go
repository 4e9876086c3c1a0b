//go:build !unix

package child

import "os/exec"

// group does nothing: there are no groups of processes.
func group(*exec.Cmd) {}

// killGroup does nothing: only the process itself can be killed.
func killGroup(int) {}
