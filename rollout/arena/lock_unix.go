//go:build unix

package arena

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// lockWait is how long a lock is waited for. A program that was killed while it started
// a bot still has it, for a moment, in the bot's process that is about to begin.
const lockWait = 3 * time.Second

// lock keeps other programs from writing to the journal.
func lock(f *os.File) error {
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return err
		case time.Since(begin) > lockWait:
			return errors.New("another tournament is writing to it")
		}
	}
}
