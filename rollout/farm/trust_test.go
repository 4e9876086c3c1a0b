package farm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/farm/internal/tracker"
)

// trial lets a worker commit shards one after the other, with the coordinator's sampler and
// verdict. lies reports whether a shard is false. trial returns the number of the shard at which
// the worker was caught, or 0.
func trial(s *tracker.Sampler, name string, episodes float64, shards int, lies func(shard int) bool) int {
	for n := 1; n <= shards; n++ {
		if !s.Draw("run", n, name, s.Chance(uint64(n), episodes, false)) {
			continue
		}
		t := &tracker.Dispute{Shard: n, Makers: [2]string{name, "honest"}, Sums: [2]string{trueSum(1, n), trueSum(1, n)}}
		if lies != nil && lies(n) {
			t.Sums[0] = trueSum(2, n)
		}
		for _, i := range t.Wrong(trueSum(1, n)) {
			if i == 0 {
				return n
			}
		}
	}
	return 0
}

// TestFalsifiers: of a hundred workers of each kind that falsify 5 % of their episodes at least 99
// are found within 100 shards; no honest worker is accused.
func TestFalsifiers(t *testing.T) {
	g := rand.New(rand.NewPCG(1, 2))
	kinds := map[string]func(episodes int) func(int) bool{
		"a wrong order": func(e int) func(int) bool { // any episode, at random
			return func(int) bool {
				for range e {
					if g.Float64() < 0.05 {
						return true
					}
				}
				return false
			}
		},
		"a wrong reward": func(e int) func(int) bool { // every twentieth episode
			first := g.IntN(20)
			return func(shard int) bool { return (shard*e+first)%20 < min(e, 20) }
		},
		"a stale version": func(e int) func(int) bool { // a fixed set of episodes, to which the changed rule applies
			release := g.IntN(1 << 30)
			return func(shard int) bool {
				for i := range e {
					if trueSum(release, shard*e+i)[:4] < "0ccd" { // 5 % of 65,536
						return true
					}
				}
				return false
			}
		},
	}
	for _, episodes := range []int{1, 2, 8, 50} {
		for kind, make := range kinds {
			found, latest := 0, 0
			for i := range 100 {
				s := &tracker.Sampler{Secret: fmt.Appendf(nil, "%s %d %d", kind, episodes, i), Rate: 0.01}
				if n := trial(s, "liar", float64(episodes), 100, make(episodes)); n > 0 {
					found++
					latest = max(latest, n)
				}
			}
			t.Logf("shards of %d, %s: %d of 100 found, the last at shard %d", episodes, kind, found, latest)
			if found < 99 && episodes >= 2 { // with single episodes, one worker in 170 has only correct ones among its first 100
				t.Errorf("shards of %d, %s: %d of 100 found, want 99", episodes, kind, found)
			}
		}
		for i := range 100 {
			s := &tracker.Sampler{Secret: fmt.Appendf(nil, "honest %d %d", episodes, i), Rate: 0.01}
			if n := trial(s, "honest", float64(episodes), 1000, nil); n > 0 {
				t.Errorf("shards of %d: an honest worker is accused at shard %d", episodes, n)
			}
		}
	}
}

// TestChance: the share of audits falls from all to the rate.
func TestChance(t *testing.T) {
	s := &tracker.Sampler{Secret: []byte("secret"), Rate: 0.01}
	for _, c := range []struct {
		n        uint64
		episodes float64
		trusted  bool
		want     float64
	}{{1, 50, false, 1}, {8, 50, false, 1}, {16, 50, false, 0.5}, {800, 50, false, 0.01}, {1e9, 50, false, 0.01},
		{100, 1, false, 1}, {25, 8, false, 0.5}, {1, 50, true, 0.01}} {
		t.Run(fmt.Sprintf("shard %d of %v episodes, trusted %v", c.n, c.episodes, c.trusted), func(t *testing.T) {
			p := s.Chance(c.n, c.episodes, c.trusted)
			assert.LessOrEqualf(t, math.Abs(p-c.want), 1e-9, "shard %d of %v episodes, trusted %v: %v, want %v", c.n, c.episodes, c.trusted, p, c.want)
		})
	}
	assert.Zero(t, (&tracker.Sampler{}).Chance(1, 50, false), "a rate of 0: no audits, also of new workers")
	n := 0
	for i := range 100_000 {
		if s.Draw("run", i, "w", 0.01) {
			n++
		}
	}
	assert.Truef(t, n >= 850 && n <= 1150, "%d of 100,000 drawn at 1 %%", n)
}

