package farm

import (
	"maps"
	"slices"
	"time"
)

// lease gives one worker one shard, to make or to audit, until the worker commits it,
// gives it back, or is not heard of for CoordinatorOptions.Lapse.
type lease struct {
	claim
	worker string
	since  time.Time // granted
	seen   time.Time // granted, or named by a beat
}

// leases are all leases of a farm. A shard has one lease, or two if its first worker is slow.
type leases struct {
	runs     map[string]*runLeases
	workers  map[string]map[claim]*lease
	returned map[string]map[claim]bool // claims that a worker gave back: an older beat may still name them
}

// runLeases are the leases of a run by shard.
type runLeases struct{ shards, audits map[int][]*lease }

func newLeases() leases {
	return leases{map[string]*runLeases{}, map[string]map[claim]*lease{}, map[string]map[claim]bool{}}
}

// kind returns the leases to make shards of a run, or to audit them; nil if the run has no leases.
func (x *leases) kind(run string, audit bool) map[int][]*lease {
	switch r := x.runs[run]; {
	case r == nil:
		return nil
	case audit:
		return r.audits
	default:
		return r.shards
	}
}

// grant makes a lease.
func (x *leases) grant(worker string, k claim, now time.Time) *lease {
	l := &lease{k, worker, now, now}
	if x.runs[k.Run] == nil {
		x.runs[k.Run] = &runLeases{map[int][]*lease{}, map[int][]*lease{}}
	}
	if x.workers[worker] == nil {
		x.workers[worker] = map[claim]*lease{}
	}
	kind := x.kind(k.Run, k.Audit)
	kind[k.Shard] = append(kind[k.Shard], l)
	x.workers[worker][k] = l
	delete(x.returned[worker], k)
	return l
}

// of returns a worker's lease of a claim, or nil.
func (x *leases) of(worker string, k claim) *lease { return x.workers[worker][k] }

// holders returns the leases of a claim.
func (x *leases) holders(k claim) []*lease { return x.kind(k.Run, k.Audit)[k.Shard] }

// held returns how many shards of a run workers are making.
func (x *leases) held(run string) int { return len(x.kind(run, false)) }

// count returns how many leases a worker has.
func (x *leases) count(worker string) int { return len(x.workers[worker]) }

// list returns the leases of a worker.
func (x *leases) list(worker string) []*lease { return slices.Collect(maps.Values(x.workers[worker])) }

// end ends a lease and reports whether its claim has no other.
func (x *leases) end(l *lease) (last bool) {
	x.forget(l)
	kind := x.kind(l.Run, l.Audit)
	rest := slices.DeleteFunc(kind[l.Shard], func(o *lease) bool { return o == l })
	if len(rest) > 0 {
		kind[l.Shard] = rest
		return false
	}
	delete(kind, l.Shard)
	return true
}

// forget removes a lease from the ones of its worker.
func (x *leases) forget(l *lease) {
	if delete(x.workers[l.worker], l.claim); len(x.workers[l.worker]) == 0 {
		delete(x.workers, l.worker)
	}
}

// endClaim ends all leases of a claim.
func (x *leases) endClaim(k claim) {
	for _, l := range x.holders(k) {
		x.forget(l)
	}
	delete(x.kind(k.Run, k.Audit), k.Shard)
}

// endRun ends all leases of a run.
func (x *leases) endRun(run string) {
	for _, audit := range []bool{false, true} {
		for _, list := range x.kind(run, audit) {
			for _, l := range list {
				x.forget(l)
			}
		}
	}
	delete(x.runs, run)
}

// giveBack remembers that a worker has given a claim back.
func (x *leases) giveBack(worker string, k claim) {
	if x.returned[worker] == nil || len(x.returned[worker]) > maxSlots {
		x.returned[worker] = map[claim]bool{}
	}
	x.returned[worker][k] = true
}

// gaveBack reports whether a worker has given a claim back and has not had it since.
func (x *leases) gaveBack(worker string, k claim) bool { return x.returned[worker][k] }

// leave removes a worker without leases.
func (x *leases) leave(worker string) { delete(x.returned, worker) }

// audited tells whether a worker has the audit of a shard of a run.
func (x *leases) audited(run string) func(shard int) bool {
	return func(shard int) bool { return len(x.holders(claim{run, shard, true})) > 0 }
}

// silent returns the leases whose workers were last heard of before a time.
func (x *leases) silent(limit time.Time) (list []*lease) {
	for _, mine := range x.workers {
		for _, l := range mine {
			if l.seen.Before(limit) {
				list = append(list, l)
			}
		}
	}
	return list
}

// slow returns the claims of a run that one worker alone has had since before a time.
func (x *leases) slow(run string, audit bool, limit time.Time) (list []claim) {
	for _, by := range x.kind(run, audit) {
		if len(by) == 1 && by[0].since.Before(limit) {
			list = append(list, by[0].claim)
		}
	}
	return list
}
