package rating

import (
	"cmp"
	"math"
	"slices"
)

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
