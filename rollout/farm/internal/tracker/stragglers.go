package tracker

import (
	"slices"
	"time"
)

// Stragglers keeps how long the last commits of a run took, and the claims that take longer
// than that: at the end of the run a second worker gets them too. The zero value is ready
// to use.
type Stragglers struct {
	took  []time.Duration // a ring of maxPace
	next  int             // place in took
	usual time.Duration   // the median of took
	List  []Claim         // slow claims; may contain finished ones
}

// maxPace is the number of commits in the median, and minPace the number that it needs.
const (
	maxPace = 101
	minPace = 5
)

// Add takes how long a shard took.
func (p *Stragglers) Add(d time.Duration) {
	if len(p.took) < maxPace {
		p.took = append(p.took, d)
	} else {
		p.took[p.next%maxPace] = d
	}
	if p.next++; p.next%16 == 0 || len(p.took) < 16 {
		s := slices.Sorted(slices.Values(p.took))
		p.usual = s[len(s)/2]
	}
}

// Find lists the claims that one worker has had for longer than usual, with audits also the
// claims of audits. It lists nothing before minPace commits.
func (p *Stragglers) Find(x *Leases, run string, audits bool, now time.Time) {
	if len(p.took) < minPace {
		return
	}
	limit := now.Add(-p.usual * 3 / 2)
	p.List = x.slow(run, false, limit)
	if audits {
		p.List = append(p.List, x.slow(run, true, limit)...)
	}
}

// Take removes a slow claim that a worker can take too.
func (p *Stragglers) Take(x *Leases, a *Audits, worker string) (Claim, bool) {
	for i := 0; i < min(len(p.List), maxScan); {
		k := p.List[i]
		by := x.Holders(k)
		open := len(by) == 1
		if at := a.Pending[k.Shard]; k.Audit {
			open = open && at != nil && !at.Disputed && at.Maker != worker
		}
		if open && by[0].Worker == worker {
			i++
			continue
		}
		p.List = slices.Delete(p.List, i, i+1)
		if open {
			return k, true
		}
	}
	return Claim{}, false
}

// Meter measures shards and rows per second over the last half minute.
type Meter struct {
	at           [7]time.Time
	shards, rows [7]uint64
	next         int
}

// Add records the totals at a time.
func (m *Meter) Add(now time.Time, shards, rows uint64) {
	i := m.next % len(m.at)
	m.at[i], m.shards[i], m.rows[i] = now, shards, rows
	m.next++
}

// Rates returns the shards and rows per second since the oldest totals in the ring.
func (m *Meter) Rates(now time.Time, shards, rows uint64) (float64, float64) {
	i := 0
	if m.next > len(m.at) {
		i = m.next % len(m.at)
	}
	d := now.Sub(m.at[i]).Seconds()
	if m.at[i].IsZero() || d <= 0 || shards < m.shards[i] || rows < m.rows[i] {
		return 0, 0
	}
	return float64(shards-m.shards[i]) / d, float64(rows-m.rows[i]) / d
}
