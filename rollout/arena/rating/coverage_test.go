package rating_test

import (
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/arena/rating"
	"moonfarm/sim/prng"
)

func long() bool { return os.Getenv("MOONFARM_LONG") != "" }

// luck models how the games of a seed are correlated.
type luck struct {
	name  string
	share float64 // share of the luck's variance that the seed decides
	swap  float64 // the second game of a pair: 1 favours the same player, −1 the same seat
	each  bool    // each pair of a seed has its own luck; otherwise each player does
}

var lucks = []luck{
	{name: "independent games", swap: 1},
	{name: "seeds favour players", share: 0.5, swap: 1},
	{name: "seeds favour one of a pair", share: 0.8, swap: 1, each: true},
	{name: "seeds favour seats", share: 0.7, swap: -1, each: true},
}

// tournament is a simulated tournament: every pair plays every seed twice. The probabilities of
// each single game are exactly those of Davidson's model, whatever the luck.
type tournament struct {
	theta []float64 // log strengths
	nu    float64
	seeds int
	luck  luck
}

func normal(r *prng.Rand) float64 {
	return math.Sqrt(-2*math.Log(1-r.Float64())) * math.Cos(2*math.Pi*r.Float64())
}

// play simulates the games of a tournament.
func (t tournament) play(r *prng.Rand) []rating.Comparison {
	n := len(t.theta)
	results := make([]rating.Comparison, 0, t.seeds*n*(n-1)/2)
	own := make([]float64, n)
	a, b := math.Sqrt(t.luck.share), math.Sqrt(1-t.luck.share)
	for seed := range t.seeds {
		for i := range own {
			own[i] = normal(r) / math.Sqrt2
		}
		for i := range n {
			for j := range i {
				shared := own[i] - own[j]
				if t.luck.each {
					shared = normal(r)
				}
				res := rating.Comparison{A: i, B: j, Block: seed, Weight: 1}
				win, loss := math.Exp((t.theta[i]-t.theta[j])/2), math.Exp((t.theta[j]-t.theta[i])/2)
				sum := win + loss + t.nu
				for game := range 2 {
					z := b * normal(r)
					if game == 0 {
						z += a * shared
					} else {
						z += a * shared * t.luck.swap
					}
					switch u := math.Erfc(-z/math.Sqrt2) / 2; {
					case u < loss/sum:
						res.Losses++
					case u < (loss+t.nu)/sum:
						res.Draws++
					default:
						res.Wins++
					}
				}
				results = append(results, res)
			}
		}
	}
	return results
}

// TestCoverage simulates tournaments of 6 players and counts how often the 95 % intervals contain
// the truth: in 94 … 96 % of 5,000 tournaments for each kind of luck, with MOONFARM_LONG; without,
// in fewer tournaments, with wider bounds.
func TestCoverage(t *testing.T) {
	for _, c := range []struct {
		nu    float64
		seeds int
	}{{0, 30}, {0.5, 100}} {
		for _, l := range lucks {
			t.Run(fmt.Sprintf("%d seeds, %s", c.seeds, l.name), func(t *testing.T) {
				t.Parallel()
				coverage(t, c.nu, c.seeds, l)
			})
		}
	}
}

func coverage(t *testing.T, nu float64, seeds int, l luck) {
	tournaments, slack := 40, 0.05
	switch {
	case long():
		tournaments, slack = 5000, 0
	case testing.Short():
		tournaments, slack = 10, 0.12
	}
	theta := []float64{0.9, 0.5, 0.2, -0.1, -0.4, -1.1} // about 350 points of Elo
	mean := 0.0
	for _, x := range theta {
		mean += x / float64(len(theta))
	}
	held, all, width, naive := 0, 0, 0.0, 0
	for k := range tournaments {
		r := prng.New(prng.StreamSeed(7, uint64(k), 0, 0, prng.PurposeGame))
		m, err := rating.Fit(len(theta), tournament{theta, nu, seeds, l}.play(&r))
		require.NoError(t, err)
		cov := m.Covariance()
		for i, x := range m.Ratings(-1) {
			truth := (theta[i] - mean) * 400 / math.Ln10
			if x.Low <= truth && truth <= x.High {
				held++
			}
			if math.Abs(x.Elo-truth) <= 1.96*math.Sqrt(cov[i][i]) {
				naive++
			}
			width += x.High - x.Low
			all++
		}
	}
	share := float64(held) / float64(all)
	t.Logf("ν %.1f: %d of %d intervals hold the truth: %.2f %%, mean width %.1f (by the model alone %.2f %%)",
		nu, held, all, 100*share, width/float64(all), 100*float64(naive)/float64(all))
	assert.Truef(t, share >= 0.94-slack && share <= 0.96+slack, "%.2f %% of the intervals hold the truth, want 95 ± 1", 100*share)
}
