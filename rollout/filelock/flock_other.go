//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package filelock

import (
	"errors"
	"os"
)

const hasFlock = false

func flock(*os.File, bool) error { return errors.ErrUnsupported }

func interrupted(error) bool { return false }

// alive reports whether a process with that number exists.
func alive(pid int) bool {
	p, err := os.FindProcess(pid) // fails on Windows if there is no such process
	if err != nil {
		return false
	}
	p.Release()
	return true
}
