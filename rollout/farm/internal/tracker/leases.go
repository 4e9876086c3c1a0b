package tracker

import (
	"maps"
	"slices"
	"time"
)

// Claim names one shard that a worker makes, or makes again as an audit.
type Claim struct {
	Run   string `json:"run,omitempty"`
	Shard int    `json:"shard"`
	Audit bool   `json:"audit,omitempty"`
}

// Lease gives one worker one shard, to make or to audit, until the worker commits it, gives it
// back, or sends nothing for CoordinatorOptions.Lapse.
type Lease struct {
	Claim
	Worker string
	Since  time.Time // granted
	Seen   time.Time // granted, or named by a beat
}

// Leases are all leases of a farm. A claim has one lease, or two if its first worker is slow.
type Leases struct {
	kinds    map[kind]map[int][]*Lease // by shard
	workers  map[string]map[Claim]*Lease
	returned map[string]map[Claim]bool // by worker: claims that it gave back; an older beat may still name them
}

// kind tells the leases to make shards of a run from those to audit them.
type kind struct {
	run   string
	audit bool
}

func (c Claim) kind() kind { return kind{c.Run, c.Audit} }

// NewLeases returns an empty set of leases.
func NewLeases() Leases {
	return Leases{map[kind]map[int][]*Lease{}, map[string]map[Claim]*Lease{}, map[string]map[Claim]bool{}}
}

// Grant makes a lease.
func (x *Leases) Grant(worker string, k Claim, now time.Time) *Lease {
	l := &Lease{k, worker, now, now}
	shards := x.kinds[k.kind()]
	if shards == nil {
		shards = map[int][]*Lease{}
		x.kinds[k.kind()] = shards
	}
	if x.workers[worker] == nil {
		x.workers[worker] = map[Claim]*Lease{}
	}
	shards[k.Shard] = append(shards[k.Shard], l)
	x.workers[worker][k] = l
	delete(x.returned[worker], k)
	return l
}

// Of returns a worker's lease of a claim, or nil.
func (x *Leases) Of(worker string, k Claim) *Lease { return x.workers[worker][k] }

// Holders returns the leases of a claim.
func (x *Leases) Holders(k Claim) []*Lease { return x.kinds[k.kind()][k.Shard] }

// Held returns the number of shards of a run that workers are making.
func (x *Leases) Held(run string) int { return len(x.kinds[kind{run, false}]) }

// Count returns how many leases a worker has.
func (x *Leases) Count(worker string) int { return len(x.workers[worker]) }

// List returns the leases of a worker.
func (x *Leases) List(worker string) []*Lease { return slices.Collect(maps.Values(x.workers[worker])) }

// End ends a lease and reports whether its claim has no other lease.
func (x *Leases) End(l *Lease) (last bool) {
	x.forget(l)
	shards := x.kinds[l.kind()]
	rest := slices.DeleteFunc(shards[l.Shard], func(o *Lease) bool { return o == l })
	if len(rest) > 0 {
		shards[l.Shard] = rest
		return false
	}
	delete(shards, l.Shard)
	return true
}

// forget removes a lease from its worker's leases.
func (x *Leases) forget(l *Lease) {
	if delete(x.workers[l.Worker], l.Claim); len(x.workers[l.Worker]) == 0 {
		delete(x.workers, l.Worker)
	}
}

// EndClaim ends all leases of a claim.
func (x *Leases) EndClaim(k Claim) {
	for _, l := range x.Holders(k) {
		x.forget(l)
	}
	delete(x.kinds[k.kind()], k.Shard)
}

// EndRun ends all leases of a run.
func (x *Leases) EndRun(run string) {
	for _, audit := range []bool{false, true} {
		for _, list := range x.kinds[kind{run, audit}] {
			for _, l := range list {
				x.forget(l)
			}
		}
		delete(x.kinds, kind{run, audit})
	}
}

// maxReturned is the number of returned claims that are kept for a worker.
const maxReturned = 1024

// GiveBack remembers that a worker has given a claim back.
func (x *Leases) GiveBack(worker string, k Claim) {
	if x.returned[worker] == nil || len(x.returned[worker]) > maxReturned {
		x.returned[worker] = map[Claim]bool{}
	}
	x.returned[worker][k] = true
}

// GaveBack reports whether a worker has given a claim back and has not had it since.
func (x *Leases) GaveBack(worker string, k Claim) bool { return x.returned[worker][k] }

// Leave removes a worker without leases.
func (x *Leases) Leave(worker string) { delete(x.returned, worker) }

// Audited returns a function that reports whether a worker has the audit of a shard.
func (x *Leases) Audited(run string) func(shard int) bool {
	return func(shard int) bool { return len(x.Holders(Claim{run, shard, true})) > 0 }
}

// Silent returns the leases whose workers were last heard of before a time.
func (x *Leases) Silent(limit time.Time) (list []*Lease) {
	for _, mine := range x.workers {
		for _, l := range mine {
			if l.Seen.Before(limit) {
				list = append(list, l)
			}
		}
	}
	return list
}

// slow returns the claims of a run that only one worker has and has had since before a time.
func (x *Leases) slow(run string, audit bool, limit time.Time) (list []Claim) {
	for _, by := range x.kinds[kind{run, audit}] {
		if len(by) == 1 && by[0].Since.Before(limit) {
			list = append(list, by[0].Claim)
		}
	}
	return list
}
