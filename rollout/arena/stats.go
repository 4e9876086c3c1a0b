package arena

import (
	"math"

	"moonfarm/rollout/arena/rating"
	"moonfarm/rollout/arena/sprt"
	"moonfarm/rollout/exact"
)

// z95 is the two-sided 95 % point of the normal distribution.
const z95 = 1.959963984540054

// wilson returns the 95 % confidence interval of the mean score p of n independent observations in
// 0 … 1: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA
// 22 (1927). The package comment justifies it for scores other than 0 and 1.
func wilson(p, n float64) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	const zz = z95 * z95
	centre := (p + zz/(2*n)) / (1 + zz/n)
	half := float64(z95 / (1 + zz/n) * math.Sqrt(p*(1-p)/n+zz/(4*n*n)))
	return max(0, centre-half), min(1, centre+half)
}

// counts counts comparisons of player i with player j.
type counts struct {
	wins, draws, losses int
	games, turns        int     // games in which both played
	seeds               int     // of these games, with the lower player first
	distinct            float64 // these games without repetitions
	first, firstOf      int     // half points, and comparisons, with i at seat 0
}

func (c *counts) add(d counts) {
	c.wins += d.wins
	c.draws += d.draws
	c.losses += d.losses
	c.games += d.games
	c.turns += d.turns
	c.distinct += d.distinct
	c.first += d.first
	c.firstOf += d.firstOf
}

func (c counts) points() int { return 2*c.wins + c.draws }

// tally returns the score and its interval for the given number of independent observations.
func (c counts) tally(trials float64) Tally {
	t := Tally{Wins: c.wins, Draws: c.draws, Losses: c.losses}
	all := c.wins + c.draws + c.losses
	if all == 0 {
		trials = 0
	} else {
		t.Score = exact.Round(float64(c.points())/float64(2*all), 1e6)
	}
	low, high := wilson(t.Score, trials)
	t.ScoreLow, t.ScoreHigh = exact.Round(low, 1e6), exact.Round(high, 1e6)
	return t
}

// LeastSeeds is the least number of seeds, repetitions excluded, for which a report has the
// interval of a rating. Below it the interval would be the prior's.
const LeastSeeds = 5

// HeadToHead compares two players by the games between them alone. It is on the scale of sprt: the Elo
// of a score s is 400·log10(s/(1−s)).
type HeadToHead struct {
	// Elo belongs to Tally.Score, EloLow and EloHigh to ScoreLow and ScoreHigh. Elo is nil at a
	// score of 0 or 1, which has no finite Elo, and so is the end of the interval on that side. All
	// are nil on fewer than LeastSeeds seeds.
	Elo     *float64 `json:"elo"`
	EloLow  *float64 `json:"elo_low"`
	EloHigh *float64 `json:"elo_high"`
	// Superior is the likelihood that the first player is stronger than the other, by the test to
	// which the interval belongs: it is above 0.975 where the interval lies above 0, and below
	// 0.025 where it lies below. It is nil on fewer than LeastSeeds seeds.
	Superior *float64 `json:"superior"`
}

// headToHead compares by counts, which have the weight of the given number of independent observations.
func (c counts) headToHead(trials float64) (d HeadToHead) {
	all := c.wins + c.draws + c.losses
	if all == 0 || trials < LeastSeeds {
		return d
	}
	score := float64(c.points()) / float64(2*all)
	low, high := wilson(score, trials)
	d.Elo, d.EloLow, d.EloHigh = eloOf(score), eloOf(low), eloOf(high)
	if c.points() == 0 { // rounding may leave the end a little above 0, or below 1
		d.EloLow = nil
	} else if c.points() == 2*all {
		d.EloHigh = nil
	}
	// Wilson's interval contains the means that this statistic does not reject: at a mean of ½ an
	// observation has at most the deviation ½.
	z := float64((score - 0.5) * 2 * math.Sqrt(trials))
	superior := exact.Round(exact.Phi(z), 1e6)
	d.Superior = &superior
	return d
}

// eloOf returns the Elo of a score, rounded to hundredths; nil for 0 and 1.
func eloOf(score float64) *float64 {
	if score <= 0 || score >= 1 {
		return nil
	}
	elo := exact.Round(sprt.EloOf(score), 100) + 0 // no −0
	return &elo
}

// bounds reports whether games on this number of seeds give an interval of a rating.
func bounds(r rating.Rating, seeds float64) bool { return r.Bounded && seeds >= LeastSeeds }

// when returns x, or nil if ok is false.
func when(ok bool, x float64) *float64 {
	if !ok {
		return nil
	}
	return &x
}
