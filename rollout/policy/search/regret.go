package search

import "math"

// draw picks a move by regret matching: in proportion to its regret, and sometimes
// uniformly, to explore. It adds the strategy to the average.
func (t *Tree[S, M]) draw(v *visit, n *node, p int) int32 {
	moves := t.mixed[n.first[p]:][:n.count[p]]
	total := 0.0
	for k := range moves {
		total += moves[k].regret
	}
	chance := t.random.Float64()
	explore := min(0.5, t.options.C*math.Sqrt(float64(len(moves))/n.visits))
	uniform := t.random.Float64() < explore
	picked := len(moves) - 1
	below := 0.0 // probability of the moves so far
	for k := range moves {
		e := &moves[k]
		part := e.prior
		if total > 0 {
			part = e.regret / total
		}
		e.average += float64(n.visits * part)
		if uniform {
			part = 1 / float64(len(moves))
		}
		if below += part; chance < below && k < picked {
			picked = k
		}
	}
	v.explored[p] = uniform
	return int32(picked)
}

// regret updates the regrets of each seat's moves: the value that a move would have
// brought beyond the seat's strategy, against the move that the other seat picked. Moves
// that were never played against that move are left out.
func (t *Tree[S, M]) regret(v *visit) {
	n := &t.nodes[v.node]
	for p := range v.pick {
		if n.count[p] == 1 || v.explored[1-p] {
			continue
		}
		moves := t.mixed[n.first[p]:][:n.count[p]]
		total := 0.0
		for k := range moves {
			total += moves[k].regret
		}
		weight, sum := 0.0, 0.0 // of the strategy's values
		for k := range moves {
			e := &moves[k]
			other := v.pick
			other[p] = int32(k)
			c := t.find(v.node, pair(other[0], other[1]))
			if c < 0 {
				t.means[k] = math.Inf(-1)
				continue
			}
			mean := t.cellMean(c)
			if p == 1 {
				mean = -mean
			}
			t.means[k] = mean
			part := e.prior
			if total > 0 {
				part = e.regret
			}
			weight += part
			sum += float64(part * mean)
		}
		if weight == 0 {
			continue // no move of the strategy has a value yet
		}
		for k, mean := range t.means[:len(moves)] {
			if !math.IsInf(mean, -1) {
				moves[k].regret = max(0, moves[k].regret+mean-sum/weight)
			}
		}
	}
}

// cellMean returns the mean value of a cell for seat 0: the mean of its child, or with
// chance the mean over the cell's visits.
func (t *Tree[S, M]) cellMean(i int32) float64 {
	if t.options.Chance {
		c := &t.cells[i]
		return c.sum / c.weight
	}
	child := &t.nodes[t.child(i)]
	return child.sum / child.weight
}
