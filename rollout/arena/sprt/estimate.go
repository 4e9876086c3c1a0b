package sprt

import (
	"math"
	"slices"

	"moonfarm/rollout/exact"
)

// Estimate is the estimated strength of A.
//
// It accounts for the stopping rule: a test stops at extremes, so the mean score is biased
// outwards, and its usual interval contains the strength in at most 90 % of tests. Therefore Elo is
// the strength at which a worse outcome is as probable as a better one, and the 95 % interval
// consists of the strengths at which neither is less probable than 2.5 %. Outcomes are ordered from
// a quick H0 over slow ends to a quick H1 (D. Siegmund, "Estimation following sequential tests",
// Biometrika 65 (1978); fishtest does the same).
//
// The probabilities are those of a Brownian motion that approximates the LLR. The signed root of
// the likelihood ratio, for every strength, stands for the distance of the LLR from its mean in
// standard deviations. For Brownian motion both are equal; with few results, or only wins, the root
// remains valid although the variance is useless. While the bounds are far away, the interval is
// the likelihood ratio's (S. S. Wilks, "The Large-Sample Distribution of the Likelihood Ratio for
// Testing Composite Hypotheses", Annals of Mathematical Statistics 9 (1938)).
//
// All values are rounded to 0.001, LOS to 0.0001.
type Estimate struct {
	Elo  float64 `json:"elo"` // logistic, −MaxElo … MaxElo
	Low  float64 `json:"elo_low"`
	High float64 `json:"elo_high"`
	// Normalised Elo, by the standard deviation of the results.
	Normalised     float64 `json:"normalised_elo"`
	NormalisedLow  float64 `json:"normalised_elo_low"`
	NormalisedHigh float64 `json:"normalised_elo_high"`
	// LOS is the likelihood of superiority, 0 … 1: the probability of a worse outcome if A were as
	// strong as B.
	LOS float64 `json:"los"`
}

// Estimate estimates the strength of A from the results so far. Without results it returns Elo 0
// within ±MaxElo, and LOS ½.
func (s *State) Estimate() Estimate {
	if slices.Max(s.counts) == 0 {
		return Estimate{0, -MaxElo, MaxElo, 0, -MaxElo, MaxElo, 0.5}
	}
	o := s.outcome()
	_, variance := o.cells.moments()
	sigma := math.Sqrt(variance) * math.Sqrt2 // of a game
	normalised := func(elo float64) float64 {
		return exact.Round(max(-MaxElo, min(MaxElo, (scoreOf(elo)-0.5)/sigma/perNormalisedElo)), 1e3)
	}
	elo, low, high := o.strength(0.5), o.strength(0.975), o.strength(0.025)
	return Estimate{
		exact.Round(elo, 1e3), exact.Round(low, 1e3), exact.Round(high, 1e3),
		normalised(elo), normalised(low), normalised(high), exact.Round(o.worse(0), 1e4),
	}
}

// leastLeft is the number of results from which on Left is known.
const leastLeft = 8

// Left returns the expected number of further results until the test ends if they are like those so far: the time in
// which a Brownian motion with the mean and the variance of their steps of the LLR leaves the bounds. It returns −1 if
// there are too few results for that, and 0 after the end.
func (s *State) Left() float64 {
	if s.decision != Continue {
		return 0
	}
	n, mean, square := 0, 0.0, 0.0
	for _, k := range s.counts {
		n += k
	}
	if n < leastLeft {
		return -1
	}
	more := s.Counts()
	for i, k := range s.counts {
		more[i]++
		step := s.test.LLR(more) - s.llr
		more[i]--
		share := float64(k) / float64(n)
		mean += float64(share * step)
		square += float64(share * float64(step*step))
	}
	lower, upper := s.Bounds()
	up, down, variance := upper-s.llr, s.llr-lower, square-float64(mean*mean)
	a := 2 * mean / max(variance, 1e-12)
	switch end := float64(a * (up + down)); {
	case end > 30: // it surely ends above
		return up / mean
	case end < -30:
		return down / -mean
	case math.Abs(end) < 1e-3: // no drift
		return float64(up*down) / max(variance, 1e-12)
	default:
		above := (1 - exact.Exp(float64(-a*down))) / (1 - exact.Exp(-end))
		return (float64(above*(up+down)) - down) / mean
	}
}

// outcome is the current point of a test.
type outcome struct {
	cells *cells
	mean  float64
	path  path
}

