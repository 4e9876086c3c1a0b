//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package towerdefence

import (
	"errors"
	"os"
	"syscall"
)

// lock locks an open folder as long as it stays open: against other games of this
// process, too, since each opens it for itself (flock(2)).
func lock(dir *os.File) error {
	for {
		err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errInUse
		default:
			return err
		}
	}
}
