package rating

import (
	"math"
	"slices"

	"moonfarm/rollout/exact"
)

// priorDeviation is the standard deviation of the prior of each player's log strength around the
// pool's mean, and of the logarithm of ν: a factor of e⁴ is 695 points of Elo.
const priorDeviation = 4

// likelihood is the penalised likelihood of Davidson's model. With θ = ln π and
// δ = ln ν the probabilities that i wins, draws and loses against j are
// proportional to
//
//	exp((θi − θj)/2), exp(δ), exp((θj − θi)/2)
//
// which is R. R. Davidson, "On extending the Bradley–Terry model to accommodate
// ties in paired comparison experiments", JASA 65 (1970), equations 2.3 and 2.4,
// each divided by √(πi πj). It is concave in (θ, δ), as a linear function less the
// logarithm of a sum of exponentials. Parameters are the θ by player and then δ;
// without drawn games there is no δ and ν is 0, its likeliest value.
type likelihood struct {
	table *table
	draws bool
	dim   int
}

func newLikelihood(t *table) *likelihood {
	l := &likelihood{table: t, draws: t.draws(), dim: t.players}
	if l.draws {
		l.dim++
	}
	return l
}

// chances are the probabilities of a game's results, and the logarithm of their common divisor.
type chances struct{ win, draw, loss, logSum float64 }

// of returns the chances of players whose log strengths differ by d.
func (l *likelihood) of(d, delta float64) chances {
	half := float64(math.Abs(d) / 2)
	c := chances{win: 1, logSum: half}
	switch {
	case !l.draws:
		c.loss = exact.Exp(-math.Abs(d))
	case delta <= half:
		c.loss, c.draw = exact.Exp(-math.Abs(d)), exact.Exp(delta-half)
	default:
		c.win, c.loss, c.draw, c.logSum = exact.Exp(half-delta), exact.Exp(-half-delta), 1, delta
	}
	if d < 0 {
		c.win, c.loss = c.loss, c.win
	}
	sum := c.win + c.draw + c.loss
	return chances{c.win / sum, c.draw / sum, c.loss / sum, c.logSum + exact.Log(sum)}
}

// information returns the information of one game on (d, δ): the covariance of half the lead and
// the draw.
func (c chances) information() (dd, dx, xx float64) {
	decided := c.win + c.loss
	return (float64(4*c.win*c.loss) + float64(c.draw*decided)) / 4, c.draw * (c.loss - c.win) / 2, c.draw * decided
}

// residual returns the score of these games on (d, δ): their sufficient statistics minus the
// expectations under the chances.
func (c counts) residual(p chances) (d, x float64) {
	return c.lead - float64(c.games*(p.win-p.loss)/2), c.draws - float64(c.games*p.draw)
}

// delta returns the last parameter, if the model has draws.
func (l *likelihood) delta(at []float64) float64 {
	if l.draws {
		return at[l.dim-1]
	}
	return 0
}

func (l *likelihood) value(at []float64) float64 {
	v, delta := 0.0, l.delta(at)
	for p, pair := range l.table.pairs {
		c := &l.table.sum[p]
		d := at[pair[0]] - at[pair[1]]
		v += float64(c.lead*d) + float64(c.draws*delta) - float64(c.games*l.of(d, delta).logSum)
	}
	for _, x := range at {
		v -= float64(x * x / (2 * priorDeviation * priorDeviation))
	}
	return v
}

// derive writes the gradient, and the observed information including the prior's: minus the matrix
// of second derivatives, in its upper half.
func (l *likelihood) derive(at, gradient []float64, information [][]float64) {
	for _, row := range information {
		clear(row)
	}
	add := func(i, j int, x float64) { information[i][j] += x } // i ≤ j
	last, delta := l.dim-1, l.delta(at)
	for i, x := range at {
		gradient[i] = -x / (priorDeviation * priorDeviation)
		add(i, i, 1.0/(priorDeviation*priorDeviation))
	}
	for p, pair := range l.table.pairs {
		c := &l.table.sum[p]
		i, j := pair[0], pair[1]
		chance := l.of(at[i]-at[j], delta)
		d, x := c.residual(chance)
		dd, dx, xx := chance.information()
		dd, dx, xx = float64(c.games*dd), float64(c.games*dx), float64(c.games*xx)
		gradient[i] += d
		gradient[j] -= d
		add(i, i, dd)
		add(j, j, dd)
		add(i, j, -dd)
		if l.draws {
			gradient[last] += x
			add(i, last, dx)
			add(j, last, -dx)
			add(last, last, xx)
		}
	}
}

type maximum struct {
	at          []float64
	value       float64
	information [][]float64 // its upper half
	factor      [][]float64 // the Cholesky factor of the pinned information
}

// pin factorises the information plus its largest diagonal element for the sum of all θ. Games
// give no information on the sum, which stays 0, so solutions for differences remain the same; and
// the matrix is better conditioned.
func (m *maximum) pin(players int) bool {
	most := 0.0
	for i := range players {
		most = max(most, m.information[i][i])
	}
	return factorise(m.factor, func(i, j int) float64 {
		if j < players {
			return m.information[i][j] + most
		}
		return m.information[i][j]
	})
}

// maximise climbs from a start by Newton's method, with steps that preserve the product with the
// direction, if one is given. The function is strictly concave and each step is shortened until it
// gains, so it ends at the only maximum. It returns false if rounding left no information matrix to
// solve with, which the prior prevents for counts in bounds.
func (l *likelihood) maximise(start, direction []float64) (*maximum, bool) {
	const iterations = 200
	m := &maximum{at: slices.Clone(start), information: matrix(l.dim, l.dim), factor: matrix(l.dim, l.dim)}
	gradient, next := make([]float64, l.dim), make([]float64, l.dim)
	m.value = l.value(m.at)
	for range iterations {
		l.derive(m.at, gradient, m.information)
		if !m.pin(l.table.players) {
			return nil, false
		}
		step := solve(m.factor, gradient)
		if direction != nil {
			along := solve(m.factor, direction)
			subtract(step, dot(direction, step)/dot(direction, along), along)
		}
		gain := dot(gradient, step)
		if !(gain > 1e-10*(1+math.Abs(m.value))) { // the next step is the last, since each error is the square of the one before
			for i := range m.at {
				m.at[i] += step[i]
			}
			m.value = l.value(m.at)
			return m, !math.IsNaN(m.value)
		}
		if !l.climb(m, step, next, gain) {
			return m, true
		}
	}
	return m, true
}

// climb takes the step, or the largest half, quarter … of it that gains enough. It returns false if
// none does: what remains is rounding error.
func (l *likelihood) climb(m *maximum, step, next []float64, gain float64) bool {
	for scale := 1.0; scale > 1e-9; scale /= 2 {
		for i := range next {
			next[i] = m.at[i] + float64(scale*step[i])
		}
		if v := l.value(next); v >= m.value+float64(1e-4*scale*gain) {
			m.value = v
			copy(m.at, next)
			return true
		}
	}
	return false
}
