package child

import (
	"bytes"
	"errors"
	"os"
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

// processTable reads the system's table of processes: proc(5).
type processTable struct{ buffer [4096]byte }

// file returns the beginning of a process's file in /proc, valid until the next call.
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

// read reads one process; ok is false if it does not exist.
func (t *processTable) read(pid int) (p process, ok bool) {
	text := t.file(pid, "stat")
	// The second field is the name in parentheses and may hold anything.
	_, text, ok = cutLast(text, ')')
	fields := bytes.Fields(text)
	if !ok || len(fields) < 22 {
		return p, false
	}
	number := func(field int) int64 { // numbered as in proc(5)
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

// pids calls f with the ID of every process in ascending order. Processes started
// meanwhile mostly have higher IDs, so f sees them, too. Now and then it calls between.
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

// descendants calls see with every descendant of a process, most of them as soon as they
// are read. It adds their IDs to members and those of other processes to foreign,
// and skips processes that are in either already. It returns the number of descendants
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
	for more := true; more; { // descendants with a lower ID than their parent's
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

// shared returns the memory of processes in bytes. A page that they share counts once; a
// page shared with other processes counts in part.
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

// proportional returns the size of the line "Pss: N kB" in a file smaps_rollup, in bytes.
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

// errForeign says that the bot started processes that another user owns.
var errForeign = errors.New("processes of a bot that belong to another user cannot be killed")

// Bounds of killing.
const (
	stopPasses = 100 // over the table, while new processes appear
	longestNap = 20 * time.Millisecond
	giveUp     = 10 * time.Second // if all processes left belong to another user
)

// killAll kills all descendants and waits for them. It returns true when no descendant is
// left, and false after giveUp if all that are left belong to another user.
func (k *keeper) killAll() bool {
	begin, nap := time.Now(), 100*time.Microsecond
	var members, foreign map[int]bool
	// Ended processes are waited for all the time: otherwise they would fill the system's
	// table. Their IDs become free.
	reap := func() bool {
		return k.reap(func(pid int) {
			delete(members, pid)
			delete(foreign, pid)
		})
	}
	for reap() {
		if k.boxed { // all processes but this one, at first without a rest: they may start others
			syscall.Kill(-1, syscall.SIGKILL)
			time.Sleep(min(time.Since(begin)/50, longestNap))
			continue
		}
		// Both sets contain only IDs. The system reuses IDs soon where many processes
		// are started, so the sets are made new for every pass.
		members, foreign = map[int]bool{}, map[int]bool{}
		for range stopPasses {
			// A process is signalled immediately after it was read, before its ID can
			// be reused.
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
			// Stopped processes do not wait for children, so the IDs cannot be reused yet.
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

// killMarked kills the processes of a guard that was killed: all that have the marker with
// this value in their environment, until two passes find none.
func killMarked(value string) {
	want := []byte(marker + "=" + value + "\x00")
	empty := 0 // passes that found none
	for end := time.Now().Add(giveUp); empty < 2 && time.Now().Before(end); {
		t, found := processTable{}, false
		t.pids(func(pid int) {
			environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
			if err == nil && bytes.Contains(environ, want) {
				syscall.Kill(pid, syscall.SIGKILL)
				found = true
			}
		}, func() {})
		empty++
		if found {
			empty = 0
			time.Sleep(time.Millisecond)
		}
	}
}
