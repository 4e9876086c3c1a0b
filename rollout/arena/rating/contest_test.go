package rating_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/arena/rating"
	"moonfarm/sim/prng"
)

func TestPlacePoints(t *testing.T) {
	four := rating.ContestPoints(4)
	for _, c := range []struct {
		points []int
		scores []float64
		want   []int
	}{
		{four, []float64{10, 40, 20, 30}, []int{12, 25, 15, 18}},
		{four, []float64{5, 5, 1, 0}, []int{21, 21, 15, 12}}, // 43/2, down
		{four, []float64{9, 5, 5, 5}, []int{25, 15, 15, 15}}, // 45/3
		{four, []float64{3, 3, 3, 3}, []int{17, 17, 17, 17}}, // 70/4, down
		{four, []float64{1, 2, 1, 2}, []int{13, 21, 13, 21}}, // 27/2 and 43/2, down
		{rating.ContestPoints(2), []float64{7, 7}, []int{1, 1}},
		{rating.ContestPoints(2), []float64{7, 8}, []int{0, 2}},
		{rating.ContestPoints(3), []float64{-1, math.Inf(-1), 0}, []int{18, 15, 25}},
		{[]int{9}, []float64{3}, []int{9}},
		{nil, nil, []int{}},
	} {
		t.Run(fmt.Sprintf("points %v for %v", c.points, c.scores), func(t *testing.T) {
			got, err := rating.PlacePoints(c.points, c.scores)
			require.NoErrorf(t, err, "points %v for %v: %v", c.points, c.scores, got)
			assert.Truef(t, slices.Equal(got, c.want), "points %v for %v", c.points, c.scores)
		})
	}
	for _, c := range []struct {
		points []int
		scores []float64
	}{{[]int{1}, []float64{1, 2}}, {[]int{2, 1}, []float64{1, math.NaN()}}, {[]int{2, -1}, []float64{1, 2}}} {
		t.Run(fmt.Sprintf("points %v for %v", c.points, c.scores), func(t *testing.T) {
			got, err := rating.PlacePoints(c.points, c.scores)
			assert.Errorf(t, err, "points %v for %v: %v, want an error", c.points, c.scores, got)
		})
	}
	for n := range 7 {
		got := len(rating.ContestPoints(n - 1))
		assert.Equalf(t, max(0, min(n-1, 4)), got, "%d players: points for %d places", n-1, got)
	}
}

func TestSandbox(t *testing.T) {
	rule := rating.ContestSandbox()
	assert.Equal(t, float64(1200), rule.Start, "ratings start at")
	after := func(players []rating.SandboxRating, scores ...float64) []rating.SandboxRating {
		t.Helper()
		got, err := rule.After(players, scores)
		require.NoError(t, err)
		return got
	}
	start := rating.SandboxRating{Rating: rule.Start}
	got := after([]rating.SandboxRating{start, start}, 5, 3)
	assert.Truef(t, got[0] == (rating.SandboxRating{Rating: 1232, Games: 1}) && got[1] == (rating.SandboxRating{Rating: 1168, Games: 1}), "after the first game of equals: %v, want 1232 and 1168", got)
	four := after([]rating.SandboxRating{start, start, start, start}, 4, 2, 2, 1)
	near(t, "a table of four", []float64{four[0].Rating, four[1].Rating, four[2].Rating, four[3].Rating}, []float64{1232, 1200, 1200, 1168}, 1e-9)
	// With a lead of 400 points a player is expected to win ten of eleven games.
	weak := after([]rating.SandboxRating{{Rating: 1600}, {Rating: 1200}}, 1, 0)
	near(t, "a victory over the weak", []float64{weak[0].Rating}, []float64{1600 + 64.0/11}, 1e-9)
	upset := after([]rating.SandboxRating{{Rating: 1600}, {Rating: 1200}}, 0, 1)
	near(t, "a defeat by the weak", []float64{upset[0].Rating}, []float64{1600 - 64*10.0/11}, 1e-9)
	last := math.Inf(1)
	for _, games := range []int{0, 1, 20, 100} {
		got := after([]rating.SandboxRating{{Rating: 1200, Games: games}, start}, 1, 0)
		if step := got[0].Rating - 1200; step >= last || step < rule.Least/2 {
			t.Errorf("after %d games a victory brings %v, after fewer %v", games, step, last)
		} else {
			last = step
		}
	}
	for _, c := range []struct {
		players []rating.SandboxRating
		scores  []float64
	}{
		{[]rating.SandboxRating{start}, nil},
		{[]rating.SandboxRating{start, start}, []float64{1, math.NaN()}},
		{[]rating.SandboxRating{start, {Rating: math.Inf(1)}}, []float64{1, 2}},
		{[]rating.SandboxRating{start, {Games: -1}}, []float64{1, 2}},
	} {
		t.Run(fmt.Sprintf("%v, scores %v", c.players, c.scores), func(t *testing.T) {
			if got, err := rule.After(c.players, c.scores); err == nil {
				t.Errorf("%v, %v: %v, want an error", c.players, c.scores, got)
			}
		})
	}
	// After many games the ratings reflect the strengths.
	players := []rating.SandboxRating{start, start, start}
	strength := []float64{200, 0, -200}
	r := prng.New(1)
	mean := make([]float64, 3)
	const games = 20000
	for range games {
		scores := make([]float64, 3)
		for i := range scores {
			scores[i] = strength[i]*math.Ln10/400 - math.Log(-math.Log(1-r.Float64()))
		}
		players = after(players, scores...)
		for i := range mean {
			mean[i] += players[i].Rating / games
		}
	}
	near(t, "after many games", mean, []float64{1400, 1200, 1000}, 12)
}

