package rating

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// polish makes the end of the path exact. In every zero-sum game a player is either in the support
// of some equilibrium or gets less than 0 against some equilibrium (A. J. Goldman, A. W. Tucker,
// "Theory of linear programming", 1956). Against every equilibrium each player of the support gets
// 0, and the maximum-entropy equilibrium contains all of them, as the derivative of entropy is
// infinite at a share of 0. For the other players, a share at the end of the path in the order of
// the temperature, and not exponentially small, means a constraint that holds with equality:
// share/τ is the multiplier. The remaining problem is to maximise entropy under linear equations,
// on which Newton's method converges to the last digits. polish leaves the shares unchanged if the
// result is not an equilibrium, or is far from them.
func (p *path) polish() {
	var support, equal []int
	for i := range p.z {
		share := p.shares.AtVec(i)
		if share > identified {
			support = append(support, i)
		}
		if share > coldest*1e-9 {
			equal = append(equal, i)
		}
	}
	k := len(support)
	system, right := mat.NewDense(len(equal)+1, k, nil), mat.NewVecDense(len(equal)+1, nil)
	start := mat.NewVecDense(k, nil)
	for column, j := range support {
		start.SetVec(column, p.shares.AtVec(j))
		for row, i := range equal {
			system.Set(row, column, p.a.At(i, j))
		}
		system.Set(len(equal), column, 1)
	}
	right.SetVec(len(equal), 1)
	shares, ok := mostEntropy(system, right, start)
	if !ok {
		return
	}
	whole, replies := mat.NewVecDense(len(p.z), nil), mat.NewVecDense(len(p.z), nil)
	for column, j := range support {
		whole.SetVec(j, shares.AtVec(column))
	}
	replies.MulVec(p.a, whole)
	var moved mat.VecDense
	moved.SubVec(whole, p.shares)
	if mat.Max(replies) < 1e-9 && mat.Norm(&moved, math.Inf(1)) < 1e-4 {
		p.shares.CopyVec(whole)
	}
}

// mostEntropy maximises −Σ p ln p under system·p = right, from a start near a solution: p moves in
// the null space of the system.
func mostEntropy(system *mat.Dense, right, start *mat.VecDense) (*mat.VecDense, bool) {
	rows, k := system.Dims()
	var svd mat.SVD
	if !svd.Factorize(system, mat.SVDFull) {
		return nil, false
	}
	values := svd.Values(nil)
	rank := 0
	for rank < len(values) && values[rank] > 1e-9*values[0] {
		rank++
	}
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	// The nearest solution: p = start + V·Σ⁺·Uᵀ·(right − system·start).
	p, off := mat.VecDenseCopyOf(start), mat.NewVecDense(rows, nil)
	off.MulVec(system, start)
	off.SubVec(right, off)
	for r := range rank {
		p.AddScaledVec(p, mat.Dot(u.ColView(r), off)/values[r], v.ColView(r))
	}
	if mat.Min(p) <= 0 {
		return nil, false
	}
	if rank == k {
		return p, true
	}
	free := v.Slice(0, k, rank, k)
	for range 100 {
		gain, ok := climbEntropy(p, free)
		if !ok {
			return nil, false
		}
		if gain < 1e-24 {
			return p, true
		}
	}
	return nil, false
}

// climbEntropy takes one step of Newton's method along the free directions, shortened so that every
// share stays above 0. gain is the square of the Newton decrement.
func climbEntropy(p *mat.VecDense, free mat.Matrix) (gain float64, ok bool) {
	k, dims := free.Dims()
	gradient, scaled := mat.NewVecDense(k, nil), mat.NewDense(k, dims, nil)
	for i := range k {
		gradient.SetVec(i, -log(p.AtVec(i)))
		for j := range dims {
			scaled.Set(i, j, free.At(i, j)/math.Sqrt(p.AtVec(i)))
		}
	}
	curvature := mat.NewSymDense(dims, nil)
	curvature.SymOuterK(1, scaled.T())
	var slope, step, move mat.VecDense
	slope.MulVec(free.T(), gradient)
	var factor mat.Cholesky
	if !factor.Factorize(curvature) || factor.SolveVecTo(&step, &slope) != nil {
		return 0, false
	}
	move.MulVec(free, &step)
	gain = mat.Dot(&slope, &step)
	scale := 1.0 // near the maximum the whole step squares the error
	for i := range k {
		scale = min(scale, -0.9*p.AtVec(i)/min(move.AtVec(i), -1e-300))
	}
	p.AddScaledVec(p, scale, &move)
	return gain, mat.Min(p) > 0
}
