package filelock

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// flock locks one byte far behind the end of a file, since others can neither read nor write a
// locked byte.
func flock(f *os.File, share bool) error {
	how := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if !share {
		how |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &windows.Overlapped{OffsetHigh: math.MaxInt32})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return ErrHeld
	}
	return err
}

// openFolder opens what is locked in place of a folder: a file in it, which stays. It is no lock file.
func openFolder(root *os.Root) (*os.File, error) {
	return root.OpenFile(Prefix+".windows", os.O_RDWR|os.O_CREATE, 0o666)
}
