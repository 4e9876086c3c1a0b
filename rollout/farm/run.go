package farm

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nats.go/micro"
)

// run is the state of one run. It is small whatever the number of shards: a
// bit for each, and the few that are with workers.
type run struct {
	runRecord
	id       string
	revision uint64 // of the record
	ctx      context.Context
	stop     context.CancelFunc
	consumer jetstream.Consumer
	fetch    chan struct{} // wakes the fetching
	feed     chan struct{} // wakes the feeding

	opening sync.Mutex // guards shards
	shards  Shards     // opened when needed

	bits                []uint64 // the committed shards
	made                int
	played, rows, bytes uint64
	next                int   // shards from here on have not been fed
	redo                []int // shards to feed again
	queued, pending     int   // messages in the queue; those with nobody
	held                map[int]*hold
	due                 map[int]*due
	todo                []int   // shards whose audit nobody has taken; some stale
	slow                []claim // what one worker has had for long, at the end of the run; some stale
	doubts              int     // arbitrations
	waives              bool    // audits were waived, which is logged
	counts              Counts
	again, remade       int
	took                []time.Duration  // of the last commits
	last                int              // place in took
	usual               time.Duration    // the median of took
	fails               map[int][]string // lasting errors: who met one, by shard
	meter               meter
}

// hold is a shard with workers.
type hold struct {
	msg jetstream.Msg // nil until a new coordinator fetches it
	by  []*holder
}

// due is an audit to be made.
type due struct {
	maker  string
	by     []*holder // who makes it
	doubt  bool      // the coordinator decides
	lonely time.Time // since when nobody else could do it
}

func newRun(id string, v *runRecord, revision uint64) *run {
	return &run{runRecord: *v, id: id, revision: revision, fetch: make(chan struct{}, 1), feed: make(chan struct{}, 1), stop: func() {},
		held: map[int]*hold{}, due: map[int]*due{}, fails: map[int][]string{}}
}

// anew puts a new state of a run in the place of an old one, which nobody who
// still has it can use. It has the lock.
func (c *coordinator) anew(r *run) *run {
	n := newRun(r.id, &r.runRecord, r.revision)
	n.again, n.remade = r.again, r.remade
	c.runs[r.id] = n
	r.State = ""
	c.end(r)
	return n
}

func (r *run) has(shard int) bool { return r.bits[shard/64]>>(shard%64)&1 != 0 }

func (r *run) wake(what chan struct{}) {
	select {
	case what <- struct{}{}:
	default:
	}
}

// begin reads the records of a run and sets it going, once. It has the lock.
func (c *coordinator) begin(r *run) error {
	r.bits = make([]uint64, (r.Spec.Shards+63)/64)
	err := each(c.ctx, c.st.shards, r.id+".*", func(key string, _ uint64, v *record) error {
		shard, err := strconv.Atoi(strings.TrimPrefix(key, r.id+"."))
		if err != nil || shard < 0 || shard >= r.Spec.Shards {
			return fmt.Errorf("record %s: no shard of %d", key, r.Spec.Shards)
		}
		c.adopt(r, shard, v)
		return nil
	})
	if err != nil {
		return err
	}
	r.ctx, r.stop = context.WithCancel(c.ctx)
	if err := c.consume(r); err != nil {
		return err
	}
	c.wg.Go(func() { c.fetching(r) })
	c.wg.Go(func() { c.feeding(r) })
	c.ended(r)
	return nil
}

// adopt notes a record that is in the store.
func (c *coordinator) adopt(r *run, shard int, v *record) bool {
	if r.has(shard) {
		return false
	}
	r.bits[shard/64] |= 1 << (shard % 64)
	r.made++
	r.played += v.Episodes
	r.rows += v.Rows
	r.bytes += v.Bytes
	switch v.Audit {
	case auditDue:
		r.due[shard] = &due{maker: v.Worker}
		r.todo = append(r.todo, shard)
	case auditPassed:
		r.counts.Passed++
	case auditWaived:
		r.counts.Waived++
	}
	return true
}

// disown takes note that a record is gone: the shard is made again.
func (c *coordinator) disown(r *run, shard int, v *record) {
	if !r.has(shard) {
		return
	}
	r.bits[shard/64] &^= 1 << (shard % 64)
	r.made--
	r.played -= v.Episodes
	r.rows -= v.Rows
	r.bytes -= v.Bytes
	switch v.Audit {
	case auditPassed:
		r.counts.Passed--
	case auditWaived:
		r.counts.Waived--
	}
	r.settleAudit(shard)
	r.remade++
	r.redo = append(r.redo, shard)
	r.wake(r.feed)
}

