package farm

import (
	"slices"
	"time"
)

// pace keeps how long the last commits of a run took. The zero value is ready to use.
type pace struct {
	took  []time.Duration // a ring of maxPace
	next  int             // place in took
	usual time.Duration   // the median of took
}

// maxPace is how many commits a median is of, and minPace how many it needs.
const (
	maxPace = 101
	minPace = 5
)

// add notes how long a shard took.
func (p *pace) add(d time.Duration) {
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

// slow returns how long a lease may last before a second worker gets the shard too, and
// false if too few commits tell.
func (p *pace) slow() (time.Duration, bool) { return p.usual * 3 / 2, len(p.took) >= minPace }

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
