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

// twin is a plain model of a farm with one run: sets of claims and shards. The test compares the
// state with these sets.
type twin struct {
	t       *testing.T
	g       *rand.Rand
	s       state
	r       *run
	now     time.Time
	workers []string

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
	w := &twin{t: t, g: rand.New(rand.NewPCG(seed, 1)), now: time.Unix(1_000_000, 0), leases: map[string]map[tracker.Claim]bool{},
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
	if len(t.s.waiting.list) > 0 {
		for shard := range t.r.Spec.Shards {
			require.True(t.t, made[shard] || t.committed[shard] != "", "a claim waits although shard %d is free", shard)
		}
	}
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
				w.serve()
				w.same()
			}
			for range 2000 {
				w.finish()
				w.serve()
				w.same()
				if w.r.completes() {
					return
				}
			}
			t.Fatalf("the run is not complete: %d of %d shards, audits %v", len(w.committed), w.r.Spec.Shards, w.pending)
		})
	}
}

// finish lets workers claim and commit everything once.
func (t *twin) finish() {
	for _, name := range t.workers {
		t.claim(name)
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
}
