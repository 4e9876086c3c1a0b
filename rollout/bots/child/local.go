package child

import (
	"os"
	"os/exec"
	"sync"
	"time"
)

// local is the starter of systems other than Linux: it starts processes without a guard
// process. It kills a process with its group, on systems that have groups.
type local struct {
	guard *Guard
	work  sync.WaitGroup

	mu     sync.Mutex
	number int
	cmd    *exec.Cmd     // nil: no process runs
	used   time.Duration // processor time of ended processes
	ending bool
}

// start implements starter.
func (l *local) start(a *launch, files [3]*os.File) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	limit := l.guard.limits.CPU
	switch {
	case l.ending:
		return os.ErrClosed
	case limit > 0 && l.used >= limit:
		return cpuFault(limit, l.used)
	}
	c := &exec.Cmd{Path: a.Path, Args: a.Args, Dir: a.Dir, Env: a.Env, Stdin: files[0], Stdout: files[1], Stderr: files[2]}
	group(c)
	if err := c.Start(); err != nil {
		return err
	}
	l.number, l.cmd = a.Number, c
	l.work.Go(func() { l.wait(a.Number, c) })
	return nil
}

// wait waits for a process and reports its end.
func (l *local) wait(number int, c *exec.Cmd) {
	c.Wait()
	killGroup(c.Process.Pid) // descendants
	state := c.ProcessState
	e := endReport{number, Exit{Status: state.String(), Code: state.ExitCode(), CPU: state.UserTime() + state.SystemTime()}}
	l.mu.Lock()
	l.cmd = nil
	l.used += e.CPU
	if limit := l.guard.limits.CPU; limit > 0 && l.used > limit {
		e.Fault = cpuFault(limit, l.used)
	}
	l.mu.Unlock()
	l.guard.ended(e)
}

// kill implements starter.
func (l *local) kill(number int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cmd == nil || number != 0 && number != l.number {
		return nil
	}
	killGroup(l.cmd.Process.Pid)
	return l.cmd.Process.Kill()
}

// end implements starter.
func (l *local) end() {
	l.mu.Lock()
	l.ending = true
	l.mu.Unlock()
	l.kill(0)
}

// close implements starter.
func (l *local) close() error {
	l.work.Wait()
	return nil
}
