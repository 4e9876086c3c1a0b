package arena_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/arena"
	"moonfarm/rollout/arena/rating"
	"moonfarm/rollout/arena/schedule"
	"moonfarm/sim/prng"
)

// TestRatingHistory: RatingHistory gives after a number of games what Evaluate gives for these games alone, and
// NaN for players without games.
func TestRatingHistory(t *testing.T) {
	var games []arena.Played
	for n := range 60 {
		a, b := n%2, 1-n%2
		if n >= 30 {
			a = 2
		}
		result := float32([]int{1, 1, 0, -1, 1}[n%5])
		if a == 1 {
			result = -result // player 0 is the stronger one
		}
		games = append(games, arena.Played{Fixture: schedule.Fixture{Number: int64(n), Players: []int{a, b}, Seed: n / 2}, Turns: n,
			Results: []float32{result, -result}, Scores: []float64{1, 0}, Sum: prng.Digest(n / 3)})
	}
	ends := []int{1, 30, 45, 60}
	for _, anchor := range []int{-1, 0} {
		course, err := arena.RatingHistory(3, games, anchor, ends)
		require.NoErrorf(t, err, "%v", len(course))
		require.Equal(t, len(ends), len(course))
		for k, end := range ends {
			r, err := arena.Evaluate([]string{"a", "b", "c"}, games[:end], anchor)
			if err != nil {
				t.Fatal(err)
			}
			for i, got := range course[k] {
				if want := r.Players[i].Elo; r.Players[i].Games == 0 && !math.IsNaN(got) || r.Players[i].Games > 0 && got != want {
					t.Errorf("anchor %d, %d games: player %d has %v, want %v after %d games", anchor, end, i, got, want, r.Players[i].Games)
				}
			}
		}
		last := course[3]
		assert.Truef(t, last[0] != last[1] && !math.IsNaN(last[2]) && math.IsNaN(course[1][2]), "anchor %d: %v", anchor, course)
	}
	_, err := arena.RatingHistory(rating.MaxPlayers+1, games, -1, ends)
	assert.Error(t, err, "too many players, and no error")
}
