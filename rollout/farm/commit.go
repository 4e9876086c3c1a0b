package farm

import (
	"encoding/hex"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/micro"
)

// commit records a shard, or takes the result of an audit. A worker may say
// the same as often as it likes.
func (c *coordinator) commit(name string, q *request, _ micro.Request) *answer {
	w, no := c.known(name, q)
	defer c.mu.Unlock()
	if no != nil {
		return no
	}
	r := c.runs[q.Run]
	if r == nil {
		return &answer{Error: "no run " + line(q.Run)}
	}
	if r.State != Running {
		delete(w.claims, q.claim)
		return &answer{} // nobody wants it
	}
	if text := wrongReceipt(r.Spec, q); text != "" {
		c.book.fail(r.id, name, text)
		return &answer{Error: text}
	}
	if q.Audit {
		return c.audited(r, w, q)
	}
	v := &record{Receipt: q.Receipt, Worker: name}
	if !r.has(q.Shard) {
		w.drawn++
		chance := c.sampler.chance(w.drawn, float64(r.Spec.Episodes)/float64(r.Spec.Shards), c.trusted(name))
		if c.sampler.draw(r.id, q.Shard, name, chance) {
			v.Audit = auditDue
		}
		if written, err := c.create(r, q.Shard, v); err != nil {
			return c.unwritten(r, name, "a commit is not written", err)
		} else if written {
			c.committed(r, w, q, v)
			return &answer{}
		}
	}
	// There is a record, of an earlier try or of another worker.
	was := new(record)
	revision, err := c.lookup(r, q.Shard, was)
	if err != nil || revision == 0 {
		return &answer{Error: fmt.Sprintf("shard %d: its record cannot be read, say it again: %v", q.Shard, err)}
	}
	if r.State != Running {
		return &answer{}
	}
	if c.adopt(r, q.Shard, was) {
		c.ended(r)
	}
	c.settle(r, q.Shard)
	if was.Sum != q.Sum {
		c.book.fail(r.id, name, fmt.Sprintf("shard %d: two results, %.12s… of %s and %.12s… of %s: the coordinator decides", q.Shard, was.Sum, was.Worker, q.Sum, name))
		c.judge(r, &testimony{q.Shard, [2]string{was.Worker, name}, [2]string{was.Sum, q.Sum}})
	}
	return &answer{}
}

// unwritten notes that something cannot be recorded, unless the reason is known, and
// is the answer that says so.
func (c *coordinator) unwritten(r *run, worker, what string, err error) *answer {
	switch trouble := c.o.Server.trouble(); {
	case trouble != "":
		return &answer{Error: trouble}
	case r.ctx.Err() != nil:
		return &answer{Error: what + ": the coordinator begins again", Again: true}
	}
	c.book.fail(r.id, worker, what+": "+err.Error())
	return &answer{Error: what + ": " + err.Error()}
}

// wrongReceipt says what cannot be true of a result.
func wrongReceipt(s *Spec, q *request) string {
	_, err := hex.DecodeString(q.Sum)
	switch {
	case q.Shard < 0 || q.Shard >= s.Shards:
		return fmt.Sprintf("a result of shard %d, the run has %d", q.Shard, s.Shards)
	case err != nil || len(q.Sum) < 16 || len(q.Sum) > 128:
		return fmt.Sprintf("shard %d: the sum %.80q is no sum", q.Shard, q.Sum)
	case q.Episodes > s.Episodes || q.Rows > 1<<50 || q.Bytes > 1<<50:
		return fmt.Sprintf("shard %d: %d episodes, %d rows and %d bytes cannot be", q.Shard, q.Episodes, q.Rows, q.Bytes)
	}
	return ""
}

// create writes the record of a shard that has none. Like lookup and update it
// has the lock, and lets go of it meanwhile.
func (c *coordinator) create(r *run, shard int, v *record) (bool, error) {
	return c.update(r, shard, v, 0)
}

func (c *coordinator) update(r *run, shard int, v *record, revision uint64) (bool, error) {
	c.mu.Unlock()
	defer c.mu.Lock()
	_, ok, err := write(r.ctx, c.st.shards, shardKey(r.id, shard), v, revision)
	return ok, err
}

func (c *coordinator) lookup(r *run, shard int, v *record) (uint64, error) {
	c.mu.Unlock()
	defer c.mu.Lock()
	return read(r.ctx, c.st.shards, shardKey(r.id, shard), v)
}

// committed notes a record that was just written.
func (c *coordinator) committed(r *run, w *worker, q *request, v *record) {
	w.Shards++
	w.Rows += v.Rows
	w.streak = 0
	w.dirty = true
	if h := w.claims[q.claim]; h != nil {
		r.timed(time.Since(h.since))
	}
	if r.State != Running {
		return
	}
	c.adopt(r, q.Shard, v)
	c.settle(r, q.Shard)
	if w.Quarantined != "" { // since the commit began
		c.wg.Go(func() { c.takeBack(r, q.Shard) })
	}
	c.ended(r)
}

// settle ends all holds on a committed shard and its message.
func (c *coordinator) settle(r *run, shard int) {
	at := r.held[shard]
	if at == nil {
		return
	}
	for _, h := range at.by {
		delete(h.w.claims, claim{Run: r.id, Shard: shard})
	}
	delete(r.held, shard)
	if at.msg != nil {
		_ = at.msg.Ack() // else it comes again, and is acknowledged then
		r.queued--
		r.wake(r.feed)
	}
}

// takeBack deletes the record of a shard, which is made again.
func (c *coordinator) takeBack(r *run, shard int) {
	var gone *record // of an earlier try whose answer was lost
	for b := newBackoff(); ; {
		v := new(record)
		revision, err := read(r.ctx, c.st.shards, shardKey(r.id, shard), v)
		if err == nil && revision != 0 {
			gone = v
			if err = c.delete(r, shard, revision); conflict(err) {
				continue
			}
		}
		if err == nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			if r.State == Running && gone != nil { // else another took it back
				c.disown(r, shard, gone)
			}
			return
		}
		if r.ctx.Err() == nil {
			c.book.fail(r.id, "", fmt.Sprintf("shard %d: its record cannot be taken back: %v", shard, err))
		}
		if !b.pause(r.ctx) {
			return
		}
	}
}
