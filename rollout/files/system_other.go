//go:build !unix

package files

import (
	"io/fs"
	"os"
)

const noWait = 0

// keepOwner does nothing: other systems keep owners in access lists.
func keepOwner(*os.File, fs.FileInfo) {}

// descriptor returns nil: open files have no names here.
func descriptor(string) (*os.File, error) { return nil, nil }
