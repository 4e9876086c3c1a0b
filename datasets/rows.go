package datasets

import (
	"moonfarm/datasets/internal/arrowfile"
	"moonfarm/rollout"
	"moonfarm/sim"
)

// stepRows plays the episode again into the steps table and writes the table
// whenever it is full. Returns need the rewards to come: an episode that fits
// into what is left of the table gets them afterwards; of any other they are
// known beforehand from play, or from playing it once more.
func (x *encoder) stepRows(r *rollout.Replayer, e *rollout.Episode) error {
	fits := x.s.Rows+e.Turns*x.players <= x.s.Cap && len(x.step.orders.Bytes)+8*len(e.Orders) <= x.layout.lists
	if !fits && e.Rows != nil {
		x.sumKept(e)
	} else if !fits {
		if err := x.foresee(r, e); err != nil {
			return err
		}
	}
	if err := r.Start(e); err != nil {
		return err
	}
	first := x.s.Rows
	for t := 0; r.More(); t++ {
		row := x.s.Rows
		x.window(row)
		if err := r.Step(x.batch); err != nil {
			return err
		}
		x.fill(e, t, row)
		if !fits {
			copy(x.step.ret[row:], x.sums[t*x.players:(t+1)*x.players])
		}
		x.s.Rows += x.players
		if fits || x.s.Rows < x.s.Cap && len(x.step.orders.Bytes) <= x.layout.lists {
			continue
		}
		if err := x.flushSteps(); err != nil {
			return err
		}
	}
	if fits {
		sumReturns(x.step.ret[first:x.s.Rows], x.step.reward[first:x.s.Rows], x.players)
		if x.s.Rows == x.s.Cap {
			return x.flushSteps()
		}
	}
	return nil
}

// keptRows writes what stepRows would from the rows that the episode holds.
func (x *encoder) keptRows(e *rollout.Episode) error {
	n, z, kept, b := x.players, &x.shapes, e.Rows, x.batch
	x.sumKept(e)
	for t := range e.Turns {
		row, from := x.s.Rows, t*n
		x.window(row)
		copyRows(b.Planes, kept.Planes, from, z.planes)
		copyRows(b.Packed, kept.Packed, from, z.words)
		copyRows(b.Scalars, kept.Scalars, from, z.scalars)
		copyRows(b.Mask, kept.Mask, from, z.mask)
		copyRows(b.Action, kept.Action, from, z.heads)
		copyRows(b.Reward, kept.Reward, from, 1)
		copyRows(x.step.ret[row:row+n], x.sums, from, 1)
		x.fill(e, t, row)
		x.s.Rows += n
		if x.s.Rows < x.s.Cap && len(x.step.orders.Bytes) <= x.layout.lists {
			continue
		}
		if err := x.flushSteps(); err != nil {
			return err
		}
	}
	return nil
}

// sumKept leaves the returns in sums.
func (x *encoder) sumKept(e *rollout.Episode) {
	x.sums = append(x.sums[:0], e.Rows.Reward...)
	sumReturns(x.sums, x.sums, x.players)
}

// copyRows fills dst with rows of the given size, beginning with row from.
func copyRows[T any](dst, rows []T, from, size int) {
	if dst != nil {
		copy(dst, rows[from*size:])
	}
}

// foresee plays the episode for its rewards only and leaves the returns in
// sums.
func (x *encoder) foresee(r *rollout.Replayer, e *rollout.Episode) error {
	if n := e.Turns * x.players; cap(x.sums) < n {
		x.sums = make([]float32, n, 2*n)
	}
	x.sums = x.sums[:e.Turns*x.players]
	b := x.batch
	b.Planes, b.Packed, b.Scalars, b.Mask, b.Action = nil, nil, nil, nil, nil
	if err := r.Start(e); err != nil {
		return err
	}
	for t := 0; r.More(); t++ {
		b.Reward = x.sums[t*x.players : (t+1)*x.players]
		if err := r.Step(b); err != nil {
			return err
		}
	}
	sumReturns(x.sums, x.sums, x.players)
	return nil
}

// sumReturns writes the sums of the rewards from each turn to the last one
// [turns, players], backwards in float64. Both slices may be the same.
func sumReturns(dst, reward []float32, players int) {
	var sum [sim.MaxPlayers]float64
	for k := len(reward) - 1; k >= 0; k-- {
		s := &sum[k%players]
		*s += float64(reward[k])
		dst[k] = float32(*s)
	}
}

// window puts the slabs of the batch at row and the following ones.
func (x *encoder) window(row int) {
	b, s, z, n := x.batch, &x.step, &x.shapes, x.players
	cut := func(size int) (from, to int) { return row * size, (row + n) * size }
	if s.planes != nil {
		from, to := cut(z.planes)
		b.Planes = s.planes[from:to]
	}
	if s.packed != nil {
		from, to := cut(z.words)
		b.Packed = s.packed[from:to]
	}
	if s.scalars != nil {
		from, to := cut(z.scalars)
		b.Scalars = s.scalars[from:to]
	}
	if s.mask != nil {
		from, to := cut(z.mask)
		b.Mask = s.mask[from:to]
	}
	if s.action != nil {
		from, to := cut(z.heads)
		b.Action = s.action[from:to]
	}
	b.Reward = s.reward[row : row+n]
}

// fill writes the columns that the batch does not hold, for turn t.
func (x *encoder) fill(e *rollout.Episode, t, row int) {
	s, n := &x.step, x.players
	var over, cut uint8
	if t == e.Turns-1 {
		over, cut = flag(e.Status == sim.Over), flag(e.Status == sim.Cut)
	}
	for p := range n {
		k := row + p
		s.episode[k], s.turn[k], s.seat[k] = e.ID, int32(t), uint8(p)
		s.outcome[k] = e.Outcome[p].Result
		s.terminated[k], s.truncated[k] = over, cut
		arrowfile.AppendList(s.orders, e.OrdersOf(t, sim.Player(p)))
	}
}

func flag(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// flushSteps writes the steps table and empties it.
func (x *encoder) flushSteps() error {
	if x.s.Rows == 0 {
		return nil
	}
	err := x.stepsFull(x.s)
	x.s.Reset()
	return err
}
