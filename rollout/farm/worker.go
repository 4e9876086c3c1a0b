package farm

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"moonfarm/rollout/farm/internal/tracker"
	"moonfarm/rollout/shard"
)

// WorkerOptions describe a worker.
type WorkerOptions struct {
	Version string        // of moonfarm: the coordinator must have the same version
	Slots   int           // shards made at a time; 0 is 1
	Open    Open          // opens the runs whose shards it makes
	Grace   time.Duration // for finishing the active shards after ctx is done; 0 is 20 s
	Log     *slog.Logger
}

// workerState is a worker at work.
type workerState struct {
	o    *WorkerOptions
	c    *Conn
	log  *slog.Logger
	host string
	// process is a new name at each start: the coordinator ends the leases of the
	// worker's earlier processes.
	process string
	work    context.Context // done when the grace is over

	mu      sync.Mutex
	jobs    map[string]*job
	active  map[tracker.Claim]context.CancelCauseFunc // claims that are being made
	trouble string
	logged  string // the kind of the last trouble that was logged
	beat    time.Duration
}

// job is a run that the worker has open, or could not open.
type job struct {
	openShards
	users int
	used  time.Time
}

const (
	claimWait = 5 * time.Second // for one answer to a claim
	maxJobs   = 4               // unused runs that stay open
	makeTries = 3               // tries to make a shard before it is given back
)

// errDropped means that the coordinator no longer needs the shard.
var errDropped = errors.New("the shard is no longer needed")

