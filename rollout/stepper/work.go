package stepper

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"moonfarm/env"
)

// work is what every part does in a call of each.
type work uint8

const (
	takeActions work = iota
	stepGames
	chooseOrders
	playTurn
	observeGames
	resetGames
	askPolicy
	works
)

// does has the method of each work.
var does = [works]func(*part){
	(*part).take, (*part).step, (*part).act, (*part).play, (*part).observe, (*part).reset, (*part).ask,
}

// counter is an atomic number in a line of the processor's cache of its own, so that workers that
// write to others do not slow it down.
type counter struct {
	atomic.Int64
	_ [56]byte
}

// help is the job that asks a worker to join the loop of runParts.
const help = -1

// aloneTime is the time in which the caller does the work of all parts alone: to share it with a
// worker takes about a microsecond.
const aloneTime = 8 * time.Microsecond

// each does the work in all parts, on the workers and in the caller's goroutine.
// With one worker only the caller's goroutine works.
func (s *Stepper) each(w work) error {
	op := does[w]
	if len(s.queues) == 1 {
		for _, k := range s.parts {
			k.run(op, s.toolsOf(0))
		}
		return s.faults(s.parts)
	}
	begun, done := time.Since(s.made), 0 // Now takes twice as long
	if s.brief[w] {
		done = s.runAlone(op, begun)
		s.brief[w] = done == len(s.parts)
	}
	if done < len(s.parts) {
		s.share(op, done)
		s.brief[w] = time.Since(s.made)-begun < aloneTime/2
	}
	return s.faults(s.parts)
}

// runAlone calls op for one part after the other as long as it takes little time. It returns the
// number of parts that are done.
func (s *Stepper) runAlone(op func(*part), begun time.Duration) (done int) {
	for _, k := range s.parts {
		if done > 0 && time.Since(s.made)-begun > aloneTime {
			return done
		}
		k.run(op, s.toolsOf(0))
		done++
	}
	return done
}

// share calls op for all parts from index first on, on all workers.
func (s *Stepper) share(op func(*part), first int) {
	workers := len(s.queues)
	s.startWorkers(workers - 1)
	s.op = op
	s.left.Store(int64(len(s.parts) - first))
	for q := range s.queues {
		s.queues[q].Store(int64((first - q + workers - 1) / workers))
	}
	for len(s.jobs) < workers-1 { // only this goroutine sends
		s.jobs <- help
	}
	if !s.runParts(0) {
		receive(s.done, spinTime)
	}
}

// runParts calls s.op for parts until every part is taken. Worker w begins with
// the parts of its own queue, w, w + workers, w + 2·workers and so on: what is
// left in its cache of the games and their rows serves it in the next step,
// too. Then it takes parts of other workers. It reports whether it finished the
// last unfinished part. A worker that joins late finds no part left, or joins
// the next call.
func (s *Stepper) runParts(w int) (last bool) {
	for k := range s.queues {
		q := (w + k) % len(s.queues)
		for {
			n := int(s.queues[q].Add(1)) - 1
			i := n*len(s.queues) + q
			if i >= len(s.parts) {
				break
			}
			s.parts[i].run(s.op, s.toolsOf(w))
			last = s.left.Add(-1) == 0
		}
	}
	return last
}

// toolsOf returns the Vector from which the parts that worker w runs borrow, or nil.
func (s *Stepper) toolsOf(w int) env.Vector {
	if w < len(s.tools) {
		return s.tools[w]
	}
	return nil
}

// run calls op and stores its panic. The part borrows from tools unless it is nil.
func (k *part) run(op func(*part), tools env.Vector) {
	lent := tools != nil && env.Borrow(k.inner, tools)
	defer func() {
		if lent {
			env.Return(k.inner)
		}
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
		w := s.started + 1 // the caller is worker 0
		s.workers.Go(func() { s.work(w, wait) })
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

// work does the jobs of worker w until the Stepper is closed.
func (s *Stepper) work(w int, wait time.Duration) {
	debug.SetPanicOnFault(true) // slabs outside of Go's heap may have been unmapped
	for job, ok := receive(s.jobs, wait); ok; job, ok = receive(s.jobs, wait) {
		if job == help {
			if s.runParts(w) {
				s.done <- struct{}{}
			}
			continue
		}
		k := s.parts[job]
		k.run((*part).step, s.toolsOf(w))
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
