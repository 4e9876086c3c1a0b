package farm

import (
	"encoding/hex"
	"fmt"
	"time"

	"moonfarm/rollout/farm/internal/tracker"
)

// committer records the shards that workers made. A record is written by one
// compare-and-set; the state counts it afterwards.
type committer struct {
	*term
	sampler  tracker.Sampler
	finish   func(r *run)                     // completes the dataset of a run
	disputed func(r *run, d *tracker.Dispute) // decides a dispute
}

// completed starts the completion of a run whose shards and audits have ended. It is called
// within a step, under the lock.
func (c *committer) completed(r *run) {
	if r.completes() {
		c.wg.Go(func() { c.finish(r) })
	}
}

// commit records a shard, or the result of an audit. A worker may repeat the request.
func (c *committer) commit(name string, q *request, _ func(*answer)) *answer {
	var r *run
	var w *worker
	var v *record
	wrong := ""
	out := c.asked(name, q, func(s *state, from *worker) *answer {
		if r, w = s.runs[q.Run], from; r == nil {
			return noRun(q.Run)
		}
		if !r.running() {
			return &answer{} // the shard is not needed any more
		}
		if wrong = wrongReceipt(r.Spec, q); wrong != "" {
			return &answer{Error: wrong}
		}
		if !q.Audit && !r.commits.Has(q.Shard) {
			v = c.draw(r, w, q)
		}
		return nil
	})
	switch {
	case wrong != "":
		c.events.fail(r.id, name, wrong)
		return out
	case out != nil:
		return out
	case q.Audit:
		return c.audited(r, w, q)
	case v == nil:
		return c.repeated(r, name, q)
	}
	written, err := c.writeRecord(r, q.Shard, v, 0)
	switch {
	case err != nil:
		return c.unwritten(r, name, "a commit is not written", err)
	case !written:
		return c.repeated(r, name, q)
	}
	c.committed(r, w, q, v)
	return &answer{}
}

// draw makes the record of a shard, and decides whether it is audited.
func (c *committer) draw(r *run, w *worker, q *request) *record {
	v := &record{Receipt: q.Receipt, Worker: w.name}
	w.drawn++
	chance := c.sampler.Chance(w.drawn, float64(r.Spec.Episodes)/float64(r.Spec.Shards), c.trusts(w.name))
	if c.sampler.Draw(r.id, q.Shard, w.name, chance) {
		v.Audit = tracker.AuditPending
	}
	return v
}

// wrongReceipt returns the reason why a result cannot be true, or "".
func wrongReceipt(s *Spec, q *request) string {
	_, err := hex.DecodeString(q.Sum)
	switch {
	case q.Shard < 0 || q.Shard >= s.Shards:
		return fmt.Sprintf("a result of shard %d, the run has %d", q.Shard, s.Shards)
	case err != nil || len(q.Sum) < 16 || len(q.Sum) > 128:
		return fmt.Sprintf("shard %d: the sum %.80q is not a sum", q.Shard, q.Sum)
	case q.Episodes > s.Episodes || q.Rows > 1<<50 || q.Bytes > 1<<50:
		return fmt.Sprintf("shard %d: %d episodes, %d rows and %d bytes are impossible", q.Shard, q.Episodes, q.Rows, q.Bytes)
	}
	return ""
}

// committed counts a record that was just written.
func (c *committer) committed(r *run, w *worker, q *request, v *record) {
	c.do(func(s *state) {
		w.Shards++
		w.Rows += v.Rows
		w.lapses = 0
		w.unsaved = true
		if !r.running() {
			return
		}
		if l := s.leases.Of(w.name, q.Claim); l != nil {
			r.stragglers.Add(time.Since(l.Since))
		}
		r.addCommit(q.Shard, v)
		s.settle(r, q.Shard)
		if w.Quarantined != "" { // since the commit began
			c.wg.Go(func() { c.revert(r, q.Shard) })
		}
		c.completed(r)
	})
}

