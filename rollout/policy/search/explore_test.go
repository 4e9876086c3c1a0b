package search_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/exact"
	"moonfarm/rollout/policy/search"
	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// drawsOf returns the random numbers at the root of a search with that seed.
func drawsOf(seed uint64) prng.Rand {
	return prng.New(prng.StreamSeed(seed, 0, 0, 0, prng.PurposeRoot))
}

// Noise changes the visits of the searching seat to those of the plain twin with noise in its priors, bit by bit.
// A search that is not full makes fewer simulations, without noise.
func TestNoise(t *testing.T) {
	r, changed := prng.New(5), 0
	for game := range uint64(40) {
		m, size := drawMatrices(&r)
		o := options(300)
		o.C, o.Noise, o.Cheap = 2, 0.25, 40
		p := sim.Player(game & 1)
		tree := newMatrices(o, m)
		for _, full := range []bool{true, false} {
			w := &plain{game: m, c: o.C, depth: o.Depth}
			root, simulations := w.node(matrixState{}, false, 0), o.Cheap
			if full {
				simulations = o.Simulations
				random := drawsOf(game)
				for k, draw := range search.AppendDirichlet(nil, size[p], &random) {
					root.prior[p][k] = float64((1-o.Noise)*root.prior[p][k]) + float64(o.Noise*draw)
				}
			}
			if size == [2]int{1, 1} {
				simulations = (simulations + 7) / 8
			}
			for range simulations {
				w.simulate(root, 0)
			}
			tree.SearchFor(p, full)
			tree.Search(&matrixState{}, game)
			require.Equalf(t, root.sum/root.visits, tree.Value(0), "game %d, full %v", game, full)
			for seat := range 2 {
				var want []float32
				for _, count := range root.count[seat] {
					want = append(want, float32(count/float64(simulations)))
				}
				require.Equalf(t, want, tree.AppendShares(nil, sim.Player(seat)), "game %d, full %v: shares of seat %d", game, full, seat)
			}
		}
		o.Noise = 0
		silent := newMatrices(o, m)
		silent.Search(&matrixState{}, game)
		tree.SearchFor(p, true)
		tree.Search(&matrixState{}, game)
		if !slices.Equal(silent.AppendShares(nil, p), tree.AppendShares(nil, p)) {
			changed++
		}
	}
	assert.GreaterOrEqual(t, changed, 30, "games of 40 in which noise changes the visits")
}

// The noise has the mean and the variance of the symmetric Dirichlet distribution, whose parameters sum to 10.
func TestDirichlet(t *testing.T) {
	r := prng.New(3)
	for _, n := range []int{2, 5, 30} { // parameters above and below 1
		const draws = 20000
		var mean, square float64
		for range draws {
			x := search.AppendDirichlet(nil, n, &r)
			sum := 0.0
			for _, part := range x {
				sum += part
			}
			require.InDelta(t, 1, sum, 1e-12)
			mean, square = mean+x[n-1]/draws, square+x[n-1]*x[n-1]/draws
		}
		share := 1 / float64(n)
		variance := share * (1 - share) / 11
		assert.InDelta(t, share, mean, 5*math.Sqrt(variance/draws), "mean of %d numbers", n)
		assert.InEpsilon(t, variance, square-mean*mean, 0.08, "variance of %d numbers", n)
	}
}

// consideredVisits returns the visits that a move must have to be picked in each simulation, as mctx lists them.
func consideredVisits(most, simulations int) (sequence []int) {
	if most <= 1 {
		for k := range simulations {
			sequence = append(sequence, k)
		}
		return sequence
	}
	halvings := int(math.Ceil(math.Log2(float64(most))))
	visits := make([]int, most)
	for considered := most; len(sequence) < simulations; considered = max(2, considered/2) {
		for range max(1, simulations/(halvings*considered)) {
			sequence = append(sequence, visits[:considered]...)
			for i := range considered {
				visits[i]++
			}
		}
	}
	return sequence[:simulations]
}

// halving is a literal twin of the searching seat with Options.Gumbel.
type halving struct {
	seat          int
	logits, draws []float64
	visits        []int // of consideredVisits, for the simulations that are left
}

func newHalving(seat int, prior []float64, most, simulations int, seed uint64) *halving {
	h, random := &halving{seat: seat}, drawsOf(seed)
	for _, p := range prior {
		h.logits = append(h.logits, exact.Log(p))
		u := (float64(random.Uint64()>>12) + 0.5) / (1 << 52)
		h.draws = append(h.draws, -exact.Log(-exact.Log(u)))
	}
	h.visits = consideredVisits(min(most, len(prior)), simulations)
	return h
}

// best returns the move with the best score among those with so many visits.
func (h *halving) best(n *plainNode, visits int) int {
	best, most := -1, 0.0
	for k, count := range n.count[h.seat] {
		score := h.logits[k] + h.draws[k] + float64((50+slices.Max(n.count[h.seat]))/2*n.mean[h.seat][k])
		if count == float64(visits) && (best < 0 || score > most) {
			best, most = k, score
		}
	}
	return best
}

// pick returns the move of the next simulation.
func (h *halving) pick(n *plainNode) int {
	visits := h.visits[0]
	h.visits = h.visits[1:]
	return h.best(n, visits)
}

