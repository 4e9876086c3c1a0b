package farm

import (
	"fmt"
	"slices"
	"time"

	"moonfarm/rollout/farm/internal/tracker"
)

// worker is the coordinator's state of a worker.
type worker struct {
	workerRecord
	name      string
	drawn     uint64               // shards offered to the sampler, also uncommitted ones
	waiting   int                  // claims that wait for an answer
	processes []string             // names of the worker's last processes
	ended     string               // the process that has ended
	lapses    int                  // leases that lapsed since the last commit
	refuses   map[string]time.Time // runs that it cannot make, and the time until which it gets none of their shards
	previous  time.Time            // the last beat but one
	trouble   string               // its error now
	unsaved   bool                 // whether the record in the store is older
	meter     tracker.Meter
}

const (
	maxSlots     = 1024
	maxWorkers   = 250_000
	maxLabel     = 100 // characters of a host and of a version
	maxProcesses = 8   // names of processes that are kept for a worker
)

// allowance returns how many leases a worker may have: one for each of its slots, halved for
// every four leases that lapsed since its last commit.
func (w *worker) allowance() int { return max(1, min(w.Slots, maxSlots)>>min(w.lapses/4, 16)) }

// takes reports whether a worker may have shards of a run.
func (w *worker) takes(run string, now time.Time) bool {
	return w.Quarantined == "" && (len(w.refuses) == 0 || now.After(w.refuses[run]))
}

// refuse keeps shards of a run from a worker until the given time.
func (w *worker) refuse(run string, until time.Time) {
	if w.refuses == nil {
		w.refuses = map[string]time.Time{}
	}
	w.refuses[run] = until
}

// describe takes version, host and slots from a request.
func (w *worker) describe(q *request) {
	if q.Version != "" {
		w.Version, w.Host, w.Slots = label(q.Version, maxLabel), label(q.Host, maxLabel), min(max(q.Slots, 1), maxSlots)
	}
}

// begins reports whether a request is the first from a new process of the worker. A late request of
// an older process does not count.
func (w *worker) begins(process string) bool {
	if checkName(process) != nil || slices.Contains(w.processes, process) {
		return false
	}
	w.processes = append(w.processes, process)
	if len(w.processes) > maxProcesses {
		w.processes = slices.Delete(w.processes, 0, 1)
	}
	return len(w.processes) > 1
}

// ends reports whether a request comes from the process that has ended: its claims may come after
// its last beat.
func (w *worker) ends(process string) bool { return process != "" && process == w.ended }

// refusal returns the reason why a worker gets no work, or "".
func (w *worker) refusal(version string) string {
	switch {
	case w.Quarantined != "":
		return "worker " + w.name + " is quarantined: " + w.Quarantined
	case w.Version != version && w.Version != "":
		return fmt.Sprintf("worker %s has moonfarm %s, the farm has %s: install the same version", w.name, w.Version, version)
	}
	return ""
}

// alive reports whether a worker was heard of since a time.
func (w *worker) alive(since time.Time) bool { return w.Beat.After(since) }

// workers holds the workers of a farm by name.
type workers map[string]*worker

// enter returns the worker with a name, and adds one if there is room.
func (x workers) enter(name string) (*worker, error) {
	w := x[name]
	if w == nil {
		if len(x) >= maxWorkers {
			return nil, fmt.Errorf("there are %d workers, which is the limit", maxWorkers)
		}
		w = &worker{name: name}
		x[name] = w
	}
	return w, nil
}

// able returns the names of at most two workers that could take shards of a run.
func (x workers) able(run, version string, now, since time.Time) (list []string) {
	for name, w := range x {
		if len(list) < 2 && w.alive(since) && w.Version == version && w.takes(run, now) {
			list = append(list, name)
		}
	}
	return list
}

// entry is the record of a worker for the store.
type entry struct {
	name string
	workerRecord
}

// unsaved returns at most limit changed records, and marks them as saved.
func (x workers) unsaved(limit int) (list []entry) {
	for name, w := range x {
		if w.unsaved && len(list) < limit {
			w.unsaved = false
			list = append(list, entry{name, w.workerRecord})
		}
	}
	return list
}

// mark marks the record of a worker as unsaved.
func (x workers) mark(name string) {
	if w := x[name]; w != nil {
		w.unsaved = true
	}
}

// waiter is a worker's claim that has no answer yet.
type waiter struct {
	w      *worker
	until  time.Time
	answer func(*answer)
}

// waiting holds the claims without an answer, oldest first. The zero value is empty.
type waiting struct{ list []*waiter }

// add appends a claim.
func (w *waiting) add(t *waiter) {
	t.w.waiting++
	w.list = append(w.list, t)
}

// remove removes the claims for which leaves returns true.
func (w *waiting) remove(leaves func(*waiter) bool) {
	w.list = slices.DeleteFunc(w.list, func(t *waiter) bool {
		if !leaves(t) {
			return false
		}
		t.w.waiting--
		return true
	})
}

// dismiss answers all claims without a shard: their workers ask the next coordinator.
func (w *waiting) dismiss() {
	w.remove(func(t *waiter) bool { t.answer(&answer{}); return true })
}
