package farm

import (
	"fmt"
	"sync"
	"time"

	"moonfarm/rollout/farm/internal/tracker"
)

// auditor decides disputes, quarantines workers, and ends audits that no worker can make.
type auditor struct {
	*term
	commits     *committer
	arbitrating sync.Mutex // held while this process makes a shard to decide a dispute: one at a time
}

// waive ends, in the background, the audits of a run that have no second worker.
func (a *auditor) waive(r *run) {
	var list []int
	warn := ""
	a.do(func(s *state) {
		list = s.waive(r, time.Now())
		for _, shard := range list {
			if maker := r.audits.Pending[shard].Maker; !r.audits.Waiving && !a.trusts(maker) {
				r.audits.Waiving, warn = true, maker
			}
		}
	})
	if warn != "" {
		a.log.Warn("audits are waived, since there is no other worker to make them", "run", r.id, "worker", warn)
	}
	for _, shard := range list {
		a.wg.Go(func() { a.waiveOne(r, shard) })
	}
}

// waiveOne records an audit as waived. If it cannot, workers may take the audit again.
func (a *auditor) waiveOne(r *run, shard int) {
	v, revision, err := a.readRecord(r, shard)
	if err != nil || revision == 0 || v.Audit != tracker.AuditPending || a.commits.endAudit(r, shard, v, revision, tracker.AuditWaived, "") != nil {
		a.do(func(*state) { r.audits.Unlock(shard) })
	}
}

// decide decides a dispute in the background. Audits.Dispute has already counted it.
func (a *auditor) decide(r *run, d *tracker.Dispute) {
	a.wg.Go(func() {
		a.arbitrating.Lock()
		defer a.arbitrating.Unlock()
		if right, rows, ok := a.arbitrate(r, d); ok {
			a.enforce(r, d, right, rows)
		}
		a.do(func(*state) {
			r.audits.Settle(d.Shard)
			a.commits.completed(r)
		})
	})
}

// arbitrate makes the shard in this process, and finds the first rows in which the workers' shards
// differ. It retries until it succeeds; ok is false if the run ended before.
func (a *auditor) arbitrate(r *run, d *tracker.Dispute) (right string, rows [2]string, ok bool) {
	for b := newBackoff(); ; {
		shards, err := a.open(r.ctx, r)
		if err == nil {
			var receipt Receipt
			if receipt, err = shards.Remake(r.ctx, d.Shard); err == nil {
				for _, i := range d.Wrong(receipt.Sum) {
					if rows[i], err = shards.Differ(r.ctx, d.Shard, d.Sums[i]); err != nil {
						rows[i] = "not known: " + line(err.Error())
					}
				}
				return receipt.Sum, rows, true
			}
		}
		if r.ctx.Err() == nil {
			a.events.fail(r.id, "", fmt.Sprintf("shard %d cannot be made here to decide between two workers: %v", d.Shard, err))
		}
		if !b.pause(r.ctx) {
			return "", rows, false
		}
	}
}

// enforce quarantines the workers whose sums are wrong. It confirms the record of the shard if its
// sum is right; otherwise it reverts the commit.
func (a *auditor) enforce(r *run, d *tracker.Dispute, right string, rows [2]string) {
	for _, i := range d.Wrong(right) {
		a.quarantine(Quarantine{Time: time.Now(), Run: r.id, Shard: d.Shard, Worker: d.Makers[i], Sum: d.Sums[i], Right: right, Row: rows[i]})
	}
	if d.Sums[0] != right {
		a.commits.revert(r, d.Shard)
		return
	}
	if v, revision, err := a.readRecord(r, d.Shard); err == nil && revision != 0 && v.Sum == right {
		a.commits.endAudit(r, d.Shard, v, revision, tracker.AuditPassed, "coordinator")
	}
}

// quarantine stops giving work to a worker. Its unconfirmed shards are made again, and the
// shards that it alone has confirmed are audited again.
func (a *auditor) quarantine(e Quarantine) {
	text := fmt.Sprintf("shard %d of run %s has the sum %.12s…, the worker reported %.12s…", e.Shard, e.Run, e.Right, e.Sum)
	first := false
	var open []*run
	var kept workerRecord
	a.do(func(s *state) {
		var w *worker
		w, first = s.quarantine(e.Worker, text)
		kept = w.workerRecord
		for id, r := range s.runs {
			if id == e.Run {
				r.audits.Counts.Failed++
			}
			if r.running() {
				open = append(open, r)
			}
		}
	})
	if err := a.saveWorker(a.ctx, e.Worker, &kept); err != nil {
		a.events.fail(e.Run, e.Worker, "the quarantine is not written yet: "+err.Error())
		a.do(func(s *state) { s.workers.mark(e.Worker) })
	}
	for _, r := range open {
		e.Returned += a.revertAll(r, e.Worker)
	}
	if first || e.Returned > 0 {
		a.events.quarantined(e)
	}
}

// revertAll reverts a worker's unconfirmed commits of a run, and reopens the audits that it
// passed. It returns how many commits it reverted.
func (a *auditor) revertAll(r *run, worker string) (n int) {
	for b := newBackoff(); ; {
		err := each(r.ctx, a.st.shards, r.id+".*", func(key string, revision uint64, v *record) error {
			shard, err := shardOf(key)
			switch {
			case err != nil: // not a record of a farm
			case v.Worker == worker && v.Audit != tracker.AuditPassed:
				a.commits.revert(r, shard)
				n++
			case v.By == worker:
				a.reopen(r, shard, v, revision)
			}
			return nil
		})
		if err == nil || r.ctx.Err() != nil {
			return n
		}
		a.events.fail(r.id, worker, "its commits cannot be reverted: "+err.Error())
		b.pause(r.ctx)
	}
}

// reopen makes an audit pending again. It leaves a record alone that another goroutine has
// changed meanwhile.
func (a *auditor) reopen(r *run, shard int, v *record, revision uint64) {
	v.Audit, v.By = tracker.AuditPending, ""
	if ok, _ := a.writeRecord(r, shard, v, revision); !ok {
		return
	}
	a.do(func(*state) {
		if r.running() && r.audits.Pending[shard] == nil && r.commits.Has(shard) {
			r.audits.Counts.Passed--
			r.audits.Add(shard, v.Worker)
		}
	})
}
