package farm

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/farm/internal/tracker"
)

// TestBounds: names in a spec, and versions and hosts of workers, are short and printable; other
// specs are refused, and texts of workers are cut.
func TestBounds(t *testing.T) {
	long := strings.Repeat("x", maxText+1)
	for what, change := range map[string]func(s *Spec){
		"no name": func(s *Spec) { s.Name = "" }, "a long name": func(s *Spec) { s.Name = strings.Repeat("n", 65) },
		"a name with a line break": func(s *Spec) { s.Name = "a\nb" }, "a name with markup": func(s *Spec) { s.Name = "<b>" },
		"a long build": func(s *Spec) { s.Build = long }, "a build with an escape": func(s *Spec) { s.Build = "\x1b[2J" },
		"a long output": func(s *Spec) { s.Out = "/" + long }, "an output that turns text round": func(s *Spec) { s.Out = "/a\u202eb" },
		"an output that is not UTF-8": func(s *Spec) { s.Out = "/a\xff" },
	} {
		t.Run(what, func(t *testing.T) {
			s := spec(70, 2, 0)
			require.NoError(t, s.check())
			change(s)
			err := s.check()
			assert.Truef(t, err != nil && len(err.Error()) <= 500 && !strings.ContainsFunc(err.Error(), unicode.IsControl), "%s: %.600v, want a short error", what, err)
		})
	}
	f := newFarm(t)
	c := f.connect(ConnectOptions{URL: f.server.URL(), Name: "w1"})
	host := "\x1b[31m\u202e" + strings.Repeat("h\n", 1<<18)
	_, err := f.raw(c, "beat", &request{Host: host, Error: host, Claims: []tracker.Claim{{Run: strings.Repeat("r", 1<<20)}}})
	require.NoError(t, err)
	w := f.status().Workers[0]
	for _, text := range []string{w.Host, w.Trouble} {
		assert.Truef(t, len([]rune(text)) <= 510 && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }), "the status has %.600q", text)
	}
	assert.LessOrEqualf(t, len([]rune(w.Host)), maxLabel+1, "the host has %d characters, want %d at most", len([]rune(w.Host)), maxLabel)
}

// TestQuickRestart: a killed worker's leases end as soon as its next process sends a request, and
// the shards go to others at once. The log has a warning, not an error.
func TestQuickRestart(t *testing.T) {
	f := newFarm(t, func(o *CoordinatorOptions) { o.Lapse = 10 * time.Minute })
	s := spec(71, 4, time.Hour)
	f.submit(s)
	c := f.connect(ConnectOptions{URL: f.server.URL(), Name: "w1"})
	say := func(process, action string, q *request) *answer { return f.say(c, process, action, q) }
	held := map[tracker.Claim]bool{}
	for range 2 {
		a := say("first", "claim", &request{Wait: 4000})
		require.NotNil(t, a.Claim, "no claim")
		held[*a.Claim] = true
	}
	w := f.status().Workers[0]
	require.Truef(t, w.Held == 2 && w.Lapsed == 0, "the worker holds %d, %d lapsed", w.Held, w.Lapsed)
	say("second", "beat", &request{})
	w = f.status().Workers[0]
	assert.Truef(t, w.Held == 0 && w.Lapsed == 2, "after the restart the worker holds %d, %d lapsed; want 0 and 2", w.Held, w.Lapsed)
	other := f.connect(ConnectOptions{URL: f.server.URL(), Name: "w2"})
	got := 0
	for range 4 {
		if a, err := f.raw(other, "claim", &request{Slots: 4, Wait: 4000}); err == nil && a.Claim != nil && held[*a.Claim] {
			got++
		}
	}
	assert.Equalf(t, 2, got, "another worker got %d of the two shards", got)
	say("first", "beat", &request{}) // a late message
	w = f.status().Workers[0]
	assert.Equalf(t, uint64(2), w.Lapsed, "%d lapsed, want 2", w.Lapsed)
	assert.True(t, f.logs.count("the worker has restarted: shards that go to others: 2") == 1 && f.logs.count("level=ERROR") <= 0, "the log has no warning, or an error")
}

// TestHarmlessKill: the end of a worker that loses no results is not logged as an error.
func TestHarmlessKill(t *testing.T) {
	f := newFarm(t)
	s := spec(72, 4, time.Hour)
	f.submit(s)
	c := f.connect(ConnectOptions{URL: f.server.URL(), Name: "killed"})
	a, err := f.raw(c, "claim", &request{Slots: 1, Wait: 4000})
	require.NoErrorf(t, err, "claim: %+v", a)
	require.NotNilf(t, a.Claim, "claim: %+v", a)
	c.Close()
	o := quick(f.store)
	o.Replicas = 1
	st, err := openStore(f.ctx, f.connect(ConnectOptions{Server: f.server, Name: "reader"}), &o)
	require.NoError(t, err)
	f.until("its claim has lapsed", func() bool { return f.status().Workers[0].Lapsed == 1 })
	(&serverLog{f.server}).Warnf("Filestore [%s] was not closed", "x") // as after a kill of the server
	(&serverLog{f.server}).Errorf("127.0.0.1:1234 - cid:5 - TLS handshake error: read tcp 127.0.0.1:1->127.0.0.1:2: read: connection reset by peer")
	n := f.logs.count("level=ERROR")
	assert.LessOrEqualf(t, n, 0, "%d errors in the log", n)
	f.until("the lapsed claim is written", func() bool {
		v := new(workerRecord)
		_, err := read(f.ctx, st.workers, "killed", v)
		return err == nil && v.Lapsed == 1
	})
	n = f.logs.count("level=WARN")
	assert.Equalf(t, 2, n, "%d warnings in the log, want that of the worker and that of the server", n)
}

// TestNothingDue: an ended run and its workers have no pending audits, and the audits of a
// continued run become pending again.
func TestNothingDue(t *testing.T) {
	f := newFarm(t, func(o *CoordinatorOptions) { o.Patience = time.Hour; o.Lapse = time.Hour })
	s := spec(73, 3000, 5*time.Millisecond)
	f.submit(s)
	f.work("alone", opener(f.store))
	f.until("audits are due", func() bool { return f.run(s.ID()).Audits.Pending > 3 && f.status().Workers[0].Audits.Pending > 3 })
	_, err := f.client.Cancel(f.ctx, s.ID())
	require.NoError(t, err)
	st := f.status()
	assert.Truef(t, st.Runs[0].Audits.Pending == 0 && st.Workers[0].Audits.Pending == 0, "after the end %d and %d audits are due", st.Runs[0].Audits.Pending, st.Workers[0].Audits.Pending)
	_, err = f.client.Retry(f.ctx, s.ID())
	require.NoError(t, err)
	st = f.status()
	assert.Truef(t, st.Runs[0].Audits.Pending != 0 && st.Workers[0].Audits.Pending == st.Runs[0].Audits.Pending, "of the run that goes on %d and %d audits are due", st.Runs[0].Audits.Pending, st.Workers[0].Audits.Pending)
}
