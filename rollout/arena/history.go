package arena

import (
	"math"

	"moonfarm/rollout/arena/rating"
)

// RatingHistory returns the ratings over time: for each of ends, the ratings by player after that number
// of games; NaN for a player without a game so far. ends must rise, and anchor is as in Evaluate.
// It fails if there are more players than can be rated.
func RatingHistory(players int, games []Played, anchor int, ends []int) ([][]float64, error) {
	course := make([][]float64, 0, len(ends))
	for _, end := range ends {
		e := newEvaluation(make([]string, players), games[:end])
		for i := range e.games {
			e.count(&e.games[i])
		}
		m, err := rating.Fit(players, e.results)
		if err != nil {
			return nil, err
		}
		elo := m.Elo(anchor)
		for i := range elo {
			if e.sums[i].games == 0 {
				elo[i] = math.NaN()
			}
		}
		course = append(course, elo)
	}
	return course, nil
}
