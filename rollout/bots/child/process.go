package child

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// Process is a process that Run started, with its descendants. One goroutine may read
// from it while another writes; Wait, End and Kill can be called at any time.
type Process struct {
	guard  *Guard
	number int
	begin  time.Time

	in, out *os.File // nil without Command.Input, Command.Output
	log     *os.File
	drained chan struct{} // closed when all output for the log was read
	tail    tail
	to      *Log       // takes the output; may be nil
	taking  sync.Mutex // held from a read of the output to the end of its writing to the log
	settled []byte     // buffer of Settle

	base, kept []byte // buffer of standard output, and its part that was read and not returned yet
	searched   int    // bytes of kept without an end of line
	unread     *Fault // why ReadLine fails for good
	unwritten  error  // why Write fails for good

	mu     sync.Mutex
	fault  *Fault // an exceeded limit that this side found
	over   chan struct{}
	result Exit // valid when over is closed
}

// pipes makes the files of the process and returns the process's ends, which the
// caller closes in any case.
func (p *Process) pipes(c *Command) (theirs [3]*os.File, err error) {
	if c.Input {
		theirs[0], p.in, err = os.Pipe()
	} else {
		theirs[0], err = os.Open(os.DevNull)
	}
	if err != nil {
		return theirs, err
	}
	if p.log, theirs[2], err = os.Pipe(); err != nil {
		return theirs, err
	}
	if c.Output {
		p.out, theirs[1], err = os.Pipe()
		return theirs, err
	}
	theirs[1] = theirs[2]
	return theirs, nil
}

// closeFiles closes this side's ends.
func (p *Process) closeFiles() {
	for _, f := range []*os.File{p.in, p.out, p.log} {
		if f != nil {
			f.Close()
		}
	}
}

// Times of reading for the log.
const (
	drainTime = 200 * time.Millisecond // after the end, if a process that is not the bot's holds the pipe open
	drainRest = time.Millisecond       // between reads when the output is dropped: they read at most 32 MB/s
)

// drain reads the output for the log until its end, so that the bot never waits for a
// reader.
func (p *Process) drain() {
	defer close(p.drained)
	buffer := make([]byte, 32<<10)
	for {
		n, err := p.take(buffer)
		if err != nil {
			return
		}
		if n == len(buffer) && (p.to == nil || p.to.Full()) {
			time.Sleep(drainRest)
		}
	}
}

// keep writes output to the log.
func (p *Process) keep(output []byte) {
	p.tail.Write(output)
	if p.to != nil {
		p.to.Write(output)
	}
}

// finish is called once, when the process and its descendants have ended.
func (p *Process) finish(e endReport) {
	ended := time.Now()
	if p.log.SetReadDeadline(ended.Add(drainTime)) != nil {
		unless := time.AfterFunc(drainTime, func() { p.log.Close() })
		defer unless.Stop()
	}
	<-p.drained
	p.log.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.result = e.Exit
	p.result.Time, p.result.Lines = ended.Sub(p.begin), p.tail.lines()
	if p.fault != nil && (e.Fault == nil || e.Fault.Kind == Lost) {
		p.result.Fault = p.fault
	}
	close(p.over)
}

// ended reports whether the process has ended.
func (p *Process) ended() bool {
	select {
	case <-p.over:
		return true
	default:
		return false
	}
}

// setFault keeps the first fault that this side finds.
func (p *Process) setFault(f *Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fault == nil {
		p.fault = f
	}
}

// ReadLine reads a line of standard output and returns it without its end "\n".
// It stays valid until the next call. The last line needs no end. A zero deadline
// means no deadline.
//
// The error is a *Fault. After Time the rest of the line can be read by another
// call. A process with the fault Output is killed. At the end of the output the fault is
// the limit for which the process was killed, or else Exited or Closed.
func (p *Process) ReadLine(deadline time.Time) ([]byte, error) {
	if p.out == nil {
		return nil, errors.New("the standard output of the bot goes to its log")
	}
	begin := time.Now()
	for p.unread == nil {
		if i := bytes.IndexByte(p.kept[p.searched:], '\n'); i >= 0 {
			line := p.kept[:p.searched+i]
			p.kept, p.searched = p.kept[len(line)+1:], 0
			return line, nil
		}
		p.searched = len(p.kept)
		if len(p.kept) > MaxAnswer {
			p.unread = &Fault{Output, fmt.Sprintf("answered with more than %d bytes", MaxAnswer)}
			p.setFault(p.unread)
			p.guard.starts.kill(p.number)
			break
		}
		err := p.fill(deadline)
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, timeFault("did not answer", deadline.Sub(begin))
		case p.unread == nil:
			p.unread = p.pipeFault("closed its standard output")
			if ended := p.unread.Kind == Exited || p.unread.Kind == Closed; ended && len(p.kept) > 0 {
				line := p.kept
				p.kept, p.searched = nil, 0
				return line, nil
			}
		}
	}
	return nil, p.unread
}

