package child

import (
	"os"
	"os/exec"
	"sync"
	"time"
)

// local starts processes without a guard process: for systems other than Linux.
// It kills a process with its group, where there are groups.
type local struct {
	guard *Guard
	work  sync.WaitGroup

	mu     sync.Mutex
	number int
	cmd    *exec.Cmd // nil: none runs
	used   time.Duration
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

// wait waits for a process and tells how it ended.
func (l *local) wait(number int, c *exec.Cmd) {
	c.Wait()
	killGroup(c.Process.Pid) // what it may have left behind
	state := c.ProcessState
	e := endReport{Number: number, Status: state.String(), Code: state.ExitCode(), CPU: state.UserTime() + state.SystemTime()}
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

// hasSocket implements starter.
func (l *local) hasSocket(uint64) (has, known bool) { return false, false }
