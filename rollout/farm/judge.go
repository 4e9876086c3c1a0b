package farm

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// trusted reports whether a worker is one of this process.
func (c *coordinator) trusted(name string) bool { return slices.Contains(c.o.Trusted, name) }

// nextAudit is an audit that a worker can take.
func (r *run) nextAudit(worker string) (int, *due) {
	for i := 0; i < min(len(r.todo), 16); {
		shard := r.todo[i]
		d := r.due[shard]
		switch {
		case d == nil || len(d.by) > 0 || d.doubt:
			r.todo = slices.Delete(r.todo, i, i+1)
		case d.maker == worker:
			i++
		default:
			r.todo = slices.Delete(r.todo, i, i+1)
			return shard, d
		}
	}
	return 0, nil
}

// audited takes what a second worker made of a shard. It has the lock.
func (c *coordinator) audited(r *run, w *worker, q *request) *answer {
	d := r.due[q.Shard]
	if d == nil || d.doubt || !slices.ContainsFunc(d.by, func(h *holder) bool { return h.w == w }) {
		return &answer{} // it is decided, or was not asked of this worker
	}
	v := new(record)
	revision, err := c.lookup(r, q.Shard, v)
	if err != nil {
		return &answer{Error: fmt.Sprintf("shard %d: its record cannot be read: %v", q.Shard, err)}
	}
	if r.State != Running || revision == 0 || r.due[q.Shard] != d || d.doubt {
		return &answer{}
	}
	if v.Sum != q.Sum {
		delete(w.claims, q.claim)
		c.book.fail(r.id, v.Worker, fmt.Sprintf("shard %d: %s makes %.12s…, %s made %.12s…: the coordinator decides", q.Shard, w.name, q.Sum, v.Worker, v.Sum))
		c.judge(r, &testimony{q.Shard, [2]string{v.Worker, w.name}, [2]string{v.Sum, q.Sum}})
		return &answer{}
	}
	if no := c.decide(r, q.Shard, v, revision, auditPassed, w.name); no != nil {
		return no
	}
	w.streak = 0
	return &answer{}
}

// settleAudit ends all holds on an audit, and the audit.
func (r *run) settleAudit(shard int) {
	if d := r.due[shard]; d != nil {
		for _, h := range d.by {
			delete(h.w.claims, claim{r.id, shard, true})
		}
		delete(r.due, shard)
	}
}

// decide records the end of an audit, or answers why not. It has the lock.
func (c *coordinator) decide(r *run, shard int, v *record, revision uint64, state, by string) *answer {
	was := v.Audit
	v.Audit, v.By = state, by
	ok, err := c.update(r, shard, v, revision)
	switch {
	case err != nil:
		return c.unwritten(r, by, "an audit is not written", err)
	case !ok:
		return &answer{Error: "an audit is not written: another changed the record, say it again"}
	case r.State != Running:
		return nil
	}
	r.settleAudit(shard)
	of := &Counts{}
	if maker := c.workers[v.Worker]; maker != nil {
		of, maker.dirty = &maker.Audits, true
	}
	if state == auditWaived {
		r.counts.Waived++
		of.Waived++
	} else if was != auditPassed {
		r.counts.Passed++
		of.Passed++
	}
	c.ended(r)
	return nil
}

// lonelyWait is how long audits wait at the end of a run, when nobody else is there.
const lonelyWait = 2 * time.Second

