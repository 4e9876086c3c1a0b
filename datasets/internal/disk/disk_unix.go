//go:build unix

package disk

import "syscall"

// noWait makes the opening of a pipe without a writer return.
const noWait = syscall.O_NONBLOCK
