//go:build unix

package files

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
)

// noWait makes the opening of a pipe return although nobody writes to it.
const noWait = syscall.O_NONBLOCK

// keepOwner gives a file the owner of another one, if this account may do that.
func keepOwner(f *os.File, of fs.FileInfo) {
	mine, err := f.Stat()
	if err != nil {
		return
	}
	a, ok := mine.Sys().(*syscall.Stat_t)
	b, ok2 := of.Sys().(*syscall.Stat_t)
	if ok && ok2 && (a.Uid != b.Uid || a.Gid != b.Gid) {
		_ = f.Chown(int(b.Uid), int(b.Gid)) // only root may change the owner
	}
}

// descriptors matches the names of open files.
var descriptors = regexp.MustCompile(`^/(?:dev|proc/self)/fd/([0-9]{1,9})$`)

// descriptor opens an open file of this process by its name, such as /dev/fd/3 and /dev/stdout.
// The new file has the position and the mode of the open one. It returns nil for other names.
func descriptor(name string) (*os.File, error) {
	name = filepath.Clean(name)
	switch name {
	case "/dev/stdout":
		name = "/dev/fd/1"
	case "/dev/stderr":
		name = "/dev/fd/2"
	}
	m := descriptors.FindStringSubmatch(name)
	if m == nil {
		return nil, nil
	}
	number, _ := strconv.Atoi(m[1]) // it has digits only
	fd, err := syscall.Dup(number)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), name), nil
}
