//go:build unix

package towerdefence

import "syscall"

// withoutWaiting is a flag for opening a pipe or device without waiting for its other side.
const withoutWaiting = syscall.O_NONBLOCK
