//go:build unix

package disk

import (
	"fmt"
	"os"
	"syscall"
)

// noWait makes opening a pipe that nobody writes to return.
const noWait = syscall.O_NONBLOCK

// Lock makes the folder if need be and keeps other runs out of it until it is
// released or the process ends; runs that share it do not keep each other out. It
// leaves no file. It fails if another run has locked the folder.
func (d Folder) Lock(share bool) (release func(), err error) {
	if err := os.MkdirAll(string(d), 0o777); err != nil {
		return nil, err
	}
	f, err := os.Open(string(d))
	if err != nil {
		return nil, err
	}
	how := syscall.LOCK_EX
	if share {
		how = syscall.LOCK_SH
	}
	if err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: another run is writing there", d)
	}
	return func() { f.Close() }, nil
}
