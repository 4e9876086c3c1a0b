package arena

import (
	"math"

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
