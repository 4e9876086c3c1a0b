package sprt

import (
	"math"
	"slices"

	"moonfarm/rollout/exact"
)

// epsilon replaces a count of 0, so that every maximum likelihood exists. Fishtest and fastchess
// use the same value.
const epsilon = 1e-3

// cells are counted results, whose scores are 0, ¼, ½, ¾ and 1.
type cells struct {
	score [results]float64
	count [results]float64 // regularised: never 0
	total float64          // sum of the counts
}

func newCells(counts []int) *cells {
	c := &cells{}
	for i, k := range counts {
		c.score[i] = float64(i) / (results - 1)
		c.count[i] = max(float64(k), epsilon)
		c.total += c.count[i]
	}
	return c
}

func (c *cells) moments() (mean, variance float64) { return c.momentsOf(&c.count, c.total) }

// momentsOf returns the mean and the variance of the scores with these weights, whose sum is total.
func (c *cells) momentsOf(weight *[results]float64, total float64) (mean, variance float64) {
	for i := range results {
		mean += float64(weight[i] * c.score[i])
	}
	mean /= total
	for i := range results {
		d := c.score[i] - mean
		variance += float64(weight[i] * float64(d*d))
	}
	return mean, variance / total
}

// tilt finds x with Σ count·v/(1+x·v) = 0 and all 1+x·v positive, and stores these divisors in d.
// For v of both signs there is exactly one x, as the sum falls from +∞ to −∞ between the poles. The
// distribution count/(total·d) then has the maximum likelihood among all distributions with mean 0
// of v (A. Owen, "Empirical likelihood ratio confidence intervals for a single functional",
// Biometrika 75 (1988), equation 2.3).
func (c *cells) tilt(v, d *[results]float64) {
	low, high := 0.0, 0.0
	for _, x := range v {
		low, high = min(low, x), max(high, x)
	}
	low, high = -1/high, -1/low
	first, second := low, high
	x := 0.0
	for range 200 {
		sum, slope := 0.0, 0.0
		for i := range results {
			r := v[i] / (1 + float64(x*v[i]))
			sum += float64(c.count[i] * r)
			slope += float64(c.count[i] * float64(r*r))
		}
		if sum > 0 {
			low = x
		} else {
			high = x
		}
		next := x + sum/slope // a step of Newton's method, or of bisection
		if !(low < next && next < high) {
			next = low + float64((high-low)/2)
		}
		// Near a pole the error of Newton's method is that of the distance to the pole.
		step := math.Abs(next - x)
		done := step <= 1e-9*min(next-first, second-next) || step <= 2e-16*math.Abs(next)
		x = next
		if done {
			break
		}
	}
	for i := range results { // no share exceeds 1, despite rounding
		d[i] = max(1+float64(x*v[i]), c.count[i]/c.total)
	}
}

// underMean stores in d the divisors of the observed shares that give the distribution of maximum
// likelihood with mean score s.
func (c *cells) underMean(s float64, d *[results]float64) {
	var v [results]float64
	for i := range results {
		v[i] = c.score[i] - s
	}
	c.tilt(&v, d)
}

// underT is underMean for a given t = (mean − ½)/σ of the scores of the cells, up to ±0.82. The
// constraint is not linear. It is met by a sequence of linear constraints, each of which is the
// tangent at the previous distribution, beginning with the uniform one: M. Van den Bergh, "Comments
// on normalized Elo", section 4.1. Once the steps no longer shrink, they are rounding errors.
func (c *cells) underT(t float64, d *[results]float64) {
	var p, v [results]float64
	for i := range results {
		p[i] = 1.0 / results
	}
	last := math.Inf(1)
	for range 300 {
		mean, variance := c.momentsOf(&p, 1)
		sigma := math.Sqrt(variance)
		for i := range results {
			z := (c.score[i] - mean) / sigma
			v[i] = c.score[i] - 0.5 - float64(t*sigma*(1+float64(z*z))/2)
		}
		c.tilt(&v, d)
		change := 0.0
		for i := range results {
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

// LLR returns the generalised log-likelihood ratio of the counts: the logarithm of their greatest
// likelihood at strength Elo1 over that at Elo0. counts are as in State. The ratio is finite, and 0
// without results.
//
// It is exact for the multinomial distribution, as fishtest's LLR_logistic and LLR_normalized are,
// and no normal approximation.
func (t Test) LLR(counts []int) float64 {
	if slices.Max(counts) == 0 {
		return 0
	}
	c := newCells(counts)
	var d0, d1 [results]float64
	if t.Model == Normalised {
		c.underT(perPair(t.Elo0), &d0)
		c.underT(perPair(t.Elo1), &d1)
	} else {
		c.underMean(scoreOf(t.Elo0), &d0)
		c.underMean(scoreOf(t.Elo1), &d1)
	}
	llr := 0.0
	for i := range results {
		llr += float64(c.count[i] * exact.Log(d0[i]/d1[i]))
	}
	return llr
}

// perNormalisedElo is (mean − ½)/σ of a game for one point of normalised Elo: ln 10 / 800.
const perNormalisedElo = math.Ln10 / 800

// perPair returns the t of underT for a normalised Elo: the score of a pair has a σ smaller than that of
// a game by √2 if its games are independent.
func perPair(elo float64) float64 { return float64(elo * perNormalisedElo * math.Sqrt2) }

// scoreOf returns the mean score for a logistic Elo.
func scoreOf(elo float64) float64 { return 1 / (1 + exact.Exp(-float64(elo*math.Ln10)/400)) }

// EloOf returns the logistic Elo of a mean score, at most ±MaxElo.
func EloOf(score float64) float64 {
	const margin = 1e-15
	s := max(margin, min(1-margin, score))
	return max(-MaxElo, min(MaxElo, float64(400/math.Ln10*(exact.Log(s)-exact.Log(1-s)))))
}
