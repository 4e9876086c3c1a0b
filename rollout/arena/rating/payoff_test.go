package rating_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

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
		name    string
		payoff  [][]float64
		want    []float64
		average []float64
	}{
		{"alone", [][]float64{{0}}, []float64{1}, []float64{0}},
		{"nothing tells them apart", antisymmetric([][]float64{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}), []float64{third, third, third}, []float64{0, 0, 0}},
		{"rock, paper, scissors", rockPaperScissors, []float64{third, third, third}, []float64{0, 0, 0}},
		// Rock wins twice as much: each share is the payoff between the other two.
		{"with weights", antisymmetric([][]float64{{0, -1, 2}, {0, 0, -3}, {0, 0, 0}}), []float64{0.5, third, 1.0 / 6}, []float64{0, 0, 0}},
		{"a small share", antisymmetric([][]float64{{0, -0.01, 0.49}, {0, 0, -0.5}, {0, 0, 0}}), []float64{0.5, 0.49, 0.01}, []float64{0, 0, 0}},
		{"a very small share", antisymmetric([][]float64{{0, -1e-5, 0.5}, {0, 0, -0.49999}, {0, 0, 0}}), []float64{0.49999, 0.5, 1e-5}, []float64{0, 0, 0}},
		{"dominated", antisymmetric([][]float64{{0, 2, 3}, {0, 0, 1}, {0, 0, 0}}), []float64{1, 0, 0}, []float64{0, -2, -3}},
		{"dominated by little", antisymmetric([][]float64{{0, 1e-4, 1}, {0, 0, 1}, {0, 0, 0}}), []float64{1, 0, 0}, []float64{0, -1e-4, -1}},
		{"two rocks", antisymmetric([][]float64{{0, 0, -1, 1}, {0, 0, -1, 1}, {0, 0, 0, -1}, {0, 0, 0, 0}}), []float64{third / 2, third / 2, third, third}, []float64{0, 0, 0, 0}},
		{"a cycle above one loser", antisymmetric([][]float64{{0, -1, 1, 5}, {0, 0, -1, 5}, {0, 0, 0, 5}, {0, 0, 0, 0}}), []float64{third, third, third, 0}, []float64{0, 0, 0, -5}},
		// a and b are level; c loses 1 to a and wins 3 from b, so b can have a quarter at most.
		{"held in check", antisymmetric([][]float64{{0, 0, 1}, {0, 0, -3}, {0, 0, 0}}), []float64{0.75, 0.25, 0}, []float64{0, 0, 0}},
		// With 1 instead, b can have up to half, where the entropy has its maximum anyway.
		{"just in check", antisymmetric([][]float64{{0, 0, 1}, {0, 0, -1}, {0, 0, 0}}), []float64{0.5, 0.5, 0}, []float64{0, 0, 0}},
		{"not in check", antisymmetric([][]float64{{0, 0, 1}, {0, 0, -0.5}, {0, 0, 0}}), []float64{0.5, 0.5, 0}, []float64{0, 0, -0.25}},
		{"small payoffs", antisymmetric([][]float64{{0, -1e-9, 1e-9}, {0, 0, -1e-9}, {0, 0, 0}}), []float64{third, third, third}, []float64{0, 0, 0}},
		{"large payoffs", antisymmetric([][]float64{{0, 1e60, 2e60}, {0, 0, 1e60}, {0, 0, 0}}), []float64{1, 0, 0}, []float64{0, -1e60, -2e60}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, average, err := rating.Nash(c.payoff)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				return
			}
			near(t, c.name, p, c.want, 2e-9) // the required accuracy is 1e-6
			scale := 1.0
			for _, x := range c.average {
				scale = max(scale, math.Abs(x))
			}
			near(t, c.name+": average", average, c.average, 1e-6*scale)
		})
	}
}

