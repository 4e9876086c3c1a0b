//go:build !unix

package disk

const noWait = 0

// Lock does nothing on systems without flock.
func Lock(string) (release func(), err error) { return func() {}, nil }
