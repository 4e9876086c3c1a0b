package farm

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCancel: a cancelled run stops, and a retry continues it.
func TestCancel(t *testing.T) {
	f := newFarm(t)
	var made atomic.Int64
	count := func(k *fake) { k.made = &made }
	s := spec(3, 200, 10*time.Millisecond)
	f.submit(s)
	f.work("w0", opener(f.store, count))
	f.work("w1", opener(f.store, count))
	f.until("some are made", func() bool { return f.run(s.ID()).Made > 20 })
	r, err := f.client.Cancel(f.ctx, s.ID())
	require.NoErrorf(t, err, "cancel: %+v", r)
	require.Equalf(t, Cancelled, r.State, "cancel: %+v", r)
	f.until("no worker has a shard", func() bool {
		for _, w := range f.status().Workers {
			if w.Held > 0 {
				return false
			}
		}
		return true
	})
	f.beats() // the workers have dropped the shards
	before := made.Load()
	f.beats()
	n := made.Load()
	assert.Equalf(t, before, n, "%d shards were made after the end", n-before)
	r, err = f.client.Retry(f.ctx, s.ID())
	require.NoErrorf(t, err, "retry: %+v", r)
	require.Truef(t, r.State == Running && r.Made >= 20, "retry: %+v", r)
	f.done(s)
	n = made.Load()
	assert.LessOrEqualf(t, n, int64(200+10), "%d shards were made, want 200 and the ones in progress", n)
	for _, id := range []string{"", "nothing", s.ID() + "x"} {
		_, err = f.client.Cancel(f.ctx, id)
		assert.ErrorContainsf(t, err, "no run", "cancel of %q", id)
	}
	if r, err := f.client.Retry(f.ctx, s.ID()); err != nil || r.State != Running || r.Made != 0 {
		t.Fatalf("retry of a done run: %+v, %v", r, err)
	}
	f.done(s)
}

// TestWhole: a run that is new or was cancelled makes no shard if its dataset is complete.
func TestWhole(t *testing.T) {
	var whole atomic.Pointer[Receipt]
	f := newFarm(t, func(o *CoordinatorOptions) {
		o.Open = opener(newMapStore(), func(k *fake) { k.whole = whole.Load() })
	})
	cancelled := spec(51, 30, time.Hour)
	f.submit(cancelled)
	_, err := f.client.Cancel(f.ctx, cancelled.ID())
	require.NoError(t, err)
	whole.Store(&Receipt{Episodes: 240, Rows: 2400, Bytes: 9})
	for _, s := range []*Spec{cancelled, spec(52, 30, time.Hour)} {
		for range 2 {
			r := f.submit(s)
			if r.State != Done || !r.Joined || r.Made != 30 || r.Rows != 2400 || r.Played != 240 || r.Bytes != 9 || r.Ended.IsZero() {
				t.Errorf("submitted: %+v", r)
			}
		}
		r := f.run(s.ID())
		assert.Truef(t, r.State == Done && r.Made == 30, "the status has %+v", r)
	}
	if n := len(f.status().Failures); n > 0 {
		t.Errorf("failures %v", f.status().Failures)
	}
}

// TestStop: a stopped worker gives back the shards that it cannot finish; they go to others before
// its leases would lapse.
func TestStop(t *testing.T) {
	f := newFarm(t, func(o *CoordinatorOptions) { o.Lapse = 10 * time.Minute })
	s := spec(10, 10, 0)
	slow := func(k *fake) { k.job.Delay = time.Hour }
	f.submit(s)
	stop := f.work("slow", opener(f.store, slow), func(o *WorkerOptions) { o.Grace = 50 * time.Millisecond })
	f.until("the slow one has two", func() bool { return f.run(s.ID()).Held == 2 })
	require.NoError(t, stop())
	f.until("it gave them back", func() bool { return f.run(s.ID()).Held == 0 })
	f.work("w0", opener(f.store))
	f.until("the shards are made", func() bool { return f.run(s.ID()).Made == 10 })
}

// TestStopWaiting: a worker that is stopped while its claims wait gets no shard for them.
func TestStopWaiting(t *testing.T) {
	f := newFarm(t, func(o *CoordinatorOptions) { o.Lapse = 10 * time.Minute })
	stop := f.work("early", opener(f.store))
	f.until("it is known", func() bool { return len(f.status().Workers) == 1 })
	time.Sleep(200 * time.Millisecond) // its claims wait for 5 s
	require.NoError(t, stop())
	s := spec(73, 10, 0)
	f.submit(s)
	time.Sleep(500 * time.Millisecond) // waiting claims would be answered meanwhile
	assert.Equal(t, 0, f.run(s.ID()).Held)
	f.work("w0", opener(f.store))
	f.until("the shards are made", func() bool { return f.run(s.ID()).Made == 10 })
}

// TestLastBeat: a process that has ended holds no shard and gets none, even if the answer to its
// claim is lost or the claim comes late. A late last beat of an older process changes nothing.
func TestLastBeat(t *testing.T) {
	f := newFarm(t, func(o *CoordinatorOptions) { o.Lapse = 10 * time.Minute })
	s := spec(74, 10, time.Hour)
	f.submit(s)
	c := f.connect(ConnectOptions{URL: f.server.URL(), Name: "w"})
	say := func(process, action string, q *request) *answer { return f.say(c, process, action, q) }
	for range 2 {
		require.NotNil(t, say("first", "claim", &request{Wait: 4000}).Claim)
	}
	require.Equal(t, 2, f.run(s.ID()).Held)
	say("first", "beat", &request{Ended: true})
	require.Equal(t, 0, f.run(s.ID()).Held, "after the last beat")
	require.Nil(t, say("first", "claim", &request{Wait: 4000}).Claim, "a late claim")
	require.NotNil(t, say("second", "claim", &request{Wait: 4000}).Claim, "the next process")
	say("first", "beat", &request{Ended: true})
	require.Equal(t, 1, f.run(s.ID()).Held, "after a late last beat of the older process")
	w := f.status().Workers[0]
	require.Zero(t, w.Lapsed, "a process that says that it ends loses no trust")
}

// TestStragglers: the shards of a slow worker are given to another worker at the end of the
// run, and are committed once.
func TestStragglers(t *testing.T) {
	f := newFarm(t, func(o *CoordinatorOptions) {
		o.Lapse = 10 * time.Minute
		o.Audit = 0
		o.Trusted = []string{"slow", "quick"}
	})
	s := spec(11, 60, 10*time.Millisecond)
	f.submit(s)
	f.work("slow", opener(f.store, func(k *fake) { k.slower = 100_000 }), func(o *WorkerOptions) { o.Grace = time.Millisecond })
	f.until("the slow one has two", func() bool { return f.run(s.ID()).Held == 2 })
	f.work("quick", opener(f.store))
	r := f.done(s)
	assert.Equalf(t, 2, r.Duplicates, "%d given a second time, want 2", r.Duplicates)
}
