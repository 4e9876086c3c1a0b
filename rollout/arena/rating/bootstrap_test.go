package rating_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/arena/rating"
	"moonfarm/sim/prng"
)

// TestBootstrap: with many seeds the bootstrap agrees with the intervals of the fit, and the same
// seed gives the same result.
func TestBootstrap(t *testing.T) {
	for _, l := range lucks {
		t.Run(l.name, func(t *testing.T) {
			r := prng.New(5)
			results := tournament{[]float64{0.8, 0.1, -0.2, -0.7}, 0.4, 400, l}.play(&r)
			shown := fit(t, 4, results).Ratings(-1)
			boot, err := rating.Bootstrap(4, results, -1, 1000, 1)
			require.NoError(t, err)
			for i, x := range shown {
				y := boot[i]
				assert.Truef(t, x.Elo == y.Elo && x.Seeds == y.Seeds && math.Abs(y.Error/x.Error-1) <= 0.15 && math.Abs(y.Low-x.Low) <= 0.5*x.Error && math.Abs(y.High-x.High) <= 0.5*x.Error, "%s: player %d has %+v, by the bootstrap %+v", l.name, i, x, y)
			}
			slices.Reverse(results)
			again, err := rating.Bootstrap(4, results, -1, 1000, 1)
			require.NoErrorf(t, err, "again with the same seed: %v", again)
			assert.True(t, slices.Equal(boot, again), "again with the same seed")
			anchored, err := rating.Bootstrap(4, results, 2, 1000, 1)
			require.NoErrorf(t, err, "against player 2: %+v", anchored)
			assert.Truef(t, anchored[2].Error == 0 && anchored[2].High == 0 && math.Abs(anchored[0].Elo-boot[0].Elo+boot[2].Elo) <= 0.02 && math.Abs((anchored[0].Low+anchored[0].High)/2-anchored[0].Elo) <= anchored[0].Error, "against player 2: %+v", anchored)
			other, err := rating.Bootstrap(4, results, -1, 1000, 2)
			require.NoErrorf(t, err, "with another seed: %v", other)
			assert.Falsef(t, slices.Equal(boot, other), "with another seed: %v, want other numbers", other)
		})
	}
}

// TestPayoffs checks the payoff matrices of a table of results.
func TestPayoffs(t *testing.T) {
	results := []rating.Comparison{
		{A: 0, B: 1, Wins: 2, Draws: 1, Losses: 1, Weight: 1}, {A: 1, B: 0, Wins: 4, Weight: 0.5}, {A: 2, B: 0, Losses: 3, Weight: 1},
	}
	scores, err := rating.Scores(4, results)
	require.NoError(t, err)
	// Player 0 against 1: weights of 2 wins, 1 draw and 3 losses.
	for i, want := range [][]float64{{0, 2.5/6 - 0.5, 0.5, 0}, {0.5 - 2.5/6, 0, 0, 0}, {-0.5, 0, 0, 0}, {0, 0, 0, 0}} {
		near(t, "scores", scores[i], want, 1e-12)
	}
}

// BenchmarkFit rates 30 players who all met on 10,000 seeds, with intervals and superiorities.
func BenchmarkFit(b *testing.B) {
	theta := make([]float64, 30)
	for i := range theta {
		theta[i] = float64(i) / 10
	}
	r := prng.New(1)
	results := tournament{theta, 0.3, 10000, lucks[1]}.play(&r)
	sum := 0.0
	for b.Loop() {
		m, err := rating.Fit(len(theta), results)
		if err != nil {
			b.Fatal(err)
		}
		for _, r := range m.Ratings(-1) {
			sum += r.Low
		}
		for i := range theta {
			for j := range i {
				sum += m.Superiority(i, j)
			}
		}
	}
	b.ReportMetric(float64(len(results)), "results/op")
	b.Logf("30 players, 10,000 seeds, checksum %.2f", sum/float64(b.N))
}