// repeated handles a result for a shard that already has a record, from an earlier try or another
// worker. A different sum is a dispute.
func (c *committer) repeated(r *run, name string, q *request) *answer {
	was, revision, err := c.readRecord(r, q.Shard)
	if err == nil && revision == 0 {
		err = errMissing
	}
	if err != nil {
		return &answer{Error: fmt.Sprintf("shard %d: its record cannot be read, send it again: %v", q.Shard, err)}
	}
	disputed := false
	c.do(func(s *state) {
		if !r.running() {
			return
		}
		r.addCommit(q.Shard, was)
		s.settle(r, q.Shard)
		if disputed = was.Sum != q.Sum; disputed {
			r.audits.Dispute(q.Shard)
		}
		c.completed(r)
	})
	if disputed {
		c.events.fail(r.id, name, fmt.Sprintf("shard %d: two results, %.12s… of %s and %.12s… of %s: the coordinator decides", q.Shard, was.Sum, was.Worker, q.Sum, name))
		c.disputed(r, &tracker.Dispute{Shard: q.Shard, Makers: [2]string{was.Worker, name}, Sums: [2]string{was.Sum, q.Sum}})
	}
	return &answer{}
}

// audited takes the result of an audit: an equal sum confirms the record, a different
// sum is a dispute.
func (c *committer) audited(r *run, w *worker, q *request) *answer {
	var p *tracker.Audit
	open := false
	c.do(func(s *state) {
		p = r.audits.Pending[q.Shard]
		open = p != nil && !p.Disputed && s.leases.Of(w.name, q.Claim) != nil
	})
	if !open {
		return &answer{} // it is decided, or this worker does not have it
	}
	v, revision, err := c.readRecord(r, q.Shard)
	if err != nil {
		return &answer{Error: fmt.Sprintf("shard %d: its record cannot be read: %v", q.Shard, err)}
	}
	disputed := false
	c.do(func(s *state) {
		open = r.running() && revision != 0 && r.audits.Pending[q.Shard] == p && !p.Disputed
		if disputed = open && v.Sum != q.Sum; disputed {
			s.leases.EndClaim(q.Claim)
			r.audits.Dispute(q.Shard)
		}
	})
	switch {
	case disputed:
		c.events.fail(r.id, v.Worker, fmt.Sprintf("shard %d: %s makes %.12s…, %s made %.12s…: the coordinator decides", q.Shard, w.name, q.Sum, v.Worker, v.Sum))
		c.disputed(r, &tracker.Dispute{Shard: q.Shard, Makers: [2]string{v.Worker, w.name}, Sums: [2]string{v.Sum, q.Sum}})
		return &answer{}
	case !open:
		return &answer{}
	}
	if no := c.endAudit(r, q.Shard, v, revision, tracker.AuditPassed, w.name); no != nil {
		return no
	}
	c.do(func(*state) { w.lapses = 0 })
	return &answer{}
}

// endAudit records how an audit ended and which worker made it. It returns an answer with
// the reason if it cannot.
func (c *committer) endAudit(r *run, shard int, v *record, revision uint64, verdict, by string) *answer {
	was := v.Audit
	v.Audit, v.By = verdict, by
	ok, err := c.writeRecord(r, shard, v, revision)
	switch {
	case err != nil:
		return c.unwritten(r, by, "an audit is not written", err)
	case !ok:
		return &answer{Error: "an audit is not written: its record has changed meanwhile, send it again"}
	}
	c.do(func(s *state) {
		if !r.running() {
			return
		}
		s.endAudit(r, shard)
		if verdict == tracker.AuditWaived || was != tracker.AuditPassed {
			r.audits.Counts.Count(verdict, 1)
			if maker := s.workers[v.Worker]; maker != nil {
				maker.Audits.Count(verdict, 1)
			}
		}
		s.workers.mark(v.Worker)
		c.completed(r)
	})
	return nil
}

// revert deletes the record of a shard, so that the shard is made again. It retries until it
// succeeds.
func (c *committer) revert(r *run, shard int) {
	var gone *record // the record that an earlier try may have deleted: its answer was lost
	for b := newBackoff(); ; {
		v, revision, err := c.readRecord(r, shard)
		if err == nil && revision != 0 {
			gone = v
			if err = c.deleteRecord(r, shard, revision); conflict(err) {
				continue
			}
		}
		if err == nil {
			c.do(func(s *state) {
				if gone != nil { // else another goroutine reverted it
					s.revert(r, shard, gone)
				}
			})
			return
		}
		if r.ctx.Err() == nil {
			c.events.fail(r.id, "", fmt.Sprintf("shard %d: its commit cannot be reverted: %v", shard, err))
		}
		if !b.pause(r.ctx) {
			return
		}
	}
}
