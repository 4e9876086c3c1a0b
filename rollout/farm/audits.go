package farm

import (
	"slices"
	"time"
)

// audit is a committed shard that a second worker has to make too.
type audit struct {
	maker    string    // worker that committed the shard
	disputed bool      // the coordinator decides it, or waives it: no worker may take it
	alone    time.Time // since when no other worker could take it; zero if one can
}

// audits are the pending audits of a run and the counts of the finished ones.
type audits struct {
	pending    map[int]*audit
	unassigned []int // pending audits that no worker has; may contain finished ones
	disputes   int   // disputes that are not decided
	counts     Counts
	waiving    bool // audits were waived, which is logged once
}

func newAudits() audits { return audits{pending: map[int]*audit{}} }

// add makes the audit of a shard pending.
func (a *audits) add(shard int, maker string) {
	a.pending[shard] = &audit{maker: maker}
	a.unassigned = append(a.unassigned, shard)
}

// maxScan is how many entries of a list one claim looks at.
const maxScan = 16

// next removes an unassigned audit that a worker may take, and returns its shard. The
// maker of a shard does not audit it. leased says whether a worker has an audit.
func (a *audits) next(worker string, leased func(shard int) bool) (int, bool) {
	for i := 0; i < min(len(a.unassigned), maxScan); {
		shard := a.unassigned[i]
		p := a.pending[shard]
		open := p != nil && !p.disputed && !leased(shard)
		if open && p.maker == worker {
			i++
			continue
		}
		a.unassigned = slices.Delete(a.unassigned, i, i+1)
		if open {
			return shard, true
		}
	}
	return 0, false
}

// giveBack makes an audit unassigned that has lost its last lease.
func (a *audits) giveBack(shard int) {
	if a.pending[shard] != nil {
		a.unassigned = append(a.unassigned, shard)
	}
}

// lock keeps workers from taking an audit that the coordinator is about to end.
func (a *audits) lock(shard int) {
	if p := a.pending[shard]; p != nil {
		p.disputed = true
	}
}

// unlock lets workers take an audit again, if it is still pending.
func (a *audits) unlock(shard int) {
	if p := a.pending[shard]; p != nil {
		p.disputed = false
		a.unassigned = append(a.unassigned, shard)
	}
}

// dispute begins a dispute about a shard, which may have no audit.
func (a *audits) dispute(shard int) {
	a.disputes++
	a.lock(shard)
}

// settle ends a dispute. The audit may be pending still, of another maker.
func (a *audits) settle(shard int) {
	a.disputes--
	a.unlock(shard)
}

// drop removes the audit of a shard.
func (a *audits) drop(shard int) { delete(a.pending, shard) }

// idle reports that no audit and no dispute is left.
func (a *audits) idle() bool { return len(a.pending) == 0 && a.disputes == 0 }

// count counts n finished audits, or n fewer, if the state of a record is one.
func (c *Counts) count(state string, n int) {
	switch state {
	case auditPassed:
		c.Passed += n
	case auditWaived:
		c.Waived += n
	}
}

// maxWaive is how many audits of a run one tick looks at.
const maxWaive = 1000

// waivers decides which audits go without a second worker.
type waivers struct {
	others  []string // workers that could audit now; two suffice
	wait    time.Duration
	trusted []string // workers whose audits do not wait
	leased  func(shard int) bool
}

// waivable returns the audits for which no other worker was there during the wait, and
// how many wait on. all is false if it has not looked at every audit.
func (a *audits) waivable(v *waivers, now time.Time) (list []int, waiting int, all bool) {
	looked := 0
	for shard, p := range a.pending {
		if looked++; looked > maxWaive {
			return list, waiting, false
		}
		if p.disputed || len(v.others) > 1 || len(v.others) == 1 && v.others[0] != p.maker || v.leased(shard) {
			p.alone = time.Time{}
			continue
		}
		if p.alone.IsZero() {
			p.alone = now
		}
		if now.Sub(p.alone) >= v.wait || slices.Contains(v.trusted, p.maker) {
			list = append(list, shard)
		} else {
			waiting++
		}
	}
	return list, waiting, true
}

// dispute is a shard of which two workers made different bytes.
type dispute struct {
	shard  int
	makers [2]string // the shard's record has the result of the first
	sums   [2]string
}

// wrong returns the indices of the makers whose sum is not the right one.
func (d *dispute) wrong(right string) (list []int) {
	for i, sum := range d.sums {
		if sum != right {
			list = append(list, i)
		}
	}
	return list
}
