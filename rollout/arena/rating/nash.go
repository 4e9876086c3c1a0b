package rating

import (
	"errors"
	"math"

	"moonfarm/rollout/exact"
)

const (
	coldest = 1e-8 // last temperature of the path, in units of the largest payoff
	cooling = 0.5  // factor on the temperature per step
)

// Nash returns the Nash average of D. Balduzzi, K. Tuyls, J. Pérolat and T. Graepel, "Re-evaluating
// evaluation", NeurIPS 2018: the maximum-entropy equilibrium of the symmetric zero-sum game.
// payoff[i][j] is the payoff of player i against j, a finite number, and payoff[j][i] its negative, as
// Model.Payoffs returns them.
//
// The equilibrium is the limit of p = softmax(A·p/τ) as the temperature τ goes to 0. For every τ
// there is one such p, the saddle point of q'Ap with τ times the entropies of both sides, and its
// entropy H is at least that of every equilibrium e: since the saddle's value is 0 by symmetry,
// e'Ap + τH(e) − τH(p) ≤ 0, and e'Ap ≥ 0. Limits of p are equilibria, as (A·p)ᵢ = τ(ln pᵢ + H(p)) ≤
// τ·ln n; so each limit is the maximum-entropy equilibrium, which is unique because entropy is
// strictly concave and equilibria form a convex set. Newton's method follows p down to τ = 1e-8 of
// the largest payoff, where p has an error of about 1e-7 unless the game is degenerate to that degree.
//
// Shares are rounded to six digits. Nash fails if it loses the path.
func Nash(payoff [][]float64) (mixture []float64, err error) {
	n, scale := len(payoff), 0.0 // the largest absolute value
	for _, row := range payoff {
		for _, x := range row {
			scale = max(scale, math.Abs(x))
		}
	}
	a := matrix(n, n)
	for i := range n {
		for j := range n {
			if scale > 0 {
				a[i][j] = float64(payoff[i][j]/scale/2) - float64(payoff[j][i]/scale/2)
			}
		}
	}
	p := &path{a: a, z: make([]float64, n), shares: make([]float64, n)}
	if !p.follow() {
		return nil, errors.New("rating: the path to the equilibrium was lost")
	}
	mixture = make([]float64, n)
	for i := range mixture {
		mixture[i] = exact.Round(p.shares[i], 1e6)
	}
	return mixture, nil
}

// path is the solution of softmax(A·p/τ) = p as the temperature falls: of τz − Ap + c = 0 and Σp =
// 1 with z = ln p.
type path struct {
	a      [][]float64
	tau    float64
	z      []float64
	c      float64
	shares []float64 // p
}

// follow cools down to the coldest temperature. If a step is too large for Newton's method, it
// retries with a smaller one.
func (p *path) follow() bool {
	n := len(p.z)
	for i := range p.z {
		p.z[i] = -exact.Log(float64(n))
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
		p.shares[i] = exact.Exp(z)
	}
}

// solve runs Newton's method at one temperature, with whole steps: started close enough, each is
// less than half of the one before, in the norm √Σ p·dz² that the equations induce. It returns
// false if the steps do not shrink so, up to rounding. With the diagonal matrix D of p and y =
// √D·dz, the system of a step is
//
//	⎡τI − √D·A·√D  √p⎤ ⎡y ⎤
//	⎣√pᵀ            0⎦ ⎣dc⎦
//
// whose first block has a positive symmetric part, so it is regular, and a small enough
// step of the temperature succeeds.
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
			size += float64(max(p.shares[i], exact.Exp(p.z[i])) * d * d)
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

func (p *path) newton() (dz []float64, dc float64, ok bool) {
	n := len(p.z)
	system, roots, sum := matrix(n+1, n+2), make([]float64, n), 0.0
	for i, share := range p.shares {
		roots[i] = math.Sqrt(share)
		sum += share
	}
	for i, root := range roots {
		row := system[i]
		for j, other := range roots {
			row[j] = -root * p.a[i][j] * other
		}
		row[i] += p.tau
		row[n], system[n][i] = root, root
		row[n+1] = -root * (float64(p.tau*p.z[i]) - dot(p.a[i], p.shares) + p.c)
	}
	system[n][n+1] = 1 - sum
	y := eliminate(system)
	if y == nil {
		return nil, 0, false
	}
	dc = y[n]
	moved := make([]float64, n)
	for i, root := range roots {
		moved[i] = p.shares[i] + float64(root*y[i])
	}
	dz = make([]float64, n)
	for i, share := range p.shares {
		if share > 1e-30 {
			dz[i] = y[i] / roots[i]
		} else { // from its own equation
			dz[i] = (dot(p.a[i], moved)-p.c-dc)/p.tau - p.z[i]
		}
	}
	return dz, dc, true
}
