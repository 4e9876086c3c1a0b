package child

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"moonfarm/rollout/files"
)

// keeper is the state of the guard process. One goroutine starts, signals and waits for processes, so
// no process ID is used after wait4 has freed it.
type keeper struct {
	conn    *channel
	alone   bool // all other processes that this one sees are the bot's
	rules   rules
	env     []string // in the environment of the bot
	scratch string   // the folder for temporary files, to be removed; "": none
	group   cgroup
	killed  int // processes by the system, for want of memory, before the process of run
	limits  Limits
	usage   usage

	run    *launch // nil: no process runs
	pid    int     // the process of run
	gone   bool    // pid was waited for
	status syscall.WaitStatus
	fault  *Fault
}

// fileRequest is a request with its files.
type fileRequest struct {
	request
	files []int
}

// guardMain is the main function of the guard process. It returns the exit status.
func guardMain() int {
	runtime.LockOSThread()
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGCHLD, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM)
	k := &keeper{usage: usage{seen: map[processID]int64{}}}
	keepFiles()
	var err error
	if k.conn, err = newChannel(3); err != nil {
		fmt.Fprintln(os.Stderr, "not started as the guard of a bot:", err)
		return 2
	}
	requests := make(chan fileRequest)
	go receive(k.conn, requests)
	first, ok := <-requests
	if !ok || first.Limits == nil {
		return 0 // the program has ended
	}
	k.limits, k.group, k.rules.core = *first.Limits, first.Cgroup, first.Core
	go awaitEnd(first.files, signals)
	var fds []int
	if err = k.prepare(); err == nil {
		fds, err = k.enter(first.Box)
	}
	defer func() { files.RemoveAll(k.scratch) }()
	if err != nil {
		k.tell(report{Error: err.Error()})
		return 0
	}
	k.conn.send(report{}, fds)
	for _, fd := range fds {
		syscall.Close(fd)
	}
	k.serve(requests, signals)
	k.killAll()
	k.finish()
	return 0
}

// keepFiles prevents bots from inheriting open files, such as files that this program has
// inherited.
func keepFiles() {
	syscall.CloseOnExec(3)
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// prepare makes this process the subreaper and checks that /proc shows processes.
func (k *keeper) prepare() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("it cannot be a subreaper: %w", err)
	}
	unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) // bots may not read and trace this process
	core := &syscall.Rlimit{}
	if err := syscall.Getrlimit(syscall.RLIMIT_CORE, core); err == nil {
		core.Cur, core.Max = 0, 0
		syscall.Setrlimit(syscall.RLIMIT_CORE, core) // no core files of bots and of this process
	}
	// A real-time priority, where the user may set it: many processes of a bot, each in a
	// session of its own, would leave the guard little time.
	unix.SchedSetAttr(0, &unix.SchedAttr{
		Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1, Flags: unix.SCHED_FLAG_RESET_ON_FORK,
	}, 0)
	if _, ok := readProcess(os.Getpid()); !ok {
		return errors.New("/proc does not show the processes of this machine")
	}
	return nil
}

// receive reads requests until there are no more.
func receive(conn *channel, to chan<- fileRequest) {
	defer close(to)
	for {
		var a fileRequest
		if conn.decoder.Decode(&a.request) != nil {
			return
		}
		if a.Run != nil || a.Limits != nil {
			a.files = conn.take()
		}
		to <- a
	}
}

// awaitEnd waits for the end of the program whose pidfd it gets, and tells it as a signal, in case
// another process has inherited the connection. Linux has pidfds from 5.3 on.
func awaitEnd(files []int, to chan<- os.Signal) {
	if len(files) == 1 {
		list := []unix.PollFd{{Fd: int32(files[0]), Events: unix.POLLIN}}
		for {
			if _, err := unix.Poll(list, -1); err != unix.EINTR {
				to <- syscall.SIGTERM
				return
			}
		}
	}
}

// tell sends a report. An error is ignored: if the program has ended, the requests end, too.
func (k *keeper) tell(r report) { k.conn.send(r, nil) }

// serve handles requests until they end or a signal ends the guard.
func (k *keeper) serve(requests <-chan fileRequest, signals <-chan os.Signal) {
	watch := time.NewTimer(interval)
	for {
		select {
		case a, ok := <-requests:
			switch {
			case !ok:
				return
			case a.Run != nil:
				k.launch(a.Run, a.files)
				watch.Reset(interval)
			case k.run != nil && a.Kill == k.run.Number:
				k.killAll()
			}
		case s := <-signals:
			if s != syscall.SIGCHLD {
				return
			}
			k.reap()
		case <-watch.C:
			if k.run != nil {
				watch.Reset(k.watch())
			}
		}
		if k.run != nil && k.gone {
			k.killAll() // descendants
			k.finish()
		}
	}
}

