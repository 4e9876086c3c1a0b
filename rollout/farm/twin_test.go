package farm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"moonfarm/rollout/farm/internal/tracker"
)

// twin is a farm of one run as plainly as it can be said: sets of claims and shards, and a
// stream that keeps one message for each shard. It holds the state to these sets.
type twin struct {
	t       *testing.T
	g       *rand.Rand
	s       state
	r       *run
	now     time.Time
	workers []string

	stream    map[int]bool                      // messages by shard: whether they are delivered
	leases    map[string]map[tracker.Claim]bool // by worker
	seen      map[string]time.Time              // worker and claim, as text
	committed map[int]string                    // makers by shard
	pending   map[int]string                    // makers of shards to be audited
	disputed  map[int]bool
	returned  map[string]map[tracker.Claim]bool
	asked     map[string]int // claims that wait
	steps     []string       // for the message of a failure
}

func newTwin(t *testing.T, seed uint64, shards int) *twin {
	o := &CoordinatorOptions{Version: testVersion, Lapse: 30 * time.Second, Patience: time.Hour}
	w := &twin{t: t, g: rand.New(rand.NewPCG(seed, 1)), now: time.Unix(1_000_000, 0), stream: map[int]bool{}, leases: map[string]map[tracker.Claim]bool{},
		seen: map[string]time.Time{}, committed: map[int]string{}, pending: map[int]string{}, disputed: map[int]bool{},
		returned: map[string]map[tracker.Claim]bool{}, asked: map[string]int{}}
	w.s = newState(o, w.now)
	w.r = newRun("r", &runRecord{Spec: spec(1, shards, 0), State: Running}, 1)
	w.s.begin(w.r)
	for i := range 5 {
		name := fmt.Sprintf("w%d", i)
		w.workers = append(w.workers, name)
		w.leases[name], w.returned[name] = map[tracker.Claim]bool{}, map[tracker.Claim]bool{}
	}
	return w
}

// parcel is a message of the twin's stream.
type parcel struct {
	w     *twin
	shard int
}

func (p parcel) Ack() error        { delete(p.w.stream, p.shard); return nil }
func (p parcel) InProgress() error { return nil }
func (p parcel) Nak() error {
	if _, has := p.w.stream[p.shard]; has {
		p.w.stream[p.shard] = false
	}
	return nil
}

// identify is a request of a worker, which must be admitted.
func (w *twin) identify(name, process string) *worker {
	of, _, no := w.s.identify(name, &request{Version: testVersion, Slots: 4, Process: process}, w.now)
	require.Nil(w.t, no)
	return of
}

func key(name string, k tracker.Claim) string { return fmt.Sprint(name, k) }

// granted checks that a worker may have the claim that an answer grants, and notes it.
func (w *twin) granted(name string, a *answer) {
	w.asked[name]--
	if a.Claim == nil {
		return
	}
	k := *a.Claim
	others := 0
	for _, of := range w.leases {
		if of[k] {
			others++
		}
	}
	require.False(w.t, w.leases[name][k], "%s has %v already", name, k)
	require.LessOrEqual(w.t, others, 1)
	require.LessOrEqual(w.t, len(w.leases[name]), 4)
	if k.Audit {
		require.Contains(w.t, w.pending, k.Shard)
		require.NotEqual(w.t, name, w.pending[k.Shard], "a worker audits its own shard")
		require.False(w.t, w.disputed[k.Shard])
	} else {
		require.NotContains(w.t, w.committed, k.Shard)
		require.True(w.t, others > 0 || w.stream[k.Shard], "shard %d was not delivered", k.Shard)
	}
	w.lease(name, k)
}

func (w *twin) lease(name string, k tracker.Claim) {
	w.leases[name][k] = true
	w.seen[key(name, k)] = w.now
	delete(w.returned[name], k)
}

// drop forgets the leases of a claim.
func (w *twin) drop(k tracker.Claim) {
	for _, of := range w.leases {
		delete(of, k)
	}
}

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

// learns says whether a claim that a beat names becomes a lease, as after the start of a
// new coordinator.
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

// expire lets time pass, mostly little.
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

// dispute begins a dispute about a pending audit, or settles one.
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
	op := w.g.IntN(40)
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
	}
}

// same compares the state with the sets.
func (w *twin) same() {
	w.t.Helper()
	made := map[int]bool{}
	for name, of := range w.leases {
		require.Equal(w.t, len(of), w.s.leases.Count(name), "leases of %s", name)
		for k := range of {
			require.NotNil(w.t, w.s.leases.Of(name, k), "%s has no lease of %v", name, k)
			if !k.Audit {
				made[k.Shard] = true
			}
		}
		if at := w.s.workers[name]; at != nil {
			require.Equal(w.t, w.asked[name], at.waiting, "waiting claims of %s", name)
		}
	}
	require.Equal(w.t, len(made), w.s.leases.Held("r"))
	require.Equal(w.t, len(w.committed), w.r.commits.Made)
	require.Equal(w.t, len(w.pending), len(w.r.audits.Pending))
	require.Equal(w.t, len(w.disputed), w.r.audits.Disputes)
	ready := 0
	for shard, out := range w.stream {
		if !out {
			ready++
			continue
		}
		require.Contains(w.t, w.r.queue.Assigned, shard, "a delivered message is lost")
	}
	require.Equal(w.t, len(w.stream), w.r.queue.Published)
	require.Equal(w.t, ready, w.r.queue.Unassigned)
	require.Zero(w.t, w.s.waiting.reserved)
}

// TestTwin: after any steps the state agrees with the plain sets, and the run can always
// be completed: no shard and no audit is lost.
func TestTwin(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newTwin(t, seed, 5+int(seed))
			defer func() {
				if t.Failed() {
					t.Log(w.steps[max(0, len(w.steps)-20):])
				}
			}()
			for range 1500 {
				w.step()
				w.same()
			}
			for range 2000 {
				w.finish()
				w.same()
				if w.r.completes() {
					return
				}
			}
			t.Fatalf("the run is not complete: %d of %d shards, audits %v, stream %v", len(w.committed), w.r.Spec.Shards, w.pending, w.stream)
		})
	}
}

// finish is a round of workers that commit all they get.
func (w *twin) finish() {
	w.publish()
	for _, name := range w.workers {
		w.claim(name)
		w.fetch()
	}
	w.expire()
	for shard := range w.disputed {
		w.r.audits.Settle(shard)
		delete(w.disputed, shard)
	}
	for _, name := range slices.Clone(w.workers) {
		for _, k := range w.some(name) {
			w.commit(name, k)
		}
	}
	w.r.queue.Recount(w.count(false), w.count(true), w.r.commits.Whole())
}

func (w *twin) count(delivered bool) (n int) {
	for _, out := range w.stream {
		if out == delivered {
			n++
		}
	}
	return n
}
