package arena_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/arena"
	"moonfarm/rollout/arena/schedule"
	"moonfarm/sim/prng"
)

// game returns a game on a seed with the given players and results by seat.
func game(seed int, sum prng.Digest, seats []int, results ...float32) arena.Played {
	return arena.Played{Fixture: schedule.Fixture{Players: seats, Seed: seed}, Turns: 10, Results: results, Scores: make([]float64, len(seats)), Sum: sum}
}

// TestEvaluate compares a report with counts by hand.
func TestEvaluate(t *testing.T) {
	games := []arena.Played{
		game(0, 1, []int{0, 1}, 1, -1), game(0, 2, []int{1, 0}, -1, 1),
		game(1, 3, []int{0, 1}, 0, 0), game(1, 4, []int{1, 0}, 1, -1),
		game(0, 5, []int{0, 2}, 1, -1), game(1, 5, []int{0, 2}, 1, -1), game(2, 5, []int{0, 2}, 1, -1),
	}
	games[1].Faults = []arena.Fault{{Seat: 0, Kind: "timeout", Times: 3}, {Seat: 0, Kind: "crash"}}
	games[1].Seconds = []float64{1.5, 0}
	r, err := arena.Evaluate([]string{"a", "b", "c"}, games, 1)
	require.NoError(t, err)
	require.Truef(t, r.Games == 7 && r.Distinct == 5 && r.Seeds == 3 && r.Seats == 2 && r.Anchor == "b" && len(r.Pairs) == 3, "%+v", r)
	a, b, c := r.Players[0], r.Players[1], r.Players[2]
	assert.Truef(t, a.Games == 7 && a.Wins == 5 && a.Draws == 1 && a.Losses == 1 && a.Score == round6(5.5/7) && a.First == round6(4.5/5) && a.Place == round6((5*1+1.5+2)/7), "a: %+v", a)
	assert.Truef(t, b.Elo == 0 && b.Low == 0 && b.High == 0 && reflect.DeepEqual(b.Faults, map[string]int{"timeout": 3, "crash": 1}) && b.Seconds == 1.5, "b, the anchor: %+v", b)
	assert.Truef(t, a.Low < a.Elo && a.Elo < a.High && a.Elo > 0 && c.Elo < a.Elo && c.Wins == 0, "ratings: a %+v, c %+v", a.Rating, c.Rating)
	assert.Truef(t, a.Nash == 1 && b.Nash == 0, "nash %v, %v", a.Nash, b.Nash)
	ab, ac, bc := r.Pairs[0], r.Pairs[1], r.Pairs[2]
	assert.Truef(t, ab.Games == 4 && ab.Distinct == 4 && !ab.Repeats && ab.Wins == 2 && ab.Draws == 1 && ab.MeanTurns == 10 && ab.Superior == nil && ab.FitElo > 0, "a against b: %+v", ab)
	assert.Truef(t, ac.Games == 3 && ac.Distinct == 1 && ac.Repeats && ac.Wins == 3 && ac.ScoreLow <= 0.21, "a against c, one game three times: %+v", ac)
	assert.Truef(t, bc.Games == 0 && bc.ScoreLow == 0 && bc.ScoreHigh == 1, "b against c, who never met: %+v", bc)
	order := r.ByRating()
	assert.Zerof(t, order[0], "the best first: %v", order)
}

// TestEvaluateNeverMet: players who never met get the score that their ratings predict, not a draw:
// a weak player that met few others has no share in the Nash mixture.
func TestEvaluateNeverMet(t *testing.T) {
	var games []arena.Played
	for seed := range 10 {
		games = append(games, game(seed, prng.Digest(seed), []int{0, 1}, 1, -1), game(seed, prng.Digest(seed), []int{1, 2}, 1, -1))
	}
	r, err := arena.Evaluate([]string{"a", "b", "c"}, games, -1)
	require.NoError(t, err)
	a, c := r.Players[0], r.Players[2]
	assert.Truef(t, a.Nash == 1 && c.Nash == 0, "a beats b, b beats c: nash %v of a, %v of c", a.Nash, c.Nash)
}

// TestEvaluateSchedules: a contest's stages are not added to a report of other players.
func TestEvaluateSchedules(t *testing.T) {
	r, err := arena.Evaluate([]string{"a", "b"}, []arena.Played{game(0, 1, []int{0, 1}, 1, -1)}, -1)
	require.NoError(t, err)
	s := schedule.Championship{Players: 4, Games: 2, Seats: [4]int{4, 4, 4, 2}}
	if err := r.AddStages(s, nil); err == nil || len(r.Stages) > 0 { // the report has two players
		t.Errorf("%v, stages %+v", err, r.Stages)
	}
}

func round6(x float64) float64 { return math.Round(x*1e6) / 1e6 }

// TestEvaluateTables: with more than two seats, players can share places, and every two players of
// a game are compared.
func TestEvaluateTables(t *testing.T) {
	r, err := arena.Evaluate([]string{"a", "b", "c"}, []arena.Played{game(0, 1, []int{2, 0, 1}, 0.5, 0.5, -1), game(0, 2, []int{0, 1, 2}, 1, 0, -1)}, -1)
	require.NoError(t, err)
	a, c := r.Players[0], r.Players[2]
	assert.Truef(t, a.Wins == 3 && a.Draws == 1 && a.Losses == 0 && a.Place == 1.25 && c.Place == 2.25 && c.Wins == 1 && c.Draws == 1 && c.Losses == 2, "a %+v, c %+v", a, c)
	sum := a.Elo + r.Players[1].Elo + c.Elo
	assert.LessOrEqualf(t, math.Abs(sum), 0.05, "ratings sum to %v", sum)
}

// TestEvaluateLittle: reports are finite for no games, one game, and players who are all the same.
func TestEvaluateLittle(t *testing.T) {
	for _, games := range [][]arena.Played{nil, {game(0, 1, []int{0, 1}, 1, -1)}, {game(0, 1, []int{0, 0}, 1, -1)}} {
		r, err := arena.Evaluate([]string{"a", "b"}, games, -1)
		require.NoError(t, err)
		for _, p := range r.Players {
			for _, x := range []float64{p.Elo, p.Low, p.High, p.Error, p.Score, p.Place, p.First, p.Nash} {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					t.Errorf("%d games: %+v", len(games), p)
				}
			}
		}
	}
	_, err := arena.Evaluate(make([]string, 1000), nil, -1)
	assert.Error(t, err, "a thousand players were rated")
}
