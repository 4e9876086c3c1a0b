package rating_test

import (
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/arena/rating"
	"moonfarm/sim/prng"
)

// near fails the test if two vectors differ by more than the tolerance.
func near(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	require.Equalf(t, len(want), len(got), "%s: %v, want %v", what, got, want)
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= tolerance) {
			t.Errorf("%s: %v, want %v", what, got, want)
			return
		}
	}
}

// antisymmetric fills the lower half of a matrix.
func antisymmetric(upper [][]float64) [][]float64 {
	m := make([][]float64, len(upper))
	for i := range m {
		m[i] = make([]float64, len(upper))
	}
	for i := range m {
		for j := i + 1; j < len(m); j++ {
			m[i][j], m[j][i] = upper[i][j], -upper[i][j]
		}
	}
	return m
}

var rockPaperScissors = [][]float64{{0, -1, 1}, {1, 0, -1}, {-1, 1, 0}}

func TestNash(t *testing.T) {
	third := 1.0 / 3
	for _, c := range []struct {
		name   string
		payoff [][]float64
		want   []float64
	}{
		{"alone", [][]float64{{0}}, []float64{1}},
		{"nothing tells them apart", antisymmetric([][]float64{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}), []float64{third, third, third}},
		{"rock, paper, scissors", rockPaperScissors, []float64{third, third, third}},
		// Rock wins twice as much: each share is the payoff between the other two.
		{"with weights", antisymmetric([][]float64{{0, -1, 2}, {0, 0, -3}, {0, 0, 0}}), []float64{0.5, third, 1.0 / 6}},
		{"a small share", antisymmetric([][]float64{{0, -0.01, 0.49}, {0, 0, -0.5}, {0, 0, 0}}), []float64{0.5, 0.49, 0.01}},
		{"a very small share", antisymmetric([][]float64{{0, -1e-5, 0.5}, {0, 0, -0.49999}, {0, 0, 0}}), []float64{0.49999, 0.5, 1e-5}},
		{"dominated", antisymmetric([][]float64{{0, 2, 3}, {0, 0, 1}, {0, 0, 0}}), []float64{1, 0, 0}},
		{"dominated by little", antisymmetric([][]float64{{0, 1e-4, 1}, {0, 0, 1}, {0, 0, 0}}), []float64{1, 0, 0}},
		{"two rocks", antisymmetric([][]float64{{0, 0, -1, 1}, {0, 0, -1, 1}, {0, 0, 0, -1}, {0, 0, 0, 0}}), []float64{third / 2, third / 2, third, third}},
		{"a cycle above one loser", antisymmetric([][]float64{{0, -1, 1, 5}, {0, 0, -1, 5}, {0, 0, 0, 5}, {0, 0, 0, 0}}), []float64{third, third, third, 0}},
		// a and b are level; c loses 1 to a and wins 3 from b, so b can have a quarter at most.
		{"held in check", antisymmetric([][]float64{{0, 0, 1}, {0, 0, -3}, {0, 0, 0}}), []float64{0.75, 0.25, 0}},
		// With 1 instead, b can have up to half, where the entropy has its maximum anyway.
		{"just in check", antisymmetric([][]float64{{0, 0, 1}, {0, 0, -1}, {0, 0, 0}}), []float64{0.5, 0.5, 0}},
		{"not in check", antisymmetric([][]float64{{0, 0, 1}, {0, 0, -0.5}, {0, 0, 0}}), []float64{0.5, 0.5, 0}},
		{"small payoffs", antisymmetric([][]float64{{0, -1e-9, 1e-9}, {0, 0, -1e-9}, {0, 0, 0}}), []float64{third, third, third}},
		{"large payoffs", antisymmetric([][]float64{{0, 1e60, 2e60}, {0, 0, 1e60}, {0, 0, 0}}), []float64{1, 0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := rating.Nash(c.payoff)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				return
			}
			near(t, c.name, p, c.want, 6e-7)
		})
	}
}

// TestNashIsMostEntropy: for random games, many of them degenerate, the mixture p is an
// equilibrium, and no other equilibrium e has more entropy: the derivative of entropy towards it,
// −Σ (e − p) ln p, is not above 0. A linear program finds the e with the largest derivative. Shares
// of 0 have the derivative of 1e-6, so the test also finds an equilibrium with such a player.
func TestNashIsMostEntropy(t *testing.T) {
	solved, several, games := 0, 0, 150
	switch {
	case long():
		games = 1000
	case testing.Short():
		games = 30
	}
	for k := range games {
		r := prng.New(prng.StreamSeed(3, uint64(k), 0, 0, prng.PurposeGame))
		n := 2 + r.IntN(9)
		m := randomGame(&r, n, k%3)
		p, err := rating.Nash(m)
		require.NoErrorf(t, err, "game %d", k)
		worst := bestReply(m, p)
		require.LessOrEqualf(t, worst, 5e-6, "game %d, %v: a reply to %v gains %g", k, m, p, worst)
		slope := make([]float64, n)
		here := 0.0
		for i, x := range p {
			slope[i] = -math.Log(max(x, 1e-6))
			here += x * slope[i]
		}
		e := furthest(m, slope)
		solved++
		gain, moved := -here, 0.0
		for i, x := range e {
			gain += x * slope[i]
			moved = max(moved, math.Abs(x-p[i]))
		}
		if moved > 1e-3 {
			several++
		}
		assert.LessOrEqualf(t, gain, 1e-5, "game %d, %v: towards %v entropy grows from %v by %g", k, m, e, p, gain)
	}
	assert.Truef(t, solved >= games*3/4 && several >= games/10, "of %d games %d were checked and %d had several equilibria, want more", games, solved, several)
	t.Logf("%d of %d games checked, %d with several equilibria", solved, games, several)
}

