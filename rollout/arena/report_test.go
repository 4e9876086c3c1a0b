package arena_test

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/arena"
	"moonfarm/rollout/arena/rating"
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

// versus adds games of two players on the given number of seeds, with the seats exchanged; the
// first wins all games but those of the last `lost` seeds.
func versus(games []arena.Played, a, b, seeds, lost int) []arena.Played {
	for seed := range seeds {
		result := float32(1)
		if seed >= seeds-lost {
			result = -1
		}
		n := prng.Digest(len(games))
		games = append(games, game(seed, n, []int{a, b}, result, -result), game(seed, n+1, []int{b, a}, -result, result))
	}
	return games
}

func evaluate(t *testing.T, names []string, games []arena.Played) *arena.Report {
	t.Helper()
	r, err := arena.Evaluate(names, games, -1)
	require.NoError(t, err)
	return r
}

// TestHeadToHead: a pair's Elo follows from its own score, whatever the fit to all games gives: here a
// beats b, b beats c, and c beats a.
func TestHeadToHead(t *testing.T) {
	r := evaluate(t, []string{"a", "b", "c"}, versus(versus(versus(nil, 0, 1, 40, 10), 1, 2, 40, 10), 2, 0, 40, 10))
	want := 400 * math.Log10(3) // a score of ¾
	for i, sign := range []float64{1, -1, 1} {
		p := r.Pairs[i] // a–b, a–c, b–c
		assert.Truef(t, p.Elo != nil && math.Abs(*p.Elo-sign*want) <= 0.01 && *p.EloLow < *p.Elo && *p.Elo < *p.EloHigh, "%s against %s: elo %v, want %v", p.A, p.B, p.Elo, sign*want)
		assert.Truef(t, math.Abs(p.FitElo) <= 0.01 && p.FitLow != nil && *p.FitLow < 0 && 0 < *p.FitHigh, "%s against %s: %+.2f by the fit, want 0 of a circle", p.A, p.B, p.FitElo)
		// The interval of the Elo belongs to the score's interval, and Superior to the same test.
		for _, c := range []struct {
			score float64
			elo   *float64
		}{{p.ScoreLow, p.EloLow}, {p.ScoreHigh, p.EloHigh}} {
			if math.Abs(1/(1+math.Pow(10, -*c.elo/400))-c.score) > 1e-4 {
				t.Errorf("%s against %s: elo %v for a score of %v", p.A, p.B, *c.elo, c.score)
			}
		}
		if above := *p.Superior > 0.975; above != (*p.EloLow > 0) || (*p.Superior < 0.025) != (*p.EloHigh < 0) {
			t.Errorf("%s against %s: superior %v in %v…%v", p.A, p.B, *p.Superior, *p.EloLow, *p.EloHigh)
		}
	}
}

// TestSayNothing: a few games, or games with equal outcomes, give no interval; the bounds that they
// do give are reported.
func TestSayNothing(t *testing.T) {
	names := []string{"a", "b"}
	few := evaluate(t, names, versus(nil, 0, 1, arena.LeastSeeds-1, 2))
	if p := few.Pairs[0]; p.Elo != nil || p.EloLow != nil || p.EloHigh != nil || p.Superior != nil || p.FitLow != nil || p.FitHigh != nil {
		t.Errorf("four seeds: %+v", p)
	}
	if s := few.Players[0]; s.EloLow != nil || s.EloHigh != nil || s.EloError != nil {
		t.Errorf("four seeds: %+v", s)
	}
	enough := evaluate(t, names, versus(nil, 0, 1, arena.LeastSeeds, 2))
	if p, s := enough.Pairs[0], enough.Players[0]; p.Elo == nil || p.EloLow == nil || p.EloHigh == nil || p.Superior == nil || p.FitLow == nil || s.EloLow == nil {
		t.Errorf("five seeds: %+v, %+v", p, s)
	}
	repeats := versus(nil, 0, 1, 50, 25)
	for i := range repeats {
		repeats[i].Sum = prng.Digest(i%2 + 2*(i/50))
	}
	if p := evaluate(t, names, repeats).Pairs[0]; p.Elo != nil || p.Superior != nil {
		t.Errorf("two games, 25 times each: %+v", p)
	}
	all := evaluate(t, names, versus(nil, 0, 1, 50, 0))
	if p := all.Pairs[0]; p.Elo != nil || p.EloHigh != nil || p.EloLow == nil || *p.EloLow < 200 || *p.Superior < 0.999 || p.FitHigh != nil || p.FitLow != nil {
		t.Errorf("all won: %+v", p)
	}
	none := evaluate(t, names, versus(nil, 0, 1, 50, 50))
	if p := none.Pairs[0]; p.Elo != nil || p.EloLow != nil || p.EloHigh == nil || *p.EloHigh > -200 || *p.Superior > 0.001 {
		t.Errorf("all lost: %+v", p)
	}
	text, err := json.Marshal(all)
	require.NoError(t, err)
	var got struct {
		Players, Pairs []map[string]any
	}
	require.NoError(t, json.Unmarshal(text, &got))
	for _, key := range []string{"low", "high", "error"} {
		x, there := got.Players[0][key]
		assert.Truef(t, there && x == nil, "players: %s is %v, want null", key, x)
	}
	for _, key := range []string{"elo", "elo_high", "fit_elo_low", "fit_elo_high"} {
		x, there := got.Pairs[0][key]
		assert.Truef(t, there && x == nil, "pairs: %s is %v, want null", key, x)
	}
}

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
