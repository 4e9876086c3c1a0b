package farm

import (
	"time"

	"moonfarm/rollout/farm/internal/tracker"
)

// The decisions about which worker gets which shard.

// claim answers a worker's claim, or lets it wait.
func (s *state) claim(t *waiter, now time.Time) *answer {
	w := t.w
	if w.waiting+s.leases.Count(w.name) >= w.allowance() {
		return &answer{}
	}
	if a := s.offer(w, now); a != nil {
		return a
	}
	s.waiting.add(t)
	return nil
}

// grant makes a lease and the answer that tells the worker.
func (s *state) grant(w *worker, k tracker.Claim, now time.Time) *answer {
	s.leases.Grant(w.name, k, now)
	return &answer{Claim: &k, Beat: s.beatEvery}
}

// offer grants a worker a claim, if there is one: an audit, a shard with which another worker is
// slow, or a shard of a queue.
func (s *state) offer(w *worker, now time.Time) *answer {
	for _, r := range s.runs {
		if !r.running() || !w.takes(r.id, now) {
			continue
		}
		if shard, ok := r.audits.Next(w.name, s.leases.Audited(r.id)); ok {
			return s.grant(w, tracker.Claim{Run: r.id, Shard: shard, Audit: true}, now)
		}
		if k, ok := r.stragglers.Take(&s.leases, &r.audits, w.name); ok {
			r.duplicates++
			return s.grant(w, k, now)
		}
	}
	for _, r := range s.runs {
		if !r.running() || !w.takes(r.id, now) {
			continue
		}
		k := tracker.Claim{Run: r.id}
		ok := false
		if k.Shard, ok = r.queue.Next(func(shard int) bool {
			return r.commits.Has(shard) || len(s.leases.Holders(tracker.Claim{Run: r.id, Shard: shard})) > 0
		}); ok {
			return s.grant(w, k, now)
		}
	}
	return nil
}

// serve offers work to the waiting claims, oldest first, and sends an empty answer to claims that
// have waited long enough.
func (s *state) serve(now time.Time) {
	s.fresh = false
	if len(s.waiting.list) == 0 {
		return
	}
	for _, r := range s.runs {
		r.stragglers.List = nil
		if r.running() && r.queue.Drained() {
			r.stragglers.Find(&s.leases, r.id, r.commits.Whole(), now)
		}
	}
	s.waiting.remove(func(t *waiter) bool {
		a := s.offer(t.w, now)
		if a == nil && now.After(t.until) {
			a = &answer{}
		}
		if a != nil {
			t.answer(a)
		}
		return a != nil
	})
}

// beat extends the leases that a worker names, and returns the claims that it is to drop.
// A lease that two beats have not named was granted by an answer that the worker never got.
func (s *state) beat(w *worker, claims []tracker.Claim, now time.Time) (drop []tracker.Claim) {
	for _, k := range claims[:min(len(claims), maxSlots)] {
		if len(k.Run) > maxName { // no run of this farm, and too long to repeat
			continue
		}
		r := s.runs[k.Run]
		if r == nil || !r.running() || !r.valid(k.Shard) {
			drop = append(drop, k)
		} else if l := s.extend(w, r, k, now); l == nil {
			drop = append(drop, k)
		} else {
			l.Seen = now
		}
	}
	for _, l := range s.leases.List(w.name) {
		if l.Seen.Before(w.previous) {
			s.release(l)
		}
	}
	w.previous = now
	return drop
}

// extend returns the lease of a claim that a beat names. A new coordinator learns of the
// lease here and makes it. nil means that the worker is to drop the claim.
func (s *state) extend(w *worker, r *run, k tracker.Claim, now time.Time) *tracker.Lease {
	l := s.leases.Of(w.name, k)
	if l == nil && s.leases.GaveBack(w.name, k) {
		return nil
	}
	if k.Audit {
		p := r.audits.Pending[k.Shard]
		if p == nil || p.Disputed {
			return nil
		}
		if l == nil && len(s.leases.Holders(k)) == 0 && p.Maker != w.name {
			l = s.leases.Grant(w.name, k, now)
		}
		return l
	}
	if r.commits.Has(k.Shard) {
		return nil
	}
	if l == nil && s.leases.Count(w.name) < w.allowance() {
		l = s.leases.Grant(w.name, k, now)
	}
	return l
}

// giveBack takes a claim back from a worker, and reports whether the worker had it.
func (s *state) giveBack(w *worker, k tracker.Claim) bool {
	l := s.leases.Of(w.name, k)
	if l != nil {
		s.release(l)
	}
	s.leases.GiveBack(w.name, k)
	return l != nil
}