// furthest returns the equilibrium that is best in a direction d: e ≥ 0 with Ae ≤ 0 and sum 1. It has the maximum of (d+1)·e
// − price·s with Ae − s ≤ 0, Σe ≤ 1 and e, s ≥ 0, which the simplex method finds from 0 by Bland's rule.
func furthest(m [][]float64, direction []float64) []float64 {
	const price, zero = 1e8, 1e-9
	n := len(m)
	rows := make([][]float64, n+2) // of e, s, slacks and the right side; the last one is the cost
	for i := range rows {
		rows[i] = make([]float64, 3*n+2)
	}
	base := make([]int, n+1)
	for i := range n + 1 {
		base[i] = 2*n + i
		rows[i][base[i]] = 1
		if i == n {
			break
		}
		copy(rows[i], m[i])
		rows[i][n+i] = -1
		rows[n][i], rows[n+1][i], rows[n+1][n+i] = 1, -direction[i]-1, price
	}
	rows[n][3*n+1] = 1
	for {
		enter := slices.IndexFunc(rows[n+1][:3*n+1], func(x float64) bool { return x < -1e-6 })
		if enter < 0 {
			break
		}
		leave, least := -1, math.Inf(1)
		for i := range n + 1 {
			if x := rows[i][enter]; x > zero {
				ratio := rows[i][3*n+1] / x
				if ratio < least-zero || ratio <= least+zero && base[i] < base[leave] {
					leave, least = i, ratio
				}
			}
		}
		pivot := rows[leave]
		for j, x := 0, pivot[enter]; j < len(pivot); j++ {
			pivot[j] /= x
		}
		for i, row := range rows {
			for j, x := 0, row[enter]; i != leave && j < len(row); j++ {
				row[j] -= x * pivot[j]
			}
		}
		base[leave] = enter
	}
	e := make([]float64, n)
	for i, v := range base {
		if v < n {
			e[v] = rows[i][3*n+1]
		}
	}
	return e
}

// randomGame returns an antisymmetric matrix: kind 0 has real payoffs, kind 1 has −1, 0 and 1, kind
// 2 has some players twice.
func randomGame(r *prng.Rand, n, kind int) [][]float64 {
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n)
	}
	like := make([]int, n)
	for i := range n {
		like[i] = i
		if kind == 2 && i > 0 && r.IntN(2) == 0 {
			like[i] = like[r.IntN(i)]
		}
	}
	for i := range n {
		for j := range i {
			x := r.Float64() - 0.5
			if kind > 0 {
				x = float64(r.IntN(3) - 1)
			}
			if a, b := like[i], like[j]; a == b {
				x = 0
			} else if a != i || b != j {
				x = m[a][b]
			}
			m[i][j], m[j][i] = x, -x
		}
	}
	return m
}

// bestReply returns the gain of the best reply to p.
func bestReply(m [][]float64, p []float64) float64 {
	best := math.Inf(-1)
	for i := range m {
		sum := 0.0
		for j, x := range p {
			sum += m[i][j] * x
		}
		best = max(best, sum)
	}
	return best
}

// TestPayoffs checks the payoff matrices of a table of results.
func TestPayoffs(t *testing.T) {
	results := []rating.Comparison{
		{A: 0, B: 1, Wins: 2, Draws: 1, Losses: 1, Weight: 1}, {A: 1, B: 0, Wins: 4, Weight: 0.5}, {A: 2, B: 0, Losses: 3, Weight: 1},
	}
	m := fit(t, 4, results)
	payoff := m.Payoffs()
	// Player 0 against 1: weights of 2 wins, 1 draw and 3 losses. Players 1 and 2 never met.
	near(t, "payoffs of 0", payoff[0][:3], []float64{0, 2.5/6 - 0.5, 0.5}, 1e-12)
	near(t, "payoffs of 1 and 2", []float64{payoff[1][0], payoff[1][1], payoff[2][0]}, []float64{0.5 - 2.5/6, 0, -0.5}, 1e-12)
	odds, nu := math.Pow(10, m.Difference(1, 2).Elo/800), m.Draws()
	near(t, "the expected payoff", []float64{payoff[1][2], payoff[2][1] + payoff[1][2]}, []float64{(odds+nu/2)/(odds+1/odds+nu) - 0.5, 0}, 1e-4)
}

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