// lasts notes a lasting error and reports whether it fails the run: the second
// worker met it, or one worker thrice.
func (r *run) lasts(shard int, worker string) bool {
	list := append(r.fails[shard], worker)
	r.fails[shard] = list
	return len(list) > 2 || list[0] != worker
}

// change writes a state of a run, and stops or starts it. It needs the lock,
// and lets go of it while it writes.
func (c *coordinator) change(r *run, to State, text string) error {
	v, revision := r.runRecord, r.revision
	v.State, v.Text, v.Ended = to, text, time.Time{}
	v.End = nil
	if to != Running && to != Finishing {
		v.Ended = time.Now()
		end := c.runStatus(r)
		end.State, end.Text, end.Ended, end.Left, end.Held, end.Audits.Due = to, text, v.Ended, 0, 0, 0 // nobody makes an audit any more
		v.End = &end
	}
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(c.ctx, 10*time.Second)
	revision, ok, err := write(ctx, c.st.runs, r.id, &v, revision)
	cancel()
	c.mu.Lock()
	if err == nil && !ok {
		err = fmt.Errorf("run %s: another was first to change it", r.id)
	}
	if err != nil {
		c.book.fail(r.id, "", "the state of the run is not written: "+err.Error())
		return err
	}
	r.runRecord, r.revision = v, revision
	c.changed()
	c.log.Info("run", "run", r.id, "name", r.Spec.Name, "state", to, "text", text, "made", r.made, "shards", r.Spec.Shards)
	if to == Failed {
		c.book.fail(r.id, "", "the run failed: "+text)
	}
	if !v.Ended.IsZero() {
		c.end(r)
		c.wg.Go(func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.runs[r.id] != r { // it goes on already
				return
			}
			if err := c.st.unqueue(c.ctx, r.id); err != nil && c.ctx.Err() == nil {
				c.log.Warn("the queue of an ended run stays until the next start", "run", r.id, "err", err)
			}
		})
	}
	return nil
}

// end lets go of what a run holds.
func (c *coordinator) end(r *run) {
	r.stop()
	for _, w := range c.workers {
		for k := range w.claims {
			if k.Run == r.id {
				delete(w.claims, k)
			}
		}
	}
	r.bits, r.redo, r.held, r.due, r.todo, r.slow, r.took = nil, nil, map[int]*hold{}, map[int]*due{}, nil, nil, nil
	c.wg.Go(r.close)
}

// open is the run's Shards in this process.
func (c *coordinator) open(ctx context.Context, r *run) (Shards, error) {
	r.opening.Lock()
	defer r.opening.Unlock()
	if r.shards == nil {
		s, err := c.openSpec(ctx, r.Spec)
		if err != nil {
			return nil, err
		}
		r.shards = s
	}
	return r.shards, nil
}

func (r *run) close() {
	r.opening.Lock()
	defer r.opening.Unlock()
	if r.shards != nil {
		_ = r.shards.Close() // all was done with it, or is not wanted
		r.shards = nil
	}
}

// openSpec opens a spec and compares the builds.
func (c *coordinator) openSpec(ctx context.Context, s *Spec) (Shards, error) {
	shards, err := c.o.Open(ctx, s, 1)
	if err != nil {
		return nil, err
	}
	if b := shards.Build(); b != s.Build {
		_ = shards.Close()
		return nil, otherBuild(b, s.Build)
	}
	return shards, nil
}

// otherBuild says that this machine would make something else.
func otherBuild(here, wanted string) error {
	return fmt.Errorf("this machine's build is %s, the run wants %s: install the same version and files", line(here), line(wanted))
}

// submit begins or joins a run.
func (c *coordinator) submit(_ string, q *request, _ micro.Request) *answer {
	if q.Spec == nil {
		return &answer{Error: "submit: no spec"}
	}
	if err := q.Spec.check(); err != nil {
		return &answer{Error: err.Error()}
	}
	id := q.Spec.ID()
	c.mu.Lock()
	r := c.runs[id]
	begins := r == nil || r.State == Cancelled || r.State == Failed
	c.mu.Unlock()
	var whole *Receipt
	if begins {
		s, err := c.openSpec(c.ctx, q.Spec)
		if err == nil {
			whole, err = s.Complete(c.ctx)
			_ = s.Close()
		}
		if err != nil {
			return &answer{Error: err.Error()}
		}
	}
	c.steering.Lock()
	defer c.steering.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	r = c.runs[id]
	begins = r == nil || r.State == Cancelled || r.State == Failed
	if begins && whole != nil {
		return c.found(r, q.Spec, whole)
	}
	if r == nil {
		r = newRun(id, &runRecord{Spec: q.Spec, Created: time.Now()}, 0)
		c.runs[id] = r
		return c.start(r, false)
	}
	if begins {
		return c.start(r, true)
	}
	return c.told(r, true)
}

