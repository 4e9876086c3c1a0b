package farm

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// term is the time for which one coordinator has the lease: its connections, and the state in
// memory. The parts of a coordinator (assigner, committer, auditor, runs, feeders, upkeep) share
// it. Some parts have locks of their own, whose comments give the reason.
type term struct {
	o      *CoordinatorOptions
	conn   *Conn
	st     *store
	log    *slog.Logger
	events *eventLog
	ctx    context.Context // done when the lease is lost
	wg     sync.WaitGroup  // goroutines of the term

	mu    sync.Mutex
	state state // only do uses it
}

// do runs one step on the state. Steps are short: they read and write memory, answer waiting claims
// and start goroutines, and never wait for the store. If a step needs a record, the caller reads
// the record first, and the step checks that the state is unchanged. If a step puts shards into a
// queue, the waiting claims get them at once.
func (t *term) do(step func(s *state)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	step(&t.state)
	if t.state.fresh {
		t.state.serve(time.Now())
	}
}

// asked runs a step for a request of a worker, as do does. A worker that may get no work is
// answered without running the step.
func (t *term) asked(name string, q *request, step func(s *state, w *worker) *answer) *answer {
	var a *answer
	lost := 0
	t.do(func(s *state) {
		var w *worker
		if w, lost, a = s.identify(name, q, time.Now()); a == nil {
			a = step(s, w)
		}
	})
	if lost > 0 {
		text := fmt.Sprintf("the worker has restarted: shards that go to others: %d", lost)
		t.events.add(&Failure{Worker: name, Text: text, kind: kindOf(text)}, t.log.Warn)
	}
	if a != nil && a.Refused {
		t.events.fail("", name, a.Error)
	}
	return a
}

// trusts reports whether a worker belongs to this process.
func (t *term) trusts(worker string) bool { return slices.Contains(t.o.Trusted, worker) }

// noRun returns the answer about a run that does not exist.
func noRun(id string) *answer { return &answer{Error: "no run " + line(id)} }

// open returns the run's Shards in this process.
func (t *term) open(ctx context.Context, r *run) (Shards, error) {
	return r.shards.get(func() (Shards, error) { return t.o.Open(ctx, r.Spec, 1) })
}

// unwritten returns the answer for a change that cannot be recorded. It adds the error to the
// event log unless its reason is known.
func (t *term) unwritten(r *run, worker, what string, err error) *answer {
	switch trouble := t.o.Server.trouble(); {
	case trouble != "":
		return &answer{Error: trouble}
	case r.ctx.Err() != nil:
		return &answer{Error: what + ": the coordinator restarts", Retry: true}
	}
	t.events.fail(r.id, worker, what+": "+err.Error())
	return &answer{Error: what + ": " + err.Error()}
}

// readRecord reads the record of a shard; revision 0 means that there is no record.
func (t *term) readRecord(r *run, shard int) (v *record, revision uint64, err error) {
	v = new(record)
	revision, err = read(r.ctx, t.st.shards, shardKey(r.id, shard), v)
	return v, revision, err
}

// writeRecord writes the record of a shard, and reports false if the record has another
// revision by now; revision 0 means that there is no record.
func (t *term) writeRecord(r *run, shard int, v *record, revision uint64) (bool, error) {
	_, ok, err := write(r.ctx, t.st.shards, shardKey(r.id, shard), v, revision)
	return ok, err
}

// deleteRecord deletes the record of a shard.
func (t *term) deleteRecord(r *run, shard int, revision uint64) error {
	return t.st.shards.Delete(r.ctx, shardKey(r.id, shard), jetstream.LastRevision(revision))
}

// saveWorker writes the record of a worker. It keeps a quarantine that is in the store.
func (t *term) saveWorker(ctx context.Context, name string, v *workerRecord) error {
	was := new(workerRecord)
	revision, err := read(ctx, t.st.workers, name, was)
	if err != nil {
		return err
	}
	if v.Quarantined == "" {
		v.Quarantined = was.Quarantined
	}
	_, ok, err := write(ctx, t.st.workers, name, v, revision)
	if err == nil && !ok {
		err = fmt.Errorf("its record has changed meanwhile")
	}
	return err
}
