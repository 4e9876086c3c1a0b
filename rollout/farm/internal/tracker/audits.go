package tracker

import (
	"slices"
	"time"
)

// Audit is a committed shard that a second worker has to make too.
type Audit struct {
	Maker    string    // worker that committed the shard
	Disputed bool      // the coordinator is deciding or waiving it: no worker may take it
	alone    time.Time // time since which no other worker could take it; zero if one can
}

// Audits are the pending audits of a run and the counts of the finished ones.
type Audits struct {
	Pending    map[int]*Audit
	Unassigned []int // pending audits that no worker has; may contain finished ones
	Disputes   int   // number of undecided disputes
	Counts     AuditCounts
	Waiving    bool // whether audits were waived, which is logged once
}

// NewAudits returns audits of a run without commits.
func NewAudits() Audits { return Audits{Pending: map[int]*Audit{}} }

// Add makes the audit of a shard pending.
func (a *Audits) Add(shard int, maker string) {
	a.Pending[shard] = &Audit{Maker: maker}
	a.Unassigned = append(a.Unassigned, shard)
}

// maxScan is the number of entries of a list that one claim looks at.
const maxScan = 16

// Next removes an unassigned audit that a worker may take, and returns its shard. The maker of a
// shard does not audit it. leased reports whether a worker has an audit.
func (a *Audits) Next(worker string, leased func(shard int) bool) (int, bool) {
	for i := 0; i < min(len(a.Unassigned), maxScan); {
		shard := a.Unassigned[i]
		p := a.Pending[shard]
		open := p != nil && !p.Disputed && !leased(shard)
		if open && p.Maker == worker {
			i++
			continue
		}
		a.Unassigned = slices.Delete(a.Unassigned, i, i+1)
		if open {
			return shard, true
		}
	}
	return 0, false
}

// GiveBack makes an audit unassigned again after its last lease ended.
func (a *Audits) GiveBack(shard int) {
	if a.Pending[shard] != nil {
		a.Unassigned = append(a.Unassigned, shard)
	}
}

// Lock keeps workers from taking an audit that the coordinator is about to end.
func (a *Audits) Lock(shard int) {
	if p := a.Pending[shard]; p != nil {
		p.Disputed = true
	}
}

// Unlock lets workers take an audit again, if it is still pending.
func (a *Audits) Unlock(shard int) {
	if p := a.Pending[shard]; p != nil {
		p.Disputed = false
		a.Unassigned = append(a.Unassigned, shard)
	}
}

// Dispute begins a dispute about a shard, which may have no audit.
func (a *Audits) Dispute(shard int) {
	a.Disputes++
	a.Lock(shard)
}

// Settle ends a dispute. The shard may have a pending audit of another maker's result.
func (a *Audits) Settle(shard int) {
	a.Disputes--
	a.Unlock(shard)
}

// Drop removes the audit of a shard.
func (a *Audits) Drop(shard int) { delete(a.Pending, shard) }

// Idle reports that no audit and no dispute is left.
func (a *Audits) Idle() bool { return len(a.Pending) == 0 && a.Disputes == 0 }

// AuditCounts are the audits of a run or of a worker's shards.
type AuditCounts struct {
	Pending int `json:"due"` // not ended
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Waived  int `json:"waived"` // ended without a second worker
}

// The audit states of a record; "" means that the shard is not in the sample.
const (
	AuditPending = "due"
	AuditPassed  = "passed"
	AuditWaived  = "waived"
)

// Count adds n, which may be negative, to the count for the audit state of a record.
func (a *AuditCounts) Count(state string, n int) {
	switch state {
	case AuditPassed:
		a.Passed += n
	case AuditWaived:
		a.Waived += n
	}
}

// maxWaive is the number of audits of a run that one tick looks at.
const maxWaive = 1000

// Waivers is the input of Waivable: the workers that could audit, and how long to wait for others.
type Waivers struct {
	Others  []string // workers that could audit now, at most two
	Wait    time.Duration
	Trusted []string // workers whose audits do not wait
	Leased  func(shard int) bool
}

// Waivable returns the audits for which there was no other worker during the wait, and the number
// of audits that still wait. all is false if it has not looked at every audit.
func (a *Audits) Waivable(v *Waivers, now time.Time) (list []int, waiting int, all bool) {
	looked := 0
	for shard, p := range a.Pending {
		if looked++; looked > maxWaive {
			return list, waiting, false
		}
		if p.Disputed || len(v.Others) > 1 || len(v.Others) == 1 && v.Others[0] != p.Maker || v.Leased(shard) {
			p.alone = time.Time{}
			continue
		}
		if p.alone.IsZero() {
			p.alone = now
		}
		if now.Sub(p.alone) >= v.Wait || slices.Contains(v.Trusted, p.Maker) {
			list = append(list, shard)
		} else {
			waiting++
		}
	}
	return list, waiting, true
}

// Dispute is a shard for which two workers made different bytes.
type Dispute struct {
	Shard  int
	Makers [2]string // the shard's record has the first maker's result
	Sums   [2]string
}

// Wrong returns the indices of the makers whose sum is not the right one.
func (d *Dispute) Wrong(right string) (list []int) {
	for i, sum := range d.Sums {
		if sum != right {
			list = append(list, i)
		}
	}
	return list
}
