package policy

import (
	"fmt"

	"moonfarm/env"
	"moonfarm/rollout/exact"
	"moonfarm/rollout/policy/search"
	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// The names of options of searches whose games are to be learned from. optionNoise, optionGumbel and optionCheap
// set search.Options.
const (
	optionNoise   = "noise"
	optionGumbel  = "gumbel"
	optionSampled = "sampled"
	optionVisits  = "visit-temperature"
	optionFull    = "full"
	optionCheap   = "cheap"
)

// exploration is what a search does to make various games and more of them; the choices depend on nothing but the row.
type exploration struct {
	sampled int     // first turns in which the move is drawn in proportion to share^(1/visits)
	visits  float64 // a temperature
	full    float64 // share of the turns with a full search; the others have a cheap one, and no result
}

// explorationDocs documents the options.
func explorationDocs() []Option {
	return []Option{
		{optionNoise, "0 … 1: to learn from: weight of Dirichlet noise in the priors of the own moves at the root (0; AlphaZero has 0.25)"},
		{optionGumbel, "2 … 1024: to learn from: own moves at the root that Gumbel noise picks for sequential halving; the shares are the improved policy (none; 16 in the paper)"},
		{optionSampled, "0 … 1000000: first turns of a game in which the move is drawn by its visits, instead of the most visited one (0)"},
		{optionVisits, "above 0, at most 1000: these moves are drawn in proportion to visits^(1/visit-temperature) (1)"},
		{optionFull, "0 … 1: share of the turns with a full search; the others have a cheap one without noise, and no result to learn from (1; KataGo has 0.25)"},
		{optionCheap, "1 … 1000000: simulations of a cheap search (a sixth of sims)"},
	}
}

// explore stores the value of one of these options.
func (o *searchOptions) explore(given *setting) error {
	switch given.name {
	case optionNoise:
		return given.real(&o.Noise, 1)
	case optionGumbel:
		return given.number(&o.Gumbel, 2, 1<<10)
	case optionSampled:
		return given.number(&o.sampled, 0, 1_000_000)
	case optionVisits:
		return given.temperature(&o.visits)
	case optionFull:
		return given.real(&o.full, 1)
	case optionCheap:
		return given.number(&o.Cheap, 1, 1_000_000)
	}
	return fmt.Errorf("no option %q of a search", given.name)
}

// The draws of a policy that searches, beside those of its tree.
const (
	drawFull = 1 + iota
	drawMove
)

// draw returns a number in [0, 1) for a row of that seed.
func draw(seed, what uint64) float64 {
	r := prng.New(prng.StreamSeed(seed, what, 0, 0, prng.PurposeRoot))
	return r.Float64()
}

// fully reports whether a row of that seed has a full search.
func (e *exploration) fully(seed uint64) bool { return e.full == 1 || draw(seed, drawFull) < e.full }

// ready tells the tree which seat searches in a row, and whether fully.
func (c *searcher[S, M]) ready(t *search.Tree[S, M], b *env.Batch, row int32) {
	t.SearchFor(sim.Player(row%c.seats), c.exploration.fully(b.RowSeed[row]))
}

// choose returns the number of the move to play after the search of a row, whose moves have these shares.
func (c *searcher[S, M]) choose(t *search.Tree[S, M], shares []float32, b *env.Batch, row int32) int {
	if move, ok := t.Chosen(); ok {
		return move
	}
	best := search.Best(shares)
	if int(b.Turn[row/c.seats]) >= c.exploration.sampled {
		return best
	}
	c.weights = c.weights[:0]
	sum := 0.0
	for _, share := range shares {
		sum += exact.Exp(exact.Log(float64(share)/float64(shares[best])) / c.exploration.visits)
		c.weights = append(c.weights, sum)
	}
	at := sum * draw(b.RowSeed[row], drawMove)
	for k, end := range c.weights {
		if at < end {
			return k
		}
	}
	return best
}
