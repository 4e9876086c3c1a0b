package stepper

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"time"
)

// help is the job that asks a worker to join the loop of runParts.
const help = -1

// each calls op for all parts, on the workers and in the caller's goroutine.
// With one worker only the caller's goroutine works.
func (s *Stepper) each(op func(*part)) error {
	workers := min(s.c.Workers, len(s.parts))
	if workers == 1 {
		for _, k := range s.parts {
			k.run(op)
		}
		return s.faults(s.parts)
	}
	s.startWorkers(workers - 1)
	s.op = op
	s.left.Store(int64(len(s.parts)))
	s.next.Store(0)
	for len(s.jobs) < workers-1 { // only this goroutine sends
		s.jobs <- help
	}
	if !s.runParts() {
		receive(s.done, spinTime)
	}
	return s.faults(s.parts)
}

// runParts calls op for one part after the other until every part is taken. It
// reports whether it finished the last unfinished part. A worker that joins
// late finds no part left, or joins the next call.
func (s *Stepper) runParts() (last bool) {
	for {
		n := int(s.next.Add(1)) - 1
		if n >= len(s.parts) {
			return last
		}
		s.parts[n].run(s.op)
		last = s.left.Add(-1) == 0
	}
}

// run calls op and stores its panic.
func (k *part) run(op func(*part)) {
	defer func() {
		if fault := recover(); fault != nil {
			k.fault = &PanicError{k.first, len(k.base), fault}
		}
	}()
	op(k)
}

// faults returns the first panic of the parts, if any, and makes every later
// call return it.
func (s *Stepper) faults(parts []*part) error {
	for _, k := range parts {
		if k.fault != nil {
			s.fault = k.fault
			return k.fault
		}
	}
	return nil
}

// startWorkers starts goroutines until there are n.
func (s *Stepper) startWorkers(n int) {
	for ; s.started < n; s.started++ {
		wait := spinTime
		if s.started+1 >= runtime.GOMAXPROCS(0) { // leave a processor to the caller
			wait = 0
		}
		s.workers.Go(func() { s.work(wait) })
	}
}

// spinTime is how long a goroutine polls a channel before it sleeps. Waking a
// goroutine takes up to 100 µs on a virtual machine, a quarter of a step of a
// thousand small games; a busy learner calls again sooner than that.
const spinTime = 100 * time.Microsecond

// receive receives from c. It polls for the duration wait before it sleeps. ok
// is false if c is closed.
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

// work does jobs until the Stepper is closed.
func (s *Stepper) work(wait time.Duration) {
	debug.SetPanicOnFault(true) // slabs outside of Go's heap may have been unmapped
	for job, ok := receive(s.jobs, wait); ok; job, ok = receive(s.jobs, wait) {
		if job == help {
			if s.runParts() {
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

// Send starts a turn of the games of block b in the background and returns at
// once. The caller must not read or write the block's rows of the slabs until
// Recv returns the block.
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
	s.startWorkers(min(s.c.Workers, len(s.parts)))
	k.sent = true
	s.sent++
	k.left.Store(int64(k.n))
	for n := range k.n {
		s.jobs <- k.first + n
	}
	return nil
}

// Recv waits for a block that Send started and returns the one that is ready
// first. It fails with ErrTimeout if no block is ready within wait: 0 does not
// wait, less than 0 waits for ever. It fails with a StateError if no block is
// in progress.
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
		return 0, ErrInterrupted // by Abandon
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
		b, _ := receive(s.ready, spinTime)
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
