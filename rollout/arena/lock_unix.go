//go:build unix

package arena

import (
	"errors"
	"os"
	"syscall"
)

// lock keeps other programs from writing to the journal.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errors.New("another tournament is writing to it")
	}
	return err
}
