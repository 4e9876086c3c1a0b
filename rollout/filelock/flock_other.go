//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package filelock

import (
	"errors"
	"os"
)

func flock(*os.File, bool) error { return errors.ErrUnsupported }

func openFolder(root *os.Root) (*os.File, error) { return root.Open(".") }