// outcome returns the state as Brownian motion. With signed roots r₀ and r₁ of the likelihood
// ratios of Elo0 and Elo1, the LLR is (r₀²−r₁²)/2, and r₀−r₁ takes the place of its standard
// deviation. The barriers are at the LLR expected once it has crossed the bounds.
func (s *State) outcome() outcome {
	c := newCells(s.counts)
	mean, variance := c.moments()
	o := outcome{cells: c, mean: mean}
	var r [2]float64
	for i, elo := range []float64{s.test.Elo0, s.test.Elo1} {
		if s.test.Model == Logistic {
			r[i] = o.root(scoreOf(elo))
			continue
		}
		var d [results]float64
		t := perPair(elo)
		c.underT(t, &d)
		r[i] = math.Copysign(c.deviance(&d), (mean-0.5)/math.Sqrt(variance)-t)
	}
	lower, upper := s.Bounds()
	lower, upper = lower-s.down.expected(), upper+s.up.expected()
	// A test ends long before the bounds are a tenth of a standard deviation apart.
	sd := max(1e-9, min(float64(10*(upper-lower)), r[0]-r[1]))
	at := s.llr
	switch s.decision {
	case H0:
		at = lower
	case H1:
		at = upper
	}
	at = max(lower, min(upper, at))
	o.path = path{lower / sd, upper / sd, at / sd}
	return o
}

// root returns the signed root of the likelihood ratio of a mean score; it is positive if the
// results are better.
func (o outcome) root(score float64) float64 {
	var d [results]float64
	o.cells.underMean(score, &d)
	return math.Copysign(o.cells.deviance(&d), o.mean-score)
}

// deviance returns √(2·ln(L/L₀)), where L is the greatest likelihood and L₀ the likelihood of the
// distribution with these divisors.
func (c *cells) deviance(d *[results]float64) float64 {
	sum := 0.0
	for i := range results {
		sum += float64(c.count[i] * exact.Log(d[i]))
	}
	return math.Sqrt(max(0, float64(2*sum)))
}

// worse returns the probability of a worse outcome at the given strength.
func (o outcome) worse(elo float64) float64 {
	return o.path.worse(o.path.at - o.root(scoreOf(elo)))
}

// strength returns the strength with the given probability of a worse outcome, within ±MaxElo.
func (o outcome) strength(probability float64) float64 {
	low, high := -float64(MaxElo), float64(MaxElo)
	for range 42 { // to 1e-9
		middle := (low + high) / 2
		if o.worse(middle) > probability {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// The LLR of a test, in units of its standard deviation, is close to a Brownian motion with drift,
// of variance 1 at time 1, between two barriers. The formulas are from D. Siegmund, "Sequential
// Analysis" (1985), chapter III, with reflections at both barriers.

// path is a Brownian motion at time 1, or at its end before that.
type path struct {
	lower, upper float64 // barriers, around 0
	at           float64 // lower … upper
}

// worse returns the probability, under the drift, of an outcome that is weaker evidence for a large
// drift than path: the motion ended at the lower barrier before time 1, or is below path at time 1.
// If path is at the upper barrier, every outcome counts except an earlier end there. The
// probability falls with the drift.
func (p path) worse(drift float64) float64 {
	switch {
	case p.at >= p.upper:
		return 1 - path{-p.upper, -p.lower, 0}.ends(-drift)
	case p.at <= p.lower:
		return p.ends(drift)
	}
	return max(0, min(1, p.ends(drift)+p.undecided(drift)))
}

// images returns the number of reflections on either side that matter, for barriers at least 0.1
// apart.
func (p path) images() int {
	width := p.upper - p.lower
	return 1 + int(min(100, (10-p.lower)/float64(2*width)))
}

// ends returns the probability that the motion ends at the lower barrier before time 1.
func (p path) ends(drift float64) float64 {
	sum, speed := 0.0, math.Abs(drift)
	for k := -p.images(); k <= p.images(); k++ {
		d := float64(2*float64(k)*(p.upper-p.lower)) - p.lower
		way := math.Abs(d)
		term := expPhi(float64(drift*p.lower)-float64(speed*way), speed-way) +
			expPhi(float64(drift*p.lower)+float64(speed*way), -speed-way)
		sum += math.Copysign(term, d)
	}
	return max(0, min(1, sum))
}

// undecided returns the probability that the motion reaches no barrier before time 1 and is below path
// then.
func (p path) undecided(drift float64) float64 {
	sum := 0.0
	between := func(image float64) float64 {
		from, to := p.lower-image-drift, p.at-image-drift
		c := float64(drift * image)
		if from > 0 {
			return expPhi(c, -from) - expPhi(c, -to)
		}
		return expPhi(c, to) - expPhi(c, from)
	}
	for k := -p.images(); k <= p.images(); k++ {
		image := float64(2 * float64(k) * (p.upper - p.lower))
		sum += between(image) - between(image+float64(2*p.upper))
	}
	return max(0, min(1, sum))
}

// expPhi returns exp(c)·Phi(x), also where one factor is huge and the other tiny.
func expPhi(c, x float64) float64 {
	if x > -4 {
		if c < -80 {
			return 0
		}
		return float64(exact.Exp(min(c, 700)) * exact.Phi(x))
	}
	c -= float64(x * x / 2)
	if c < -80 {
		return 0
	}
	// The continued fraction of Laplace: Phi(−y) = density(y)/(y + 1/(y + 2/(y + …))).
	f := -x
	for k := 60.0; k >= 1; k-- {
		f = -x + k/f
	}
	const density = 0.398942280401432677939946 // 1/√(2π)
	return float64(density*exact.Exp(min(700, c))) / f
}
