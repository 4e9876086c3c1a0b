//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// interrupts is the number of calls of flock that a signal may interrupt.
const interrupts = 100

// flock is flock(2).
func flock(f *os.File, share bool) (err error) {
	how := syscall.LOCK_EX
	if share {
		how = syscall.LOCK_SH
	}
	for range interrupts {
		if err = syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrHeld
	}
	return err
}

// openFolder opens what is locked in place of a folder: the folder itself.
func openFolder(root *os.Root) (*os.File, error) { return root.Open(".") }
