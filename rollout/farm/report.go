package farm

import (
	"slices"
	"strings"
	"time"

	"moonfarm/rollout/redact"
)

const (
	maxEnded  = 100  // ended runs that a status lists
	maxListed = 5000 // workers that a status lists
)

// status is the whole farm, as people see it.
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
		to.Runs = append(to.Runs, r.status(s.leases.held(r.id), to.Now))
		for _, p := range r.audits.pending {
			pending[p.maker]++
		}
	}
	for _, w := range s.workers {
		o := WorkerStatus{
			Name: w.name, Version: w.Version, Host: w.Host, Slots: w.Slots, Beat: w.Beat, Alive: w.alive(to.Now.Add(-s.lapse)),
			Held: s.leases.count(w.name), Shards: w.Shards, Rows: w.Rows, Audits: w.Audits, Lapsed: w.Lapsed, Trouble: w.trouble, Quarantined: w.Quarantined,
		}
		o.Audits.Due = pending[w.name]
		o.ShardRate, o.RowRate = w.meter.rates(to.Now, w.Shards, w.Rows)
		to.Workers = append(to.Workers, o)
	}
}

// redact removes secrets from the texts of a status.
func (s *RunStatus) redact() { s.Out, s.Text = redact.Text(s.Out), redact.Text(s.Text) }
