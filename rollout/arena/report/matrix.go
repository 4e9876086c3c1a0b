package report

import "moonfarm/rollout/arena"

// meeting has the score of one player against another.
type meeting struct {
	Pair             *arena.Pair // of both, in either order; nil if they did not meet
	Score, Low, High float64     // with the 95 % interval
}

// matrix returns the scores of the players by rating, the best first and at most the given number, against each
// other: [row][column] is the row's score.
func matrix(r *arena.Report, most int) [][]meeting {
	order := r.ByRating()
	order = order[:min(len(order), most)]
	pairs := map[[2]string]*arena.Pair{}
	for i := range r.Pairs {
		if p := &r.Pairs[i]; p.Games > 0 {
			pairs[[2]string{p.A, p.B}] = p
		}
	}
	all := make([][]meeting, len(order))
	for row, i := range order {
		all[row] = make([]meeting, len(order))
		for column, k := range order {
			me, other := r.Players[i].Player, r.Players[k].Player
			if p := pairs[[2]string{me, other}]; p != nil {
				all[row][column] = meeting{p, p.Score, p.ScoreLow, p.ScoreHigh}
			} else if p := pairs[[2]string{other, me}]; p != nil {
				all[row][column] = meeting{p, 1 - p.Score, 1 - p.ScoreHigh, 1 - p.ScoreLow}
			}
		}
	}
	return all
}
