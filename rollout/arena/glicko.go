package arena

import (
	"cmp"
	"slices"

	"moonfarm/rollout/arena/rating"
	"moonfarm/rollout/arena/schedule"
)

// glickoTau limits how fast volatilities change; the paper proposes 0.3 … 1.2.
const glickoTau = 0.5

// Glicko returns a Rate for schedules: it rates the given number of players by Glicko-2, with one
// round as a period.
func Glicko(players int) schedule.Rate {
	return func() func(round []schedule.Placing) []float64 {
		rated := newGlickos(players)
		return func(round []schedule.Placing) []float64 {
			if len(round) > 0 {
				rated = rated.after(round)
			}
			all := make([]float64, players)
			for i, g := range rated {
				all[i] = g.Rating
			}
			return all
		}
	}
}

// glickos are the ratings of all players.
type glickos []rating.Glicko

func newGlickos(players int) glickos {
	rated := make(glickos, players)
	for i := range rated {
		rated[i] = rating.NewGlicko()
	}
	return rated
}

// after returns the ratings after a round.
func (g glickos) after(round []schedule.Placing) glickos {
	next, err := rating.GlickoPeriod(g, pairsOf(round), glickoTau)
	if err != nil {
		return g // too many players to rate; Evaluate reports that
	}
	return next
}

// AddGlicko adds to a report the Glicko-2 ratings after the games of a tournament whose schedule
// uses them.
func (r *Report) AddGlicko(games []Played) {
	results := Placings(games)
	slices.SortFunc(results, func(a, b schedule.Placing) int { return cmp.Compare(a.Number, b.Number) })
	rated := newGlickos(len(r.Players))
	for len(results) > 0 {
		n := 1
		for n < len(results) && results[n].Round == results[0].Round {
			n++
		}
		rated, results = rated.after(results[:n]), results[n:]
	}
	for i := range r.Players {
		g := rated[i]
		r.Players[i].Glicko = &rating.Glicko{Rating: round(g.Rating, 1e3), Deviation: round(g.Deviation, 1e3), Volatility: round(g.Volatility, 1e6)}
	}
}

// pairsOf compares every two different players of a table by their places.
func pairsOf(results []schedule.Placing) (pairs []rating.Comparison) {
	for _, r := range results {
		for i, a := range r.Players {
			for j, b := range r.Players[:i] {
				if a == b {
					continue
				}
				p := rating.Comparison{A: a, B: b, Block: r.Seed, Weight: 1}
				switch {
				case r.Places[i] < r.Places[j]:
					p.Wins = 1
				case r.Places[i] > r.Places[j]:
					p.Losses = 1
				default:
					p.Draws = 1
				}
				pairs = append(pairs, p)
			}
		}
	}
	return pairs
}