func TestRank(t *testing.T) {
	table := []rating.Entry{{0, 5, 9}, {1, 7, 3}, {2, 7, 1}, {3, 5, 9}, {4, 9, 9}}
	var got []int
	for _, e := range rating.Rank(table) {
		got = append(got, e.Player)
	}
	want := []int{4, 2, 1, 0, 3}
	assert.Truef(t, slices.Equal(got, want) && table[0].Player == 0, "%v, want %v", got, want)
}

func TestStages(t *testing.T) {
	stages := rating.ContestStages()
	all := make([]rating.Entry, 1500)
	for i := range all {
		all[i] = rating.Entry{Player: i, Points: float64(-i)}
	}
	first := stages[0].Field(nil, all)
	assert.Truef(t, len(first) == 1080 && first[0] == 0 && first[1079] == 1079, "Round 1 has %d players", len(first))
	// The last of the Sandbox win Round 1, so the first of the Sandbox get in by their rating.
	before := make([]rating.Entry, len(first))
	for i, p := range first {
		before[i] = rating.Entry{Player: p, Points: float64(p)}
	}
	second := stages[1].Field(before, all)
	assert.Truef(t, len(second) == 360 && second[0] == 1079 && second[299] == 780 && second[300] == 0 && second[359] == 59, "Round 2 has %d players", len(second))
	// Players from the previous stage are not taken from the Sandbox again.
	got := stages[2].Field(all[:100], all)
	assert.Truef(t, len(got) == 60 && got[49] == 49 && got[50] == 50 && got[59] == 59, "the finals have %v", got)
	got = stages[0].Field(nil, all[:11])
	assert.Lenf(t, got, 8, "of 11 players %d take part in Round 1, want 8", len(got))
	got = stages[2].Field(nil, all[:3])
	assert.Lenf(t, got, 3, "of 3 players %d take part in the finals, want 3", len(got))
}

func TestWave(t *testing.T) {
	players := []int{10, 11, 12, 13, 14, 15, 16, 17, 18}
	met := map[[2]int]int{}
	rest := map[int]int{}
	const waves = 4000
	for w := range uint64(waves) {
		tables := rating.Wave(players, 4, 1, w)
		require.Truef(t, len(tables) == 2 && len(tables[0]) == 4 && len(tables[1]) == 4, "wave %d: %v", w, tables)
		out := slices.Clone(players)
		for _, table := range tables {
			for i, p := range table {
				if k := slices.Index(out, p); k < 0 {
					t.Fatalf("wave %d: %v", w, tables)
				} else {
					out = slices.Delete(out, k, k+1)
				}
				for _, q := range table[:i] {
					met[[2]int{min(p, q), max(p, q)}]++
				}
			}
		}
		rest[out[0]]++
	}
	for pair, n := range met { // 12 of 36 pairs meet in a wave
		assert.LessOrEqualf(t, math.Abs(float64(n)-waves/3.0), 5*math.Sqrt(waves/3.0*2/3), "%v met %d times in %d waves", pair, n, waves)
	}
	for p, n := range rest {
		assert.LessOrEqualf(t, math.Abs(float64(n)-waves/9.0), 5*math.Sqrt(waves/9.0*8/9), "%d sat out %d times in %d waves", p, n, waves)
	}
	assert.Equal(t, []int{10, 11, 12, 13, 14, 15, 16, 17, 18}, players, "the list of players has changed")
	assert.Nil(t, rating.Wave(players, 0, 1, 1), "no seats")
}