// TestNashIsMostEntropy: for random games, many of them degenerate, the mixture p is an
// equilibrium, and no other equilibrium e has more entropy: the derivative of entropy towards it,
// −Σ (e − p) ln p, is not above 0. A linear program finds the e with the largest derivative. Shares
// of 0 have the derivative of 1e-9, so the test also finds an equilibrium with such a player.
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
		p, _, err := rating.Nash(m)
		require.NoErrorf(t, err, "game %d", k)
		worst := bestReply(m, p)
		require.LessOrEqualf(t, worst, 1e-8, "game %d, %v: a reply to %v gains %g", k, m, p, worst)
		slope := make([]float64, n)
		here := 0.0
		for i, x := range p {
			slope[i] = -math.Log(max(x, 1e-9))
			here += x * slope[i]
		}
		e, err := furthest(m, slope)
		if err != nil {
			continue // gonum's simplex method fails on some degenerate games
		}
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

// furthest returns the equilibrium that is best in a direction: e ≥ 0 with Ae ≤ 0 and sum 1.
func furthest(m [][]float64, direction []float64) ([]float64, error) {
	n := len(m)
	a := mat.NewDense(n+1, 2*n, nil)
	for i := range n {
		for j := range n {
			a.Set(i, j, m[i][j])
		}
		a.Set(i, n+i, 1)
		a.Set(n, i, 1)
	}
	cost := make([]float64, 2*n)
	for i, x := range direction {
		cost[i] = -x
	}
	right := make([]float64, n+1)
	right[n] = 1
	_, e, err := lp.Simplex(cost, a, right, 1e-10, nil)
	if err != nil {
		return nil, err
	}
	return e[:n], nil
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

func TestAlphaRank(t *testing.T) {
	third := 1.0 / 3
	inf := math.Inf(1)
	const inexact = 1e-16
	for _, c := range []struct {
		name   string
		payoff [][]float64
		alpha  float64
		want   []float64
	}{
		{"alone", [][]float64{{3}}, 1, []float64{1}},
		{"rock, paper, scissors", rockPaperScissors, 0.01, []float64{third, third, third}},
		{"rock, paper, scissors", rockPaperScissors, 10, []float64{third, third, third}},
		{"rock, paper, scissors", rockPaperScissors, 1e6, []float64{third, third, third}},
		{"rock, paper, scissors", rockPaperScissors, inf, []float64{third, third, third}},
		{"nothing tells them apart", [][]float64{{1, 1}, {1, 1}}, inf, []float64{0.5, 0.5}},
		{"dominated", antisymmetric([][]float64{{0, 2, 3}, {0, 0, 1}, {0, 0, 0}}), 10, []float64{1, 0, 0}},
		{"dominated", antisymmetric([][]float64{{0, 2, 3}, {0, 0, 1}, {0, 0, 0}}), inf, []float64{1, 0, 0}},
		// Figure 3 of the paper: a cycle is one class, whatever its payoffs.
		{"biased rock, paper, scissors", antisymmetric([][]float64{{0, -0.5, 1}, {0, 0, -0.1}, {0, 0, 0}}), inf, []float64{third, third, third}},
		{"a cycle above one loser", antisymmetric([][]float64{{0, -1, 1, 5}, {0, 0, -1, 5}, {0, 0, 0, 5}, {0, 0, 0, 0}}), inf, []float64{third, third, third, 0}},
		{"prisoners", [][]float64{{3, 0}, {5, 1}}, inf, []float64{0, 1}},
		// Coordination: each convention resists mutants; the one that is harder to leave stays.
		{"stag hunt", [][]float64{{5, 0}, {2, 1}}, inf, []float64{1, 0}},
		{"stag hunt", [][]float64{{5, 0}, {4, 2}}, inf, []float64{0, 1}},
		{"coordination", [][]float64{{1, 0}, {0, 1}}, inf, []float64{0.5, 0.5}},
		{"coordination, rounded", [][]float64{{0.3 - inexact, 0}, {0, 0.1 + 0.2 + inexact}}, inf, []float64{0.5, 0.5}},
		{"nothing to win", [][]float64{{0, 0}, {0, 0}}, inf, []float64{0.5, 0.5}},
	} {
		t.Run(fmt.Sprintf("%s, alpha %v", c.name, c.alpha), func(t *testing.T) {
			p, err := rating.AlphaRank(c.payoff, c.alpha, 50)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				return
			}
			near(t, fmt.Sprintf("%s, alpha %v", c.name, c.alpha), p, c.want, 1e-6)
		})
	}
}

