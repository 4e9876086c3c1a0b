package filelock

import (
	"bytes"
	"os"
	"strconv"
)

// namespace returns the PID namespace of this process: each container has its own.
func namespace() string {
	name, _ := os.Readlink("/proc/self/ns/pid") // "" without /proc
	return name
}

// started returns the start time of a process, in ticks since the system started; "" if unknown.
func started(pid int) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	const field = 22 - 3 // of proc(5), after the name, which may contain blanks
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) <= field {
		return ""
	}
	return string(fields[field])
}
