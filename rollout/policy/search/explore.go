package search

import (
	"math"
	"math/bits"

	"moonfarm/rollout/exact"
	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// explorer is what the searching seat does at the root beside PUCT: see Options.Noise and Options.Gumbel.
type explorer struct {
	seat   sim.Player
	full   bool      // neither Noise nor Gumbel without
	value  float64   // of the root before all simulations, for seat 0
	logits []float64 // with Gumbel: the logarithms of the seat's priors
	draws  []float64 // of the Dirichlet or the Gumbel distribution, one a move

	scratch []float64 // of appendImproved

	// Sequential halving is made of rounds, in which each of the considered moves is picked once. A move that is picked
	// has `level` visits: the number of rounds before.
	considered, made, level int // made: picks in this round
	left                    int // rounds until half of the moves are considered
}

// SearchFor sets the searching seat of later searches, seat 0 at first, and whether they are full, as at first. A search
// that is not full makes Options.Cheap simulations, and has neither Noise nor Gumbel.
func (t *Tree[S, M]) SearchFor(p sim.Player, full bool) { t.explorer.seat, t.explorer.full = p, full }

// halves reports whether the searching seat picks its moves at the root by sequential halving.
func (t *Tree[S, M]) halves() bool { return t.options.Gumbel > 0 && t.explorer.full }

// simulations returns the limit of simulations of the search.
func (t *Tree[S, M]) simulations() int {
	if t.explorer.full {
		return t.options.Simulations
	}
	return t.options.Cheap
}

// explore gives stats to the searching seat's moves at the root: with Noise to the one with the largest prior after the
// noise, with Gumbel to all of them, in their order. It returns false if there is neither.
func (t *Tree[S, M]) explore(root *node, priors []float64) bool {
	x, p := &t.explorer, int(t.explorer.seat)
	if !x.full || t.options.Noise == 0 && t.options.Gumbel == 0 {
		return false
	}
	random := prng.New(prng.StreamSeed(t.seed, 0, 0, 0, prng.PurposeRoot))
	if t.options.Gumbel == 0 {
		x.draws = appendDirichlet(x.draws[:0], len(priors), &random)
		for k, draw := range x.draws {
			priors[k] = float64((1-t.options.Noise)*priors[k]) + float64(t.options.Noise*draw)
		}
		t.show(root, p)
		return true
	}
	x.logits, x.draws = x.logits[:0], x.draws[:0]
	for k, prior := range priors {
		x.logits = append(x.logits, exact.Log(max(prior, leastPrior)))
		x.draws = append(x.draws, -exact.Log(-exact.Log(positive(&random))))
		t.reveal(root, p, k)
	}
	x.considered, x.made, x.level = min(t.options.Gumbel, len(priors)), 0, 0
	x.left = t.rounds()
	return true
}

// leastPrior is the least prior that has a logarithm here.
const leastPrior = 1e-9

// concentration is the sum of the parameters of the Dirichlet distribution of Options.Noise. AlphaZero's are about 10
// divided by the usual number of moves.
const concentration = 10

// appendDirichlet appends n numbers that sum to 1, drawn from the symmetric Dirichlet distribution.
func appendDirichlet(dst []float64, n int, r *prng.Rand) []float64 {
	from, sum := len(dst), 0.0
	for range n {
		x := gamma(float64(concentration)/float64(n), r)
		dst, sum = append(dst, x), sum+x
	}
	for k := range dst[from:] {
		dst[from+k] /= sum
	}
	return dst
}

// gamma draws from the gamma distribution of a shape (Marsaglia, Tsang: "A simple method for generating gamma
// variables", 2000).
func gamma(shape float64, r *prng.Rand) float64 {
	factor := 1.0
	if shape < 1 {
		factor = exact.Exp(exact.Log(positive(r)) / shape)
		shape++
	}
	d := shape - 1./3
	c := 1 / math.Sqrt(9*d)
	for {
		x := normal(r)
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = v * v * v
		if exact.Log(positive(r)) < float64(0.5*x*x)+d-float64(d*v)+float64(d*exact.Log(v)) {
			return factor * d * v
		}
	}
}

// normal draws from the standard normal distribution by the polar method.
func normal(r *prng.Rand) float64 {
	for {
		x, y := 2*(float64(r.Float64())-0.5), 2*(float64(r.Float64())-0.5)
		if s := float64(x*x) + float64(y*y); s < 1 && s > 0 {
			return x * math.Sqrt(-2*exact.Log(s)/s)
		}
	}
}

// positive returns a uniform number in (0, 1).
func positive(r *prng.Rand) float64 { return (float64(r.Uint64()>>12) + 0.5) * 0x1p-52 }

// halve picks the searching seat's move at the root: the one with the largest score among the moves with `level` visits.
// Rounds and their moves are those of mctx, the program of the paper's authors.
func (t *Tree[S, M]) halve(v *visit) {
	x, first := &t.explorer, t.nodes[0].first
	v.pick[x.seat] = int32(t.leader(int32(x.level)))
	v.stat[x.seat] = first[x.seat] + v.pick[x.seat]
	if x.made++; x.made < x.considered {
		return
	}
	x.made = 0
	x.level++
	if x.left--; x.left == 0 {
		x.considered = max(2, x.considered/2)
		x.left = t.rounds()
	}
}

// rounds returns how often each of the considered moves is picked before half of them are left.
func (t *Tree[S, M]) rounds() int {
	halvings := bits.Len(uint(min(t.options.Gumbel, len(t.explorer.logits)) - 1))
	return max(1, t.budget/max(1, halvings*t.explorer.considered))
}

// leader returns the searching seat's move at the root with the largest score, the first one among equals, of those
// with so many visits.
func (t *Tree[S, M]) leader(visits int32) int {
	x, stats, scale := &t.explorer, t.rootStats(), t.scale()
	best, most := 0, math.Inf(-1)
	for k := range stats {
		e := &stats[k]
		if score := x.logits[k] + x.draws[k] + float64(scale*e.mean); e.visits == visits && score > most {
			best, most = k, score
		}
	}
	return best
}

// rootStats returns the statistics of all moves of the searching seat at the root.
func (t *Tree[S, M]) rootStats() []stat {
	root, p := &t.nodes[0], t.explorer.seat
	return t.stats[root.first[p]:][:root.count[p]]
}

// mostVisits returns the visits of the searching seat's most visited move.
func (t *Tree[S, M]) mostVisits() (most int32) {
	for _, e := range t.rootStats() {
		most = max(most, e.visits)
	}
	return most
}

// scale returns the factor of values, −1 … 1, in scores, which are logits: half of (50 + visits of the most visited
// move), as in the paper for values from 0 to 1.
func (t *Tree[S, M]) scale() float64 { return (50 + float64(t.mostVisits())) / 2 }

// appendImproved appends the improved policy: in proportion to exp(logit + scale·value), where a move without visits has
// the mean of the root's own value and the values of the others, weighted by their priors.
func (t *Tree[S, M]) appendImproved(dst []float32) []float32 {
	x, stats, scale := &t.explorer, t.rootStats(), t.scale()
	sum, weight, visits := 0.0, 0.0, 0.0
	for k := range stats {
		if e := &stats[k]; e.visits > 0 {
			prior := max(e.prior, leastPrior)
			sum, weight, visits = sum+float64(prior*e.mean), weight+prior, visits+float64(e.visits)
		}
	}
	mean := x.value
	if x.seat == 1 {
		mean = -mean
	}
	if weight > 0 {
		mean = (mean + float64(visits*(sum/weight))) / (visits + 1)
	}
	most := math.Inf(-1)
	x.scratch = x.scratch[:0]
	for k := range stats {
		value := mean
		if stats[k].visits > 0 {
			value = stats[k].mean
		}
		x.scratch = append(x.scratch, x.logits[k]+float64(scale*value))
		most = max(most, x.scratch[k])
	}
	sum = 0
	for k, logit := range x.scratch {
		x.scratch[k] = exact.Exp(logit - most)
		sum += x.scratch[k]
	}
	for _, share := range x.scratch {
		dst = append(dst, float32(share/sum))
	}
	return dst
}
