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

// twin is a plain model of a farm with one run: sets of claims and shards, and a stream that keeps
// one message for each shard. The test compares the state with these sets.
type twin struct {
	t       *testing.T
	g       *rand.Rand
	s       state
	r       *run
	now     time.Time
	workers []string

	stream    map[int]bool                      // messages by shard, and whether they are delivered
	leases    map[string]map[tracker.Claim]bool // by worker
	seen      map[string]time.Time              // worker and claim, as text
	committed map[int]string                    // maker by shard
	pending   map[int]string                    // maker by shard with a pending audit
	disputed  map[int]bool
	returned  map[string]map[tracker.Claim]bool
	asked     map[string]int // number of waiting claims by worker
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

// identify sends a request of a worker, which must be admitted.
func (t *twin) identify(name, process string) *worker {
	of, _, no := t.s.identify(name, &request{Version: testVersion, Slots: 4, Process: process}, t.now)
	require.Nil(t.t, no)
	return of
}

func key(name string, k tracker.Claim) string { return fmt.Sprint(name, k) }

// granted checks that a worker may have the claim that an answer grants, and records it.
func (t *twin) granted(name string, a *answer) {
	t.asked[name]--
	if a.Claim == nil {
		return
	}
	k := *a.Claim
	others := 0
	for _, of := range t.leases {
		if of[k] {
			others++
		}
	}
	require.False(t.t, t.leases[name][k], "%s has %v already", name, k)
	require.LessOrEqual(t.t, others, 1)
	shards := 0
	for k := range t.leases[name] {
		if !k.Audit {
			shards++
		}
	}
	require.LessOrEqual(t.t, shards, 4+3, "of 4 slots; beats may name 4 claims while 4 wait")
	if k.Audit {
		require.Contains(t.t, t.pending, k.Shard)
		require.NotEqual(t.t, name, t.pending[k.Shard], "a worker audits its own shard")
		require.False(t.t, t.disputed[k.Shard])
	} else {
		require.NotContains(t.t, t.committed, k.Shard)
		require.True(t.t, others > 0 || t.stream[k.Shard], "shard %d was not delivered", k.Shard)
	}
	t.lease(name, k)
}

func (t *twin) lease(name string, k tracker.Claim) {
	t.leases[name][k] = true
	t.seen[key(name, k)] = t.now
	delete(t.returned[name], k)
}

// drop removes the leases of a claim.
func (t *twin) drop(k tracker.Claim) {
	for _, of := range t.leases {
		delete(of, k)
	}
}

// same compares the state with the sets.
func (t *twin) same() {
	t.t.Helper()
	made := map[int]bool{}
	for name, of := range t.leases {
		require.Equal(t.t, len(of), t.s.leases.Count(name), "leases of %s", name)
		for k := range of {
			require.NotNil(t.t, t.s.leases.Of(name, k), "%s has no lease of %v", name, k)
			if !k.Audit {
				made[k.Shard] = true
			}
		}
		if at := t.s.workers[name]; at != nil {
			require.Equal(t.t, t.asked[name], at.waiting, "waiting claims of %s", name)
		}
	}
	require.Equal(t.t, len(made), t.s.leases.Held("r"))
	require.Equal(t.t, len(t.committed), t.r.commits.Made)
	require.Equal(t.t, len(t.pending), len(t.r.audits.Pending))
	require.Equal(t.t, len(t.disputed), t.r.audits.Disputes)
	ready := 0
	for shard, out := range t.stream {
		if !out {
			ready++
			continue
		}
		require.Contains(t.t, t.r.queue.Assigned, shard, "a delivered message is lost")
	}
	require.Equal(t.t, len(t.stream), t.r.queue.Published)
	require.Equal(t.t, ready, t.r.queue.Unassigned)
	require.Zero(t.t, t.s.waiting.reserved)
}

// TestTwin: after any steps the state agrees with the sets, and the run can always be completed: no
// shard and no audit is lost.
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

// finish lets workers claim and commit everything once.
func (t *twin) finish() {
	t.publish()
	for _, name := range t.workers {
		t.claim(name)
		t.fetch()
	}
	t.expire()
	for shard := range t.disputed {
		t.r.audits.Settle(shard)
		delete(t.disputed, shard)
	}
	for _, name := range slices.Clone(t.workers) {
		for _, k := range t.some(name) {
			t.commit(name, k)
		}
	}
	t.r.queue.Recount(t.count(false), t.count(true), t.r.commits.Whole())
}

func (t *twin) count(delivered bool) (n int) {
	for _, out := range t.stream {
		if out == delivered {
			n++
		}
	}
	return n
}
