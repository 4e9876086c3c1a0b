package farm

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/micro"
)

// worker is what the coordinator knows of a worker.
type worker struct {
	workerRecord
	name    string
	drawn   uint64 // shards for which an audit was drawn, with those being written
	claims  map[claim]*holder
	gave    map[claim]bool // back; a beat that was sent before may come after
	waiters int
	// processes are the last ones of the worker, by the names that they say.
	processes []string
	streak    int                  // claims that lapsed since the last commit
	refuses   map[string]time.Time // runs that it cannot make, until when
	before    time.Time            // the beat before the last
	trouble   string
	dirty     bool // not yet as in the store
	meter     meter
}

// holder is a worker's hold on one shard.
type holder struct {
	w     *worker
	since time.Time
	seen  time.Time // the last beat that named it
}

// waiter is a worker's open question for work.
type waiter struct {
	w     *worker
	m     micro.Request
	until time.Time
}

const (
	maxSlots   = 1024
	maxWorkers = 250_000
)

// allowance is how many shards a worker may hold: as many as it makes at once,
// half for every few claims that it let lapse without a commit.
func (w *worker) allowance() int { return max(1, min(w.Slots, maxSlots)>>min(w.streak/4, 16)) }

// known is the worker of a name, with what it says of itself. Unlike all else
// here it takes the lock, and returns with it.
func (c *coordinator) known(name string, q *request) (*worker, *answer) {
	c.mu.Lock()
	w := c.workers[name]
	if w == nil {
		if len(c.workers) >= maxWorkers {
			return nil, &answer{Error: fmt.Sprintf("there are %d workers, which is the limit", maxWorkers)}
		}
		w = &worker{name: name, claims: map[claim]*holder{}}
		c.workers[name] = w
	}
	if q.Version != "" {
		w.Version, w.Host, w.Slots = label(q.Version, maxLabel), label(q.Host, maxLabel), min(max(q.Slots, 1), maxSlots)
	}
	if w.begins(q.Process) {
		c.restarted(w)
	}
	w.Beat = time.Now()
	text := ""
	switch {
	case w.Quarantined != "":
		text = "worker " + name + " is quarantined: " + w.Quarantined
	case w.Version != c.o.Version && w.Version != "":
		text = fmt.Sprintf("worker %s has moonfarm %s, the farm has %s: install the same version", name, w.Version, c.o.Version)
	default:
		return w, nil
	}
	c.book.fail("", name, text)
	return w, &answer{Error: text, Refused: true}
}

// maxLabel is how many characters of a host and of a version are kept.
const maxLabel = 100

// begins reports whether a worker has begun again, in another process than before.
func (w *worker) begins(process string) bool {
	if checkName(process) != nil || slices.Contains(w.processes, process) {
		return false // the one before may speak once more
	}
	w.processes = append(w.processes, process)
	if len(w.processes) > 8 {
		w.processes = slices.Delete(w.processes, 0, 1)
	}
	return len(w.processes) > 1
}

// restarted frees what a worker had in hand before it began again. It has the lock.
func (c *coordinator) restarted(w *worker) {
	c.waiting = slices.DeleteFunc(c.waiting, func(t *waiter) bool { return t.w == w })
	w.waiters = 0
	if n := len(w.claims); n > 0 {
		text := fmt.Sprintf("the worker began again: what it had in hand goes to others, shards: %d", n)
		c.book.note(&Failure{Worker: w.name, Text: text, kind: kindOf(text)}, c.book.log.Warn)
	}
	for k := range w.claims {
		c.lapsed(w, k)
	}
}

// lapsed frees a shard that a worker neither finished nor gave back. It has the lock.
func (c *coordinator) lapsed(w *worker, k claim) {
	w.Lapsed++
	w.streak++
	w.dirty, c.urgent = true, true
	c.release(w, k)
}

// claim gives a worker a shard, now or when there is one.
func (c *coordinator) claim(name string, q *request, m micro.Request) *answer {
	w, no := c.known(name, q)
	defer c.mu.Unlock()
	if no != nil {
		return no
	}
	if w.waiters+len(w.claims) >= w.allowance() {
		return &answer{}
	}
	if a := c.grantAgain(w); a != nil {
		return a
	}
	w.waiters++
	c.waiting = append(c.waiting, &waiter{w, m, time.Now().Add(time.Duration(min(max(q.Wait, 0), 60_000)) * time.Millisecond)})
	for _, r := range c.runs {
		r.wake(r.fetch)
	}
	return nil
}

// grant notes that a worker holds a shard and makes the answer that says so.
func (c *coordinator) grant(w *worker, k claim) (*holder, *answer) {
	h := &holder{w, time.Now(), time.Now()}
	w.claims[k] = h
	delete(w.gave, k)
	return h, &answer{Claim: &k, Beat: int(c.o.Lapse.Milliseconds() / 3)}
}

