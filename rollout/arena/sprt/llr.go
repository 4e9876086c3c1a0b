package sprt

import "math"

// epsilon is the count that stands in for none. With it every maximum
// likelihood exists. It is that of fishtest and fastchess.
const epsilon = 1e-3

// cells are counted results: those of pairs, whose scores are 0, ¼, ½, ¾ and 1,
// or of games, whose scores are 0, ½ and 1.
type cells struct {
	score [5]float64
	count [5]float64 // regularised: none is 0
	n     int        // cells: 5 or 3
	total float64    // of the counts
}

func newCells(counts []int) *cells {
	c := &cells{n: len(counts)}
	for i, k := range counts {
		c.score[i] = float64(i) / float64(c.n-1)
		c.count[i] = max(float64(k), epsilon)
		c.total += c.count[i]
	}
	return c
}

// moments are mean and variance of the scores.
func (c *cells) moments() (mean, variance float64) { return c.momentsOf(&c.count, c.total) }

// momentsOf are mean and variance of the scores with these weights, whose sum is
// total.
func (c *cells) momentsOf(weight *[5]float64, total float64) (mean, variance float64) {
	for i := range c.n {
		mean += float64(weight[i] * c.score[i])
	}
	mean /= total
	for i := range c.n {
		d := c.score[i] - mean
		variance += float64(weight[i] * float64(d*d))
	}
	return mean, variance / total
}

// tilt finds x with Σ count·v/(1+x·v) = 0, where all 1+x·v are positive, and
// leaves these divisors in d. For v of both signs there is exactly one x: the sum
// falls from +∞ to −∞ between the poles. The distribution count/(total·d) then is
// that of maximum likelihood among those under which the mean of v is 0 (A. Owen,
// "Empirical likelihood ratio confidence intervals for a single functional",
// Biometrika 75 (1988), equation 2.3).
func (c *cells) tilt(v, d *[5]float64) {
	low, high := 0.0, 0.0
	for _, x := range v[:c.n] {
		low, high = min(low, x), max(high, x)
	}
	low, high = -1/high, -1/low
	first, second := low, high
	x := 0.0
	for range 200 {
		sum, slope := 0.0, 0.0
		for i := range c.n {
			r := v[i] / (1 + float64(x*v[i]))
			sum += float64(c.count[i] * r)
			slope += float64(c.count[i] * float64(r*r))
		}
		if sum > 0 {
			low = x
		} else {
			high = x
		}
		next := x + sum/slope // a step of Newton's method, else of bisection
		if !(low < next && next < high) {
			next = low + float64((high-low)/2)
		}
		// Near a pole Newton's method is as good as its distance is known.
		step := math.Abs(next - x)
		done := step <= 1e-9*min(next-first, second-next) || step <= 2e-16*math.Abs(next)
		x = next
		if done {
			break
		}
	}
	for i := range c.n { // no share is above 1, whatever rounding says
		d[i] = max(1+float64(x*v[i]), c.count[i]/c.total)
	}
}

// underMean leaves in d what the observed shares are divided by to give the
// distribution of maximum likelihood with the mean score s.
func (c *cells) underMean(s float64, d *[5]float64) {
	var v [5]float64
	for i := range c.n {
		v[i] = c.score[i] - s
	}
	c.tilt(&v, d)
}

// underT is underMean for a given t = (mean − ½)/σ of the scores of the cells, up
// to ±0.82. The constraint is not linear. It is met by a sequence of linear ones,
// each of which is the tangent at the distribution before, from the uniform one
// on: M. Van den Bergh, "Comments on normalized Elo", section 4.1. Where its
// steps get no smaller any more, they are rounding errors.
func (c *cells) underT(t float64, d *[5]float64) {
	var p, v [5]float64
	for i := range c.n {
		p[i] = 1 / float64(c.n)
	}
	last := math.Inf(1)
	for range 300 {
		mean, variance := c.momentsOf(&p, 1)
		sigma := math.Sqrt(variance)
		for i := range c.n {
			z := (c.score[i] - mean) / sigma
			v[i] = c.score[i] - 0.5 - float64(t*sigma*(1+float64(z*z))/2)
		}
		c.tilt(&v, d)
		change := 0.0
		for i := range c.n {
			q := c.count[i] / float64(c.total*d[i])
			change = max(change, math.Abs(q-p[i]))
			p[i] = q
		}
		if change < 1e-11 || change < 1e-8 && change >= last {
			return
		}
		last = change
	}
}

// LLR is the generalised log-likelihood ratio of the counts: how much more
// likely they are, at most, if the strength is Elo1 than if it is Elo0. counts are
// as in State. It is finite, and 0 without any result.
//
// It is exact for the multinomial distribution, as in fishtest's LLR_logistic and
// LLR_normalized, and no normal approximation.
func (t Test) LLR(counts []int) float64 {
	none := true
	for _, k := range counts {
		none = none && k == 0
	}
	if none {
		return 0
	}
	c := newCells(counts)
	var d0, d1 [5]float64
	if t.Model == Normalised {
		c.underT(t.perCell(t.Elo0), &d0)
		c.underT(t.perCell(t.Elo1), &d1)
	} else {
		c.underMean(scoreOf(t.Elo0), &d0)
		c.underMean(scoreOf(t.Elo1), &d1)
	}
	llr := 0.0
	for i := range c.n {
		llr += float64(c.count[i] * ln(d0[i]/d1[i]))
	}
	return llr
}

// perNormalisedElo is (mean − ½)/σ of a game for one point of normalised Elo:
// ln 10 / 800.
const perNormalisedElo = math.Ln10 / 800

// perCell is the t of underT of so many points of normalised Elo: of a game, or of
// a pair, the σ of whose score is smaller by √2 if its games are independent.
func (t Test) perCell(elo float64) float64 {
	if t.Pairs {
		return float64(elo * perNormalisedElo * math.Sqrt2)
	}
	return float64(elo * perNormalisedElo)
}

// scoreOf is the mean score that goes with logistic Elo.
func scoreOf(elo float64) float64 { return 1 / (1 + exp(-float64(elo*math.Ln10)/400)) }

// EloOf is the logistic Elo of a mean score, at most ±MaxElo.
func EloOf(score float64) float64 {
	const margin = 1e-15
	s := max(margin, min(1-margin, score))
	return max(-MaxElo, min(MaxElo, float64(400/math.Ln10*(ln(s)-ln(1-s)))))
}
