package stepper

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"moonfarm/env"
)

// task is a method that the caller and the workers call for some parts.
type task struct {
	op     func(*part)
	parts  []*part
	asked  atomic.Int64 // number of entries in Stepper.jobs
	left   atomic.Int64 // number of parts that are not done
	queues []counter    // by worker: how many of its parts have been taken
	brief  bool         // the last call took less time than waking another worker
	done   chan int     // gets block when all parts are done
	block  int
}

// counter is an atomic number in a line of the processor's cache of its own, so that workers that
// write to others do not slow it down.
type counter struct {
	atomic.Int64
	_ [56]byte
}

// newTask makes a task of a method of parts.
func (s *Stepper) newTask(op func(*part), parts []*part, done chan int, block int) *task {
	t := &task{op: op, parts: parts, queues: make([]counter, min(s.c.Workers, len(parts))), done: done, block: block}
	for q := range t.queues {
		t.queues[q].Store(int64(len(parts)))
	}
	return t
}

// aloneTime is the time in which the caller does the work of all parts alone: to share it with a
// worker takes about a microsecond, and the worker then polls for more. A step of 16 small games
// (3 µs) took 1.3 times the processor time without it.
const aloneTime = 8 * time.Microsecond

// each does a task on the workers and in the caller's goroutine. With one worker only the caller's
// goroutine works.
func (s *Stepper) each(t *task) error {
	if len(t.queues) == 1 {
		for _, k := range t.parts {
			k.run(t.op, s.toolsOf(0))
		}
		return s.faults(t.parts)
	}
	begun, done := time.Since(s.made), 0 // Now takes twice as long
	for t.brief && done < len(t.parts) && (done == 0 || time.Since(s.made)-begun < aloneTime) {
		t.parts[done].run(t.op, s.toolsOf(0))
		done++
	}
	if done < len(t.parts) {
		s.share(t, done, len(t.queues)-1)
		if !s.do(t, 0) {
			receive(t.done, spinTime)
		}
		t.brief = time.Since(s.made)-begun < aloneTime/2
	}
	return s.faults(t.parts)
}

// share begins a task from part first on and asks n workers to join it.
func (s *Stepper) share(t *task, first, n int) {
	s.startWorkers(n)
	t.left.Store(int64(len(t.parts) - first))
	for q := range t.queues { // a worker that is late for the call before may begin now
		t.queues[q].Store(int64((first - q + len(t.queues) - 1) / len(t.queues)))
	}
	for int(t.asked.Load()) < n { // only this goroutine adds
		t.asked.Add(1)
		s.jobs <- t
	}
}

// do calls the method of a task for parts until every part is taken. Worker w begins with the parts of
// its own queue, w, w + workers, w + 2·workers and so on: what is left in its cache of the games and
// their rows serves it in the next step, too; with one queue for all workers, steps took up to 16 % more
// processor time (CodeCraft, 16 games), most 2 to 4 %. Then it takes parts of other workers. It reports
// whether it finished the last unfinished part. A worker that joins late finds no part left, or joins the
// next call.
func (s *Stepper) do(t *task, w int) (last bool) {
	for k := range t.queues {
		q := (w + k) % len(t.queues)
		for {
			i := (int(t.queues[q].Add(1))-1)*len(t.queues) + q
			if i >= len(t.parts) {
				break
			}
			t.parts[i].run(t.op, s.toolsOf(w))
			last = t.left.Add(-1) == 0
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
	lent := tools != nil && k.inner.Borrow(tools)
	defer func() {
		if lent {
			k.inner.Return()
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
	if v, ok, ready := poll(c, wait); ready {
		return v, ok
	}
	v, ok = <-c
	return v, ok
}

// poll receives from c if there is something within the duration wait.
func poll[T any](c chan T, wait time.Duration) (v T, ok, ready bool) {
	if wait <= 0 {
		return v, false, false
	}
	for from := time.Now(); time.Since(from) < wait; {
		for range 50 {
			select {
			case v, ok = <-c:
				return v, ok, true
			default:
			}
		}
	}
	return v, false, false
}

// work joins the tasks of worker w until the Stepper is closed.
func (s *Stepper) work(w int, wait time.Duration) {
	debug.SetPanicOnFault(true) // slabs outside of Go's heap may have been unmapped
	for t, ok := receive(s.jobs, wait); ok; t, ok = receive(s.jobs, wait) {
		t.asked.Add(-1)
		if s.do(t, w) {
			t.done <- t.block
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
	if err := s.take(k.parts); err != nil {
		return err
	}
	if err := s.resume(false); err != nil {
		return err
	}
	k.sent = true
	s.sent++
	s.startWorkers(min(s.c.Workers, len(s.parts)))
	s.share(k.task, 0, len(k.queues))
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
	s.weigh(k.parts)
	if s.stop.ended.Load() {
		return 0, ErrInterrupted // by Abandon
	}
	return b, s.faults(k.parts)
}

// await returns the next block that is ready.
func (s *Stepper) await(wait time.Duration) (int, error) {
	select {
	case b := <-s.ready:
		return b, nil
	default:
	}
	// A block of 128 games of Tower Defence took 62 µs from Send to Recv without polling, 26 µs with it. With as many
	// workers as processors polling takes one from them: 512 games on two took 169 µs instead of 98 µs.
	spin := spinTime
	if s.c.Workers >= runtime.GOMAXPROCS(0) {
		spin = 0
	}
	switch {
	case wait == 0:
		return 0, ErrTimeout
	case wait < 0:
		b, _ := receive(s.ready, spin)
		return b, nil
	}
	if b, _, ready := poll(s.ready, min(wait, spin)); ready {
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
