package farm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"moonfarm/rollout/farm/internal/tracker"
	"moonfarm/rollout/shard"
)

// failure reports whether the status has a failure with the text.
func (f *farm) failure(text string) bool {
	for _, e := range f.status().Failures {
		if strings.Contains(e.Text, text) {
			return true
		}
	}
	return false
}

// raw asks as a worker would.
func (f *farm) raw(c *Conn, action string, q *request) (*answer, error) {
	if q.Version == "" {
		q.Version = testVersion
	}
	return c.ask(f.ctx, workerSubject+action+"."+c.name, q, 5*time.Second)
}

// TestStoreFull: while the store is full each worker says so in one line, and
// goes on by itself.
func TestStoreFull(t *testing.T) {
	f := newFarm(t)
	f.store.full.Store(true)
	s := spec(2, 60, 0)
	f.submit(s)
	f.work("w0", opener(f.store))
	f.work("w1", opener(f.store))
	f.until("both say that the store is full", func() bool {
		n := 0
		for _, w := range f.status().Workers {
			if strings.Contains(w.Trouble, "store is full") {
				n++
			}
		}
		return n == 2
	})
	time.Sleep(3 * time.Second) // some tries more
	f.store.full.Store(false)
	f.done(s)
	for _, w := range []string{"w0", "w1"} {
		if n := f.logs.count(`level=WARN msg="store is full" worker=` + w); n != 1 {
			t.Errorf("%s logged %d lines, want 1", w, n)
		}
	}
	if n := len(f.status().Failures); n != 2 {
		t.Errorf("%d failures, want one of each worker: %v", n, f.status().Failures)
	}
	f.until("no trouble is left", func() bool {
		for _, w := range f.status().Workers {
			if w.Trouble != "" {
				return false
			}
		}
		return true
	})
}

// TestCancel: a cancelled run stops, and goes on from where it was.
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
	if err != nil || r.State != Cancelled {
		t.Fatalf("cancel: %+v, %v", r, err)
	}
	f.until("the workers have let go", func() bool {
		for _, w := range f.status().Workers {
			if w.Held > 0 {
				return false
			}
		}
		return true
	})
	time.Sleep(100 * time.Millisecond)
	before := made.Load()
	time.Sleep(300 * time.Millisecond)
	if n := made.Load(); n != before {
		t.Errorf("%d shards were made after the end", n-before)
	}
	if r, err = f.client.Retry(f.ctx, s.ID()); err != nil || r.State != Running || r.Made < 20 {
		t.Fatalf("retry: %+v, %v", r, err)
	}
	f.done(s)
	if n := made.Load(); n > 200+10 {
		t.Errorf("%d shards were made, want 200 and what was in hand", n)
	}
	for _, id := range []string{"", "nothing", s.ID() + "x"} {
		if _, err := f.client.Cancel(f.ctx, id); err == nil || !strings.Contains(err.Error(), "no run") {
			t.Errorf("cancel of %q: %v", id, err)
		}
	}
	if r, err := f.client.Retry(f.ctx, s.ID()); err != nil || r.State != Running || r.Made != 0 {
		t.Fatalf("retry of a done run: %+v, %v", r, err)
	}
	f.done(s)
}

// TestWhole: a run that nobody knows, or that was cancelled, makes nothing if its dataset is
// complete.
func TestWhole(t *testing.T) {
	var whole atomic.Pointer[Receipt]
	f := newFarm(t, func(o *CoordinatorOptions) {
		o.Open = opener(newMapStore(), func(k *fake) { k.whole = whole.Load() })
	})
	cancelled := spec(51, 30, time.Hour)
	f.submit(cancelled)
	if _, err := f.client.Cancel(f.ctx, cancelled.ID()); err != nil {
		t.Fatal(err)
	}
	whole.Store(&Receipt{Episodes: 240, Rows: 2400, Bytes: 9})
	for _, s := range []*Spec{cancelled, spec(52, 30, time.Hour)} {
		for range 2 {
			r := f.submit(s)
			if r.State != Done || !r.Joined || r.Made != 30 || r.Rows != 2400 || r.Played != 240 || r.Bytes != 9 || r.Ended.IsZero() {
				t.Errorf("submitted: %+v", r)
			}
		}
		if r := f.run(s.ID()); r.State != Done || r.Made != 30 {
			t.Errorf("the status has %+v", r)
		}
	}
	if n := len(f.status().Failures); n > 0 {
		t.Errorf("failures %v", f.status().Failures)
	}
}