// Work makes shards until ctx is done; it then finishes its active shards, or
// gives them back after the grace period. It fails if the coordinator refuses the worker,
// or the connection is closed. It retries all other errors.
func Work(ctx context.Context, c *Conn, o WorkerOptions) error {
	if o.Open == nil || o.Version == "" || o.Slots < 0 || o.Slots > maxSlots {
		return fmt.Errorf("worker: expected a version, Open and 1 to %d slots", maxSlots)
	}
	o.Slots = max(o.Slots, 1)
	if o.Grace == 0 {
		o.Grace = 20 * time.Second
	}
	w := &workerState{o: &o, c: c, log: logger(o.Log).With("worker", c.name), jobs: map[string]*job{},
		active: map[tracker.Claim]context.CancelCauseFunc{}, beat: time.Second, process: rand.Text()}
	w.host, _ = os.Hostname()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	work, over := context.WithCancel(context.WithoutCancel(ctx))
	defer over()
	w.work = work
	context.AfterFunc(ctx, func() { time.AfterFunc(o.Grace, over) })

	var slots, beats sync.WaitGroup
	for range o.Slots {
		slots.Go(func() {
			if err := w.slot(ctx); err != nil {
				stop(err)
			}
		})
	}
	working, rest := context.WithCancel(context.WithoutCancel(ctx))
	beats.Go(func() { w.beats(working, ctx.Done(), stop) })
	slots.Wait()
	rest()
	beats.Wait()
	w.leave()
	for _, j := range w.jobs {
		j.close()
	}
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

func (w *workerState) ask(ctx context.Context, action string, q *request, wait time.Duration) (*answer, error) {
	q.Version, q.Host, q.Slots, q.Process = w.o.Version, w.host, w.o.Slots, w.process
	a, err := w.c.ask(ctx, workerSubject+action+"."+w.c.name, q, wait)
	if err != nil && w.c.nc.IsClosed() {
		err = fmt.Errorf("%w: the connection to %s is closed: %v", errRefused, w.c.where, w.c.nc.LastError())
	}
	return a, err
}

// slot makes one shard after another. An error of slot ends the worker.
func (w *workerState) slot(ctx context.Context) error {
	b, failing := newBackoff(), newBackoff()
	for ctx.Err() == nil {
		asked := time.Now()
		a, err := w.ask(ctx, "claim", &request{Wait: int(claimWait.Milliseconds())}, claimWait+5*time.Second)
		switch {
		case errors.Is(err, errRefused):
			return err
		case err != nil && ctx.Err() == nil:
			w.unreachable("no claims: ", err)
			b.pause(ctx)
			continue
		case err != nil:
			continue
		case a.Claim == nil && time.Since(asked) < claimWait/2: // the coordinator has no room for this worker
			b.pause(ctx)
			continue
		}
		b = newBackoff()
		if a.Claim == nil {
			continue
		}
		w.mu.Lock()
		w.beat = time.Duration(max(a.Beat, 10)) * time.Millisecond
		w.mu.Unlock()
		switch err := w.do(*a.Claim); {
		case errors.Is(err, errRefused):
			return err
		case err != nil:
			failing.pause(ctx) // another worker may succeed
		default:
			failing = newBackoff()
			w.say("")
		}
	}
	return nil
}

// say keeps a trouble for the next beats, and logs it once.
func (w *workerState) say(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trouble = text
	w.once(text)
}

// once logs a text unless the last text was of the same kind. say and unreachable call it with the lock
// held.
func (w *workerState) once(text string) {
	if kind := kindOf(text); text != "" && kind != w.logged {
		w.logged = kind
		w.log.Warn(line(text))
	}
}

// unreachable logs an error as say does. If the message did not reach the coordinator, it only
// logs: the beats need not report to the coordinator that it was away.
func (w *workerState) unreachable(what string, err error) {
	if !errors.As(err, new(awayError)) {
		w.say(what + err.Error())
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.once(what + err.Error())
}

// do makes a shard and commits it, or gives it back.
func (w *workerState) do(k tracker.Claim) error {
	ctx, cancel := context.WithCancelCause(w.work)
	defer cancel(nil)
	w.mu.Lock()
	if w.active[k] != nil { // a second grant of a claim that is being made
		w.mu.Unlock()
		return nil
	}
	w.active[k] = cancel
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		delete(w.active, k)
		w.mu.Unlock()
	}()
	j, shards, err := w.open(ctx, k.Run)
	if err != nil {
		if errors.Is(context.Cause(ctx), errDropped) {
			return nil
		}
		return w.back(k, err, true)
	}
	defer w.release(j)
	receipt, err := w.make(ctx, shards, k)
	if errors.Is(context.Cause(ctx), errDropped) {
		return nil
	}
	if err != nil {
		return w.back(k, err, false)
	}
	return w.commit(ctx, k, receipt)
}

// make makes a shard, with a few tries: a store may be full for a while.
func (w *workerState) make(ctx context.Context, s Shards, k tracker.Claim) (Receipt, error) {
	b := backoff{500 * time.Millisecond, 10 * time.Second}
	for try := 1; ; try++ {
		do := s.Make
		if k.Audit {
			do = s.Remake
		}
		receipt, err := do(ctx, k.Shard)
		switch {
		case err == nil:
			return receipt, nil
		case ctx.Err() != nil:
			return receipt, context.Cause(ctx)
		}
		w.say(err.Error())
		if errors.As(err, new(*shard.PermanentError)) || try == makeTries || !b.pause(ctx) {
			return receipt, err
		}
	}
}

// commit sends the result until the coordinator has received it.
func (w *workerState) commit(ctx context.Context, k tracker.Claim, receipt Receipt) error {
	for b := newBackoff(); ; {
		_, err := w.ask(ctx, "commit", &request{Claim: k, Receipt: receipt}, 10*time.Second)
		if err == nil || errors.Is(err, errRefused) || errors.Is(context.Cause(ctx), errDropped) {
			return err
		}
		w.unreachable("a shard is not committed: ", err)
		if !b.pause(ctx) {
			if why := context.Cause(ctx); !errors.Is(why, errDropped) {
				return w.back(k, why, false)
			}
			return nil
		}
	}
}

// back gives a shard back with the error, and returns the error. If the message is lost, the
// claim lapses.
func (w *workerState) back(k tracker.Claim, why error, refused bool) error {
	q := &request{Claim: k, Error: why.Error(), Permanent: errors.As(why, new(*shard.PermanentError)), Refused: refused}
	if w.work.Err() != nil { // the end of the worker is not a failure of the shard
		q.Error, q.Permanent, q.Refused = "", false, false
	} else if refused {
		w.say(why.Error())
	}
	_, err := w.ask(context.WithoutCancel(w.work), "back", q, 2*time.Second)
	if errors.Is(err, errRefused) {
		return err
	}
	return why
}

// open opens a run, or returns the job if it is open already. The caller must call release.
func (w *workerState) open(ctx context.Context, run string) (*job, Shards, error) {
	w.mu.Lock()
	j := w.jobs[run]
	if j == nil {
		j = new(job)
		w.jobs[run] = j
	}
	j.users++
	w.mu.Unlock()
	shards, err := j.get(func() (Shards, error) {
		a, err := w.ask(ctx, "spec", &request{Claim: tracker.Claim{Run: run}}, 10*time.Second)
		if err == nil {
			err = w.c.proven(run, a)
		}
		if err != nil {
			return nil, err
		}
		a.Spec.Within = a.Within
		return w.o.Open(ctx, a.Spec, w.o.Slots)
	})
	if err != nil {
		w.release(j)
	}
	return j, shards, err
}

// leave tells the coordinator that the worker has ended. A claim whose answer came too late for a slot
// goes to another worker then, and not only when its lease lapses. If the message is lost, it
// lapses.
func (w *workerState) leave() {
	_, _ = w.ask(context.WithoutCancel(w.work), "beat", &request{Ended: true}, 2*time.Second) // nobody could act on the error
}

// release ends a use of a run. At most maxJobs unused runs stay open.
func (w *workerState) release(j *job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	j.users--
	j.used = time.Now()
	idle, oldest := 0, ""
	for run, o := range w.jobs {
		if o.users == 0 {
			if idle++; oldest == "" || o.used.Before(w.jobs[oldest].used) {
				oldest = run
			}
		}
	}
	if idle > maxJobs {
		w.jobs[oldest].close()
		delete(w.jobs, oldest)
	}
}

// beats regularly sends the claims that the worker has in progress, and stops the claims that are
// not needed. When ending is closed, it does so once more, so that the worker does not finish
// shards that are not needed. It stops a refused worker.
func (w *workerState) beats(ctx context.Context, ending <-chan struct{}, stop context.CancelCauseFunc) {
	for {
		w.mu.Lock()
		q, every := &request{Error: w.trouble}, w.beat
		for k := range w.active {
			q.Claims = append(q.Claims, k)
		}
		w.mu.Unlock()
		a, err := w.ask(ctx, "beat", q, max(every, time.Second))
		if errors.Is(err, errRefused) {
			stop(err)
			w.drop(errRefused, nil)
			return
		}
		if a != nil {
			w.drop(errDropped, a.Drop)
			w.mu.Lock()
			every = time.Duration(max(a.Beat, 10)) * time.Millisecond
			w.beat = every
			w.mu.Unlock()
		}
		select {
		case <-time.After(every):
		case <-ending:
			ending = nil
		case <-ctx.Done():
			return
		}
	}
}

// drop stops the work on a list of claims, or all work if the worker is refused.
func (w *workerState) drop(why error, list []tracker.Claim) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, k := range list {
		if cancel := w.active[k]; cancel != nil {
			cancel(why)
		}
	}
	if errors.Is(why, errRefused) {
		for _, cancel := range w.active {
			cancel(why)
		}
	}
}
