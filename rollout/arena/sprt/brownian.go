package sprt

import (
	"math"

	"moonfarm/rollout/exact"
)

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
