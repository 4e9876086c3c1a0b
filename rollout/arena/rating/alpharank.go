package rating

import (
	"fmt"
	"math"
)

// MaxStrategies is the largest number of strategies of AlphaRank. Its time grows with the third
// power: 400 strategies take a second.
const MaxStrategies = 1024

// AlphaRank returns the stationary distribution over the strategies of a symmetric two-player game:
// S. Omidshafiei and others, "α-Rank: multi-agent evaluation by evolution", Scientific Reports 9
// (2019), for one population. payoff[i][j] is the payoff of strategy i against j. One mutant at a
// time invades a population of one strategy; it takes over with the fixation probability of the
// pairwise comparison process (A. Traulsen, M. A. Nowak, J. M. Pacheco, "Stochastic dynamics of
// invasion and fixation", Physical Review E 74 (2006)) for the given population, 2 … 1,000, and the
// ranking intensity alpha, above 0. The paper's population is 50.
//
// An alpha of math.Inf(1) gives the limit of the distributions. If no better reply leaves several
// sets of strategies, the limit weights them by how hard each is to leave.
//
// The shares sum to 1 and are rounded to nine digits. AlphaRank fails for matrices that are not
// square, empty, larger than MaxStrategies or not finite.
func AlphaRank(payoff [][]float64, alpha float64, population int) ([]float64, error) {
	n := len(payoff)
	if n > MaxStrategies {
		return nil, fmt.Errorf("rating: %d strategies, want at most %d", n, MaxStrategies)
	}
	if err := checkMatrix(payoff, n, n); err != nil {
		return nil, err
	}
	c, err := newChain(n, alpha, population, payoff)
	if err != nil {
		return nil, err
	}
	m := float64(population)
	for i := range n {
		for j := range n {
			if i != j {
				// l mutants of j play each other and the rest; so does each of the rest.
				c.set(i, j, func(l float64) float64 {
					mutant := float64((l-1)*payoff[j][j]) + float64((m-l)*payoff[j][i])
					resident := float64(l*payoff[i][j]) + float64((m-l-1)*payoff[i][i])
					return (mutant - resident) / (m - 1)
				})
			}
		}
	}
	return c.stationary(), nil
}

// checkMatrix returns an error if a matrix is not valid.
func checkMatrix(m [][]float64, rows, columns int) error {
	if len(m) != rows || rows == 0 || columns == 0 {
		return fmt.Errorf("rating: a matrix of %d rows, want %d × %d, and no side empty", len(m), rows, columns)
	}
	for i, row := range m {
		if len(row) != columns {
			return fmt.Errorf("rating: row %d has %d columns, want %d", i, len(row), columns)
		}
		for j, x := range row {
			if !(math.Abs(x) <= 1e100) {
				return fmt.Errorf("rating: row %d, column %d is %v, want a number of at most 1e100", i, j, x)
			}
		}
	}
	return nil
}

// largest returns the largest absolute value of a matrix.
func largest(m [][]float64) float64 {
	most := 0.0
	for _, row := range m {
		for _, x := range row {
			most = max(most, math.Abs(x))
		}
	}
	return most
}

// term is the number c·e^(−r), c ≥ 0. In the limit of alpha it stands for c·e^(−r·alpha) as alpha
// grows: only the terms with the least r count.
type term struct{ c, r float64 }

// chain is a Markov chain over strategies.
type chain struct {
	n          int
	population int
	alpha      float64 // 1 in the limit
	limit      bool
	same       float64 // in the limit, exponents that differ by less count as equal
	move       []term  // [from·n+to], up to a factor
}

func newChain(n int, alpha float64, population int, payoff [][]float64) (*chain, error) {
	if !(alpha > 0) {
		return nil, fmt.Errorf("rating: alpha %v, want more than 0", alpha)
	}
	if population < 2 || population > 1000 {
		return nil, fmt.Errorf("rating: a population of %d, want 2 … 1,000", population)
	}
	c := &chain{n: n, population: population, alpha: alpha, move: make([]term, n*n)}
	scale := largest(payoff)
	// Beyond 10¹² rounding errors would decide which exponents are equal, and every other
	// difference is lost, too.
	if c.limit = math.IsInf(alpha, 1) || alpha*scale*float64(population) > 1e12; c.limit {
		c.alpha, c.same = 1, float64(1e-10*scale*float64(population))
	}
	return c, nil
}

// set sets the probability that a mutant takes over: 1/(1 + Σₗ exp(−α Σₖ≤ₗ d(k))), where d(k) is
// the advantage of each of k mutants over each of the rest. The probability that such a mutant
// appears is the same for all and is left out.
func (c *chain) set(from, to int, d func(mutants float64) float64) {
	sum, total := term{c: 1}, 0.0
	for l := 1; l < c.population; l++ {
		total += d(float64(l))
		sum = c.add(sum, term{1, float64(c.alpha * total)})
	}
	c.move[from*c.n+to] = term{1 / sum.c, -sum.r}
}

func (c *chain) add(x, y term) term {
	if x.c == 0 {
		return y
	}
	if y.c == 0 {
		return x
	}
	if x.r > y.r {
		x, y = y, x
	}
	switch gap := y.r - x.r; {
	case c.limit && gap <= c.same:
		return term{x.c + y.c, x.r}
	case c.limit || gap > 45: // e⁻⁴⁵ is less than one unit in the last place
		return x
	default:
		return term{x.c + float64(y.c*exp(-gap)), x.r}
	}
}

func (c *chain) times(x, y term) term {
	p := term{x.c * y.c, x.r + y.r}
	if !c.limit && p.c > 0 && (p.c < 1e-100 || p.c > 1e100) {
		p.r -= log(p.c)
		p.c = 1
	}
	return p
}

// stationary returns the stationary distribution by the elimination of W. K. Grassmann, M. I.
// Taksar and D. P. Heyman, "Regenerative analysis and steady state distributions for Markov
// chains", Operations Research 33 (1985). It only adds, multiplies and divides positive numbers and
// never subtracts, so each result is as exact as its terms, however small the probabilities, and a
// calculation with leading terms alone gives the limit. Every strategy leads to every other with a
// probability above 0, so the chain is irreducible.
func (c *chain) stationary() []float64 {
	n := c.n
	for k := n - 1; k > 0; k-- {
		leave := term{}
		for j := range k {
			leave = c.add(leave, c.move[k*n+j])
		}
		for i := range k {
			enter := &c.move[i*n+k]
			if enter.c == 0 {
				continue
			}
			*enter = c.times(*enter, term{1 / leave.c, -leave.r})
			for j := range k {
				if back := c.move[k*n+j]; j != i && back.c > 0 {
					c.move[i*n+j] = c.add(c.move[i*n+j], c.times(*enter, back))
				}
			}
		}
	}
	share := make([]term, n)
	share[0] = term{c: 1}
	total := share[0]
	for k := 1; k < n; k++ {
		for i := range k {
			share[k] = c.add(share[k], c.times(share[i], c.move[i*n+k]))
		}
		total = c.add(total, share[k])
	}
	out := make([]float64, n)
	for k, x := range share {
		switch gap := x.r - total.r; {
		case x.c == 0 || c.limit && gap > c.same:
		case c.limit:
			out[k] = round(x.c/total.c, 1e9)
		default:
			out[k] = round(x.c/total.c*exp(-gap), 1e9)
		}
	}
	return out
}