// TestLiar: a worker that makes every third shard wrong is found; all its unconfirmed shards are
// made again, and the dataset is correct. The worker is refused from then on, also by the next
// coordinator.
func TestLiar(t *testing.T) {
	f := newFarm(t)
	s := spec(20, 400, 0)
	f.submit(s)
	stop := f.work("liar", opener(f.store, func(k *fake) { k.lie = func(shard int) bool { return shard%3 == 0 } }))
	f.until("the liar has made some", func() bool { return f.run(s.ID()).Made > 20 })
	f.work("w0", opener(f.store))
	f.work("w1", opener(f.store))
	r := f.done(s)
	st := f.status()
	require.Truef(t, len(st.Audits) != 0 && r.Audits.Failed != 0 && r.Audits.Pending == 0, "audit log %+v, run %+v", st.Audits, r)
	returned := 0
	for _, a := range st.Audits {
		assert.Truef(t, a.Worker == "liar" && a.Shard%3 == 0 && a.Sum != a.Right && a.Right == trueSum(20, a.Shard) && a.Row == fmt.Sprintf("row 0 of shard %d", a.Shard), "the audit log has %+v", a)
		returned += a.Returned
	}
	assert.Truef(t, returned != 0 && r.Reverted >= returned, "%d returned, %d made again", returned, r.Reverted)
	for _, w := range st.Workers {
		assert.Equalf(t, w.Name == "liar", w.Quarantined != "", "%s is quarantined: %q", w.Name, w.Quarantined)
	}
	err := stop()
	assert.Truef(t, errors.Is(err, errRefused) && strings.Contains(err.Error(), "quarantined"), "the liar ended with %v", err)
	o := quick(f.store)
	o.Log = f.log
	f.coordinate(f.ctx, o)
	f.first()
	f.until("the other coordinates", func() bool { return f.logs.count("msg=coordinating") == 2 })
	f.until("it answers", func() bool { _, err := f.client.Status(f.ctx); return err == nil })
	n := len(f.status().Audits)
	assert.Equalf(t, len(st.Audits), n, "the next coordinator knows %d audits, want %d", n, len(st.Audits))
	again := f.connect(ConnectOptions{URL: f.server.URL(), Name: "liar"})
	assert.ErrorIs(t, Work(f.ctx, again, WorkerOptions{Version: testVersion, Open: opener(f.store)}), errRefused, "the liar came back")
}

// TestFalseAuditor: a worker whose audits call correct shards wrong is quarantined itself.
func TestFalseAuditor(t *testing.T) {
	f := newFarm(t)
	s := spec(21, 200, 0)
	f.submit(s)
	f.work("w0", opener(f.store))
	f.until("some are made", func() bool { return f.run(s.ID()).Made > 20 })
	f.work("w1", opener(f.store))
	f.work("slanderer", opener(f.store, func(k *fake) { k.lie = func(int) bool { return true } }))
	r := f.done(s)
	for _, w := range f.status().Workers {
		assert.Equalf(t, w.Name == "slanderer", w.Quarantined != "", "%s is quarantined: %q", w.Name, w.Quarantined)
	}
	returned := 0
	for _, a := range f.status().Audits {
		returned += a.Returned
	}
	assert.Equal(t, returned, r.Reverted, "correct shards are not made again")
}

