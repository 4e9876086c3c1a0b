package rating

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"moonfarm/rollout/exact"
)

// maxProfiled is the largest number of players whose intervals and superiorities follow the
// likelihood; the cost grows with the fourth power, for pairs with the fifth.
const maxProfiled = 40

// contrast returns the contrast for the log strength of player i minus that of j, or minus the
// pool's mean if j < 0.
func (m *Model) contrast(i, j int) []float64 {
	a := make([]float64, m.fit.dim)
	if j >= 0 {
		a[i]++
		a[j]--
		return a
	}
	n := m.fit.table.players
	for k := range n {
		a[k] = -1 / float64(n)
	}
	a[i]++
	return a
}

// along finds the maximum under the condition that the contrast has the given value, and returns
// how far the log-likelihood is below the global maximum there. It starts from the global maximum,
// moved along the likeliest line.
func (m *Model) along(a []float64, value float64) (drop float64, ok bool) {
	x := solve(m.best.factor, a)
	variance := dot(a, x)
	if !(variance > 0) {
		return 0, false
	}
	start := append([]float64(nil), m.best.at...)
	subtract(start, (dot(a, start)-value)/variance, x)
	at, ok := m.fit.maximise(start, a)
	if !ok {
		return 0, false
	}
	return max(0, m.best.value-at.value), true
}

// end returns the end of the interval of a contrast on one side (±1): where the signed root of the
// likelihood ratio, over the design effect, reaches the quantile. The root is nearly linear, so
// secants from the centre converge quickly; bisection guards them.
func (m *Model) end(a []float64, s spread, centre, side float64) float64 {
	wald := float64(s.quantile * math.Sqrt(s.variance))
	if m.fit.table.players > maxProfiled {
		return centre + float64(side*min(wald, s.bound))
	}
	want := float64(s.quantile * math.Sqrt(s.variance/s.model))
	low, high, x := 0.0, math.Inf(1), min(wald, s.bound)
	for range 60 {
		drop, ok := m.along(a, centre+float64(side*x))
		f := math.Sqrt(2*drop) - want
		if !ok || math.Abs(f) < 1e-5*want {
			break
		}
		if f > 0 {
			high = x
		} else if low = x; x >= s.bound {
			break
		}
		x = min(s.bound, float64(x*want/(f+want))) // the secant through 0 and this point
		if math.IsInf(high, 1) {
			x = max(x, min(s.bound, 1.01*low))
		} else if !(x > low && x < high) {
			x = low + float64((high-low)/2)
		}
		if high-low < 1e-7 {
			break
		}
	}
	return centre + float64(side*x)
}

// centre returns the log strength of a player relative to the anchor, or without one to the mean of all players.
func (m *Model) centre(i, anchor int) float64 {
	theta := m.best.at[:m.fit.table.players]
	if anchor >= 0 {
		return theta[i] - theta[anchor]
	}
	sum := 0.0
	for _, x := range theta {
		sum += x
	}
	return theta[i] - sum/float64(len(theta))
}

// seeds returns the effective number of blocks of the player, or of the anchor if that is smaller.
func (m *Model) seeds(i, anchor int) float64 {
	n := m.between.seeds[i]
	if anchor >= 0 {
		n = min(n, m.between.seeds[anchor])
	}
	return n
}

// interval returns the rating of player i against j, or against the pool if j < 0.
func (m *Model) interval(i, j int) Rating {
	r := Rating{Group: m.group[i], Bounded: m.bounded(i, j), Seeds: exact.Round(m.seeds(i, j), 100)}
	if i == j || j < 0 && m.fit.table.players == 1 {
		return r
	}
	a := m.contrast(i, j)
	s := m.spread(a, i, j)
	centre := m.centre(i, j)
	r.Elo, r.Error = elo(centre), elo(math.Sqrt(s.variance))
	r.Low, r.High = elo(m.end(a, s, centre, -1)), elo(m.end(a, s, centre, 1))
	return r
}

// elo converts a log strength to Elo, rounded to hundredths.
func elo(x float64) float64 { return exact.Round(x*(400/math.Ln10), 100) + 0 }

// Superiority returns the likelihood that player i is stronger than j, from 0 to 1 to six digits:
// the t distribution at the signed root of the likelihood ratio against equal strength, over the
// design effect of their difference. It is ½ for a player and itself.
func (m *Model) Superiority(i, j int) float64 {
	if i == j {
		return 0.5
	}
	a := m.contrast(i, j)
	s := m.spread(a, i, j)
	centre := m.centre(i, j)
	if centre == 0 {
		return 0.5
	}
	z := centre / math.Sqrt(s.variance)
	if m.fit.table.players <= maxProfiled {
		if drop, ok := m.along(a, 0); ok {
			z = math.Copysign(math.Sqrt(2*drop*s.model/s.variance), centre)
		}
	}
	p := tail(s.freedom, math.Abs(z))
	if z > 0 {
		p = 1 - p
	}
	return exact.Round(p, 1e6)
}

// normal95 is the two-sided 95 % point of the normal distribution.
const normal95 = 1.959963984540054

