package rating

import (
	"math"

	"moonfarm/rollout/exact"
)

// Tests compare these covariances with simulated tournaments. Intervals use single contrasts
// instead: see contrast.

// Covariance returns the covariances of the ratings against the pool's mean in squared Elo, by
// player and player: the inverse of the observed information among log strengths whose mean is 0.
// Unlike Rating.Error it treats all games as independent.
func (m *Model) Covariance() [][]float64 {
	return m.covariance(nil)
}

// RobustCovariance returns the covariances by the sandwich estimator over blocks, without the
// average and the degrees of freedom of Rating.Error.
func (m *Model) RobustCovariance() [][]float64 {
	return m.covariance(m.between.meat)
}

// covariance returns C·(meat + prior)·C of the contrasts with the mean, or C if meat
// is nil.
func (m *Model) covariance(meat [][]float64) [][]float64 {
	n := m.fit.table.players
	out := matrix(n, n)
	for i := range n {
		x := solve(m.best.factor, m.contrast(i, -1))
		for j := range n {
			c := dot(x, m.contrast(j, -1))
			if meat != nil {
				y := solve(m.best.factor, m.contrast(j, -1))
				c = dot(x, y) / (priorDeviation * priorDeviation)
				for k, row := range meat {
					c += x[k] * dot(row, y)
				}
			}
			out[i][j] = exact.Round(c*(400/math.Ln10)*(400/math.Ln10), 100) + 0
		}
	}
	return out
}

// Tail and Quantile95 are of the t distribution.
var (
	Tail       = tail
	Quantile95 = quantile95
)
