package stepper

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"time"
)

// help, among the jobs, asks a worker to take part in what each does.
const help = -1

// each has op done by all parts: by the workers and in the caller's goroutine.
// One worker alone is the caller.
func (s *Stepper) each(op func(*part)) error {
	hands := min(s.c.Workers, len(s.parts))
	if hands == 1 {
		for _, k := range s.parts {
			k.run(op)
		}
		return s.faults(s.parts)
	}
	s.hire(hands - 1)
	s.op = op
	s.left.Store(int64(len(s.parts)))
	s.next.Store(0)
	for len(s.jobs) < hands-1 { // only this goroutine sends
		s.jobs <- help
	}
	if !s.share() {
		receive(s.done, patience)
	}
	return s.faults(s.parts)
}

// share does op for one part after the other until all are taken, and reports
// whether it did what was left at last. A worker that is late for one call finds
// nothing, or takes part in the next.
func (s *Stepper) share() (last bool) {
	for {
		n := int(s.next.Add(1)) - 1
		if n >= len(s.parts) {
			return last
		}
		s.parts[n].run(s.op)
		last = s.left.Add(-1) == 0
	}
}

// run does op and keeps a panic of it.
func (k *part) run(op func(*part)) {
	defer func() {
		if fault := recover(); fault != nil {
			k.fault = &PanicError{k.first, len(k.base), fault}
		}
	}()
	op(k)
}

// faults returns the panic of one of the parts, and from then on every call does.
func (s *Stepper) faults(parts []*part) error {
	for _, k := range parts {
		if k.fault != nil {
			s.fault = k.fault
			return k.fault
		}
	}
	return nil
}

// hire makes the workers so many.
func (s *Stepper) hire(n int) {
	for ; s.hired < n; s.hired++ {
		wait := patience
		if s.hired+1 >= runtime.GOMAXPROCS(0) { // leave a processor to the caller
			wait = 0
		}
		s.workers.Go(func() { s.work(wait) })
	}
}

// patience is how long a goroutine looks for what is to come before it sleeps. To
// wake it takes up to 100 µs on a virtual machine, a quarter of a step of a thousand
// small games, and in a loop that does little else the calls follow each other
// sooner.
const patience = 100 * time.Microsecond

// receive is what c gives; for so long it does not sleep. Not ok: c is closed.
func receive[T any](c chan T, wait time.Duration) (v T, ok bool) {
	if wait > 0 {
		for from := time.Now(); time.Since(from) < wait; {
			for range 50 {
				select {
				case v, ok = <-c:
					return v, ok
				default:
				}
			}
		}
	}
	v, ok = <-c
	return v, ok
}

// work is what a worker does until the Stepper is closed.
func (s *Stepper) work(wait time.Duration) {
	debug.SetPanicOnFault(true) // slabs that are no memory of Go may be gone
	for job, ok := receive(s.jobs, wait); ok; job, ok = receive(s.jobs, wait) {
		if job == help {
			if s.share() {
				s.done <- struct{}{}
			}
			continue
		}
		k := s.parts[job]
		k.run((*part).step)
		if s.blocks[k.block].left.Add(-1) == 0 {
			s.ready <- k.block
		}
	}
}

// Send plays one turn of the games of a block, as Step does of all, in the
// background, and returns at once. Until Recv gives the block its rows in the
// slabs may be neither read nor written.
func (s *Stepper) Send(b int) error {
	if s.fault != nil {
		return s.fault
	}
	if uint(b) >= uint(len(s.blocks)) {
		return fmt.Errorf("Send of block %d: there are %d, from 0", b, len(s.blocks))
	}
	k := &s.blocks[b]
	if k.sent {
		return StateError("Send of a block that is under way: receive it first")
	}
	if err := s.take(s.parts[k.first : k.first+k.n]); err != nil {
		return err
	}
	if err := s.resume(false); err != nil {
		return err
	}
	s.hire(min(s.c.Workers, len(s.parts)))
	k.sent = true
	s.sent++
	k.left.Store(int64(k.n))
	for n := range k.n {
		s.jobs <- k.first + n
	}
	return nil
}

// Recv waits for a block that Send began and returns the one that is ready
// first. It fails with ErrTimeout if none is within the given time, of which 0
// means not to wait and less than 0 to wait for ever, and with a StateError if
// none is under way.
func (s *Stepper) Recv(wait time.Duration) (b int, err error) {
	if s.fault != nil {
		return 0, s.fault
	}
	if s.sent == 0 {
		return 0, StateError("Recv, but no block is under way")
	}
	if b, err = s.await(wait); err != nil {
		return 0, err
	}
	k := &s.blocks[b]
	k.sent = false
	s.sent--
	if s.stop.ended.Load() {
		return 0, ErrInterrupted // abandoned
	}
	return b, s.faults(s.parts[k.first : k.first+k.n])
}

// await returns the next block that is ready.
func (s *Stepper) await(wait time.Duration) (int, error) {
	select {
	case b := <-s.ready:
		return b, nil
	default:
	}
	switch {
	case wait == 0:
		return 0, ErrTimeout
	case wait < 0:
		b, _ := receive(s.ready, patience)
		return b, nil
	}
	s.timer.Reset(wait)
	defer s.timer.Stop()
	select {
	case b := <-s.ready:
		return b, nil
	case <-s.timer.C:
		return 0, ErrTimeout
	}
}
