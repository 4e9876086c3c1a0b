//go:build unix

package towerdefence

import (
	"io/fs"
	"syscall"
)

// withoutWaiting is a flag for opening a pipe or device without waiting for its other side.
const withoutWaiting = syscall.O_NONBLOCK

// names returns the number of names that a file has in all folders.
func names(info fs.FileInfo) uint64 { return uint64(info.Sys().(*syscall.Stat_t).Nlink) }
