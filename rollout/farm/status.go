package farm

import (
	"slices"
	"strings"
	"time"

	"moonfarm/rollout/farm/internal/tracker"
)

// State is the state of a run.
type State string

// The states of a run. Retry continues a failed or cancelled run.
const (
	Running   State = "running"
	Finishing State = "finishing" // every shard is there; the dataset is being completed
	Done      State = "done"
	Cancelled State = "cancelled"
	Failed    State = "failed"
)

// Status is the state of a farm, from the coordinator. All times are by the coordinator's clock.
type Status struct {
	Version  string         `json:"version"` // of the coordinator
	Now      time.Time      `json:"now"`
	Since    time.Time      `json:"since"`              // when this coordinator took over
	Trouble  string         `json:"trouble,omitempty"`  // why the store cannot be written now
	Runs     []RunStatus    `json:"runs"`               // newest first; of the ended runs the last 100
	Workers  []WorkerStatus `json:"workers"`            // by name; workers heard of within a day, and quarantined workers
	Unlisted int            `json:"unlisted,omitempty"` // workers beyond the first 5000
	Failures []Failure      `json:"failures"`           // the last 200, newest first
	Audits   []Quarantine   `json:"audits"`             // the last 200 entries of the audit log, newest first
}

// RunStatus is one run.
type RunStatus struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Build    string    `json:"build"`
	Out      string    `json:"out"`
	State    State     `json:"state"`
	Text     string    `json:"text,omitempty"` // why it failed or waits
	Joined   bool      `json:"joined,omitempty"`
	Created  time.Time `json:"created"`
	Ended    time.Time `json:"ended,omitzero"`
	Shards   int       `json:"shards"`   // to make
	Made     int       `json:"made"`     // committed
	Held     int       `json:"held"`     // leased to workers now
	Episodes uint64    `json:"episodes"` // to make
	Played   uint64    `json:"played"`   // in committed shards
	Rows     uint64    `json:"rows"`     // in committed shards
	Bytes    uint64    `json:"bytes"`    // in committed shards
	// ShardRate and RowRate are shards and rows per second over the last half minute.
	ShardRate  float64     `json:"shard_rate"`
	RowRate    float64     `json:"row_rate"`
	Left       float64     `json:"left"` // seconds to the last commit at this rate; 0 if unknown
	Audits     AuditCounts `json:"audits"`
	Duplicates int         `json:"again"`  // shards given to a second worker because they took long
	Reverted   int         `json:"remade"` // shards whose commits were reverted
}

// AuditCounts are the audits of a run or of a worker's shards.
type AuditCounts = tracker.AuditCounts

// WorkerStatus is one worker.
type WorkerStatus struct {
	Name    string    `json:"name"`
	Version string    `json:"version"`
	Host    string    `json:"host"`
	Slots   int       `json:"slots"` // shards at a time
	Beat    time.Time `json:"beat"`  // last heard of
	Alive   bool      `json:"alive"` // heard of within CoordinatorOptions.Lapse
	Held    int       `json:"held"`
	Shards  uint64    `json:"shards"` // committed in total
	Rows    uint64    `json:"rows"`
	// ShardRate and RowRate are shards and rows per second over the last half minute.
	ShardRate   float64     `json:"shard_rate"`
	RowRate     float64     `json:"row_rate"`
	Audits      AuditCounts `json:"audits"`
	Lapsed      uint64      `json:"lapsed"`                // claims that it took and neither finished nor gave back
	Trouble     string      `json:"trouble,omitempty"`     // its error now, while it retries
	Quarantined string      `json:"quarantined,omitempty"` // why its work is refused
}

// Failure is one line about an error; equal lines are counted.
type Failure struct {
	First  time.Time `json:"first"`
	Last   time.Time `json:"last"`
	Count  int       `json:"count"`
	Run    string    `json:"run,omitempty"`
	Worker string    `json:"worker,omitempty"`
	Text   string    `json:"text"`
	kind   string    // if not "", failures of one kind count as equal
}

// Quarantine is an entry of the audit log: a quarantined worker, and the shard that it made with
// a different result than the coordinator.
type Quarantine struct {
	Time     time.Time `json:"time"`
	Run      string    `json:"run"`
	Shard    int       `json:"shard"`
	Worker   string    `json:"worker"`   // the worker whose sum was wrong
	Sum      string    `json:"sum"`      // from that worker
	Right    string    `json:"right"`    // from the coordinator
	Row      string    `json:"row"`      // the first row that differs
	Returned int       `json:"returned"` // shards of that worker to be made again
}

const (
	maxEnded  = 100  // ended runs that a status lists
	maxListed = 5000 // workers that a status lists
)

// status answers with the status of the whole farm.
func (x *requests) status(string, *request, func(*answer)) *answer {
	s := &Status{Version: x.o.Version, Now: time.Now(), Trouble: x.o.Server.trouble()}
	s.Failures, s.Audits = x.events.list()
	x.do(func(st *state) { st.report(s) })
	slices.SortFunc(s.Runs, func(a, b RunStatus) int { return b.Created.Compare(a.Created) })
	ended := 0
	s.Runs = slices.DeleteFunc(s.Runs, func(r RunStatus) bool {
		if !r.Ended.IsZero() {
			ended++
		}
		return !r.Ended.IsZero() && ended > maxEnded
	})
	slices.SortFunc(s.Workers, func(a, b WorkerStatus) int { return strings.Compare(a.Name, b.Name) })
	if n := len(s.Workers) - maxListed; n > 0 {
		s.Workers, s.Unlisted = s.Workers[:maxListed], n
	}
	return &answer{Status: s}
}

// report adds all runs and workers to a status.
func (s *state) report(to *Status) {
	to.Since = s.since
	pending := map[string]int{} // audits by the maker of the shard
	for _, r := range s.runs {
		to.Runs = append(to.Runs, r.status(s.leases.Held(r.id), to.Now))
		for _, p := range r.audits.Pending {
			pending[p.Maker]++
		}
	}
	for _, w := range s.workers {
		o := WorkerStatus{
			Name: w.name, Version: w.Version, Host: w.Host, Slots: w.Slots, Beat: w.Beat, Alive: w.alive(to.Now.Add(-s.lapse)),
			Held: s.leases.Count(w.name), Shards: w.Shards, Rows: w.Rows, Audits: w.Audits, Lapsed: w.Lapsed, Trouble: w.trouble, Quarantined: w.Quarantined,
		}
		o.Audits.Pending = pending[w.name]
		o.ShardRate, o.RowRate = w.meter.Rates(to.Now, w.Shards, w.Rows)
		to.Workers = append(to.Workers, o)
	}
}