// TestAlphaRankOfTwo: the shares of two strategies are in the ratio of the fixation probabilities,
// which have a closed form if a mutant's advantage does not depend on the number of mutants: (1 −
// e^(−αd))/(1 − e^(−mαd)).
func TestAlphaRankOfTwo(t *testing.T) {
	const m = 20
	for _, d := range []float64{1e-6, 0.01, 0.3, 2} {
		for _, alpha := range []float64{0.1, 1, 5} {
			rho := func(d float64) float64 { return math.Expm1(-alpha*d) / math.Expm1(-alpha*d*m) }
			up, down := rho(d), rho(-d)
			want := up / (up + down)
			// Payoffs that depend only on one's own strategy.
			p, err := rating.AlphaRank([][]float64{{0, 0}, {d, d}}, alpha, m)
			if err != nil {
				t.Fatal(err)
			}
			near(t, fmt.Sprintf("d %v, alpha %v", d, alpha), p, []float64{1 - want, want}, 1e-8)
		}
	}
}

// TestAlphaRankSolves: for random games the shares solve the equations of the chain, computed here
// with ordinary floating-point numbers.
func TestAlphaRankSolves(t *testing.T) {
	for k := range 100 {
		r := prng.New(prng.StreamSeed(5, uint64(k), 0, 0, prng.PurposeGame))
		n, m, alpha := 2+r.IntN(6), 2+r.IntN(20), 3*r.Float64()
		payoff := make([][]float64, n)
		for i := range payoff {
			payoff[i] = make([]float64, n)
			for j := range payoff[i] {
				payoff[i][j] = 2*r.Float64() - 1
			}
		}
		p, err := rating.AlphaRank(payoff, alpha, m)
		require.NoError(t, err)
		flow := make([]float64, n)
		for i := range n {
			for j := range n {
				if i == j {
					continue
				}
				sum, product := 1.0, 1.0
				for l := 1; l < m; l++ {
					mutant := float64(l-1)*payoff[j][j] + float64(m-l)*payoff[j][i]
					resident := float64(l)*payoff[i][j] + float64(m-l-1)*payoff[i][i]
					product *= math.Exp(-alpha * (mutant - resident) / float64(m-1))
					sum += product
				}
				flow[i] -= p[i] / sum
				flow[j] += p[i] / sum
			}
		}
		for i := range flow {
			if math.Abs(flow[i]) > 1e-8 {
				t.Fatalf("game %d: shares %v, flows %v", k, p, flow)
			}
		}
	}
}

func TestPayoffErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, m := range [][][]float64{nil, {}, {{}}, {{0, 1}}, {{0, 1}, {-1}}, {{0, nan}, {nan, 0}}, {{0, inf}, {-inf, 0}}, {{0, 1}, {1, 0}}, {{1}}} {
		p, _, err := rating.Nash(m)
		assert.Errorf(t, err, "Nash of %v is %v, want an error", m, p)
	}
	for _, m := range [][][]float64{nil, {{}}, {{0, 1}}, {{0, nan}, {nan, 0}}, {{0, 1}, {-inf, 0}}} {
		p, err := rating.AlphaRank(m, 1, 50)
		assert.Errorf(t, err, "AlphaRank of %v is %v, want an error", m, p)
	}
	for _, alpha := range []float64{0, -1, nan} {
		_, err := rating.AlphaRank(rockPaperScissors, alpha, 50)
		assert.Errorf(t, err, "alpha %v: want an error", alpha)
	}
	for _, population := range []int{-1, 1, 1001} {
		_, err := rating.AlphaRank(rockPaperScissors, 1, population)
		assert.Errorf(t, err, "population %d: want an error", population)
	}
}