// tail returns the probability that a variable with Student's t distribution is above t, which is not negative. With
// x = ν/(ν+t²) it is half the regularised incomplete beta function Iₓ(ν/2, ½). Package distuv, which has the same, needs
// twenty packages more.
func tail(freedom, t float64) float64 {
	return mathext.RegIncBeta(freedom/2, 0.5, freedom/(freedom+float64(t*t))) / 2
}

// quantile95 returns the two-sided 95 % point of the t distribution.
func quantile95(freedom float64) float64 {
	x := mathext.InvRegIncBeta(freedom/2, 0.5, 0.05)
	return math.Sqrt(freedom * (1 - x) / x)
}

// priorSeeds is the number of seeds that the variance of the model counts for, in the average with
// the variance between seeds.
const priorSeeds = 2

// leastVariance is below the variance after 10¹⁴ games, since rounding errors prevent a better
// estimate of differences of log strengths.
const leastVariance = 1e-14

// between is the variation between blocks.
type between struct {
	meat  [][]float64 // sum over blocks of the outer product of their scores
	seeds []float64   // by player: the effective number of blocks in which it played
}

// byBlock returns the indices of the results that have games and weight, block by block.
func byBlock(results []Comparison) (blocks [][]int) {
	order := make([]int, 0, len(results))
	for k := range results {
		if results[k].Weight > 0 && results[k].games() > 0 {
			order = append(order, k)
		}
	}
	slices.SortFunc(order, func(k, l int) int { return cmp.Or(cmp.Compare(results[k].Block, results[l].Block), k-l) })
	first := 0
	for i, k := range order {
		if i+1 == len(order) || results[order[i+1]].Block != results[k].Block {
			blocks = append(blocks, order[first:i+1])
			first = i + 1
		}
	}
	return blocks
}

// betweenBlocks sums up the variation of the scores of the blocks, the derivatives of their
// log-likelihoods at the estimate. A game of weight w adds √w of its score, so that k copies of a
// game with weight 1/k, one in each of k blocks, add as much as one game.
func (l *likelihood) betweenBlocks(results []Comparison, at []float64) *between {
	n, last, delta := l.table.players, l.dim-1, l.delta(at)
	chance := make([]chances, len(l.table.pairs))
	for p, pair := range l.table.pairs {
		chance[p] = l.of(at[pair[0]]-at[pair[1]], delta)
	}
	v := &between{meat: matrix(l.dim, l.dim), seeds: make([]float64, n)}
	score, games, squares := make([]float64, l.dim), make([]float64, n), make([]float64, n)
	touched := []int{}
	for _, block := range byBlock(results) {
		for _, k := range block {
			r := &results[k]
			i, j := min(r.A, r.B), max(r.A, r.B)
			d, x := r.counts(math.Sqrt(r.Weight)).residual(chance[l.table.index[i*n+j]])
			for _, player := range [2]int{i, j} {
				if games[player] == 0 {
					touched = append(touched, player)
				}
				games[player] += float64(r.Weight * r.games())
			}
			score[i] += d
			score[j] -= d
			if l.draws {
				score[last] += x
			}
		}
		for _, i := range touched {
			v.seeds[i] += games[i]
			squares[i] += float64(games[i] * games[i])
			games[i] = 0
		}
		if l.draws {
			touched = append(touched, last)
		}
		for _, i := range touched {
			for _, j := range touched {
				v.meat[i][j] += float64(score[i] * score[j])
			}
		}
		for _, i := range touched {
			score[i] = 0
		}
		touched = touched[:0]
	}
	for i, sum := range v.seeds {
		if sum > 0 {
			v.seeds[i] = sum * sum / squares[i]
		}
	}
	return v
}

// spread is the uncertainty of a contrast of the parameters.
type spread struct {
	model    float64 // variance by the model, which assumes independent games
	variance float64 // variance used for intervals
	quantile float64 // of the t distribution, two-sided 95 %
	freedom  float64 // its degrees of freedom
	bound    float64 // 95 % point of the prior around the mean: no interval is wider
}

// spread returns the uncertainty of a contrast between players (of player i and the pool if j < 0).
func (m *Model) spread(a []float64, i, j int) spread {
	x := solve(m.best.factor, a)
	seeds, known := m.seeds(i, j), m.known(i)
	if j >= 0 {
		known = min(known, m.known(j))
	}
	prior := float64(priorDeviation * math.Sqrt(dot(a, a)))
	s := spread{model: max(dot(a, x), leastVariance), bound: normal95 * prior}
	s.variance = s.model
	if free := min(seeds-1, known); free > 0 {
		meat := 0.0
		for k, row := range m.between.meat {
			meat += float64(x[k] * dot(row, x))
		}
		robust := float64(meat*seeds/(seeds-1)) + float64(dot(x, x)/(priorDeviation*priorDeviation))
		s.variance = (float64(free*robust) + float64(priorSeeds*s.model)) / (free + priorSeeds)
	}
	s.variance = min(max(s.variance, leastVariance), float64(prior*prior))
	s.freedom = min(max(1, seeds-1), 1e6)
	s.quantile = quantile95(s.freedom)
	return s
}

// known returns the information of the games on a player's strength if all others were known, as a
// number of even games without draws.
func (m *Model) known(i int) float64 {
	return max(0, 4*(m.best.information[i][i]-1.0/(priorDeviation*priorDeviation)))
}
