package farm

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"moonfarm/rollout/farm/internal/tracker"
)

// publish feeds the stream, which may refuse some shards.
func (w *twin) publish() {
	accepted := 0
	var failed []int
	for _, shard := range w.r.queue.Take(8, w.r.commits.Has) {
		if _, has := w.stream[shard]; has {
			continue
		}
		if w.g.IntN(10) == 0 {
			failed = append(failed, shard)
			continue
		}
		w.stream[shard] = false
		accepted++
	}
	w.r.queue.Accepted(accepted, failed)
}

// fetch delivers messages to the waiting claims.
func (w *twin) fetch() {
	n, got := w.s.waiting.reserve(min(w.r.queue.Unassigned, maxFetch), func(*worker) bool { return true }), 0
	for shard, out := range w.stream {
		if got < n && !out {
			got++
			w.stream[shard] = true
			w.s.deliver(w.r, shard, parcel{w, shard}, w.now)
		}
	}
	w.s.waiting.reserved -= n - got
}

func (w *twin) claim(name string) {
	of := w.identify(name, "p")
	w.asked[name]++
	later := func(a *answer) { w.granted(name, a) }
	if a := w.s.claim(&waiter{w: of, until: w.now.Add(5 * time.Second), answer: later}, w.now); a != nil {
		later(a)
	}
}

// commit commits one of a worker's leases, or confirms an audit.
func (w *twin) commit(name string, k tracker.Claim) {
	if k.Audit {
		if w.disputed[k.Shard] || w.pending[k.Shard] == "" {
			return
		}
		w.s.endAudit(w.r, k.Shard)
		delete(w.pending, k.Shard)
	} else if w.committed[k.Shard] == "" {
		v := &record{Worker: name, Receipt: Receipt{Episodes: 1}}
		if w.g.IntN(2) == 0 {
			v.Audit = tracker.AuditPending
			w.pending[k.Shard] = name
		}
		w.r.stragglers.Add(time.Second)
		require.True(w.t, w.r.addCommit(k.Shard, v))
		w.s.settle(w.r, k.Shard)
		w.committed[k.Shard] = name
	}
	w.drop(k)
}

func (w *twin) giveBack(name string, k tracker.Claim) {
	require.Equal(w.t, w.leases[name][k], w.s.giveBack(w.identify(name, "p"), k))
	delete(w.leases[name], k)
	w.returned[name][k] = true
}

// beat names some of a worker's leases, and a claim that it may not have.
func (w *twin) beat(name string) {
	of := w.identify(name, "p")
	list := w.some(name)
	if w.g.IntN(3) == 0 {
		list = append(list, tracker.Claim{Run: "r", Shard: w.g.IntN(w.r.Spec.Shards), Audit: w.g.IntN(2) == 0})
	}
	before := of.previous
	var want []tracker.Claim
	for _, k := range list {
		if !w.leases[name][k] && w.learns(name, k, of) {
			w.lease(name, k)
		}
		if w.leases[name][k] && !(k.Audit && w.disputed[k.Shard]) {
			w.seen[key(name, k)] = w.now
		} else {
			want = append(want, k)
		}
	}
	require.ElementsMatch(w.t, want, w.s.beat(of, list, w.now))
	for k := range w.leases[name] {
		if w.seen[key(name, k)].Before(before) {
			delete(w.leases[name], k)
		}
	}
}

// learns reports whether a claim that a beat names becomes a lease, as after the start of a new
// coordinator.
func (w *twin) learns(name string, k tracker.Claim, of *worker) bool {
	if w.returned[name][k] {
		return false
	}
	if !k.Audit {
		return w.committed[k.Shard] == "" && len(w.leases[name]) < of.allowance()
	}
	for _, of := range w.leases {
		if of[k] {
			return false
		}
	}
	return w.pending[k.Shard] != "" && !w.disputed[k.Shard] && w.pending[k.Shard] != name
}

// some returns some of a worker's leases.
func (w *twin) some(name string) (list []tracker.Claim) {
	for k := range w.leases[name] {
		if w.g.IntN(4) > 0 {
			list = append(list, k)
		}
	}
	return list
}

// expire advances the time, usually by little.
func (w *twin) expire() {
	w.now = w.now.Add(time.Duration(w.g.IntN(8)) * time.Second)
	var want []string
	for name, of := range w.leases {
		for k := range of {
			if w.now.Sub(w.seen[key(name, k)]) > 30*time.Second {
				want = append(want, key(name, k))
				delete(of, k)
			}
		}
	}
	var got []string
	for _, l := range w.s.expire(w.now) {
		got = append(got, key(l.Worker, l.Claim))
	}
	require.ElementsMatch(w.t, want, got)
	w.s.serve(w.now)
}

func (w *twin) restart(name string) {
	w.identify(name, fmt.Sprintf("p%d", w.now.UnixNano()+w.g.Int64N(1e9)))
	w.leases[name], w.asked[name] = map[tracker.Claim]bool{}, 0
}

// leave ends a worker's process. The twin's next requests come from a process with the same name:
// it is the assigner that ignores late claims.
func (w *twin) leave(name string) {
	of := w.identify(name, "p")
	w.s.leave(of, of.processes[len(of.processes)-1])
	w.leases[name], w.asked[name] = map[tracker.Claim]bool{}, 0
}

// revert deletes a committed shard.
func (w *twin) revert() {
	for shard, maker := range w.committed {
		if w.disputed[shard] {
			continue
		}
		v := &record{Worker: maker, Receipt: Receipt{Episodes: 1}}
		w.s.revert(w.r, shard, v)
		delete(w.committed, shard)
		delete(w.pending, shard)
		w.drop(tracker.Claim{Run: "r", Shard: shard, Audit: true})
		return
	}
}

// dispute starts a dispute about a pending audit, or settles one.
func (w *twin) dispute() {
	for shard := range w.disputed {
		w.r.audits.Settle(shard)
		delete(w.disputed, shard)
		return
	}
	for shard := range w.pending {
		w.s.leases.EndClaim(tracker.Claim{Run: "r", Shard: shard, Audit: true})
		w.r.audits.Dispute(shard)
		w.drop(tracker.Claim{Run: "r", Shard: shard, Audit: true})
		w.disputed[shard] = true
		return
	}
}

// step does one thing at random.
func (w *twin) step() {
	name := w.workers[w.g.IntN(len(w.workers))]
	op := w.g.IntN(41)
	w.steps = append(w.steps, fmt.Sprintf("%d %s", op, name))
	list := w.some(name)
	switch {
	case op < 6:
		w.publish()
	case op < 12:
		w.fetch()
	case op < 20:
		w.claim(name)
	case op < 28 && len(list) > 0:
		w.commit(name, list[0])
	case op < 30 && len(list) > 0:
		w.giveBack(name, list[0])
	case op < 34:
		w.beat(name)
	case op < 37:
		w.expire()
	case op == 37:
		w.restart(name)
	case op == 38:
		w.revert()
	case op == 39:
		w.dispute()
	case op == 40:
		w.leave(name)
	}
}
