package child

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// process is an entry of /proc.
type process struct {
	pid, parent int
	ended       bool   // a zombie: its parent has not waited for it
	ticks       int64  // own processor time in clock ticks
	waited      int64  // clock ticks of its children for which it has waited
	start       uint64 // time of its start
	pages       int64  // in memory
}

// file returns the beginning of a process's file in /proc: proc(5).
func (p *process) file(name string) []byte {
	fd, err := syscall.Open("/proc/"+strconv.Itoa(p.pid)+"/"+name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	text := make([]byte, 4096)
	n, _ := syscall.Read(fd, text)
	return text[:max(n, 0)]
}

// readProcess reads one process; ok is false if it does not exist.
func readProcess(pid int) (p process, ok bool) {
	p.pid = pid
	text := p.file("stat")
	// The second field is the name in parentheses and may hold anything.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 22 {
		return p, false
	}
	number := func(field int) int64 { // numbered as in proc(5)
		n, _ := strconv.ParseInt(string(fields[field-3]), 10, 64)
		return n
	}
	state := fields[0][0]
	p = process{
		pid: pid, parent: int(number(4)), ended: state == 'Z' || state == 'X',
		ticks: number(14) + number(15), waited: number(16) + number(17),
		start: uint64(number(22)), pages: number(24),
	}
	if p.ended { // perhaps only its first thread: each of the others has the whole memory
		threads, _ := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
		for _, thread := range threads {
			var all, resident int64
			fmt.Sscan(string(p.file("task/"+thread.Name()+"/statm")), &all, &resident)
			p.pages = max(p.pages, resident)
		}
	}
	return p, true
}

// processIDs returns the IDs of all processes in ascending order.
func processIDs() (list []int) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			list = append(list, pid)
		}
	}
	slices.Sort(list)
	return list
}

// descendants calls see with the descendants of this process, most of them as soon as they are read. In
// a box they are all others.
func descendants(see func(process)) {
	members := map[int]bool{os.Getpid(): true}
	var others []process
	add := func(p process) bool {
		if members[p.parent] {
			members[p.pid] = true
			see(p)
		}
		return members[p.parent]
	}
	for _, pid := range processIDs() {
		if p, ok := readProcess(pid); ok && !members[pid] && !add(p) {
			others = append(others, p)
		}
	}
	for before := -1; before != len(others); { // descendants with a lower ID than their parent's
		before = len(others)
		others = slices.DeleteFunc(others, add)
	}
}

// sharedMemory returns the memory of a process in bytes. A page that n processes share counts as
// 1/n.
func (p *process) sharedMemory() int64 {
	_, rest, _ := bytes.Cut(p.file("smaps_rollup"), []byte("\nPss:")) // then "N kB"
	if fields := bytes.Fields(rest); len(fields) > 0 {
		if n, err := strconv.ParseInt(string(fields[0]), 10, 64); err == nil {
			return n << 10
		}
	}
	return p.memory()
}

// memory returns the memory of a process in bytes.
func (p *process) memory() int64 { return p.pages * int64(os.Getpagesize()) }

// longestNap is the longest time between two attempts to kill all processes.
const longestNap = 20 * time.Millisecond

// killAll kills all descendants and waits for them, at first without a rest: they may start others.
func (k *keeper) killAll() {
	for begin := time.Now(); k.reap(); time.Sleep(min(time.Since(begin)/50, longestNap)) {
		if k.alone {
			syscall.Kill(-1, syscall.SIGKILL)
			continue
		}
		descendants(func(p process) { // it is signalled before its ID can belong to another process
			syscall.Kill(p.pid, syscall.SIGKILL) // also what seems to have ended: perhaps only its first thread has
		})
	}
}
