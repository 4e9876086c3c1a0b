package farm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"moonfarm/rollout/farm/farmtest"
)

const testVersion = "test-1"

// logs collects the log of a farm.
type logs struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func newLog(l *logs) *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func (l *logs) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), text)
}

// farm is a test's farm in this process.
type farm struct {
	t      *testing.T
	ctx    context.Context
	server *Server
	store  *mapStore
	logs   *logs
	log    *slog.Logger
	client *Client
	first  context.CancelFunc // ends the first coordinator
	ended  sync.WaitGroup
}

// quick returns coordinator options for tests.
func quick(store fakeStore) CoordinatorOptions {
	return CoordinatorOptions{Version: testVersion, Open: opener(store), Audit: 0.01, Lapse: 2 * time.Second, Patience: 300 * time.Millisecond, lease: 2 * time.Second, look: 200 * time.Millisecond}
}

// newFarm starts a server and a coordinator, whose options change may change.
func newFarm(t *testing.T, change ...func(*CoordinatorOptions)) *farm {
	t.Helper()
	return newFarmIn(t, t.TempDir(), change...)
}

// newFarmIn is newFarm with the server's store in a folder.
func newFarmIn(t *testing.T, dir string, change ...func(*CoordinatorOptions)) *farm {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	f := &farm{t: t, ctx: ctx, store: newMapStore(), logs: &logs{}}
	f.log = newLog(f.logs)
	var err error
	f.server, err = Serve(ServerOptions{Dir: dir, Listen: "127.0.0.1:0", Log: f.log})
	require.NoError(t, err)
	t.Cleanup(f.server.Close)
	t.Cleanup(func() { stop(); f.ended.Wait() })
	t.Cleanup(func() {
		if t.Failed() {
			f.logs.mu.Lock()
			defer f.logs.mu.Unlock()
			t.Log(f.logs.b.String())
		}
	})
	o := quick(f.store)
	o.Log, o.Server = f.log, f.server
	for _, c := range change {
		c(&o)
	}
	leading, first := context.WithCancel(ctx)
	f.first = first
	f.coordinate(leading, o)
	f.client = NewClient(f.connect(ConnectOptions{Server: f.server, Name: "people"}))
	f.until("the coordinator answers", func() bool {
		_, err := f.client.Status(ctx)
		return err == nil
	})
	return f
}

func (f *farm) connect(o ConnectOptions) *Conn {
	f.t.Helper()
	o.Log = f.log
	if o.Server == nil && o.Credentials == "" {
		o.Credentials, o.Role = f.key(), RoleWorker
	}
	c, err := Connect(f.ctx, o)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(c.Close)
	return c
}

// key returns the name of the server's key file.
func (f *farm) key() string { return filepath.Join(f.server.dir, KeyFile) }

func (f *farm) coordinate(ctx context.Context, o CoordinatorOptions) {
	f.t.Helper()
	c := f.connect(ConnectOptions{Server: f.server, Name: "coordinator"})
	f.ended.Go(func() {
		if err := Coordinate(ctx, c, o); err != nil {
			f.t.Error(err)
		}
	})
}

// work starts a worker. stop stops it and returns its error.
func (f *farm) work(name string, open Open, change ...func(*WorkerOptions)) (stop func() error) {
	f.t.Helper()
	c := f.connect(ConnectOptions{URL: f.server.URL(), Name: name})
	o := WorkerOptions{Version: testVersion, Slots: 2, Open: open, Log: f.log}
	for _, c := range change {
		c(&o)
	}
	ctx, cancel := context.WithCancel(f.ctx)
	ended := make(chan error, 1)
	f.ended.Go(func() { ended <- Work(ctx, c, o) })
	return func() error { cancel(); return <-ended }
}

// until is farmtest.Until for the farm's test.
func (f *farm) until(what string, ok func() bool) {
	f.t.Helper()
	farmtest.Until(f.t, what, ok)
}

// beats waits for several beats of each worker, so that each has dropped the claims that are not
// needed.
func (f *farm) beats() {
	f.t.Helper()
	for range 4 {
		before := map[string]time.Time{}
		for _, w := range f.status().Workers {
			before[w.Name] = w.Beat
		}
		f.until("each worker was heard of", func() bool {
			return !slices.ContainsFunc(f.status().Workers, func(w WorkerStatus) bool { return w.Beat.Equal(before[w.Name]) })
		})
	}
}

