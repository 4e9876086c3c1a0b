package farm

import "time"

// Which worker gets which shard.

// claim answers a worker's claim, or lets it wait.
func (s *state) claim(t *waiter, now time.Time) *answer {
	w := t.w
	if w.waiting+s.leases.count(w.name) >= w.allowance() {
		return &answer{}
	}
	if a := s.offer(w, now); a != nil {
		return a
	}
	s.waiting.add(t)
	for _, r := range s.runs {
		r.queue.fetch.set()
	}
	return nil
}

// grant makes a lease and the answer that tells the worker.
func (s *state) grant(w *worker, k claim, now time.Time) *answer {
	s.leases.grant(w.name, k, now)
	return &answer{Claim: &k, Beat: s.beatEvery}
}

// offer grants a worker a claim that is not in the queue, if there is one: an audit, or
// a shard with which another worker is slow.
func (s *state) offer(w *worker, now time.Time) *answer {
	for _, r := range s.runs {
		if !r.running() || !w.takes(r.id, now) {
			continue
		}
		if shard, ok := r.audits.next(w.name, s.leases.audited(r.id)); ok {
			return s.grant(w, claim{r.id, shard, true}, now)
		}
		if k, ok := r.stragglers.take(&s.leases, &r.audits, w.name); ok {
			r.again++
			return s.grant(w, k, now)
		}
	}
	return nil
}

// serve offers audits and slow shards to the waiting claims, and answers the ones
// without a claim that have waited long enough.
func (s *state) serve(now time.Time) {
	if len(s.waiting.list) == 0 {
		return
	}
	for _, r := range s.runs {
		r.stragglers.list = nil
		if r.running() && r.queue.drained() {
			r.stragglers.find(&s.leases, r.id, r.commits.whole(), now)
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

// deliver grants the shard of a fetched message to the oldest waiting claim that fits. A
// message whose shard is leased already is kept: it came twice, or its worker named it to
// a new coordinator.
func (s *state) deliver(r *run, shard int, m message, now time.Time) {
	s.waiting.reserved--
	r.queue.fetched()
	k := claim{Run: r.id, Shard: shard}
	switch {
	case !r.running():
		return
	case !r.valid(shard) || r.commits.has(shard):
		r.queue.discard(m)
		return
	case len(s.leases.holders(k)) > 0:
		r.queue.assign(shard, m)
		return
	}
	t := s.waiting.first(func(w *worker) bool { return w.takes(r.id, now) })
	if t == nil {
		r.queue.refuse(m)
		return
	}
	r.queue.assign(shard, m)
	t.answer(s.grant(t.w, k, now))
}

// beat extends the leases that a worker names, and returns the claims that it is to drop.
// A lease that two beats have not named was granted by an answer that the worker never got.
func (s *state) beat(w *worker, claims []claim, now time.Time) (drop []claim) {
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
			l.seen = now
		}
	}
	for _, l := range s.leases.list(w.name) {
		if l.seen.Before(w.previous) && l.since.Before(w.previous) {
			s.release(l)
		}
	}
	w.previous = now
	return drop
}

// extend returns the lease of a claim that a beat names. A new coordinator learns of the
// lease here and makes it. nil means that the worker is to drop the claim.
func (s *state) extend(w *worker, r *run, k claim, now time.Time) *lease {
	l := s.leases.of(w.name, k)
	if l == nil && s.leases.gaveBack(w.name, k) {
		return nil
	}
	if k.Audit {
		p := r.audits.pending[k.Shard]
		if p == nil || p.disputed {
			return nil
		}
		if l == nil && len(s.leases.holders(k)) == 0 && p.maker != w.name {
			l = s.leases.grant(w.name, k, now)
		}
		return l
	}
	if r.commits.has(k.Shard) {
		return nil
	}
	if l == nil && s.leases.count(w.name) < w.allowance() {
		l = s.leases.grant(w.name, k, now)
	}
	r.queue.extend(k.Shard)
	return l
}

// giveBack takes a claim back from a worker, and reports whether the worker had it.
func (s *state) giveBack(w *worker, k claim) bool {
	l := s.leases.of(w.name, k)
	if l != nil {
		s.release(l)
	}
	s.leases.giveBack(w.name, k)
	return l != nil
}
