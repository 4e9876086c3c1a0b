//go:build !unix

package towerdefence

import "io/fs"

// withoutWaiting is no flag: names in a folder are always files on this system.
const withoutWaiting = 0

// names returns 0: it is not known how many names a file has.
func names(fs.FileInfo) uint64 { return 0 }
