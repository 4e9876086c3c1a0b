// Package shortage tells errors of this machine from errors of what it reads or runs: a full disk
// is no fault of a recording, a dataset or a bot.
package shortage

import (
	"errors"
	"slices"
	"syscall"
)

// lacks lists the errors of a machine without room on the disk, file descriptors, memory or
// processes.
var lacks = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EAGAIN}

// Of reports whether an error means that this machine lacks room on the disk, file descriptors,
// memory or processes.
func Of(err error) bool {
	return slices.ContainsFunc(lacks, func(e error) bool { return errors.Is(err, e) })
}
