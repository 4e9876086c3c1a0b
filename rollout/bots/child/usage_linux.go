package child

import (
	"os"
	"syscall"
	"time"
)

// Times of watching.
const (
	interval     = 25 * time.Millisecond // between two looks at what a bot uses
	lookShare    = 50                    // a look must not take more than one of so many parts of the time
	recheckAfter = 3 * time.Millisecond  // before a second look, if a limit is exceeded
	rescanLooks  = 40                    // looks after which all processes of the machine are looked at again
)

// amounts are what the processes of a bot use together.
type amounts struct {
	cpu       time.Duration // of the match, ended processes included
	memory    int64
	processes int
}

// over says which limit is exceeded.
func (a amounts) over(l *Limits) *Fault {
	switch {
	case l.CPU > 0 && a.cpu > l.CPU:
		return cpuFault(l.CPU, a.cpu)
	case l.Memory > 0 && a.memory > l.Memory:
		return memoryFault(l.Memory, a.memory)
	case l.Processes > 0 && a.processes > l.Processes:
		return processesFault(l.Processes, a.processes)
	}
	return nil
}

// processID names a process for good: its ID can be given to another one later.
type processID struct {
	pid   int
	start uint64
}

// usage keeps what the processes of a bot use. Processor time is known in two
// ways, and both can miss something but never count too much for long: the times of
// children that the system adds up when a process is waited for, and the times
// that were seen of each process. The greater one is used.
type usage struct {
	before  time.Duration       // of the match, when the process was started
	peak    amounts             // since then
	seen    map[processID]int64 // clock ticks of its own, by process that was there at the latest look
	ended   int64               // the same of those that were not there any more
	own     int64               // memory of this process: what a child has at least by the system's count
	foreign map[int]bool        // processes that are none of the bot's
	looks   int
}

// begin begins to measure a process.
func (u *usage) begin() {
	u.before = u.total().cpu
	u.peak = amounts{processes: 1}
	var self syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &self) == nil {
		u.own = kilobytes(&self)
	}
	u.looks = 0
}

// kilobytes is the most memory of a process, in bytes; getrusage(2) counts in
// units of 1024.
func kilobytes(r *syscall.Rusage) int64 { return int64(r.Maxrss) << 10 }

// children is the time of all children of this process that were waited for, with
// theirs.
func (u *usage) children() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_CHILDREN, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// reaped takes what a child used that was waited for. The memory is the greatest
// of one process; the system also counts what this process had when it started it.
func (u *usage) reaped(r *syscall.Rusage) {
	if most := kilobytes(r); most > u.own {
		u.peak.memory = max(u.peak.memory, most)
	}
}

// total is what has been used when no process is left.
func (u *usage) total() amounts {
	for l, ticks := range u.seen {
		u.ended += ticks
		delete(u.seen, l)
	}
	return amounts{cpu: max(u.children(), ticksTime(u.ended)), memory: u.peak.memory, processes: u.peak.processes}
}

// ticksTime is a number of clock ticks as /proc counts them: 100 a second on every
// machine that Go knows.
func ticksTime(ticks int64) time.Duration { return time.Duration(ticks) * (time.Second / 100) }

// look measures what the processes of a bot use now.
func (u *usage) look(t *processTable, limits *Limits) amounts {
	if u.foreign == nil || u.looks%rescanLooks == 0 {
		u.foreign = map[int]bool{}
	}
	u.looks++
	var now amounts
	now.cpu = u.children() // before the look: only this goroutine waits for children
	members := map[int]bool{}
	var all []process
	t.descendants(os.Getpid(), members, u.foreign, func(p process) { all = append(all, p) }, func() {})
	present := make(map[processID]int64, len(all))
	sum := int64(0)
	for _, p := range all {
		now.processes++
		now.memory += p.pages * int64(os.Getpagesize())
		now.cpu += ticksTime(p.ticks + p.waited)
		present[processID{p.pid, p.start}] = p.ticks
		sum += p.ticks
	}
	for l, ticks := range u.seen {
		if _, there := present[l]; !there {
			u.ended += ticks
		}
	}
	u.seen = present
	now.cpu = max(now.cpu, ticksTime(u.ended+sum))
	if limits.Memory > 0 && now.memory > limits.Memory && now.processes > 1 {
		now.memory = t.shared(all)
	}
	return now
}

// watch looks at what the bot uses and kills it if that is too much. What is seen
// in the moment when a process has just been started or has just ended can be
// counted twice, so a second look must see the same. It returns the time until
// the next look.
func (k *keeper) watch() time.Duration {
	begin := time.Now()
	now := k.usage.look(&k.table, &k.limits)
	took := time.Since(begin)
	if now.over(&k.limits) != nil {
		time.Sleep(recheckAfter)
		again := k.usage.look(&k.table, &k.limits)
		if f := again.over(&k.limits); f != nil {
			now, k.fault = again, f
			k.end()
		} else {
			now = again
		}
	}
	k.usage.peak.memory = max(k.usage.peak.memory, now.memory)
	k.usage.peak.processes = max(k.usage.peak.processes, now.processes)
	return max(interval, lookShare*took)
}
