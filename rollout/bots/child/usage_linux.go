package child

import (
	"syscall"
	"time"
)

// Times of measuring.
const (
	interval     = 25 * time.Millisecond // between two looks at a bot's processes
	lookShare    = 50                    // looks may take at most 1/lookShare of the time
	recheckAfter = 3 * time.Millisecond  // until a second look, if a limit is exceeded
)

// amounts is the usage of all processes of a bot together.
type amounts struct {
	cpu       time.Duration // of the match, ended processes included
	memory    int64
	processes int
}

// over returns the fault of the first exceeded limit, or nil.
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

// processID identifies a process. The start is part of it because the system gives a pid to
// other processes later.
type processID struct {
	pid   int
	start uint64
}

// usage measures the processes of a bot. Processor time is known in two ways: as the
// system's sum over children that were waited for, and as the measured times of each
// process. Both can miss time but count too much only for a moment, so the greater one
// is used.
type usage struct {
	before time.Duration       // processor time of the match at the start of the process
	peak   amounts             // since the start of the process
	seen   map[processID]int64 // clock ticks of each process at the latest look, without its children's
	ended  int64               // the sum of these ticks over processes that have ended
	own    int64               // memory of this process at the start of the bot's
}

// begin begins to measure a new process.
func (u *usage) begin() {
	u.before = u.total().cpu
	u.peak = amounts{processes: 1}
	var self syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &self) == nil {
		u.own = maxMemory(&self)
	}
}

// maxMemory returns the highest memory of a process in bytes; getrusage(2) counts units of
// 1024 bytes.
func maxMemory(r *syscall.Rusage) int64 { return int64(r.Maxrss) << 10 }

// children returns the processor time of all children of this process that were waited for,
// and of their own such children.
func (u *usage) children() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_CHILDREN, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// reaped adds the memory of a child that was waited for: the maximum of one process. The
// system's count begins with the memory of this process at the child's start, so lower
// values say nothing.
func (u *usage) reaped(r *syscall.Rusage) {
	if most := maxMemory(r); most > u.own {
		u.peak.memory = max(u.peak.memory, most)
	}
}

// total returns the usage when no process is left.
func (u *usage) total() amounts {
	for l, ticks := range u.seen {
		u.ended += ticks
		delete(u.seen, l)
	}
	return amounts{cpu: max(u.children(), ticksTime(u.ended)), memory: u.peak.memory, processes: u.peak.processes}
}

// ticksTime converts clock ticks of /proc: 100 a second on every machine that Go supports.
func ticksTime(ticks int64) time.Duration { return time.Duration(ticks) * (time.Second / 100) }

// look measures the current usage of the bot's processes.
func (u *usage) look(limits *Limits) amounts {
	now := amounts{cpu: u.children()} // before the look: only this goroutine waits for children
	var all []process
	descendants(func(p process) { all = append(all, p) })
	present := make(map[processID]int64, len(all))
	sum := int64(0)
	for _, p := range all {
		now.processes++
		now.memory += p.memory()
		now.cpu += ticksTime(p.ticks + p.waited)
		present[processID{p.pid, p.start}] = p.ticks
		sum += p.ticks
	}
	for id, ticks := range u.seen {
		if _, there := present[id]; !there {
			u.ended += ticks
		}
	}
	u.seen = present
	now.cpu = max(now.cpu, ticksTime(u.ended+sum))
	if limits.Memory > 0 && now.memory > limits.Memory && now.processes > 1 {
		now.memory = 0
		for _, p := range all {
			now.memory += p.sharedMemory()
		}
	}
	return now
}

// watch measures the bot's usage and kills its processes if a limit is exceeded. Near the
// start or the end of a process some usage can be counted twice, so a second look must
// confirm it. watch returns the time until the next look.
func (k *keeper) watch() time.Duration {
	begin := time.Now()
	now := k.usage.look(&k.limits)
	took := time.Since(begin)
	if now.over(&k.limits) != nil {
		time.Sleep(recheckAfter)
		again := k.usage.look(&k.limits)
		if f := again.over(&k.limits); f != nil {
			now, k.fault = again, f
			k.killAll()
		} else {
			now = again
		}
	}
	k.usage.peak.memory = max(k.usage.peak.memory, now.memory)
	k.usage.peak.processes = max(k.usage.peak.processes, now.processes)
	return max(interval, lookShare*took)
}
