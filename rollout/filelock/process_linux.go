package filelock

import (
	"bytes"
	"os"
	"strconv"
)

// namespace is the one in which the numbers of processes count: containers have their own.
func namespace() string {
	name, _ := os.Readlink("/proc/self/ns/pid") // "" without /proc
	return name
}

// started is when a process was started, in ticks since the system was; "" if that is
// not known.
func started(pid int) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	const field = 22 - 3 // of proc(5), behind the name, which may hold blanks
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) <= field {
		return ""
	}
	return string(fields[field])
}
