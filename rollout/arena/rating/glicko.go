package rating

import (
	"fmt"
	"math"
)

// Glicko is a rating by the system Glicko-2 on its public scale.
type Glicko struct {
	Rating     float64 `json:"rating"`
	Deviation  float64 `json:"deviation"`
	Volatility float64 `json:"volatility"`
}

const (
	glickoScale = 173.7178 // rating points per unit of μ
	glickoMean  = 1500
	glickoMost  = 350 // deviation of an unknown player
)

// NewGlicko returns the rating of an unknown player.
func NewGlicko() Glicko { return Glicko{glickoMean, glickoMost, 0.06} }

func (g Glicko) check() error {
	for _, x := range []float64{g.Rating, g.Deviation, g.Volatility} {
		if !(math.Abs(x) <= 1e6) {
			return fmt.Errorf("%v is out of bounds", x)
		}
	}
	if g.Deviation <= 0 || g.Volatility < 1e-9 {
		return fmt.Errorf("deviation %v, volatility %v, want more than 0", g.Deviation, g.Volatility)
	}
	return nil
}

// GlickoPeriod returns the ratings after one rating period with the given results, ignoring their
// blocks: M. E. Glickman, "Example of the Glicko-2 system" (2013), steps 2 to 8. All games of a
// period count at once, against the ratings before it. A game of weight w counts as w games. tau
// limits how fast volatilities change; the paper proposes 0.3 … 1.2. A player without games becomes
// less certain.
//
// Two bounds, which the paper lacks, keep everything finite: a deviation never exceeds 350, the
// value of an unknown player, and rating differences are limited to about 7,000 points.
//
// It fails as Fit does, for a tau outside 0.001 … 100, and for players whose numbers are not
// finite, or not above 0 where they must be. It does not round.
func GlickoPeriod(players []Glicko, results []Comparison, tau float64) ([]Glicko, error) {
	if err := check(len(players), results); err != nil {
		return nil, err
	}
	if !(tau >= 0.001 && tau <= 100) {
		return nil, fmt.Errorf("rating: tau %v, want 0.001 … 100", tau)
	}
	for i, g := range players {
		if err := g.check(); err != nil {
			return nil, fmt.Errorf("rating: player %d: %w", i, err)
		}
	}
	precision := make([]float64, len(players)) // 1/v, step 3
	gain := make([]float64, len(players))      // Δ/v, step 4
	t := tabulate(len(players), results)
	for p, pair := range t.pairs {
		c := t.sum[p]
		for side, i := range pair {
			j, score := pair[1-side], float64(c.games/2)+c.lead
			if side == 1 {
				score = float64(c.games/2) - c.lead
			}
			weight, expected := players[i].meets(players[j])
			precision[i] += float64(c.games * weight * weight * expected * (1 - expected))
			gain[i] += float64(weight * (score - float64(c.games*expected)))
		}
	}
	after := make([]Glicko, len(players))
	for i, g := range players {
		after[i] = g.after(precision[i], gain[i], tau)
	}
	return after, nil
}

// meets returns g(φ) of an opponent and the expected score against it.
func (g Glicko) meets(h Glicko) (weight, expected float64) {
	phi := h.Deviation / glickoScale
	weight = 1 / math.Sqrt(1+float64(3*phi*phi/(math.Pi*math.Pi)))
	d := max(-40, min(40, (g.Rating-h.Rating)/glickoScale))
	return weight, 1 / (1 + exp(-weight*d))
}

// after returns the rating after steps 5 to 8, from 1/v and Δ/v.
func (g Glicko) after(precision, gain, tau float64) Glicko {
	phi := g.Deviation / glickoScale
	sigma, variance := g.Volatility, float64(phi*phi)
	if precision > 0 {
		sigma = newVolatility(sigma, variance, 1/precision, gain/precision, tau)
	}
	variance = min(variance+float64(sigma*sigma), float64(glickoMost*glickoMost)/float64(glickoScale*glickoScale))
	variance = 1 / (1/variance + precision)
	return Glicko{
		Rating:     g.Rating + float64(glickoScale*variance*gain),
		Deviation:  float64(glickoScale * math.Sqrt(variance)),
		Volatility: sigma,
	}
}

// newVolatility returns the volatility of step 5: the root of f by the Illinois variant of regula
// falsi.
func newVolatility(sigma, variance, v, delta, tau float64) float64 {
	const tolerance = 1e-9
	start := log(sigma * sigma)
	f := func(x float64) float64 {
		e := exp(x)
		d := variance + v + e
		return float64(e*(float64(delta*delta)-variance-v-e))/float64(2*d*d) - (x-start)/(tau*tau)
	}
	low, high := start, 0.0
	if excess := float64(delta*delta) - variance - v; excess > 0 {
		high = log(excess)
	} else {
		high = start - tau
		for k := 2; f(high) < 0 && k < 1000; k++ {
			high = start - float64(float64(k)*tau)
		}
	}
	fLow, fHigh := f(low), f(high)
	for k := 0; math.Abs(high-low) > tolerance && k < 200; k++ {
		x := low + float64((low-high)*fLow)/(fHigh-fLow)
		fx := f(x)
		if float64(fx*fHigh) <= 0 {
			low, fLow = high, fHigh
		} else {
			fLow /= 2
		}
		high, fHigh = x, fx
	}
	return min(max(exp(low/2), 1e-9), 1e6)
}
