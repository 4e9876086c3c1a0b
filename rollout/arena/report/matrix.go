package report

import "moonfarm/rollout/arena"

// Meeting has the score of one player against another.
type Meeting struct {
	Pair             *arena.Pair // of both, in either order; nil if they did not meet
	Score, Low, High float64     // with the 95 % interval
}

// Matrix returns the scores of the players by rating, the best first and at most the given number, against each
// other: [row][column] is the row's score.
func Matrix(r *arena.Report, most int) [][]Meeting {
	order := r.ByRating()
	order = order[:min(len(order), most)]
	pairs := map[[2]string]*arena.Pair{}
	for i := range r.Pairs {
		if p := &r.Pairs[i]; p.Games > 0 {
			pairs[[2]string{p.A, p.B}] = p
		}
	}
	matrix := make([][]Meeting, len(order))
	for row, i := range order {
		matrix[row] = make([]Meeting, len(order))
		for column, k := range order {
			me, other := r.Players[i].Player, r.Players[k].Player
			if p := pairs[[2]string{me, other}]; p != nil {
				matrix[row][column] = Meeting{p, p.Score, p.ScoreLow, p.ScoreHigh}
			} else if p := pairs[[2]string{other, me}]; p != nil {
				matrix[row][column] = Meeting{p, 1 - p.Score, 1 - p.ScoreHigh, 1 - p.ScoreLow}
			}
		}
	}
	return matrix
}