// grantAgain grants what is no message of the queue: an audit, or a shard that
// another worker has had for long.
func (c *coordinator) grantAgain(w *worker) *answer {
	for _, r := range c.runs {
		if r.State != Running || !c.takes(w, r) {
			continue
		}
		if shard, d := r.nextAudit(w.name); d != nil {
			h, a := c.grant(w, claim{r.id, shard, true})
			d.by = append(d.by, h)
			return a
		}
		if a := c.takeSlow(r, w); a != nil {
			return a
		}
	}
	return nil
}

// takes reports whether a worker may have shards of a run.
func (c *coordinator) takes(w *worker, r *run) bool {
	return w.Quarantined == "" && (len(w.refuses) == 0 || time.Now().After(w.refuses[r.id]))
}

// serve looks for audits and slow shards for those that wait, and sends home
// who has waited long enough.
func (c *coordinator) serve() {
	now := time.Now()
	if len(c.waiting) > 0 {
		for _, r := range c.runs {
			r.look()
		}
	}
	c.waiting = slices.DeleteFunc(c.waiting, func(t *waiter) bool {
		a := c.grantAgain(t.w)
		if a == nil && now.After(t.until) {
			a = &answer{}
		}
		if a == nil {
			return false
		}
		t.w.waiters--
		c.reply(t.m, a)
		return true
	})
}

// release ends a worker's hold. The shard goes back to the queue if nobody
// else holds it and it is not made.
func (c *coordinator) release(w *worker, k claim) {
	h := w.claims[k]
	r := c.runs[k.Run]
	if h == nil || r == nil {
		return
	}
	delete(w.claims, k)
	if k.Audit {
		if d := r.due[k.Shard]; d != nil {
			if d.by = without(d.by, h); len(d.by) == 0 {
				r.todo = append(r.todo, k.Shard)
			}
		}
		return
	}
	at := r.held[k.Shard]
	if at == nil {
		return
	}
	if at.by = without(at.by, h); len(at.by) == 0 && !r.has(k.Shard) {
		delete(r.held, k.Shard)
		if at.msg != nil {
			_ = at.msg.Nak() // else it comes back by itself
			r.pending++
			r.wake(r.fetch)
		}
	}
}

func without(list []*holder, h *holder) []*holder {
	return slices.DeleteFunc(list, func(o *holder) bool { return o == h })
}

// beat extends what a worker has in hand, and tells it what nobody wants.
func (c *coordinator) beat(name string, q *request, _ micro.Request) *answer {
	w, no := c.known(name, q)
	defer c.mu.Unlock()
	if no != nil {
		return no
	}
	a := &answer{Beat: int(c.o.Lapse.Milliseconds() / 3)}
	now := time.Now()
	for _, k := range q.Claims[:min(len(q.Claims), maxSlots)] {
		if len(k.Run) > maxName { // no run of this farm, and not worth repeating
			continue
		}
		if r := c.runs[k.Run]; r == nil || r.State != Running || k.Shard < 0 || k.Shard >= r.Spec.Shards {
			a.Drop = append(a.Drop, k)
		} else if h := c.extend(w, r, k); h != nil {
			h.seen = now
		} else {
			a.Drop = append(a.Drop, k)
		}
	}
	for k, h := range w.claims { // a grant of which the worker never heard
		if h.seen.Before(w.before) && h.since.Before(w.before) {
			c.release(w, k)
		}
	}
	w.before = now
	c.troubled(w, q.Error)
	return a
}

// troubled notes a worker's trouble, "" for none. That of another shard is the same.
func (c *coordinator) troubled(w *worker, text string) {
	text = line(text)
	if kind := kindOf(text); text != "" && kind != kindOf(w.trouble) && !c.o.Server.said(text) {
		c.book.note(&Failure{Worker: w.name, Text: text, kind: kind}, c.book.log.Error)
	}
	w.trouble = text
}

// extend finds a worker's hold on a shard. A new coordinator learns of it here.
func (c *coordinator) extend(w *worker, r *run, k claim) *holder {
	h := w.claims[k]
	switch {
	case h == nil && w.gave[k]:
		return nil
	case k.Audit:
		d := r.due[k.Shard]
		if d == nil || d.doubt {
			return nil
		}
		if h == nil && len(d.by) == 0 && d.maker != w.name {
			h, _ = c.grant(w, k)
			d.by = append(d.by, h)
		}
		return h
	case r.has(k.Shard):
		return nil
	}
	at := r.held[k.Shard]
	if h == nil && len(w.claims) < w.allowance() {
		h, _ = c.grant(w, k)
		if at == nil {
			at = &hold{}
			r.held[k.Shard] = at
		}
		at.by = append(at.by, h)
	}
	if at != nil && at.msg != nil {
		_ = at.msg.InProgress() // else it comes twice
	}
	return h
}

