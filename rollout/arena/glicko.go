package arena

import (
	"moonfarm/rollout/arena/rating"
	"moonfarm/rollout/arena/schedule"
)

// glickoTau bounds how fast volatilities change; the paper proposes 0.3 … 1.2.
const glickoTau = 0.5

// Glicko rates so many players by Glicko-2 for schedules, a round being a period.
func Glicko(players int) schedule.Rate {
	return func(results []schedule.Result) []float64 {
		rated := make([]rating.Glicko, players)
		for i := range rated {
			rated[i] = rating.NewGlicko()
		}
		for len(results) > 0 {
			n := 1
			for n < len(results) && results[n].Round == results[0].Round {
				n++
			}
			if next, err := rating.GlickoPeriod(rated, pairsOf(results[:n]), glickoTau); err == nil {
				rated = next
			}
			results = results[n:]
		}
		all := make([]float64, players)
		for i, g := range rated {
			all[i] = g.Rating
		}
		return all
	}
}

// pairsOf compares each two different players of each table by place.
func pairsOf(results []schedule.Result) (pairs []rating.Result) {
	for _, r := range results {
		for i, a := range r.Players {
			for j, b := range r.Players[:i] {
				if a == b {
					continue
				}
				p := rating.Result{A: a, B: b, Block: r.Seed, Weight: 1}
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
