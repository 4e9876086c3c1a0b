package rows

import "moonfarm/sim"

// fill writes the columns of some turns that follow from the episode and its rewards.
func (m *Maker) fill(to *Slabs, row int, e *episode, first, end int, s *sums) {
	n := m.spec.Players
	rows, from, until := (end-first)*n, first*n, end*n
	id := view[uint64](to, Episode, row, rows)
	for k := range id {
		id[k] = e.ID
	}
	turn, seat, outcome := view[int32](to, Turn, row, rows), to.Bytes(Seat, row, rows), view[float32](to, Outcome, row, rows)
	for p := range n {
		for k, t := p, int32(first); k < len(turn); k, t = k+n, t+1 {
			turn[k] = t
			if e.Steps != nil {
				turn[k] = e.Steps.Turn[t]
			}
		}
		for k := p; k < len(seat); k += n {
			seat[k] = uint8(p)
		}
		for k := p; k < len(outcome); k += n {
			outcome[k] = e.Outcome[p].Result
		}
	}
	for k, c := 0, view[int32](to, Step, row, rows); k < len(c); k++ {
		c[k] = e.Steps.Step[first+k/n]
	}
	rewards := m.rewards
	if e.Steps != nil {
		rewards = e.Steps.Reward
	}
	put(view[float32](to, Reward, row, rows), rewards, from, until)
	put(view[float32](to, Return, row, rows), s.returns, from, until)
	put(view[float32](to, NStep, row, rows), s.nsteps, from, until)
	put(view[float32](to, NextDiscount, row, rows), s.discounts, from, until)
	put(to.Bytes(Chosen, row, rows), e.Chosen, from, until)
	put(view[float32](to, SearchValue, row, rows), e.Searches.Value, from, until)
	m.flags(to.Bytes(Terminated, row, rows), e, first, end, sim.Over)
	m.flags(to.Bytes(Truncated, row, rows), e, first, end, sim.Cut)
	for k, c := 0, to.Bytes(Wanted, row, rows); k < len(c); k++ {
		c[k] = 0
		if m.spec.Keep(&e.Episode, first+k/n, k%n) {
			c[k] = 1
		}
	}
}

// put copies values to a column, if there is one.
func put[T any](column, values []T, from, until int) {
	if column != nil {
		copy(column, values[from:until])
	}
}

// flags sets the last row of each seat in the episode to 1 if the episode ends with the
// status, and all other rows to 0.
func (m *Maker) flags(c []byte, e *episode, first, end int, status sim.Status) {
	n := m.spec.Players
	clear(c)
	switch {
	case e.Status != status:
	case e.Steps != nil:
		for k := range c {
			if step := first + k/n; e.Steps.Turn[step] == e.Steps.Turn[e.Turns-1] && e.Steps.Ends(step, k%n, n) {
				c[k] = 1
			}
		}
	case end == e.Turns:
		for k := max(0, len(c)-n); k < len(c); k++ {
			c[k] = 1
		}
	}
}
