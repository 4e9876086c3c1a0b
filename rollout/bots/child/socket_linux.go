package child

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
)

// hasSocket implements starter: it searches the open files of the guard's descendants.
func (r *remote) hasSocket(inode uint64) (has, known bool) {
	t, want := processTable{}, fmt.Sprintf("socket:[%d]", inode)
	known = true
	t.descendants(r.cmd.Process.Pid, map[int]bool{}, map[int]bool{}, func(p process) {
		if has || p.ended {
			return
		}
		var readable bool
		has, readable = hasOpen(p.pid, want)
		known = known && readable
	}, func() {})
	return has, known || has
}

// hasOpen reports whether a process has an open file with this name of its link in /proc.
// readable is false if this program may not read the links.
func hasOpen(pid int, name string) (is, readable bool) {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	files, err := os.Open(dir)
	if err != nil {
		return false, errors.Is(err, fs.ErrNotExist) // it has ended
	}
	defer files.Close()
	for {
		names, err := files.Readdirnames(256)
		for _, n := range names {
			if to, err := os.Readlink(dir + "/" + n); errors.Is(err, fs.ErrPermission) {
				return false, false
			} else if to == name {
				return true, true
			}
		}
		if err != nil {
			return false, true
		}
	}
}
