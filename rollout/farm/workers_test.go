package farm

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/farm/internal/tracker"
)

// TestHog: a worker that claims everything and makes nothing delays the run only until its leases
// lapse.
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
		require.NoError(t, err)
		if a.Claim == nil {
			break
		}
		held++
	}
	require.NotEqual(t, 0, held, "the hog got nothing")
	t.Logf("the hog held %d of %d", held, shards)
	f.until("the hog is among the failures", func() bool { return f.failure("not heard of for 2s") })
	f.work("w0", opener(f.store))
	f.done(s)
}

// TestGarbage: no message on any subject causes harm, and each error is reported in one line.
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
	assert.Error(t, c.nc.Publish("x", make([]byte, maxPayload+1)), "a message above the limit was sent")
	// An answer to a subject of JetStream would be a request with the coordinator's rights.
	require.NoError(t, c.nc.PublishRequest(clientSubject+"status", "$JS.API.STREAM.PURGE.KV_moonfarm-runs", []byte("{}")))
	for range 2000 { // repetitions count as one failure
		require.NoError(t, c.nc.Publish(workerSubject+"commit.evil", []byte("{")))
	}
	f.work("w0", opener(f.store))
	f.work("w1", opener(f.store))
	f.done(s)
	if n := len(f.status().Failures); n == 0 || n > 40 {
		t.Errorf("%d failures, want some, but few: %v", n, f.status().Failures)
	}
	for _, e := range f.status().Failures {
		assert.Truef(t, len(e.Text) <= 600 && !strings.ContainsAny(e.Text, "\n\r\x00"), "a failure is not one line: %.700q", e.Text)
	}
}

// TestVersions: a worker with another version, or with another build of the run, is refused
// with one line.
func TestVersions(t *testing.T) {
	f := newFarm(t)
	stop := f.work("old", opener(f.store), func(o *WorkerOptions) { o.Version = "test-0" })
	f.until("the old version is refused", func() bool {
		return f.failure("worker old has moonfarm test-0, the farm has test-1: install the same version")
	})
	f.until("its worker ended", func() bool { return f.logs.count("") >= 0 && !f.alive("old") })
	err := stop()
	assert.Truef(t, err != nil && errors.Is(err, errRefused), "the old worker ended with %v", err)
	s := spec(8, 40, 0)
	f.submit(s)
	f.work("other", opener(f.store, func(k *fake) { k.build = "build-2" }))
	f.until("the other build is refused", func() bool { return f.failure("this machine's build is build-2, the run wants build-1") })
	f.work("right", opener(f.store))
	f.done(s)
	for _, w := range f.status().Workers {
		assert.Truef(t, w.Name == "right" || w.Shards <= 0, "%s made %d shards", w.Name, w.Shards)
	}
	_, err = f.client.Submit(f.ctx, &Spec{Name: "fake", Build: "build-3", Shards: 1, Episodes: 1, Job: []byte("{}"), Out: "x"})
	assert.ErrorContains(t, err, "the run wants build-3", "a run of another build")
}

func (f *farm) alive(name string) bool {
	for _, w := range f.status().Workers {
		if w.Name == name {
			return time.Since(w.Beat) < time.Second
		}
	}
	return false
}

// TestTwoResults: a commit may come twice; a second, different result is a dispute, which the
// coordinator decides.
func TestTwoResults(t *testing.T) {
	f := newFarm(t, func(o *CoordinatorOptions) { o.Audit = 1e-9; o.Trusted = []string{"first"} }) // only shards of new workers are audited
	s := spec(9, 50, time.Millisecond)
	f.submit(s)
	first := f.connect(ConnectOptions{URL: f.server.URL(), Name: "first"})
	second := f.connect(ConnectOptions{URL: f.server.URL(), Name: "second"})
	right := &request{Claim: tracker.Claim{Run: s.ID(), Shard: 4}, Receipt: Receipt{Sum: trueSum(9, 4), Episodes: 8, Rows: 80, Bytes: 800}}
	wrong := &request{Claim: tracker.Claim{Run: s.ID(), Shard: 4}, Receipt: Receipt{Sum: trueSum(99, 4), Episodes: 8, Rows: 80, Bytes: 800}}
	for range 3 { // as if the answer were lost
		_, err := f.raw(first, "commit", right)
		require.NoError(t, err)
	}
	require.NoError(t, f.store.put(4, trueSum(9, 4)))
	r := f.run(s.ID())
	require.Truef(t, r.Made == 1 && r.Rows == 80, "after three commits of one shard: %+v", r)
	_, err := f.raw(second, "commit", wrong)
	require.NoError(t, err)
	f.until("the second is quarantined", func() bool { return len(f.status().Audits) == 1 })
	if a := f.status().Audits[0]; a.Worker != "second" || a.Sum != wrong.Sum || a.Right != right.Sum || a.Row != "row 0 of shard 4" {
		t.Errorf("the audit log has %+v", a)
	}
	_, err = f.raw(second, "commit", right)
	assert.ErrorIs(t, err, errRefused, "a commit of the quarantined")
	// Now the record is wrong, and the second result is right.
	third := f.connect(ConnectOptions{URL: f.server.URL(), Name: "third"})
	for _, shard := range []int{5, 6} {
		_, err := f.raw(third, "commit", &request{Claim: tracker.Claim{Run: s.ID(), Shard: shard}, Receipt: Receipt{Sum: trueSum(99, shard), Episodes: 8, Rows: 80, Bytes: 800}})
		require.NoError(t, err)
	}
	f.work("first", opener(f.store)) // audits are pending: no worker confirms its own shards
	f.work("fourth", opener(f.store))
	f.done(s)
	a := f.status().Audits[0]
	if a.Worker != "third" || f.run(s.ID()).Reverted < 2 {
		t.Errorf("audit log %+v, run %+v", a, f.run(s.ID()))
	}
}
