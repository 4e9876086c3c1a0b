package farm

import (
	"fmt"
	"time"
)

// assigner answers the workers' requests for work. assign.go has the decisions.
type assigner struct {
	*term
	fail func(r *run, text string) // fails a run
}

// maxClaimWait is the longest time in milliseconds that a claim waits for a shard.
const maxClaimWait = 60_000

// claim gives a worker a shard: as its result, or through later when a shard becomes free.
func (a *assigner) claim(name string, q *request, later func(*answer)) *answer {
	return a.asked(name, q, func(s *state, w *worker) *answer {
		if w.ends(q.Process) {
			return &answer{}
		}
		now := time.Now()
		wait := time.Duration(min(max(q.Wait, 0), maxClaimWait)) * time.Millisecond
		return s.claim(&waiter{w: w, until: now.Add(wait), answer: later}, now)
	})
}

// beat extends a worker's leases, and tells the worker which claims to drop.
func (a *assigner) beat(name string, q *request, _ func(*answer)) *answer {
	before := ""
	out := a.asked(name, q, func(s *state, w *worker) *answer {
		before, w.trouble = w.trouble, line(q.Error)
		if q.Ended {
			s.leave(w, q.Process)
			return &answer{}
		}
		return &answer{Beat: s.beatEvery, Drop: s.beat(w, q.Claims, time.Now())}
	})
	if out.Error == "" {
		a.troubled(name, before, line(q.Error))
	}
	return out
}

// troubled writes a worker's new trouble to the event log; "" means no trouble. The same trouble
// with another shard is not new.
func (a *assigner) troubled(name, before, text string) {
	if kind := kindOf(text); text != "" && kind != kindOf(before) && !a.o.Server.repeats(text) {
		a.events.add(&Failure{Worker: name, Text: text, kind: kind}, a.log.Error)
	}
}

// back takes back the claim of a worker that cannot finish the shard, or not in time.
func (a *assigner) back(name string, q *request, _ func(*answer)) *answer {
	var r *run
	before, permanent := "", false
	out := a.asked(name, q, func(s *state, w *worker) *answer {
		if r = s.runs[q.Run]; r == nil {
			return noRun(q.Run)
		}
		switch {
		case q.Refused:
			w.refuse(r.id, time.Now().Add(2*s.lapse))
		case !q.Permanent && q.Error != "":
			before, w.trouble = w.trouble, line(q.Error)
		}
		held := s.giveBack(w, q.Claim)
		permanent = q.Permanent && held && r.fails(q.Shard, name)
		return &answer{}
	})
	if r == nil {
		return out
	}
	switch {
	case q.Refused:
		a.events.fail(r.id, name, q.Error)
	case q.Permanent:
		a.events.fail(r.id, name, fmt.Sprintf("shard %d: %s", q.Shard, q.Error))
	case q.Error != "":
		a.troubled(name, before, line(q.Error))
	}
	if permanent {
		a.fail(r, fmt.Sprintf("shard %d: %s", q.Shard, line(q.Error)))
	}
	return out
}

// spec gives a worker the spec of a run.
func (a *assigner) spec(name string, q *request, _ func(*answer)) *answer {
	return a.asked(name, q, func(s *state, _ *worker) *answer {
		r := s.runs[q.Run]
		if r == nil {
			return noRun(q.Run)
		}
		out := &answer{Spec: r.Spec}
		if a.o.Within != nil {
			out.Within = a.o.Within(r.Spec.Out)
		}
		if a.conn.key != nil {
			out.Proof = a.conn.key.proof(name, r.id)
		}
		return out
	})
}
