package rating

import (
	"math"

	"gonum.org/v1/gonum/mat"

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
func (m *Model) covariance(meat *mat.SymDense) [][]float64 {
	n, dim := m.fit.table.players, m.fit.dim
	contrasts := mat.NewDense(dim, n, nil)
	for i := range n {
		contrasts.SetCol(i, m.contrast(i, -1).RawVector().Data)
	}
	var solved, inner, c mat.Dense
	if m.best.factor.SolveTo(&solved, contrasts) != nil {
		solved.ReuseAs(dim, n) // cannot fail: the prior keeps the matrix regular
	}
	if meat == nil {
		c.Mul(contrasts.T(), &solved)
	} else {
		whole := mat.NewSymDense(dim, nil)
		whole.CopySym(meat)
		for i := range dim {
			whole.SetSym(i, i, whole.At(i, i)+1.0/(priorDeviation*priorDeviation))
		}
		inner.Mul(whole, &solved)
		c.Mul(solved.T(), &inner)
	}
	out := matrix(n, n)
	for i := range n {
		for j := range n {
			out[i][j] = exact.Round(c.At(i, j)*(400/math.Ln10)*(400/math.Ln10), 100) + 0
		}
	}
	return out
}