// TestPermanentFailure: a permanent failure fails the run, with its text.
func TestPermanentFailure(t *testing.T) {
	f := newFarm(t)
	bad := func(k *fake) {
		k.fail = func(number int) error {
			if number == 7 {
				return &shard.PermanentError{Err: errors.New("the policy has no move")}
			}
			return nil
		}
	}
	s := spec(4, 20, 0)
	f.submit(s)
	f.work("w0", opener(f.store, bad))
	f.work("w1", opener(f.store, bad))
	f.until("the run failed", func() bool { return f.run(s.ID()).State == Failed })
	if r := f.run(s.ID()); !strings.Contains(r.Text, "shard 7: ") || !strings.Contains(r.Text, "no move") {
		t.Errorf("the run failed with %q", r.Text)
	}
}

// TestBroken: a shard whose file is missing at the end is made again.
func TestBroken(t *testing.T) {
	var lost atomic.Bool
	f := newFarm(t, func(o *CoordinatorOptions) {
		open := o.Open
		o.Open = func(ctx context.Context, s *Spec, n int) (Shards, error) {
			k, err := open(ctx, s, n)
			if err == nil {
				m := k.(*fake).store.(*mapStore)
				k.(*fake).store = &losing{m, &lost}
			}
			return k, err
		}
	})
	s := spec(5, 30, 0)
	f.submit(s)
	f.work("w0", opener(f.store))
	f.done(s)
	if r := f.run(s.ID()); r.Reverted != 1 || !f.failure("shard 3: its file is missing") {
		t.Errorf("%d made again, failures %v", r.Reverted, f.status().Failures)
	}
}

// losing loses shard 3 once, at the first look.
type losing struct {
	*mapStore
	lost *atomic.Bool
}

func (l *losing) has(shard int, sum string) bool {
	if shard == 3 && l.lost.CompareAndSwap(false, true) {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.parts, fmt.Sprintf("%d-%s", shard, sum))
		return false
	}
	return l.mapStore.has(shard, sum)
}

