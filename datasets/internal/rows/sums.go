package rows

import (
	"moonfarm/datasets/derive"
	"moonfarm/rollout"
	"moonfarm/sim"
)

// sums are the returns of all turns of an episode, and so on [turns, seats].
type sums struct{ returns, nsteps, discounts []float32 }

// compute computes the sums that are wanted from the rewards of all turns.
func (s *sums) compute(c *Spec, e *rollout.Episode, rewards []float32) {
	if c.wants(Return) {
		s.returns = eachAction(s.returns, c.Players, e, rewards, func(dst, rewards []float32, players int) {
			derive.Returns(dst, rewards, players, c.Discount)
		})
	}
	if c.wants(NStep) {
		s.nsteps = eachAction(s.nsteps, c.Players, e, rewards, func(dst, rewards []float32, players int) {
			derive.Steps(dst, rewards, players, c.Steps, c.Discount)
		})
	}
	if c.wants(NextDiscount) {
		s.discounts = eachAction(s.discounts, c.Players, e, rewards, func(dst, _ []float32, players int) {
			derive.Discounts(dst, players, c.Steps, c.Discount, e.Status == sim.Over)
		})
	}
}

// eachAction returns what f makes of the rewards of all turns. In a sequential form f gets
// the rewards of one seat's actions after the other; the rows of a seat that waits are 0.
func eachAction(dst []float32, players int, e *rollout.Episode, rewards []float32, f func(dst, rewards []float32, players int)) []float32 {
	dst = resized(dst, len(rewards))
	if e.Steps == nil {
		f(dst, rewards, players)
		return dst
	}
	clear(dst)
	for p := range players {
		var rows []int
		var own []float32
		for k := p; k < len(rewards); k += players {
			if e.Steps.Action[k] != rollout.Waiting {
				rows, own = append(rows, k), append(own, rewards[k])
			}
		}
		made := make([]float32, len(own))
		f(made, own, 1)
		for i, k := range rows {
			dst[k] = made[i]
		}
	}
	return dst
}

// resized returns s with n values, in its own memory if that is large enough.
func resized(s []float32, n int) []float32 {
	if cap(s) < n {
		return make([]float32, n, n+n/2)
	}
	return s[:n]
}
