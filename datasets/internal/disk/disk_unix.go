//go:build unix

package disk

import (
	"fmt"
	"os"
	"syscall"
)

// noWait makes opening a pipe that nobody writes to return.
const noWait = syscall.O_NONBLOCK

// Lock keeps other runs out of the folder until it is released or the process
// ends. It leaves no file. It fails if another run has locked the folder.
func Lock(dir string) (release func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: another run is writing there", dir)
	}
	return func() { f.Close() }, nil
}
