package farm

import (
	"fmt"
	"time"

	"moonfarm/rollout/farm/internal/tracker"
)

// state is everything that a coordinator has in memory: workers, leases, waiting claims, and
// for each run its queue, commits and audits. Each of these is a plain struct in its own file;
// the methods of state are the steps that change several of them together. They use no lock,
// no clock and no network: term.do calls them one at a time and passes the time.
type state struct {
	version  string
	trusted  []string // workers of this process
	lapse    time.Duration
	patience time.Duration
	since    time.Time // when the coordinator took over
	expects  bool      // whether workers were connected shortly before that
	runs     map[string]*run
	workers  workers
	leases   tracker.Leases
	waiting  waiting
	urgent   bool // whether a worker's record is to be saved soon
	fresh    bool // whether a queue has got shards for the waiting claims
	closed   bool // whether no further request is accepted

	beatEvery int // milliseconds between two beats of a worker
}

func newState(o *CoordinatorOptions, now time.Time) state {
	return state{version: o.Version, trusted: o.Trusted, lapse: o.Lapse, patience: o.Patience, since: now,
		beatEvery: int(o.Lapse.Milliseconds() / 3), runs: map[string]*run{}, workers: workers{}, leases: tracker.NewLeases()}
}

// identify returns the worker that sent a request, and the number of leases that it lost by a
// restart. If the worker gets no work, identify returns the answer.
func (s *state) identify(name string, q *request, now time.Time) (w *worker, lost int, no *answer) {
	w, err := s.workers.enter(name)
	if err != nil {
		return nil, 0, &answer{Error: err.Error()}
	}
	w.describe(q)
	if w.begins(q.Process) {
		lost = s.restart(w)
	}
	w.Beat = now
	if text := w.refusal(s.version); text != "" {
		return w, lost, &answer{Error: text, Refused: true}
	}
	return w, lost, nil
}

// restart ends the leases and the waiting claims of a worker's earlier process.
func (s *state) restart(w *worker) (lost int) {
	s.waiting.remove(func(t *waiter) bool { return t.w == w })
	list := s.leases.List(w.name)
	for _, l := range list {
		s.lapsed(l)
	}
	return len(list)
}

// leave gives back the leases and the waiting claims of a process that has ended. A late message
// of an older process changes nothing.
func (s *state) leave(w *worker, process string) {
	if n := len(w.processes); n == 0 || w.processes[n-1] != process {
		return
	}
	w.ended = process
	s.waiting.remove(func(t *waiter) bool { return t.w == w })
	for _, l := range s.leases.List(w.name) {
		s.release(l)
	}
}

// lapsed ends a lease that the worker neither committed nor gave back.
func (s *state) lapsed(l *tracker.Lease) {
	if w := s.workers[l.Worker]; w != nil {
		w.Lapsed++
		w.lapses++
		w.unsaved, s.urgent = true, true
	}
	s.release(l)
}

// release ends a lease. After the last lease of an uncommitted shard the shard goes back to
// the queue; after the last lease of an audit another worker may take the audit.
func (s *state) release(l *tracker.Lease) {
	last := s.leases.End(l)
	r := s.runs[l.Run]
	switch {
	case !last || r == nil || !r.begun:
	case l.Audit:
		r.audits.GiveBack(l.Shard)
	case !r.commits.Has(l.Shard):
		r.queue.Return(l.Shard)
		s.fresh = true
	}
}

// expire ends the leases of silent workers and returns them. Workers that were silent for
// a day are forgotten; the store has their records.
func (s *state) expire(now time.Time) []*tracker.Lease {
	list := s.leases.Silent(now.Add(-s.lapse))
	for _, l := range list {
		s.lapsed(l)
	}
	for name, w := range s.workers {
		if w.Quarantined == "" && !w.alive(now.Add(-24*time.Hour)) && s.leases.Count(name)+w.waiting == 0 {
			delete(s.workers, name)
			s.leases.Leave(name)
		}
	}
	return list
}

// settle ends all leases of a committed shard.
func (s *state) settle(r *run, shard int) {
	s.leases.EndClaim(tracker.Claim{Run: r.id, Shard: shard})
}

// endAudit ends the audit of a shard and all leases of it.
func (s *state) endAudit(r *run, shard int) {
	s.leases.EndClaim(tracker.Claim{Run: r.id, Shard: shard, Audit: true})
	r.audits.Drop(shard)
}

// revert removes a commit whose record was deleted: the shard is made again.
func (s *state) revert(r *run, shard int, v *record) {
	if !r.running() || !r.commits.Revert(shard, &v.Receipt) {
		return
	}
	r.audits.Counts.Count(v.Audit, -1)
	s.endAudit(r, shard)
	r.reverted++
	r.queue.Return(shard)
	s.fresh = true
}

// waive locks the audits of a run that end without a second worker, and returns them. At the end of
// a run they wait only aloneWait, and the run's text says so.
func (s *state) waive(r *run, now time.Time) []int {
	if !r.running() || len(r.audits.Pending) == 0 {
		return nil
	}
	v := tracker.Waivers{Others: s.workers.able(r.id, s.version, now, now.Add(-s.lapse)), Wait: s.patience, Trusted: s.trusted, Leased: s.leases.Audited(r.id)}
	// A new coordinator does not know yet which workers will reconnect.
	if r.commits.Whole() && len(v.Others) <= 1 && (!s.expects || now.Sub(s.since) > s.lapse) {
		v.Wait = min(v.Wait, aloneWait)
	}
	list, waiting, all := r.audits.Waivable(&v, now)
	for _, shard := range list {
		r.audits.Lock(shard)
	}
	if all {
		r.Text = ""
		if waiting > 0 && r.commits.Whole() {
			r.Text = fmt.Sprintf("%d audits wait for another worker, for %v at most", waiting, v.Wait)
		}
	}
	return list
}

// aloneWait is how long audits wait at the end of a run when no other worker is there.
const aloneWait = 2 * time.Second

// quarantine stops giving work to a worker and ends its leases. first is false if the worker
// was quarantined before. The caller reverts the worker's records.
func (s *state) quarantine(name, text string) (w *worker, first bool) {
	w = s.workers[name]
	if w == nil {
		w = &worker{name: name}
		s.workers[name] = w
	}
	if first = w.Quarantined == ""; first {
		w.Quarantined = text
	}
	w.Audits.Failed++
	for _, l := range s.leases.List(name) {
		s.release(l)
	}
	s.waiting.remove(func(t *waiter) bool {
		if t.w == w {
			t.answer(&answer{Error: "worker " + name + " is quarantined: " + text, Refused: true})
		}
		return t.w == w
	})
	return w, first
}

// begin replaces an older state of a run by one with its records.
func (s *state) begin(r *run) {
	if old := s.runs[r.id]; old != nil {
		r.duplicates, r.reverted = old.duplicates, old.reverted
		s.end(old)
	}
	s.runs[r.id] = r
	r.begun, s.fresh = true, true
}

// restartRun lets all workers take shards of a running run, and looks again for missing ones.
func (s *state) restartRun(r *run) {
	for _, w := range s.workers {
		delete(w.refuses, r.id)
	}
	r.queue.Restart()
	s.fresh = true
}

// end ends a run and its leases.
func (s *state) end(r *run) {
	s.leases.EndRun(r.id)
	r.end()
}
