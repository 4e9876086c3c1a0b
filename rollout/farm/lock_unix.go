//go:build unix

package farm

import (
	"fmt"
	"os"
	"syscall"
)

// lockDir makes the folder of a store and keeps other servers out of it until it
// is released or the process ends.
func lockDir(dir string) (release func(), err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: another server has its store there", dir)
	}
	return func() { f.Close() }, nil
}