// fill reads from standard output until the deadline or some bytes have come.
func (p *Process) fill(deadline time.Time) error {
	const least = 8 << 10
	if cap(p.kept)-len(p.kept) < least {
		if len(p.base) < len(p.kept)+2*least {
			p.base = make([]byte, 2*(len(p.kept)+least))
		}
		p.kept = p.base[:copy(p.base, p.kept)]
	}
	room := p.kept[len(p.kept):cap(p.kept)]
	if len(room) > MaxAnswer+1 {
		room = room[:MaxAnswer+1]
	}
	stop, err := setDeadline(p, p.out.SetReadDeadline, deadline)
	if err != nil {
		return err
	}
	n, err := p.out.Read(room)
	if !stop() {
		err = os.ErrDeadlineExceeded
	}
	p.kept = p.kept[:len(p.kept)+n]
	if n > 0 {
		return nil
	}
	return err
}

// setDeadline sets a deadline for the next read or write. On systems whose files have no
// deadlines, the process is killed at the deadline instead. The caller must call stop
// after the read or write; stop returns false if the process was killed.
func setDeadline(p *Process, set func(time.Time) error, deadline time.Time) (stop func() bool, err error) {
	err = set(deadline)
	if !errors.Is(err, os.ErrNoDeadline) {
		return func() bool { return true }, err
	}
	if deadline.IsZero() {
		return func() bool { return true }, nil
	}
	t := time.AfterFunc(time.Until(deadline), func() { p.guard.starts.kill(p.number) })
	return t.Stop, nil
}

// closedTime is the time that a process has to end after its pipe has ended.
const closedTime = 2 * time.Second

// pipeFault returns the reason why a pipe to the process has ended.
func (p *Process) pipeFault(closed string) *Fault {
	t := time.NewTimer(closedTime)
	defer t.Stop()
	select {
	case <-p.over:
		return p.result.exited()
	case <-t.C:
		return &Fault{Closed, closed + " and runs on"}
	}
}

// Write writes all bytes to standard input. A zero deadline means no deadline. The error
// is a *Fault, as ReadLine's is. After a fault of kind Time, when the process has not read
// all bytes, further calls return the same fault, because the bytes would follow an
// incomplete message.
func (p *Process) Write(b []byte, deadline time.Time) error {
	if p.in == nil {
		return errors.New("the standard input of the bot is empty")
	}
	if p.unwritten != nil {
		return p.unwritten
	}
	begin := time.Now()
	stop, err := setDeadline(p, p.in.SetWriteDeadline, deadline)
	if err == nil {
		_, err = p.in.Write(b)
		if !stop() {
			err = os.ErrDeadlineExceeded
		}
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		p.unwritten = timeFault("did not read what it was sent", deadline.Sub(begin))
	default:
		p.unwritten = p.pipeFault("closed its standard input")
	}
	return p.unwritten
}

// CloseInput closes standard input: the process reads its end.
func (p *Process) CloseInput() {
	if p.in != nil {
		p.in.Close()
	}
}

// Wait waits until the process has ended by itself and its descendants were killed. A zero
// deadline means no deadline. The error is a *Fault of kind Time.
func (p *Process) Wait(deadline time.Time) (*Exit, error) {
	begin := time.Now()
	var late <-chan time.Time
	if !deadline.IsZero() {
		t := time.NewTimer(time.Until(deadline))
		defer t.Stop()
		late = t.C
	}
	select {
	case <-p.over:
		return &p.result, nil
	case <-late:
		if p.ended() {
			return &p.result, nil
		}
		return nil, timeFault("did not end", deadline.Sub(begin))
	}
}

// End closes standard input, waits as Wait does, and kills the process at the deadline,
// with a fault of kind Time.
func (p *Process) End(deadline time.Time) *Exit {
	p.CloseInput()
	r, err := p.Wait(deadline)
	if f := (*Fault)(nil); errors.As(err, &f) {
		p.setFault(f)
		return p.Kill()
	}
	return r
}

// Kill kills the process and all of its descendants and waits for their end. The fault is
// Lost if they do not end.
func (p *Process) Kill() *Exit {
	p.guard.starts.kill(p.number)
	r, err := p.Wait(time.Now().Add(guardTimeout))
	if err != nil {
		return &Exit{Status: "unknown", Code: -1, Time: time.Since(p.begin),
			Fault: &Fault{Lost, fmt.Sprintf("the bot's processes did not end within %v after they were killed", guardTimeout)}}
	}
	return r
}