// launch starts a process and reports whether it could.
func (k *keeper) launch(l *launch, files []int) {
	defer func() {
		for _, fd := range files {
			syscall.Close(fd)
		}
	}()
	if len(files) != 3 || k.run != nil {
		k.tell(report{Error: fmt.Sprintf("the bot's guard got %d files, and runs a process: %v", len(files), k.run != nil)})
		return
	}
	if cpu := k.usage.children(); k.limits.CPU > 0 && cpu >= k.limits.CPU {
		k.tell(report{Fault: cpuFault(k.limits.CPU, cpu)})
		return
	}
	var pid int
	var err error
	started := make(chan struct{})
	go func() {
		defer close(started)
		runtime.LockOSThread() // and never unlock it: the thread, which obeys the rules of the bot, ends
		if err = k.rules.obey(); err == nil {
			pid, err = syscall.ForkExec(l.Path, l.Args, &syscall.ProcAttr{
				Dir: l.Dir, Env: (&exec.Cmd{Env: append(l.Env, k.env...)}).Environ(), Files: []uintptr{uintptr(files[0]), uintptr(files[1]), uintptr(files[2])},
				Sys: &syscall.SysProcAttr{Setsid: true},
			})
		}
	}()
	<-started
	if err != nil {
		k.tell(report{Error: launchError(l.Path, err)})
		return
	}
	k.run, k.pid, k.gone, k.fault = l, pid, false, nil
	k.usage.begin()
	k.tell(report{})
}

// launchError returns the text of an error, with the likely cause where the system's own
// text misleads.
func launchError(path string, err error) string {
	text := fmt.Sprintf("%s cannot be started: %v", path, err)
	switch {
	case errors.Is(err, syscall.ENOENT):
		if first := firstLine(path); strings.HasPrefix(first, "#!") {
			text += fmt.Sprintf(" (its first line is %q: is that program there?)", first)
		} else {
			text += " (or a library that it needs)"
		}
	case errors.Is(err, syscall.ENOEXEC):
		text += " (a script needs a first line such as #!/bin/sh; other programs must be made for this kind of machine)"
	}
	return text
}

// firstLine returns the first line of a file, at most 100 bytes.
func firstLine(path string) string {
	f, err := files.OpenRegular(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	start := make([]byte, 100)
	n, _ := io.ReadFull(f, start)
	line, _, _ := strings.Cut(string(start[:n]), "\n")
	return strings.TrimRight(line, "\r")
}

// reap waits for all children that have ended. It reports whether any child is left.
func (k *keeper) reap() bool {
	for {
		var ws syscall.WaitStatus
		var used syscall.Rusage
		pid, err := syscall.Wait4(-1, &ws, syscall.WNOHANG, &used)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return false // ECHILD
		case pid == 0:
			return true
		case ws.Exited() || ws.Signaled():
			k.usage.reaped(&used)
			if k.run != nil && pid == k.pid {
				k.gone, k.status = true, ws
			}
		}
	}
}

// finish reports the end of the process, after all of its descendants have ended.
func (k *keeper) finish() {
	if k.run == nil {
		return
	}
	used := k.usage.total()
	if k.fault == nil {
		k.fault = used.over(&k.limits)
	}
	if n := k.group.killed(); n > k.killed {
		if k.killed = n; k.fault == nil && k.limits.Memory > 0 {
			k.fault = memoryFault(k.limits.Memory, max(used.memory, k.limits.Memory+spareMemory))
		}
	}
	e := &endReport{k.run.Number, Exit{Status: "unknown", Code: -1, Fault: k.fault,
		CPU: used.cpu - k.usage.before, Memory: k.usage.peak.memory, Processes: k.usage.peak.processes}}
	switch ws := k.status; {
	case !k.gone:
	case ws.Exited():
		e.Status, e.Code = fmt.Sprintf("exit status %d", ws.ExitStatus()), ws.ExitStatus()
	case ws.Signaled():
		e.Status = "signal: " + ws.Signal().String()
	}
	k.run = nil
	k.tell(report{Ended: e})
}