// improved returns the improved policy; value: of the root alone.
func (h *halving) improved(n *plainNode, value float64) (shares []float64) {
	priors, mean, visits := 0.0, 0.0, 0.0
	for k, count := range n.count[h.seat] {
		if count > 0 {
			priors += n.prior[h.seat][k]
			mean += n.prior[h.seat][k] * n.mean[h.seat][k]
			visits += count
		}
	}
	mixed := (value + visits*mean/priors) / (1 + visits)
	sum := 0.0
	for k, count := range n.count[h.seat] {
		q := mixed
		if count > 0 {
			q = n.mean[h.seat][k]
		}
		shares = append(shares, n.prior[h.seat][k]*math.Exp((50+slices.Max(n.count[h.seat]))*q/2))
		sum += shares[k]
	}
	for k := range shares {
		shares[k] /= sum
	}
	return shares
}

// With Gumbel the searching seat picks the moves of the literal twin, whatever the numbers of moves and simulations; its
// shares are the improved policy and sum to 1. The other seat has shares of the visits.
func TestGumbelTwin(t *testing.T) {
	r := prng.New(9)
	for game := range uint64(80) {
		m, size := drawMatrices(&r)
		o := options(1 + r.IntN(300))
		o.C, o.Gumbel = 2, 2+r.IntN(15)
		p, simulations := int(game&1), o.Simulations
		if size == [2]int{1, 1} {
			simulations = (simulations + 7) / 8
		}
		w := &plain{game: m, c: o.C, depth: o.Depth, seat: p}
		root := w.node(matrixState{sum: 0.25}, false, 0.25)
		twin := newHalving(p, root.prior[p], o.Gumbel, simulations, game)
		w.root = twin.pick
		for range simulations {
			w.simulate(root, 0)
		}
		tree := newMatrices(o, m)
		tree.SearchFor(sim.Player(p), true)
		tree.Search(&matrixState{sum: 0.25}, game)
		require.Equalf(t, root.sum/root.visits, tree.Value(0), "game %d", game)
		move, ok := tree.Chosen()
		require.Truef(t, ok && move == twin.best(root, int(slices.Max(root.count[p]))), "game %d: move %d, %v", game, move, ok)
		sum := 0.0
		for k, want := range twin.improved(root, []float64{0.25, -0.25}[p]) {
			share := tree.AppendShares(nil, sim.Player(p))[k]
			require.InDeltaf(t, want, share, 1e-6, "game %d: share of move %d", game, k)
			sum += float64(share)
		}
		require.InDelta(t, 1, sum, 1e-6)
		for k, share := range tree.AppendShares(nil, sim.Player(1-p)) {
			require.Equal(t, float32(root.count[1-p][k]/float64(simulations)), share)
		}
	}
}

// Sequential halving over all moves finds the best one. With fewer simulations than moves the choice is still better
// than a draw from the priors in the mean, and so is the improved policy: Danihelka and others prove it for exact values.
func TestGumbelImproves(t *testing.T) {
	const moves, best = 12, 7
	m := &matrices{turns: [][][]float64{nil}}
	drawn := 0.0
	for k := range moves {
		pays, prior := -0.5+float64(k*5%moves)/24, float64(1+k%3)
		if k == best {
			pays, prior = 0.75, 0.5
		}
		m.turns[0], m.prior = append(m.turns[0], []float64{pays}), append(m.prior, prior)
	}
	total := 0.0
	for k, prior := range m.prior {
		drawn, total = drawn+prior*m.turns[0][k][0], total+prior
	}
	drawn /= total
	o := options(200)
	o.Gumbel = 16
	tree := newMatrices(o, m)
	for seed := range uint64(100) {
		tree.Search(&matrixState{}, seed)
		move, _ := tree.Chosen()
		require.Equal(t, best, move)
		require.Equal(t, best, search.Best(tree.AppendShares(nil, 0)))
	}
	o.Simulations, o.Gumbel = 4, 4
	tree = newMatrices(o, m)
	chosen, improved, different := 0.0, 0.0, map[int]bool{}
	const searches = 300
	for seed := range uint64(searches) {
		tree.Search(&matrixState{}, seed)
		move, _ := tree.Chosen()
		different[move] = true
		chosen += m.turns[0][move][0] / searches
		for k, share := range tree.AppendShares(nil, 0) {
			improved += float64(share) * m.turns[0][k][0] / searches
		}
	}
	t.Logf("drawn from the priors %.3f, chosen %.3f, improved policy %.3f, %d different moves", drawn, chosen, improved, len(different))
	assert.Greater(t, chosen, drawn+0.1)
	assert.Greater(t, improved, drawn+0.1)
	assert.Greater(t, len(different), 3)
	tree.SearchFor(0, false)
	_, ok := tree.Chosen()
	assert.False(t, ok, "a search that is not full has no Gumbel")
}

// Searches that explore allocate nothing.
func TestExploreAllocations(t *testing.T) {
	for _, o := range []search.Options{{Noise: 0.25, Cheap: 10}, {Gumbel: 8}} {
		o.Simulations, o.C, o.Memory, o.Width, o.Depth = 200, 1, 1<<20, 16, 64
		tree := newMatrices(o, &matrices{turns: slices.Repeat([][][]float64{dominated}, 5)})
		s, shares, seed := new(matrixState), make([]float32, 0, 16), uint64(0)
		assert.Zero(t, testing.AllocsPerRun(20, func() {
			seed++
			tree.SearchFor(sim.Player(seed&1), seed&2 == 0)
			tree.Search(s, seed)
			tree.Chosen()
			tree.AppendShares(shares, sim.Player(seed&1))
		}), "%+v", o)
	}
}
