package rating

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

const (
	coldest    = 1e-8 // temperature at which the path ends, in units of the largest payoff
	cooling    = 0.5  // of the temperature, a step
	identified = 1e-6 // a share above is in the support
)

// Nash is the Nash average of D. Balduzzi, K. Tuyls, J. Pérolat and T. Graepel,
// "Re-evaluating evaluation", NeurIPS 2018: of all equilibria of the symmetric
// zero-sum game the one of maximum entropy, and what each player gets on average
// against it. payoff[i][j] is what player i gets against j, and payoff[j][i] the
// opposite: such as Scores. Players that win nothing against the
// equilibrium have 0; those of the equilibrium all have 0, others less.
//
// The equilibrium is the limit of p = softmax(A·p/τ) as the temperature τ goes to
// 0. For every τ there is one such p, the saddle point of q'Ap with τ times the
// entropies of both sides, and its entropy H is at least that of every
// equilibrium e: since the saddle's value is 0 by symmetry, e'Ap + τH(e) − τH(p) ≤ 0,
// and e'Ap ≥ 0. Limits of p are equilibria, as (A·p)ᵢ = τ(ln pᵢ + H(p)) ≤ τ·ln n; so
// each is the equilibrium of maximum entropy, of which there is one, as entropy is
// strictly concave and equilibria form a convex set. Newton's method
// follows p down to τ = 1e-8 of the largest payoff. Then the shares of players that
// dropped out are exactly 0, and the entropy is maximised among the equilibria with
// that support (see polish). If what comes out is no equilibrium near p, p stays,
// which is off by some 1e-7 in games that are not degenerate to that degree.
//
// Results are rounded to nine digits. It fails if the matrix is not square, empty,
// larger than MaxPlayers, not finite or not antisymmetric.
func Nash(payoff [][]float64) (mixture, average []float64, err error) {
	n := len(payoff)
	if n > MaxPlayers {
		return nil, nil, fmt.Errorf("rating: %d players, want at most %d", n, MaxPlayers)
	}
	if err := checkMatrix(payoff, n, n); err != nil {
		return nil, nil, err
	}
	scale := largest(payoff)
	a := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			if math.Abs(payoff[i][j]+payoff[j][i]) > 1e-9*scale {
				return nil, nil, fmt.Errorf("rating: player %d gets %v against %d, who gets %v: want opposites", i, payoff[i][j], j, payoff[j][i])
			}
			if scale > 0 {
				a.Set(i, j, float64(payoff[i][j]/scale/2)-float64(payoff[j][i]/scale/2))
			}
		}
	}
	p := &path{a: a, z: make([]float64, n), shares: mat.NewVecDense(n, nil)}
	if !p.follow() {
		return nil, nil, errors.New("rating: the path to the equilibrium was lost")
	}
	p.polish()
	mixture, average = make([]float64, n), make([]float64, n)
	replies := mat.NewVecDense(n, nil)
	replies.MulVec(a, p.shares)
	for i := range n {
		mixture[i] = round(p.shares.AtVec(i), 1e9)
		average[i] = float64(round(replies.AtVec(i), 1e9)*scale) + 0 // no −0
	}
	return mixture, average, nil
}

// path is the solution of softmax(A·p/τ) = p as the temperature falls: with z =
// ln p, of τz − Ap + c = 0 and Σp = 1.
type path struct {
	a      *mat.Dense
	tau    float64
	z      []float64
	c      float64
	shares *mat.VecDense // p
}

// follow cools down to the coldest temperature. A step that is too large for
// Newton's method is made smaller.
func (p *path) follow() bool {
	n := len(p.z)
	for i := range p.z {
		p.z[i] = -log(float64(n))
	}
	p.tau = 4
	if !p.solve() {
		return false
	}
	factor := cooling
	for steps := 0; p.tau > coldest; steps++ {
		if steps > 2000 {
			return false
		}
		z, c, tau := append([]float64(nil), p.z...), p.c, p.tau
		p.tau = max(coldest, tau*factor)
		if p.solve() {
			factor = max(cooling, factor*factor)
			continue
		}
		p.z, p.c, p.tau = z, c, tau
		p.share()
		if factor = math.Sqrt(factor); factor > 1-1e-6 {
			return false
		}
	}
	return true
}

// share sets p = exp(z).
func (p *path) share() {
	for i, z := range p.z {
		p.shares.SetVec(i, exp(z))
	}
}

// solve is Newton's method at one temperature, with whole steps: started close
// enough, each is less than half of the one before, in the norm √Σ p·dz² that the
// equations give themselves. It reports false if they are not, up to rounding. With D
// the diagonal of p and y = √D·dz the system of a step is
//
//	⎡τI − √D·A·√D  √p⎤ ⎡y ⎤
//	⎣√pᵀ            0⎦ ⎣dc⎦
//
// whose first block has a positive symmetric part, so it is regular, and a step of
// the temperature that is small enough succeeds.
func (p *path) solve() bool {
	const enough = 1e-13
	noise := max(enough, 1e-14/p.tau)
	p.share()
	last := math.Inf(1)
	for range 60 {
		dz, dc, ok := p.newton()
		if !ok {
			return false
		}
		size := 0.0
		for i, d := range dz {
			p.z[i] += d
			if !(p.z[i] < 0.1) {
				return false
			}
			size += float64(max(p.shares.AtVec(i), exp(p.z[i])) * d * d)
		}
		p.c += dc
		p.share()
		size = math.Sqrt(size)
		if size <= enough || size > last/2 && size <= noise {
			return true
		}
		if size > last/2 || size > 1 {
			return false
		}
		last = size
	}
	return false
}

// newton is the step of Newton's method.
func (p *path) newton() (dz []float64, dc float64, ok bool) {
	n := len(p.z)
	system, right := mat.NewDense(n+1, n+1, nil), mat.NewVecDense(n+1, nil)
	var replies mat.VecDense
	replies.MulVec(p.a, p.shares)
	for i := range n {
		root := math.Sqrt(p.shares.AtVec(i))
		for j := range n {
			system.Set(i, j, -root*p.a.At(i, j)*math.Sqrt(p.shares.AtVec(j)))
		}
		system.Set(i, i, p.tau+system.At(i, i))
		system.Set(i, n, root)
		system.Set(n, i, root)
		g := float64(p.tau*p.z[i]) - replies.AtVec(i) + p.c
		right.SetVec(i, -root*g)
	}
	right.SetVec(n, 1-mat.Sum(p.shares))
	var lu mat.LU
	lu.Factorize(system)
	var y mat.VecDense
	if err := lu.SolveVecTo(&y, false, right); err != nil {
		if _, inexact := err.(mat.Condition); !inexact {
			return nil, 0, false
		}
	}
	moved := mat.NewVecDense(n, nil)
	for i := range n {
		moved.SetVec(i, p.shares.AtVec(i)+float64(math.Sqrt(p.shares.AtVec(i))*y.AtVec(i)))
	}
	replies.MulVec(p.a, moved)
	dc = y.AtVec(n)
	dz = make([]float64, n)
	for i := range n {
		if share := p.shares.AtVec(i); share > 1e-30 {
			dz[i] = y.AtVec(i) / math.Sqrt(share)
		} else { // from its own equation
			dz[i] = (replies.AtVec(i)-p.c-dc)/p.tau - p.z[i]
		}
	}
	return dz, dc, true
}
