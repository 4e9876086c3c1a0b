//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package filelock

import (
	"errors"
	"os"
)

const hasFlock = false

func flock(*os.File, bool) error { return errors.ErrUnsupported }

func interrupted(error) bool { return false }

// alive reports whether there is a process of that number.
func alive(pid int) bool {
	p, err := os.FindProcess(pid) // fails on Windows if there is none
	if err != nil {
		return false
	}
	p.Release()
	return true
}
