//go:build !unix

package disk

import "os"

const noWait = 0

// Lock makes the folder, and does no more on systems without flock.
func (d Folder) Lock(bool) (release func(), err error) {
	return func() {}, os.MkdirAll(string(d), 0o777)
}
