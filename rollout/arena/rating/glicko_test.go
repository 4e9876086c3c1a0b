package rating_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/arena/rating"
	"moonfarm/sim/prng"
)

// TestGlickoExample computes the paper's example: a player of 1500 beats one of 1400 and loses to
// 1550 and 1700.
func TestGlickoExample(t *testing.T) {
	players := []rating.Glicko{{1500, 200, 0.06}, {1400, 30, 0.06}, {1550, 100, 0.06}, {1700, 300, 0.06}}
	for name, results := range map[string][]rating.Comparison{
		"told by the player": {{A: 0, B: 1, Wins: 1, Weight: 1}, {A: 0, B: 2, Losses: 1, Weight: 1}, {A: 0, B: 3, Losses: 1, Weight: 1}},
		"told by the others": {{A: 1, B: 0, Losses: 1, Weight: 1}, {A: 2, B: 0, Wins: 1, Weight: 1}, {A: 3, B: 0, Wins: 1, Weight: 1}},
		"in halves": {{A: 1, B: 0, Losses: 2, Weight: 0.5}, {A: 0, B: 3, Losses: 1, Weight: 1},
			{A: 2, B: 0, Wins: 1, Weight: 0.5}, {A: 0, B: 2, Losses: 1, Weight: 0.5}},
	} {
		t.Run(name, func(t *testing.T) {
			after, err := rating.GlickoPeriod(players, results, 0.5)
			require.NoError(t, err)
			// The paper's 1464.06 and 151.52 were rounded along the way; implementations that do not
			// round give 1464.0507, 151.5165, 0.0599960.
			got := after[0]
			near(t, name, []float64{got.Rating, got.Deviation, got.Volatility}, []float64{1464.0507, 151.5165, 0.0599960}, 1e-4)
			assert.Truef(t, math.Abs(got.Rating-1464.06) <= 0.011 && math.Abs(got.Deviation-151.52) <= 0.005 && math.Abs(got.Volatility-0.05999) <= 1e-5, "%s: %v, the paper has 1464.06, 151.52 and 0.05999", name, got)
		})
	}
}

func TestGlickoPeriod(t *testing.T) {
	fresh := rating.NewGlicko()
	// A player without games becomes less certain: √(φ² + σ²), up to 350.
	after, err := rating.GlickoPeriod([]rating.Glicko{{1700, 50, 0.06}, fresh}, nil, 0.5)
	require.NoError(t, err)
	near(t, "no game", []float64{after[0].Rating, after[0].Deviation, after[0].Volatility},
		[]float64{1700, math.Hypot(50, 0.06*173.7178), 0.06}, 1e-9)
	near(t, "a new player", []float64{after[1].Rating, after[1].Deviation, after[1].Volatility}, []float64{1500, 350, 0.06}, 1e-9)
	// Equal players that draw stay equal and become more certain.
	after, err = rating.GlickoPeriod([]rating.Glicko{fresh, fresh}, []rating.Comparison{{A: 0, B: 1, Draws: 5, Weight: 1}}, 0.5)
	require.NoError(t, err)
	assert.Truef(t, after[0] == after[1] && math.Abs(after[0].Rating-1500) <= 1e-9 && after[0].Deviation <= 250, "equals after five draws: %v", after)
	// A player who suddenly wins everything gains volatility.
	good := []rating.Glicko{{1500, 40, 0.06}, {1900, 40, 0.06}}
	after, err = rating.GlickoPeriod(good, []rating.Comparison{{A: 0, B: 1, Wins: 40, Weight: 1}}, 0.9)
	require.NoError(t, err)
	assert.Truef(t, after[0].Volatility >= 0.061 && after[0].Rating >= 1550 && after[1].Rating <= 1850, "after an upset: %v", after)
}

// TestGlickoBounds: numbers stay finite for all inputs.
func TestGlickoBounds(t *testing.T) {
	for k := range 300 {
		r := prng.New(prng.StreamSeed(9, uint64(k), 0, 0, prng.PurposeGame))
		players := make([]rating.Glicko, 2+r.IntN(4))
		for i := range players {
			players[i] = rating.Glicko{Rating: 1e6 * (2*r.Float64() - 1), Deviation: math.Exp(20*r.Float64() - 10), Volatility: math.Exp(-20 * r.Float64())}
			if k%2 == 0 {
				players[i] = rating.NewGlicko()
			}
		}
		tau := []float64{0.001, 0.5, 100}[r.IntN(3)]
		for range 10 {
			after, err := rating.GlickoPeriod(players, randomResults(&r, len(players)), tau)
			if err != nil {
				t.Fatal(err)
			}
			for i, g := range after {
				if !(math.Abs(g.Rating) < 1e20 && g.Deviation > 0 && g.Deviation < 350.001 && g.Volatility > 0 && g.Volatility < 1e7) {
					t.Fatalf("case %d: %v after %v", k, g, players[i])
				}
				players[i].Rating = max(-1e6, min(1e6, g.Rating))
				players[i].Deviation, players[i].Volatility = g.Deviation, g.Volatility
			}
		}
	}
	ok := []rating.Glicko{rating.NewGlicko(), rating.NewGlicko()}
	for _, tau := range []float64{0, -1, math.NaN(), 1000} {
		_, err := rating.GlickoPeriod(ok, nil, tau)
		assert.Errorf(t, err, "tau %v: want an error", tau)
	}
	for _, g := range []rating.Glicko{{}, {1500, 0, 0.06}, {1500, 350, 0}, {math.NaN(), 350, 0.06}, {1500, math.Inf(1), 0.06}, {1e9, 350, 0.06}} {
		_, err := rating.GlickoPeriod([]rating.Glicko{g}, nil, 0.5)
		assert.Errorf(t, err, "%v: want an error", g)
	}
	_, err := rating.GlickoPeriod(ok, []rating.Comparison{{A: 0, B: 2, Wins: 1, Weight: 1}}, 0.5)
	assert.Error(t, err, "an undefined player: want an error")
}

// randomResults returns a few random results: with huge counts, small weights, or no games.
func randomResults(r *prng.Rand, players int) []rating.Comparison {
	var results []rating.Comparison
	for range r.IntN(12) {
		a := r.IntN(players)
		b := r.IntN(players)
		if a == b {
			continue
		}
		x := rating.Comparison{A: a, B: b, Block: r.IntN(4) - 1, Weight: []float64{0, 1e-9, 0.25, 1}[r.IntN(4)]}
		for _, n := range []*int{&x.Wins, &x.Draws, &x.Losses} {
			*n = []int{0, 0, 1, r.IntN(5), 1000, math.MaxInt32}[r.IntN(6)]
		}
		results = append(results, x)
	}
	return results
}
