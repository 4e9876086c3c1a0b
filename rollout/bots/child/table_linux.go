package child

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"syscall"
	"time"
)

// process is what /proc tells of a process.
type process struct {
	pid, parent int
	ended       bool   // it waits for its parent to wait for it
	ticks       int64  // processor time of its own, in clock ticks
	waited      int64  // the same of its children that it waited for
	start       uint64 // when it was started
	pages       int64  // in memory
}

// processTable reads the processTable of processes: proc(5).
type processTable struct{ buffer [4096]byte }

// file reads the beginning of a file of /proc. It stays valid until the next call.
func (t *processTable) file(pid int, name string) []byte {
	fd, err := syscall.Open("/proc/"+strconv.Itoa(pid)+"/"+name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	n, err := syscall.Read(fd, t.buffer[:])
	if err != nil {
		return nil
	}
	return t.buffer[:n]
}

// read reads one process; ok is false if there is none.
func (t *processTable) read(pid int) (p process, ok bool) {
	text := t.file(pid, "stat")
	// The second field is the name in parentheses and may hold anything.
	_, text, ok = cutLast(text, ')')
	fields := bytes.Fields(text)
	if !ok || len(fields) < 22 {
		return p, false
	}
	number := func(field int) int64 { // as proc(5) counts
		n, _ := strconv.ParseInt(string(fields[field-3]), 10, 64)
		return n
	}
	state := fields[0][0]
	return process{
		pid: pid, parent: int(number(4)), ended: state == 'Z' || state == 'X',
		ticks: number(14) + number(15), waited: number(16) + number(17),
		start: uint64(number(22)), pages: number(24),
	}, true
}

func cutLast(b []byte, c byte) (before, after []byte, ok bool) {
	i := bytes.LastIndexByte(b, c)
	if i < 0 {
		return nil, nil, false
	}
	return b[:i], b[i+1:], true
}

// pids calls f with the ID of every process, the lower ones first. Processes that
// are started meanwhile mostly have higher ones and are seen, too. Now and then it
// calls between.
func (t *processTable) pids(f func(pid int), between func()) {
	dir, err := os.Open("/proc")
	if err != nil {
		return
	}
	defer dir.Close()
	for {
		names, err := dir.Readdirnames(64)
		for _, name := range names {
			if pid, err := strconv.Atoi(name); err == nil {
				f(pid)
			}
		}
		between()
		if err != nil {
			return
		}
	}
}

// descendants calls see with every descendant of a process, most of them at the
// moment when they are found. It adds them to members and all others to foreign,
// and skips processes that are in one of these already. It returns how many were
// found. Now and then it calls between.
func (t *processTable) descendants(root int, members, foreign map[int]bool, see func(process), between func()) (found int) {
	var others []process
	add := func(p process) bool {
		if p.parent != root && !members[p.parent] {
			return false
		}
		members[p.pid] = true
		found++
		see(p)
		return true
	}
	t.pids(func(pid int) {
		if pid == root || members[pid] || foreign[pid] {
			return
		}
		if p, ok := t.read(pid); ok && !add(p) {
			others = append(others, p)
		}
	}, between)
	for more := true; more; { // those with a lower ID than their parent
		more = false
		left := others[:0]
		for _, p := range others {
			if add(p) {
				more = true
			} else {
				left = append(left, p)
			}
		}
		others = left
	}
	for _, p := range others {
		foreign[p.pid] = true
	}
	return found
}

// shared is the memory of processes in bytes, in which each page counts once, or
// less if processes of others share it, too.
func (t *processTable) shared(all []process) (bytes int64) {
	for _, p := range all {
		if pss, ok := proportional(t.file(p.pid, "smaps_rollup")); ok {
			bytes += pss
		} else {
			bytes += p.pages * int64(os.Getpagesize())
		}
	}
	return bytes
}

// proportional finds the line "Pss: N kB" of a file smaps_rollup.
func proportional(text []byte) (int64, bool) {
	_, rest, ok := bytes.Cut(text, []byte("\nPss:"))
	if !ok {
		return 0, false
	}
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(string(fields[0]), 10, 64)
	return n << 10, err == nil
}

// errForeign says why processes are left.
var errForeign = errors.New("processes of a bot that belong to another user cannot be killed")

// Bounds of killing.
const (
	stopPasses = 100 // over the table, while new processes appear
	longestNap = 20 * time.Millisecond
	giveUp     = 10 * time.Second // if all that is left belongs to another user
)

// killAll kills all descendants and waits for them. It returns true when none is
// left, and gives up only if the rest belongs to another user.
func (k *keeper) killAll() bool {
	begin, nap := time.Now(), 100*time.Microsecond
	var members, foreign map[int]bool
	// Those that have ended are waited for all the time, or they would fill the
	// table of processes. Then their IDs are free.
	reap := func() bool {
		return k.reap(func(pid int) {
			delete(members, pid)
			delete(foreign, pid)
		})
	}
	for reap() {
		// These know processes by their IDs alone, which are given again soon where
		// many processes are started: so not for long.
		members, foreign = map[int]bool{}, map[int]bool{}
		for range stopPasses {
			// A process is signalled at once after it was read, before its ID can
			// belong to another.
			if k.table.descendants(os.Getpid(), members, foreign, func(p process) {
				if !p.ended {
					syscall.Kill(p.pid, syscall.SIGSTOP)
				}
			}, func() { reap() }) == 0 {
				break
			}
		}
		denied := len(members) > 0
		for pid := range members {
			// Stopped processes wait for none, so the IDs are still theirs.
			denied = syscall.Kill(pid, syscall.SIGKILL) == syscall.EPERM && denied
		}
		if !reap() {
			return true
		}
		if denied && time.Since(begin) > giveUp {
			return false
		}
		time.Sleep(nap)
		nap = min(2*nap, longestNap)
	}
	return true
}

// killMarked kills all processes that have the marker in their environment, until
// two looks have found none: the processes of a guard that was killed.
func killMarked(marker string) {
	want := []byte(Marker + "=" + marker + "\x00")
	none := 0
	for end := time.Now().Add(giveUp); none < 2 && time.Now().Before(end); {
		t, found := processTable{}, false
		t.pids(func(pid int) {
			environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
			if err == nil && bytes.Contains(environ, want) {
				syscall.Kill(pid, syscall.SIGKILL)
				found = true
			}
		}, func() {})
		none++
		if found {
			none = 0
			time.Sleep(time.Millisecond)
		}
	}
}
