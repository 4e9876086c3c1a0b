//go:build unix

package disk

import "syscall"

// noWait makes opening a pipe that nobody writes to return.
const noWait = syscall.O_NONBLOCK