// TestHog: a worker that claims everything and does nothing holds the run up for the
// time of a few claims only.
func TestHog(t *testing.T) {
	f := newFarm(t)
	const shards = 40 // few, so that a slow machine claims all before the first claim lapses
	s := spec(6, shards, time.Millisecond)
	f.submit(s)
	hog := f.connect(ConnectOptions{URL: f.server.URL(), Name: "hog"})
	held := 0
	for held < shards {
		q := &request{Version: testVersion, Slots: 1 << 30, Wait: 10}
		a, err := hog.ask(f.ctx, workerSubject+"claim."+hog.name, q, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if a.Claim == nil {
			break
		}
		held++
	}
	if held == 0 {
		t.Fatal("the hog got nothing")
	}
	t.Logf("the hog held %d of %d", held, shards)
	f.until("the hog is told of", func() bool { return f.failure("not heard of for 2s") })
	f.work("w0", opener(f.store))
	f.done(s)
}

// TestGarbage: no message on any subject harms, and an error is told in one line.
func TestGarbage(t *testing.T) {
	f := newFarm(t)
	s := spec(7, 200, 5*time.Millisecond)
	f.submit(s)
	c := f.connect(ConnectOptions{Server: f.server, Name: "evil"}) // with all rights
	subjects := []string{"w.claim.evil", "w.beat.evil", "w.commit.evil", "w.back.evil", "w.spec.evil", "w.claim.a b", "submit", "cancel", "retry", "status"}
	bodies := [][]byte{
		nil, []byte("{"), []byte("null"), []byte("[1]"), {0, 255, 1}, []byte(`{"shard": -1}`), []byte(`{"shard": 1e99}`),
		[]byte(`{"run": "` + s.ID() + `", "shard": 9999999, "sum": "00112233445566778899"}`),
		[]byte(`{"run": "` + s.ID() + `", "shard": -5, "audit": true, "sum": "zz"}`),
		[]byte(`{"run": "` + s.ID() + `", "shard": 2, "sum": "00112233445566778899", "rows": 18446744073709551615}`),
		[]byte(`{"claims": [{"run": "` + s.ID() + `", "shard": -7}, {"run": "x"}, {"run": "` + s.ID() + `", "shard": 7, "audit": true}]}`),
		[]byte(`{"spec": {"name": "x", "build": "build-1", "shards": 1000000000000, "episodes": 1000000000000, "job": {}, "out": "x"}}`), []byte(`{"spec": {"name": "x", "build": "other", "shards": 1, "episodes": 1, "job": {}, "out": "x"}}`),
		bytes.Repeat([]byte("x"), maxPayload-100), []byte(`{"host": "` + strings.Repeat("\\n", 1<<20) + `"}`),
	}
	for _, subject := range subjects {
		for _, body := range bodies {
			if m, err := c.nc.Request(clientSubject+strings.ReplaceAll(subject, " ", "_"), body, 5*time.Second); err == nil && len(m.Data) == 0 {
				t.Errorf("%s %.60q: an empty answer", subject, body)
			}
		}
	}
	if err := c.nc.Publish("x", make([]byte, maxPayload+1)); err == nil {
		t.Error("a message above the limit was sent")
	}
	// An answer to a subject of JetStream would be the coordinator's own word there.
	if err := c.nc.PublishRequest(clientSubject+"status", "$JS.API.STREAM.PURGE.KV_moonfarm-runs", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	for range 2000 { // a flood is one failure
		if err := c.nc.Publish(workerSubject+"commit.evil", []byte("{")); err != nil {
			t.Fatal(err)
		}
	}
	f.work("w0", opener(f.store))
	f.work("w1", opener(f.store))
	f.done(s)
	if n := len(f.status().Failures); n == 0 || n > 40 {
		t.Errorf("%d failures, want some, but few: %v", n, f.status().Failures)
	}
	for _, e := range f.status().Failures {
		if len(e.Text) > 600 || strings.ContainsAny(e.Text, "\n\r\x00") {
			t.Errorf("a failure is no line: %.700q", e.Text)
		}
	}
}

// TestVersions: a worker of another version, or whose build of the run is
// another, is refused with one line.
func TestVersions(t *testing.T) {
	f := newFarm(t)
	stop := f.work("old", opener(f.store), func(o *WorkerOptions) { o.Version = "test-0" })
	f.until("the old version is refused", func() bool {
		return f.failure("worker old has moonfarm test-0, the farm has test-1: install the same version")
	})
	f.until("its worker ended", func() bool { return f.logs.count("") >= 0 && !f.alive("old") })
	if err := stop(); err == nil || !errors.Is(err, errRefused) {
		t.Errorf("the old worker ended with %v", err)
	}
	s := spec(8, 40, 0)
	f.submit(s)
	f.work("other", opener(f.store, func(k *fake) { k.build = "build-2" }))
	f.until("the other build is refused", func() bool { return f.failure("this machine's build is build-2, the run wants build-1") })
	f.work("right", opener(f.store))
	f.done(s)
	for _, w := range f.status().Workers {
		if w.Name != "right" && w.Shards > 0 {
			t.Errorf("%s made %d shards", w.Name, w.Shards)
		}
	}
	if _, err := f.client.Submit(f.ctx, &Spec{Name: "fake", Build: "build-3", Shards: 1, Episodes: 1, Job: []byte("{}"), Out: "x"}); err == nil || !strings.Contains(err.Error(), "the run wants build-3") {
		t.Errorf("a run of another build: %v", err)
	}
}

func (f *farm) alive(name string) bool {
	for _, w := range f.status().Workers {
		if w.Name == name {
			return time.Since(w.Beat) < time.Second
		}
	}
	return false
}

// TestTwoResults: a commit may come twice; a second result is an alarm, and the
// coordinator decides.
func TestTwoResults(t *testing.T) {
	f := newFarm(t, func(o *CoordinatorOptions) { o.Audit = -1; o.Trusted = []string{"first"} })
	s := spec(9, 50, time.Millisecond)
	f.submit(s)
	first := f.connect(ConnectOptions{URL: f.server.URL(), Name: "first"})
	second := f.connect(ConnectOptions{URL: f.server.URL(), Name: "second"})
	right := &request{Claim: tracker.Claim{Run: s.ID(), Shard: 4}, Receipt: Receipt{Sum: trueSum(9, 4), Episodes: 8, Rows: 80, Bytes: 800}}
	wrong := &request{Claim: tracker.Claim{Run: s.ID(), Shard: 4}, Receipt: Receipt{Sum: trueSum(99, 4), Episodes: 8, Rows: 80, Bytes: 800}}
	for range 3 { // as if the answer had been lost
		if _, err := f.raw(first, "commit", right); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.store.put(4, trueSum(9, 4)); err != nil {
		t.Fatal(err)
	}
	if r := f.run(s.ID()); r.Made != 1 || r.Rows != 80 {
		t.Fatalf("after three commits of one shard: %+v", r)
	}
	if _, err := f.raw(second, "commit", wrong); err != nil {
		t.Fatal(err)
	}
	f.until("the second is quarantined", func() bool { return len(f.status().Audits) == 1 })
	if a := f.status().Audits[0]; a.Worker != "second" || a.Sum != wrong.Sum || a.Right != right.Sum || a.Row != "row 0 of shard 4" {
		t.Errorf("the audit log has %+v", a)
	}
	if _, err := f.raw(second, "commit", right); !errors.Is(err, errRefused) {
		t.Errorf("a commit of the quarantined: %v", err)
	}
	// The other way round: the record is wrong.
	third := f.connect(ConnectOptions{URL: f.server.URL(), Name: "third"})
	for _, shard := range []int{5, 6} {
		if _, err := f.raw(third, "commit", &request{Claim: tracker.Claim{Run: s.ID(), Shard: shard}, Receipt: Receipt{Sum: trueSum(99, shard), Episodes: 8, Rows: 80, Bytes: 800}}); err != nil {
			t.Fatal(err)
		}
	}
	f.work("first", opener(f.store)) // audits are due; no worker confirms its shards
	f.work("fourth", opener(f.store))
	f.done(s)
	a := f.status().Audits[0]
	if a.Worker != "third" || f.run(s.ID()).Reverted < 2 {
		t.Errorf("audit log %+v, run %+v", a, f.run(s.ID()))
	}
}

// TestStop: a worker that is stopped hands back the shards that it cannot finish; nobody
// waits until its leases lapse.
func TestStop(t *testing.T) {
	f := newFarm(t, func(o *CoordinatorOptions) { o.Lapse = 10 * time.Minute })
	s := spec(10, 10, 0)
	slow := func(k *fake) { k.job.Delay = time.Hour }
	f.submit(s)
	stop := f.work("slow", opener(f.store, slow), func(o *WorkerOptions) { o.Grace = 50 * time.Millisecond })
	f.until("the slow one has two", func() bool { return f.run(s.ID()).Held == 2 })
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	f.until("it gave them back", func() bool { return f.run(s.ID()).Held == 0 })
	f.work("w0", opener(f.store))
	f.until("the shards are made", func() bool { return f.run(s.ID()).Made == 10 })
}

// TestStragglers: the shards of a slow worker are given to another at the end, and
// are committed once.
func TestStragglers(t *testing.T) {
	f := newFarm(t, func(o *CoordinatorOptions) {
		o.Lapse = 10 * time.Minute
		o.Audit = -1
		o.Trusted = []string{"slow", "quick"}
	})
	s := spec(11, 60, 10*time.Millisecond)
	f.submit(s)
	f.work("slow", opener(f.store, func(k *fake) { k.slower = 100_000 }), func(o *WorkerOptions) { o.Grace = time.Millisecond })
	f.until("the slow one has two", func() bool { return f.run(s.ID()).Held == 2 })
	f.work("quick", opener(f.store))
	if r := f.done(s); r.Duplicates != 2 {
		t.Errorf("%d given a second time, want 2", r.Duplicates)
	}
}