// TestAlone: with a single worker, the audits are waived once all shards are made, and counted; the
// run does not wait long.
func TestAlone(t *testing.T) {
	f := newFarm(t, func(o *CoordinatorOptions) { o.Patience = time.Hour })
	s := spec(22, 50, 0)
	f.submit(s)
	f.work("alone", opener(f.store))
	f.until("it says what it waits for", func() bool {
		r := f.run(s.ID())
		return r.State == Done || strings.Contains(r.Text, "audits wait for another worker, for 2s at most")
	})
	r := f.run(s.ID())
	assert.NotEqualf(t, Done, r.State, "it did not wait for a moment: %+v", r)
	r = f.done(s)
	assert.Truef(t, r.Audits.Waived >= 12 && r.Audits.Passed <= 0 && r.Text == "", "run %+v, want 12 or more audits waived", r)
	n := f.logs.count("audits are waived")
	assert.Equalf(t, 1, n, "%d lines, want one", n)
	// A second worker that comes meanwhile makes the audits.
	s = spec(23, 200, 0)
	f.submit(s)
	f.until("the shards are made", func() bool { return f.run(s.ID()).Made == 200 })
	f.work("second", opener(f.store))
	r = f.done(s)
	assert.Truef(t, r.Audits.Passed != 0 && r.Audits.Waived <= 0, "with a second worker: %+v", r.Audits)
}

// TestWrongReceipts: results that cannot be true are refused.
func TestWrongReceipts(t *testing.T) {
	right := request{Claim: tracker.Claim{Shard: 1}, Receipt: Receipt{Sum: trueSum(1, 1), Episodes: 8, Rows: 80, Bytes: 800}}
	for want, change := range map[string]func(q *request){
		"":                              func(*request) {},
		"a result of shard 2":           func(q *request) { q.Shard = 2 },
		"a result of shard -1":          func(q *request) { q.Shard = -1 },
		`the sum "" is not a sum`:       func(q *request) { q.Sum = "" },
		`the sum "0123456789abcd" is`:   func(q *request) { q.Sum = "0123456789abcd" },
		`the sum "00000000000000000000`: func(q *request) { q.Sum = strings.Repeat("0", 130) },
		`the sum "xxxx`:                 func(q *request) { q.Sum = strings.Repeat("x", 64) },
		"17 episodes":                   func(q *request) { q.Episodes = 17 },
		"1125899906842625 rows":         func(q *request) { q.Rows = 1<<50 + 1 },
		"and 1125899906842625 bytes":    func(q *request) { q.Bytes = 1<<50 + 1 },
	} {
		q := right
		change(&q)
		got := wrongReceipt(spec(1, 2, 0), &q)
		assert.Contains(t, got, want)
		assert.Equal(t, want == "", got == "", got)
	}
}

// asked is a bucket that reports the keys that are read, and has none of them.
type asked struct {
	jetstream.KeyValue
	keys chan string
}

func (a asked) Get(_ context.Context, key string) (jetstream.KeyValueEntry, error) {
	a.keys <- key
	return nil, jetstream.ErrKeyNotFound
}

// TestQuarantinedMeanwhile: the commit of a worker that was quarantined while its record was written is
// reverted.
func TestQuarantinedMeanwhile(t *testing.T) {
	for _, why := range []string{"", "it lied"} {
		o := quick(nil)
		keys := make(chan string, 1)
		c := &committer{term: &term{o: &o, st: &store{shards: asked{keys: keys}}, ctx: t.Context(), state: newState(&o, time.Now())}}
		r := newRun("run", &runRecord{Spec: spec(1, 3, 0), State: Running}, 1)
		r.begun, r.ctx = true, t.Context()
		w := &worker{name: "w", workerRecord: workerRecord{Quarantined: why}}
		q := &request{Claim: tracker.Claim{Run: "run", Shard: 1}, Receipt: Receipt{Sum: trueSum(1, 1), Episodes: 8}}
		c.committed(r, w, q, &record{Receipt: q.Receipt, Worker: "w"})
		c.wg.Wait()
		assert.True(t, r.commits.Has(1))
		assert.Equal(t, why != "", len(keys) == 1, "the record is looked up to be reverted")
	}
}

// TestForgotten: a worker that was silent for a day is forgotten, but not its quarantine.
func TestForgotten(t *testing.T) {
	o, now := quick(nil), time.Now()
	s := newState(&o, now)
	for name, why := range map[string]string{"honest": "", "liar": "it lied"} {
		s.workers[name] = &worker{name: name, workerRecord: workerRecord{Beat: now.Add(-25 * time.Hour), Quarantined: why}}
	}
	require.Empty(t, s.expire(now))
	assert.NotContains(t, s.workers, "honest")
	assert.Contains(t, s.workers, "liar")
}