func (f *farm) submit(s *Spec) *RunStatus {
	f.t.Helper()
	r, err := f.client.Submit(f.ctx, s)
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

func (f *farm) run(id string) *RunStatus {
	f.t.Helper()
	for _, r := range f.status().Runs {
		if r.ID == id {
			return &r
		}
	}
	f.t.Fatalf("the status has no run %s", id)
	return nil
}

func (f *farm) status() *Status {
	f.t.Helper()
	s, err := f.client.Status(f.ctx)
	if err != nil {
		f.t.Fatal(err)
	}
	return s
}

// done waits for the end of a run and checks its result.
func (f *farm) done(s *Spec) *RunStatus {
	f.t.Helper()
	f.until("the run is done", func() bool { return f.run(s.ID()).State == Done })
	f.store.mu.Lock()
	defer f.store.mu.Unlock()
	var job fakeJob
	if err := json.Unmarshal(s.Job, &job); err != nil {
		f.t.Fatal(err)
	}
	requireWhole(f.t, f.store.finished[len(f.store.finished)-1], job.Seed, s.Shards)
	r := f.run(s.ID())
	if r.Made != s.Shards || r.Played != s.Episodes {
		f.t.Fatalf("the status says %d shards and %d episodes, want %d and %d", r.Made, r.Played, s.Shards, s.Episodes)
	}
	return r
}

// TestRun: workers make a run; a second submission joins it, and a submission after its end returns
// that it is done. No goroutine is left of the farm.
func TestRun(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Cleanup(func() { // after those of the farm
		farmtest.Until(t, "its goroutines have ended", func() bool { return runtime.NumGoroutine() <= before })
	})
	f := newFarm(t)
	s := spec(1, 300, 0)
	r := f.submit(s)
	require.Truef(t, !r.Joined && r.State == Running, "submitted: %+v", r)
	r = f.submit(s)
	require.Truef(t, r.Joined, "submitted twice: %+v", r)
	for i := range 3 {
		f.work(fmt.Sprintf("w%d", i), opener(f.store))
	}
	f.done(s)
	r = f.submit(s)
	require.Truef(t, r.Joined && r.State == Done && r.Made == 300, "submitted after its end: %+v", r)
	st := f.status()
	require.Truef(t, len(st.Workers) == 3 && len(st.Failures) == 0 && len(st.Audits) == 0, "%d workers, failures %v, audits %v", len(st.Workers), st.Failures, st.Audits)
}

// freePort returns the address of a port that was free a moment ago. It is below the ports
// that systems give to outgoing connections, one of which could take it meanwhile.
func freePort(t *testing.T) string {
	t.Helper()
	for range 1000 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 15_000+rand.IntN(15_000)))
		if err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("no port is free")
	return ""
}

// TestEndOfWorker: a worker that is stopped does not finish a shard that is no longer needed.
func TestEndOfWorker(t *testing.T) {
	f := newFarm(t, func(o *CoordinatorOptions) { o.Lapse = time.Minute }) // keeps beats far apart
	s := spec(51, 1, time.Hour)
	f.submit(s)
	stop := f.work("slow", opener(f.store), func(o *WorkerOptions) { o.Grace = time.Hour })
	f.until("it has the shard", func() bool { return f.run(s.ID()).Held == 1 })
	_, err := f.client.Cancel(t.Context(), s.ID())
	require.NoError(t, err)
	begun := time.Now()
	if err := stop(); err != nil || time.Since(begun) > 5*time.Minute { // far less than the worker's grace
		t.Errorf("the worker ended with %v after %v", err, time.Since(begun))
	}
}

// failure reports whether the status has a failure with the text.
func (f *farm) failure(text string) bool {
	for _, e := range f.status().Failures {
		if strings.Contains(e.Text, text) {
			return true
		}
	}
	return false
}

// raw sends a request as a worker would.
func (f *farm) raw(c *Conn, action string, q *request) (*answer, error) {
	if q.Version == "" {
		q.Version = testVersion
	}
	return c.ask(f.ctx, workerSubject+action+"."+c.name, q, time.Minute)
}

// say sends a request as a process of a worker with two slots would, and returns the answer.
func (f *farm) say(c *Conn, process, action string, q *request) *answer {
	f.t.Helper()
	q.Process, q.Slots = process, 2
	a, err := f.raw(c, action, q)
	require.NoError(f.t, err)
	return a
}