// back takes a shard back that a worker cannot make, or not in time.
func (c *coordinator) back(name string, q *request, _ micro.Request) *answer {
	w, no := c.known(name, q)
	defer c.mu.Unlock()
	if no != nil {
		return no
	}
	r := c.runs[q.Run]
	if r == nil {
		return &answer{Error: "no run " + line(q.Run)}
	}
	switch {
	case q.Refused:
		if w.refuses == nil {
			w.refuses = map[string]time.Time{}
		}
		w.refuses[r.id] = time.Now().Add(2 * c.o.Lapse)
		c.book.fail(r.id, name, q.Error)
	case q.Lasting:
		c.book.fail(r.id, name, fmt.Sprintf("shard %d: %s", q.Shard, q.Error))
	case q.Error != "":
		c.troubled(w, q.Error)
	}
	held := w.claims[q.claim] != nil
	c.release(w, q.claim)
	if w.gave == nil || len(w.gave) > maxSlots {
		w.gave = map[claim]bool{}
	}
	w.gave[q.claim] = true
	if q.Lasting && held && r.lasts(q.Shard, name) {
		c.change(r, Failed, fmt.Sprintf("shard %d: %s", q.Shard, line(q.Error)))
	}
	return &answer{}
}

// spec tells a worker what a run is.
func (c *coordinator) spec(name string, q *request, _ micro.Request) *answer {
	_, no := c.known(name, q)
	defer c.mu.Unlock()
	if no != nil {
		return no
	}
	if r := c.runs[q.Run]; r != nil {
		a := &answer{Spec: r.Spec}
		if c.c.key != nil {
			a.Proof = c.c.key.proof(name, r.id)
		}
		return a
	}
	return &answer{Error: "no run " + line(q.Run)}
}

// ticks does what comes with time, until the lease is lost.
func (c *coordinator) ticks() {
	every := min(c.o.Lapse/20, 250*time.Millisecond)
	t := time.NewTicker(every)
	defer t.Stop()
	measured, flushed := time.Now(), time.Now()
	for {
		select {
		case <-t.C:
		case <-c.ctx.Done():
			c.dismiss()
			return
		}
		c.mu.Lock()
		c.lapse()
		for _, r := range c.runs {
			c.waive(r)
		}
		c.serve()
		if time.Since(measured) > 5*time.Second {
			measured = time.Now()
			for _, r := range c.runs {
				r.meter.note(uint64(r.made), r.rows)
			}
			for _, w := range c.workers {
				w.meter.note(w.Shards, w.Rows)
			}
		}
		often := 10 * time.Second
		if c.urgent {
			often = time.Second
		}
		c.mu.Unlock()
		if time.Since(flushed) > often && c.o.Server.trouble() == "" {
			flushed = time.Now()
			c.flush(c.ctx, 1000)
		}
	}
}

// dismiss answers all claims that wait with none: their workers ask the next coordinator.
func (c *coordinator) dismiss() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.waiting {
		c.reply(t.m, &answer{})
	}
	c.waiting = nil
}

// lapse frees what workers hold of which nothing was heard.
func (c *coordinator) lapse() {
	now := time.Now()
	for name, w := range c.workers {
		if now.Sub(w.Beat) > 24*time.Hour && w.Quarantined == "" && len(w.claims)+w.waiters == 0 {
			delete(c.workers, name)
		}
		for k, h := range w.claims {
			if now.Sub(h.seen) <= c.o.Lapse {
				continue
			}
			c.lapsed(w, k)
			c.book.warn(k.Run, name, fmt.Sprintf("not heard of for %v: its shards go to others", c.o.Lapse))
		}
	}
}

// flush writes at most so many workers whose records have changed. One that
// is lost makes the worker's history shorter: it is audited more.
func (c *coordinator) flush(ctx context.Context, most int) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	type entry struct {
		name string
		workerRecord
	}
	var list []entry
	c.mu.Lock()
	c.urgent = false
	for name, w := range c.workers {
		if w.dirty && len(list) < most {
			w.dirty = false
			list = append(list, entry{name, w.workerRecord})
		}
	}
	c.mu.Unlock()
	for _, e := range list {
		if err := c.keep(ctx, e.name, &e.workerRecord); err != nil {
			c.book.fail("", e.name, "the worker's record is not written: "+err.Error())
			c.mu.Lock()
			if w := c.workers[e.name]; w != nil {
				w.dirty = true
			}
			c.mu.Unlock()
			return
		}
	}
}
