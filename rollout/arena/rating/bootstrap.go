package rating

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"

	"moonfarm/sim/prng"
)

// MaxReplicates is the largest number of replicates of Bootstrap.
const MaxReplicates = 10000

// maxBundles bounds the number of sets of blocks that are drawn; with more blocks, several share a
// set.
const maxBundles = 256

// Bootstrap rates the players on resampled results, whose blocks are drawn from the blocks of the
// given results with replacement: B. Efron, "Bootstrap methods: another look at the jackknife",
// Annals of Statistics 7 (1979), with blocks as the units. Low and High are the percentiles 2.5 and
// 97.5 over all replicates, Error is their standard deviation; the other fields are as in
// Model.Ratings. The draws follow from the seed. More than 256 blocks are bundled in 256 sets, and
// sets are drawn.
//
// The bootstrap checks the intervals of Model.Ratings if there are many blocks. With few blocks its
// intervals are too narrow, and it ignores weights below 1 if the games that repeat are in
// different blocks.
//
// It fails as Fit does, and if the replicates are not 2 … 10,000.
func Bootstrap(players int, results []Comparison, anchor, replicates int, seed uint64) ([]Rating, error) {
	if replicates < 2 || replicates > MaxReplicates {
		return nil, fmt.Errorf("rating: %d replicates, want 2 … %d", replicates, MaxReplicates)
	}
	m, err := Fit(players, results)
	if err != nil {
		return nil, err
	}
	anchor = m.anchor(anchor)
	bundles := m.fit.bundles(results)
	values := matrix(players, replicates)
	sum := make([]counts, len(m.fit.table.pairs))
	for k := range replicates {
		r := prng.New(prng.StreamSeed(seed, uint64(k), 0, 0, prng.PurposeResample))
		clear(sum)
		for range bundles {
			for p, c := range bundles[r.IntN(len(bundles))] {
				sum[p].add(c)
			}
		}
		best, ok := m.fit.maximise(sum, m.best.at, nil)
		if !ok {
			return nil, errors.New("rating: the information matrix of a replicate is singular")
		}
		zero := reference(best.at[:players], anchor)
		for i := range players {
			values[i][k] = best.at[i] - zero
		}
	}
	all := make([]Rating, players)
	for i := range all {
		slices.Sort(values[i])
		all[i] = Rating{
			Elo: elo(m.centre(i, anchor)), Group: m.group[i], Bounded: m.bounded(i, anchor), Seeds: round(m.seeds(i, anchor), 100),
			Low:   elo(stat.Quantile(0.025, stat.LinInterp, values[i], nil)),
			High:  elo(stat.Quantile(0.975, stat.LinInterp, values[i], nil)),
			Error: elo(stat.StdDev(values[i], nil)),
		}
	}
	return all, nil
}

// bundles returns the tables of the blocks, by pair; if there are many blocks, a table is the sum
// of several.
func (l *likelihood) bundles(results []Comparison) [][]counts {
	of, n := blocks(results)
	all := make([][]counts, min(n, maxBundles))
	for b := range all {
		all[b] = make([]counts, len(l.table.pairs))
	}
	for k, b := range of {
		if b >= 0 {
			r := &results[k]
			all[int(b)%maxBundles][l.table.index[l.table.place(r)]].add(r.counts(r.Weight))
		}
	}
	return all
}
