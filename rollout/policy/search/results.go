package search

import "moonfarm/sim"

// The methods here return the results of the latest search, at the root.

// Moves returns the moves of seat p at the root. They are valid until the next search.
func (t *Tree[S, M]) Moves(p sim.Player) []M {
	root := &t.nodes[0]
	return t.moves[root.first[p]:][:root.count[p]]
}

// AppendShares appends the share of each move of seat p: its part of the visits. They
// sum to 1. After a search without simulations they are the priors. With Options.Gumbel those
// of the searching seat are the improved policy.
func (t *Tree[S, M]) AppendShares(dst []float32, p sim.Player) []float32 {
	if t.halves() && p == t.explorer.seat {
		return t.appendImproved(dst)
	}
	root := &t.nodes[0]
	from, total := len(dst), 0.0
	stats := t.stats[root.first[p]:][:root.stats[p]]
	for k := range stats {
		total += float64(stats[k].visits)
	}
	for _, prior := range t.priors[root.first[p]:][:root.count[p]] {
		if total > 0 {
			prior = 0
		}
		dst = append(dst, float32(prior))
	}
	for k := range stats {
		e := &stats[k]
		share := e.prior // nothing was searched
		if total > 0 {
			share = float64(e.visits) / total
		}
		dst[from+int(e.move)] = float32(share)
	}
	return dst
}

// Value returns the value of the searched state for seat p: the mean over the
// simulations.
func (t *Tree[S, M]) Value(p sim.Player) float64 {
	value := t.nodes[0].sum / t.nodes[0].weight
	if p == 1 {
		return -value
	}
	return value
}

// Chosen returns the index in Moves of the move that sequential halving has left to the searching seat; false without
// Options.Gumbel: see Best.
func (t *Tree[S, M]) Chosen() (move int, ok bool) {
	if !t.halves() {
		return 0, false
	}
	return t.leader(t.mostVisits()), true
}

// Best returns the index in Moves of the move to play: the most visited one. shares are
// those of AppendShares.
func Best(shares []float32) int {
	best := 0
	for k, share := range shares {
		if share > shares[best] {
			best = k
		}
	}
	return best
}