// found is the answer for a run, or a new one if r is nil, whose dataset is complete
// although nobody here made it: its store was lost. It has the lock.
func (c *coordinator) found(r *run, s *Spec, whole *Receipt) *answer {
	known := r != nil
	if known {
		r = c.anew(r)
		r.End = nil
	} else {
		r = newRun(s.ID(), &runRecord{Spec: s, Created: time.Now()}, 0)
		c.runs[r.id] = r
	}
	r.made, r.played, r.rows, r.bytes = s.Shards, whole.Episodes, whole.Rows, whole.Bytes
	if err := c.change(r, Done, ""); err != nil {
		if !known {
			delete(c.runs, r.id)
		}
		return &answer{Error: err.Error()}
	}
	c.wg.Go(func() {
		if err := c.st.forget(c.ctx, r.id); err != nil && c.ctx.Err() == nil {
			c.log.Warn("the records of a done run stay", "run", r.id, "err", err)
		}
	})
	return c.told(r, true)
}

// told is the answer with the state of a run.
func (c *coordinator) told(r *run, joined bool) *answer {
	s := c.runStatus(r)
	s.Joined = joined
	return &answer{Run: &s}
}

// start makes a run go on, or begin. It has the lock.
func (c *coordinator) start(r *run, joined bool) *answer {
	before := r.State
	if before != "" {
		r = c.anew(r)
	}
	if err := c.change(r, Running, ""); err != nil {
		if before == "" {
			delete(c.runs, r.id)
		}
		return &answer{Error: err.Error()}
	}
	if err := c.begin(r); err != nil {
		r.State = Cancelled // here alone: the next coordinator, or a retry, begins it again
		return &answer{Error: err.Error()}
	}
	return c.told(r, joined)
}

// cancel ends a run by hand.
func (c *coordinator) cancel(_ string, q *request, _ micro.Request) *answer {
	c.steering.Lock()
	defer c.steering.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.runs[q.Run]
	if r == nil {
		return &answer{Error: "no run " + line(q.Run)}
	}
	if r.State != Cancelled && r.State != Done {
		if err := c.change(r, Cancelled, ""); err != nil {
			return &answer{Error: err.Error()}
		}
	}
	return c.told(r, false)
}

// retry makes a run go on that has stopped, or look for what it lacks.
func (c *coordinator) retry(_ string, q *request, _ micro.Request) *answer {
	c.steering.Lock()
	defer c.steering.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.runs[q.Run]
	switch {
	case r == nil:
		return &answer{Error: "no run " + line(q.Run)}
	case r.State == Running:
		r.next = 0
		for _, w := range c.workers {
			delete(w.refuses, r.id)
		}
		r.wake(r.feed)
	case r.State != Finishing:
		return c.start(r, false)
	}
	return c.told(r, false)
}

// look lists what one worker has had longer than is usual, once all is given out.
func (r *run) look() {
	r.slow = r.slow[:0]
	if r.State != Running || r.next < r.Spec.Shards || r.pending > 0 || len(r.redo) > 0 || len(r.took) < 5 {
		return
	}
	limit := time.Now().Add(-r.usual * 3 / 2)
	for shard, at := range r.held {
		if len(at.by) == 1 && at.by[0].since.Before(limit) {
			r.slow = append(r.slow, claim{Run: r.id, Shard: shard})
		}
	}
	if r.made < r.Spec.Shards {
		return
	}
	for shard, d := range r.due {
		if len(d.by) == 1 && d.by[0].since.Before(limit) {
			r.slow = append(r.slow, claim{r.id, shard, true})
		}
	}
}

// takeSlow gives a worker what another is slow with.
func (c *coordinator) takeSlow(r *run, w *worker) *answer {
	for i := 0; i < min(len(r.slow), 16); {
		k, by := r.slow[i], (*[]*holder)(nil)
		if d := r.due[k.Shard]; k.Audit && d != nil && !d.doubt && d.maker != w.name {
			by = &d.by
		} else if at := r.held[k.Shard]; !k.Audit && at != nil {
			by = &at.by
		}
		if by != nil && len(*by) == 1 && (*by)[0].w == w {
			i++
			continue
		}
		r.slow = slices.Delete(r.slow, i, i+1)
		if by != nil && len(*by) == 1 {
			h, a := c.grant(w, k)
			*by = append(*by, h)
			r.again++
			return a
		}
	}
	return nil
}

// timed notes how long a shard took.
func (r *run) timed(d time.Duration) {
	const most = 101
	if len(r.took) < most {
		r.took = append(r.took, d)
	} else {
		r.took[r.last%most] = d
	}
	if r.last++; r.last%16 == 0 || len(r.took) < 16 {
		s := slices.Sorted(slices.Values(r.took))
		r.usual = s[len(s)/2]
	}
}
