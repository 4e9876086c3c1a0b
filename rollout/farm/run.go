package farm

import (
	"context"
	"sync"
	"time"

	"moonfarm/rollout/farm/internal/tracker"
	"moonfarm/rollout/redact"
)

// run is a run in the memory of the coordinator: a bit for each shard, and
// more for the few shards that are in the queue, leased or to be audited. It is a part of state.
type run struct {
	runRecord
	id       string
	revision uint64 // of the record
	// begun reports that the fields below have the run's records, and that its goroutines work on
	// it. It is false for an ended or replaced run.
	begun bool
	ctx   context.Context // done when the run ends
	stop  context.CancelFunc

	commits    tracker.Commits
	queue      tracker.Queue
	audits     tracker.Audits
	stragglers tracker.Stragglers
	duplicates int              // claims given to a second worker
	reverted   int              // commits that were reverted
	permanent  map[int][]string // workers that reported a permanent failure, by shard
	meter      tracker.Meter

	shards openShards
}

func newRun(id string, v *runRecord, revision uint64) *run {
	return &run{runRecord: *v, id: id, revision: revision, stop: func() {}, commits: tracker.NewCommits(v.Spec.Shards), queue: tracker.NewQueue(v.Spec.Shards),
		audits: tracker.NewAudits(), permanent: map[int][]string{}}
}

// running reports whether shards are being made.
func (r *run) running() bool { return r.begun && r.State == Running }

// valid reports whether the run has a shard of that number.
func (r *run) valid(shard int) bool { return shard >= 0 && shard < r.Spec.Shards }

// addCommit takes the record of a committed shard. It reports false if the run has a record of
// that shard already.
func (r *run) addCommit(shard int, v *record) bool {
	if !r.commits.Add(shard, &v.Receipt) {
		return false
	}
	if v.Audit == tracker.AuditPending {
		r.audits.Add(shard, v.Worker)
	}
	r.audits.Counts.Count(v.Audit, 1)
	return true
}

// completes sets the state Finishing if the run has nothing left to do, and reports whether it did.
func (r *run) completes() bool {
	if !r.running() || !r.commits.Whole() || !r.audits.Idle() {
		return false
	}
	r.State = Finishing
	return true
}

// maxPermanent is the number of permanent failures of a shard, all from one worker, that
// fail the run.
const maxPermanent = 3

// fails records a permanent failure of a shard, and reports whether the run fails by it: a
// second worker reports it, or one worker reports it for the third time.
func (r *run) fails(shard int, worker string) bool {
	list := append(r.permanent[shard], worker)
	r.permanent[shard] = list
	return len(list) >= maxPermanent || list[0] != worker
}

// end clears everything but the totals.
func (r *run) end() {
	r.stop()
	r.begun = false
	r.commits.Bits, r.stragglers = nil, tracker.Stragglers{}
	r.queue = tracker.Queue{}
	r.audits.Pending, r.audits.Unassigned = map[int]*tracker.Audit{}, nil
}

// status returns the run's status. held is the number of its shards that workers have.
func (r *run) status(held int, now time.Time) (s RunStatus) {
	defer func() { s.Out, s.Text = redact.Text(s.Out), redact.Text(s.Text) }() // an earlier version may have stored secrets
	if r.End != nil {
		return *r.End
	}
	s = RunStatus{
		ID: r.id, Name: r.Spec.Name, Build: r.Spec.Build, Out: r.Spec.Out, State: r.State, Text: r.Text, Created: r.Created,
		Shards: r.Spec.Shards, Made: r.commits.Made, Held: held, Episodes: r.Spec.Episodes,
		Played: r.commits.Played, Rows: r.commits.Rows, Bytes: r.commits.Bytes, Audits: r.audits.Counts, Duplicates: r.duplicates, Reverted: r.reverted,
	}
	if s.State == "" { // its first record is being written
		s.State = Running
	}
	s.Audits.Pending = len(r.audits.Pending)
	s.ShardRate, s.RowRate = r.meter.Rates(now, uint64(r.commits.Made), r.commits.Rows)
	if s.ShardRate > 0 {
		s.Left = float64(s.Shards-s.Made) / s.ShardRate
	}
	return s
}

// openShards are the Shards of a run in this process, opened at their first use. Other uses wait for it.
type openShards struct {
	mu     sync.Mutex // guards shards
	shards Shards
}

func (o *openShards) get(open func() (Shards, error)) (Shards, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.shards == nil {
		s, err := open()
		if err != nil {
			return nil, err
		}
		o.shards = s
	}
	return o.shards, nil
}

func (o *openShards) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.shards != nil {
		_ = o.shards.Close() // its results are in the store
		o.shards = nil
	}
}