// waive lets an audit go for which no other worker was there for long: at the end of
// a run for a moment. It has the lock.
func (c *coordinator) waive(r *run) {
	if r.State != Running || len(r.due) == 0 {
		return
	}
	others, wait := c.able(r), c.o.Patience
	// A new coordinator does not know yet who comes back.
	if r.made == r.Spec.Shards && len(others) <= 1 && (!c.expects || time.Since(c.since) > c.o.Lapse) {
		wait = min(wait, lonelyWait)
	}
	now, checked, lonely := time.Now(), 0, 0
	for shard, d := range r.due {
		if checked++; checked > 1000 {
			return // the rest at another tick
		}
		if len(d.by) > 0 || d.doubt || len(others) > 1 || len(others) == 1 && others[0].name != d.maker {
			d.lonely = time.Time{}
			continue
		}
		if d.lonely.IsZero() {
			d.lonely = now
		}
		if now.Sub(d.lonely) >= wait || c.trusted(d.maker) {
			c.letGo(r, shard, d)
		} else {
			lonely++
		}
	}
	r.Text = ""
	if lonely > 0 && r.made == r.Spec.Shards {
		r.Text = fmt.Sprintf("%d audits wait for another worker, for %v at most", lonely, wait)
	}
}

// letGo waives an audit in the background. It has the lock.
func (c *coordinator) letGo(r *run, shard int, d *due) {
	if !r.waives && !c.trusted(d.maker) {
		r.waives = true
		c.log.Warn("audits are waived, since there is no other worker to make them", "run", r.id, "worker", d.maker)
	}
	d.doubt = true // nobody takes it now
	c.wg.Go(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		v := new(record)
		revision, err := c.lookup(r, shard, v)
		if err != nil || revision == 0 || v.Audit != auditDue || c.decide(r, shard, v, revision, auditWaived, "") != nil {
			d.doubt = false
			r.todo = append(r.todo, shard)
		}
	})
}

// able are the first two workers that could take work of a run now.
func (c *coordinator) able(r *run) (list []*worker) {
	for _, w := range c.workers {
		if len(list) < 2 && time.Since(w.Beat) < c.o.Lapse && w.Version == c.o.Version && c.takes(w, r) {
			list = append(list, w)
		}
	}
	return list
}

