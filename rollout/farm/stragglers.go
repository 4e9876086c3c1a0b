package farm

import (
	"slices"
	"time"
)

// stragglers keep how long the last commits of a run took, and the claims that last longer
// than that: at the end of the run a second worker gets them too. The zero value is ready
// to use.
type stragglers struct {
	took  []time.Duration // a ring of maxPace
	next  int             // place in took
	usual time.Duration   // the median of took
	list  []claim         // slow claims; may contain finished ones
}

// maxPace is how many commits a median is of, and minPace how many it needs.
const (
	maxPace = 101
	minPace = 5
)

// add takes how long a shard took.
func (p *stragglers) add(d time.Duration) {
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

// find lists the claims that one worker has had for longer than usual, the audits too
// if they are wanted. It lists nothing before minPace commits.
func (p *stragglers) find(x *leases, run string, audits bool, now time.Time) {
	if len(p.took) < minPace {
		return
	}
	limit := now.Add(-p.usual * 3 / 2)
	p.list = x.slow(run, false, limit)
	if audits {
		p.list = append(p.list, x.slow(run, true, limit)...)
	}
}

// take removes a slow claim that a worker can take too.
func (p *stragglers) take(x *leases, a *audits, worker string) (claim, bool) {
	for i := 0; i < min(len(p.list), maxScan); {
		k := p.list[i]
		by := x.holders(k)
		open := len(by) == 1
		if at := a.pending[k.Shard]; k.Audit {
			open = open && at != nil && !at.disputed && at.maker != worker
		}
		if open && by[0].worker == worker {
			i++
			continue
		}
		p.list = slices.Delete(p.list, i, i+1)
		if open {
			return k, true
		}
	}
	return claim{}, false
}

// meter measures shards and rows per second over the last half minute.
type meter struct {
	at           [7]time.Time
	shards, rows [7]uint64
	next         int
}

// add notes the totals at a time.
func (m *meter) add(now time.Time, shards, rows uint64) {
	i := m.next % len(m.at)
	m.at[i], m.shards[i], m.rows[i] = now, shards, rows
	m.next++
}

// rates returns the shards and rows per second since the oldest totals in the ring.
func (m *meter) rates(now time.Time, shards, rows uint64) (float64, float64) {
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
