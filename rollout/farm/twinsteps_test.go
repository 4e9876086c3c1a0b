package farm

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"moonfarm/rollout/farm/internal/tracker"
)

// serve does what term.do does after each step.
func (t *twin) serve() {
	if t.s.fresh {
		t.s.serve(t.now)
	}
}

func (t *twin) claim(name string) {
	of := t.identify(name, "p")
	t.asked[name]++
	later := func(a *answer) { t.granted(name, a) }
	if a := t.s.claim(&waiter{w: of, until: t.now.Add(5 * time.Second), answer: later}, t.now); a != nil {
		later(a)
	}
}

// commit commits one of a worker's leases, or confirms an audit.
func (t *twin) commit(name string, k tracker.Claim) {
	if k.Audit {
		if t.disputed[k.Shard] || t.pending[k.Shard] == "" {
			return
		}
		t.s.endAudit(t.r, k.Shard)
		delete(t.pending, k.Shard)
	} else if t.committed[k.Shard] == "" {
		v := &record{Worker: name, Receipt: Receipt{Episodes: 1}}
		if t.g.IntN(2) == 0 {
			v.Audit = tracker.AuditPending
			t.pending[k.Shard] = name
		}
		t.r.stragglers.Add(time.Second)
		require.True(t.t, t.r.addCommit(k.Shard, v))
		t.s.settle(t.r, k.Shard)
		t.committed[k.Shard] = name
	}
	t.drop(k)
}

func (t *twin) giveBack(name string, k tracker.Claim) {
	require.Equal(t.t, t.leases[name][k], t.s.giveBack(t.identify(name, "p"), k))
	delete(t.leases[name], k)
	t.returned[name][k] = true
}

// beat names some of a worker's leases, and a claim that it may not have.
func (t *twin) beat(name string) {
	of := t.identify(name, "p")
	list := t.some(name)
	if t.g.IntN(3) == 0 {
		list = append(list, tracker.Claim{Run: "r", Shard: t.g.IntN(t.r.Spec.Shards), Audit: t.g.IntN(2) == 0})
	}
	before := of.previous
	var want []tracker.Claim
	for _, k := range list {
		if !t.leases[name][k] && t.learns(name, k, of) {
			t.lease(name, k)
		}
		if t.leases[name][k] && !(k.Audit && t.disputed[k.Shard]) {
			t.seen[key(name, k)] = t.now
		} else {
			want = append(want, k)
		}
	}
	require.ElementsMatch(t.t, want, t.s.beat(of, list, t.now))
	for k := range t.leases[name] {
		if t.seen[key(name, k)].Before(before) {
			delete(t.leases[name], k)
		}
	}
}

// learns reports whether a claim that a beat names becomes a lease, as after the start of a new
// coordinator.
func (t *twin) learns(name string, k tracker.Claim, of *worker) bool {
	if t.returned[name][k] {
		return false
	}
	if !k.Audit {
		return t.committed[k.Shard] == "" && len(t.leases[name]) < of.allowance()
	}
	for _, of := range t.leases {
		if of[k] {
			return false
		}
	}
	return t.pending[k.Shard] != "" && !t.disputed[k.Shard] && t.pending[k.Shard] != name
}

// some returns some of a worker's leases.
func (t *twin) some(name string) (list []tracker.Claim) {
	for k := range t.leases[name] {
		if t.g.IntN(4) > 0 {
			list = append(list, k)
		}
	}
	return list
}

// expire advances the time, usually by little.
func (t *twin) expire() {
	t.now = t.now.Add(time.Duration(t.g.IntN(8)) * time.Second)
	var want []string
	for name, of := range t.leases {
		for k := range of {
			if t.now.Sub(t.seen[key(name, k)]) > 30*time.Second {
				want = append(want, key(name, k))
				delete(of, k)
			}
		}
	}
	var got []string
	for _, l := range t.s.expire(t.now) {
		got = append(got, key(l.Worker, l.Claim))
	}
	require.ElementsMatch(t.t, want, got)
	t.s.serve(t.now)
}

func (t *twin) restart(name string) {
	t.identify(name, fmt.Sprintf("p%d", t.now.UnixNano()+t.g.Int64N(1e9)))
	t.leases[name], t.asked[name] = map[tracker.Claim]bool{}, 0
}

// leave ends a worker's process. The twin's next requests come from a process with the same name:
// it is the assigner that ignores late claims.
func (t *twin) leave(name string) {
	of := t.identify(name, "p")
	t.s.leave(of, of.processes[len(of.processes)-1])
	t.leases[name], t.asked[name] = map[tracker.Claim]bool{}, 0
}

// revert deletes a committed shard.
func (t *twin) revert() {
	for shard, maker := range t.committed {
		if t.disputed[shard] {
			continue
		}
		v := &record{Worker: maker, Receipt: Receipt{Episodes: 1}}
		t.s.revert(t.r, shard, v)
		delete(t.committed, shard)
		delete(t.pending, shard)
		t.drop(tracker.Claim{Run: "r", Shard: shard, Audit: true})
		return
	}
}

// dispute starts a dispute about a pending audit, or settles one.
func (t *twin) dispute() {
	for shard := range t.disputed {
		t.r.audits.Settle(shard)
		delete(t.disputed, shard)
		return
	}
	for shard := range t.pending {
		t.s.leases.EndClaim(tracker.Claim{Run: "r", Shard: shard, Audit: true})
		t.r.audits.Dispute(shard)
		t.drop(tracker.Claim{Run: "r", Shard: shard, Audit: true})
		t.disputed[shard] = true
		return
	}
}

// step does one thing at random.
func (t *twin) step() {
	name := t.workers[t.g.IntN(len(t.workers))]
	op := 12 + t.g.IntN(29)
	t.steps = append(t.steps, fmt.Sprintf("%d %s", op, name))
	list := t.some(name)
	switch {
	case op < 20:
		t.claim(name)
	case op < 28 && len(list) > 0:
		t.commit(name, list[0])
	case op < 30 && len(list) > 0:
		t.giveBack(name, list[0])
	case op < 34:
		t.beat(name)
	case op < 37:
		t.expire()
	case op == 37:
		t.restart(name)
	case op == 38:
		t.revert()
	case op == 39:
		t.dispute()
	case op == 40:
		t.leave(name)
	}
}