// judge has the coordinator make a shard on which two workers disagree. It has
// the lock; the rest happens in the background.
func (c *coordinator) judge(r *run, t *testimony) {
	if d := r.due[t.shard]; d != nil {
		d.doubt = true
	}
	r.doubts++
	c.wg.Go(func() {
		c.judging.Lock()
		defer c.judging.Unlock()
		right, rows, ok := c.arbitrate(r, t)
		if ok {
			c.sentence(r, t, right, rows)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		r.doubts--
		if d := r.due[t.shard]; d != nil { // with another maker
			d.doubt = false
			r.todo = append(r.todo, t.shard)
		}
		c.ended(r)
	})
}

// arbitrate makes the shard here, and finds the rows in which the others' differ.
func (c *coordinator) arbitrate(r *run, t *testimony) (right string, rows [2]string, ok bool) {
	for b := newBackoff(); ; {
		shards, err := c.open(r.ctx, r)
		if err == nil {
			var receipt Receipt
			if receipt, err = shards.Remake(r.ctx, t.shard); err == nil {
				for _, i := range t.wrong(receipt.Sum) {
					if rows[i], err = shards.Differ(r.ctx, t.shard, t.sums[i]); err != nil {
						rows[i] = "not known: " + line(err.Error())
					}
				}
				return receipt.Sum, rows, true
			}
		}
		if r.ctx.Err() == nil {
			c.book.fail(r.id, "", fmt.Sprintf("shard %d cannot be made here to decide between two workers: %v", t.shard, err))
		}
		if !b.pause(r.ctx) {
			return "", rows, false
		}
	}
}

// sentence quarantines who was wrong, and records the shard as confirmed if
// its record is right.
func (c *coordinator) sentence(r *run, t *testimony, right string, rows [2]string) {
	for _, i := range t.wrong(right) {
		c.convict(Audit{Time: time.Now(), Run: r.id, Shard: t.shard, Worker: t.makers[i], Sum: t.sums[i], Right: right, Row: rows[i]})
	}
	if t.sums[0] != right {
		c.takeBack(r, t.shard)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	v := new(record)
	if revision, err := c.lookup(r, t.shard, v); err == nil && revision != 0 && v.Sum == right {
		c.decide(r, t.shard, v, revision, auditPassed, "coordinator")
	}
}

// convict quarantines a worker. All it made that nobody has confirmed, and what
// it alone has confirmed, is made or audited again.
func (c *coordinator) convict(a Audit) {
	text := fmt.Sprintf("shard %d of run %s is %.12s…, it said %.12s…", a.Shard, a.Run, a.Right, a.Sum)
	c.mu.Lock()
	w := c.workers[a.Worker]
	if w == nil {
		w = &worker{name: a.Worker, claims: map[claim]*holder{}}
		c.workers[a.Worker] = w
	}
	known := w.Quarantined != ""
	if !known {
		w.Quarantined = text
	}
	w.Audits.Failed++
	for k := range w.claims {
		c.release(w, k)
	}
	c.waiting = slices.DeleteFunc(c.waiting, func(t *waiter) bool {
		if t.w == w {
			w.waiters--
			c.reply(t.m, &answer{Error: "worker " + w.name + " is quarantined: " + text, Refused: true})
		}
		return t.w == w
	})
	if r := c.runs[a.Run]; r != nil {
		r.counts.Failed++
	}
	var open []*run
	for _, r := range c.runs {
		if r.State == Running {
			open = append(open, r)
		}
	}
	kept := w.workerRecord
	c.mu.Unlock()
	if err := c.keep(c.ctx, a.Worker, &kept); err != nil {
		c.book.fail(a.Run, a.Worker, "the quarantine is not written yet: "+err.Error())
		c.mu.Lock()
		w.dirty = true
		c.mu.Unlock()
	}
	for _, r := range open {
		a.Returned += c.returnAll(r, a.Worker)
	}
	if !known || a.Returned > 0 {
		c.book.audit(a)
	}
}

// returnAll takes back a worker's unconfirmed shards of a run, and makes the
// audits that it passed due again. It returns how many it took back.
func (c *coordinator) returnAll(r *run, worker string) (n int) {
	for b := newBackoff(); ; {
		err := each(r.ctx, c.st.shards, r.id+".*", func(key string, revision uint64, v *record) error {
			var shard int
			if _, err := fmt.Sscanf(key[len(r.id):], ".%d", &shard); err != nil {
				return nil // no record of ours
			}
			switch {
			case v.Worker == worker && v.Audit != auditPassed:
				c.takeBack(r, shard)
				n++
			case v.By == worker:
				c.reopen(r, shard, v, revision)
			}
			return nil
		})
		if err == nil || r.ctx.Err() != nil {
			return n
		}
		c.book.fail(r.id, worker, "its shards cannot be taken back: "+err.Error())
		b.pause(r.ctx)
	}
}

// reopen makes an audit due again. If another changes the record meanwhile
// that is the later word.
func (c *coordinator) reopen(r *run, shard int, v *record, revision uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v.Audit, v.By = auditDue, ""
	if ok, _ := c.update(r, shard, v, revision); ok && r.State == Running && r.due[shard] == nil && r.has(shard) {
		r.counts.Passed--
		r.due[shard] = &due{maker: v.Worker}
		r.todo = append(r.todo, shard)
	}
}

// keep writes the record of a worker.
func (c *coordinator) keep(ctx context.Context, name string, v *workerRecord) error {
	was := new(workerRecord)
	revision, err := read(ctx, c.st.workers, name, was)
	if err != nil {
		return err
	}
	if v.Quarantined == "" {
		v.Quarantined = was.Quarantined
	}
	_, ok, err := write(ctx, c.st.workers, name, v, revision)
	if err == nil && !ok {
		err = fmt.Errorf("another changed it")
	}
	return err
}

func (c *coordinator) delete(r *run, shard int, revision uint64) error {
	return c.st.shards.Delete(r.ctx, shardKey(r.id, shard), jetstream.LastRevision(revision))
}
