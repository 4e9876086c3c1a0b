package schedule

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/arena/sprt"
	"moonfarm/sim/prng"
)

// contestSeats has four seats in each stage but the finals.
var contestSeats = [4]int{4, 4, 4, 2}

// TestChampionship: the Sandbox comes first, then the contest with its best players; stages share
// no numbers and no seeds, and lower-numbered players win.
func TestChampionship(t *testing.T) {
	s := Championship{Players: 30, Games: 12, Seats: contestSeats, Seed: 3}
	assert.Equal(t, "Sandbox, Round 1, Round 2, Finals", strings.Join(s.Stages(), ", "))
	results := play(t, s, 0)
	standings, err := s.Standings(results)
	require.NoError(t, err)
	// 30 players fill 7 games of four; 300 + 60 of 1080 scale to 9 + 2, cut to 8; 50 + 10 scale to
	// 2 + 1.
	var sizes []int
	for _, table := range standings {
		sizes = append(sizes, len(table))
	}
	require.Equal(t, []int{30, 28, 8, 3}, sizes, "players of the stages")
	games, own, seeds := make([]int, 4), map[[2]int]int{}, map[int]int{}
	for _, r := range results {
		games[r.Stage]++
		stage, ok := seeds[r.Seed]
		assert.Truef(t, !ok || stage == r.Stage, "seed %d is played in the stages %d and %d", r.Seed, stage, r.Stage)
		seeds[r.Seed] = r.Stage
		for _, p := range r.Players {
			own[[2]int{r.Stage, p}]++
		}
	}
	assert.True(t, slices.Equal(games, []int{13 * 7, 2 * 12 * 7, 2 * 12 * 2, 2 * 12 * 3}), "games")
	for p := range 30 {
		n := own[[2]int{0, p}]
		assert.Truef(t, n >= 12 && n <= 13, "player %d has %d games in the Sandbox", p, n)
	}
	first, last := standings[0][0], standings[0][29]
	assert.Truef(t, first.Player <= 3 && last.Player >= 26 && first.Points >= 1250 && last.Points <= 1150, "the Sandbox's first is %v, its last %v", first, last)
	// A single game of all players goes through the same stages.
	s = Championship{Players: 3, Games: 2, Seats: [4]int{3, 3, 3, 3}}
	if standings, err := s.Standings(play(t, s, 0)); err != nil || len(standings) != 4 || len(standings[3]) != 3 {
		t.Errorf("three at one table: %v, %v", standings, err)
	}
}

// TestChampionshipGames: a contest has the games that it always had, so that journals go on.
func TestChampionshipGames(t *testing.T) {
	sum := prng.Digest(0)
	for _, r := range playLower(t, Championship{Players: 9, Games: 2, Seats: contestSeats, Seed: 5}) {
		for _, x := range append([]int{int(r.Number), r.Seed, r.Round, r.Stage}, r.Players...) {
			sum.Add(uint64(x))
		}
	}
	assert.Equal(t, uint64(0x15c2f148a9759b50), sum.Sum())
}

// TestChampionshipText: ParseChampionship reads the text that String writes.
func TestChampionshipText(t *testing.T) {
	s := Championship{Players: 30, Games: 12, Seats: contestSeats, Seed: 3}
	text := "contest of 30 players, 12 games, tables of 4+4+4+2"
	assert.Equal(t, text, s.String(), s)
	got, ok := ParseChampionship(text, 3)
	assert.Truef(t, ok && got == s, "%+v, %v", got, ok)
	for _, other := range []string{"", "swiss", text + " ", strings.Replace(text, "30", "030", 1), "contest of 1 players"} {
		got, ok := ParseChampionship(other, 3)
		assert.Falsef(t, ok, "%q is %+v", other, got)
	}
}

// TestNamedContest: a contest takes the seats of each stage from the plan, and refuses too few
// players.
func TestNamedContest(t *testing.T) {
	p := Plan{Players: 5, Seats: 2, Games: 3, Seed: 1, Contest: [4]int{4, 4, 0, 0}}
	s, err := Named(NameContest, p)
	want := (Championship{Players: 5, Games: 3, Seats: [4]int{4, 4, 2, 2}, Seed: 1})
	require.NoErrorf(t, err, "%+v", s)
	assert.Equal(t, want, s)
	p.Players = 3
	_, err = Named(NameContest, p)
	assert.EqualError(t, err, "contest: 3 players at tables of 4")
	p.Players, p.Games = 5, 1<<20
	_, err = Named(NameContest, p)
	assert.Error(t, err, "a million games of each player in the Sandbox")
}

// TestCodeCraft: the original stages, with 1,102 players of whom the lower-numbered win.
func TestCodeCraft(t *testing.T) {
	s := Championship{Players: 1102, Games: 3, Seats: contestSeats, Seed: 1}
	results := playLower(t, s)
	standings, err := s.Standings(results)
	require.NoError(t, err)
	sandbox := standings[0]
	for stage, want := range []struct{ players, seats, games, fromStage int }{
		1: {1080, 4, 2 * 3 * 270, 0}, 2: {360, 4, 2 * 3 * 90, 300}, 3: {60, 2, 2 * 3 * 60 * 59 / 2, 50},
	} {
		if stage == 0 {
			continue
		}
		checkWaves(t, results, stage, want.players, want.seats, want.games)
		var field []int // the best of the stage before, and the best of the Sandbox
		for _, e := range slices.Concat(standings[stage-1][:want.fromStage], sandbox) {
			if len(field) < want.players && !slices.Contains(field, e.Player) {
				field = append(field, e.Player)
			}
		}
		var got []int
		for i, e := range standings[stage] {
			got = append(got, e.Player)
			if i > 0 {
				above := standings[stage][i-1]
				assert.Truef(t, above.Points > e.Points || above.Points == e.Points && above.Player < e.Player, "stage %d: %v is above %v", stage, above, e)
			}
		}
		assert.ElementsMatchf(t, field, got, "the players of stage %d", stage)
	}
}

// checkWaves checks that a stage has two parts of three waves, in each of which every player has one
// game or, at tables of two, one with each other.
func checkWaves(t *testing.T, results []Placing, stage, players, seats, games int) {
	t.Helper()
	type key struct{ seed, player int }
	own, waves, n := map[key]int{}, map[int]bool{}, 0
	for _, r := range results {
		if r.Stage != stage {
			continue
		}
		n++
		waves[r.Seed] = true
		assert.Lenf(t, r.Players, seats, "stage %d", stage)
		for _, p := range r.Players {
			own[key{r.Seed, p}]++
		}
	}
	assert.Equalf(t, games, n, "games of stage %d", stage)
	assert.Lenf(t, waves, 6, "waves of stage %d", stage)
	each := 1
	if seats == 2 {
		each = players - 1
	}
	for at, n := range own {
		if n != each {
			t.Errorf("stage %d: player %d has %d games in wave %d", stage, at.player, n, at.seed)
		}
	}
	assert.Lenf(t, own, 6*players, "players in the waves of stage %d", stage)
}

// TestFinalsAreBalanced: each pair meets once per repetition, and after an even number of
// repetitions both have sat first equally often.
func TestFinalsAreBalanced(t *testing.T) {
	for players := 2; players < 9; players++ {
		field := numbersTo(players)
		var once, both []Fixture
		for repeat := range 2 {
			for _, pair := range pairings(field, repeat) {
				both = append(both, Fixture{Players: pair})
			}
			if repeat == 0 {
				once = slices.Clone(both)
			}
		}
		if n := seatingOf(both); !same(n.both, players*(players-1)*2) || !same(n.seats, players*2) {
			t.Errorf("%d players: %v", players, n.both)
		}
		n := seatingOf(once)
		for p := range players {
			if d := n.seats[[2]int{p, 0}] - n.seats[[2]int{p, 1}]; d < -1 || d > 1 {
				t.Errorf("%d players: %d sits first %d times more often", players, p, d)
			}
		}
		assert.Truef(t, same(n.met, players*(players-1)), "%d players: %v", players, n.met)
	}
}

// TestPoints: players that share places share their points equally, rounded down.
func TestPoints(t *testing.T) {
	for _, c := range []struct{ places, want []int }{
		{[]int{4, 1, 3, 2}, []int{12, 25, 15, 18}},
		{[]int{1, 1, 3, 4}, []int{21, 21, 15, 12}}, // 43/2, down
		{[]int{1, 2, 2, 2}, []int{25, 15, 15, 15}}, // 45/3
		{[]int{1, 1, 1, 1}, []int{17, 17, 17, 17}}, // 70/4, down
		{[]int{3, 1, 3, 1}, []int{13, 21, 13, 21}}, // 27/2 and 43/2, down
		{[]int{1, 1}, []int{1, 1}},
		{[]int{2, 1}, []int{0, 2}},
		{[]int{2, 3, 1}, []int{18, 15, 25}},
	} {
		assert.Equalf(t, c.want, pointsOf(c.places), "the places %v", c.places)
	}
}

// TestSandboxRating: a game of equals moves the first and the last by half of 64 points; a victory over
// the weak and a defeat by the strong count little; ratings become inert.
func TestSandboxRating(t *testing.T) {
	after := func(own []sandboxRating, places ...int) (ratings []float64) {
		all := slices.Clone(own)
		r := Placing{Places: places}
		for p := range own {
			r.Players = append(r.Players, p)
		}
		sandboxRatings(all).after(&r)
		for p, x := range all {
			ratings = append(ratings, x.rating)
			assert.Equal(t, own[p].games+1, x.games)
		}
		return ratings
	}
	start := newSandboxRatings(4)
	assert.Equal(t, []float64{1232, 1168}, after(start[:2], 1, 2))
	assert.InDeltaSlice(t, []float64{1232, 1200, 1200, 1168}, after(start, 1, 2, 2, 4), 1e-9)
	// With a lead of 400 points a player is expected to win ten of eleven games.
	strong := []sandboxRating{{rating: 1600}, {rating: 1200}}
	assert.InDelta(t, 1600+64.0/11, after(strong, 1, 2)[0], 1e-9, "a victory over the weak")
	assert.InDelta(t, 1600-64*10.0/11, after(strong, 2, 1)[0], 1e-9, "a defeat by the weak")
	for games, want := range map[int]float64{0: 32, 20: 16, 1000: 4} {
		assert.InDeltaf(t, 1200+want, after([]sandboxRating{{1200, games}, {1200, 0}}, 1, 2)[0], 1e-9, "a victory after %d games", games)
	}
}

// TestDraw: in a wave every two players meet equally often, and each sits out equally often.
func TestDraw(t *testing.T) {
	players := []int{10, 11, 12, 13, 14, 15, 16, 17, 18}
	met, played := map[[2]int]int{}, map[int]int{}
	const waves = 4000
	for w := range uint64(waves) {
		tables := draw(players, 4, 1, w)
		require.Truef(t, len(tables) == 2 && len(tables[0]) == 4 && len(tables[1]) == 4, "wave %d: %v", w, tables)
		for _, table := range tables {
			for i, p := range table {
				played[p]++
				for _, q := range table[:i] {
					met[[2]int{min(p, q), max(p, q)}]++
				}
			}
		}
	}
	require.Len(t, met, 36)
	for pair, n := range met { // 12 of 36 pairs meet in a wave
		assert.InDeltaf(t, waves/3.0, n, 5*math.Sqrt(waves/3.0*2/3), "%v met %d times in %d waves", pair, n, waves)
	}
	for p, n := range played {
		assert.InDeltaf(t, waves*8/9.0, n, 5*math.Sqrt(waves/9.0*8/9), "%d played in %d of %d waves", p, n, waves)
	}
}

// TestSandbox: no player plays twice in a round, all play equally often, and once the ratings show
// that lower-numbered players win, players with similar numbers meet more often.
func TestSandbox(t *testing.T) {
	s := Sandbox{Players: 14, Seats: 4, Rounds: 140, Spread: 100, Seed: 1}
	played := make([]int, 14)
	in := map[[2]int]bool{}
	results := playLower(t, s)
	var games []Fixture // after the first rounds
	for _, r := range results {
		for _, p := range r.Players {
			played[p]++
			if in[[2]int{r.Round, p}] {
				t.Errorf("player %d plays twice in round %d", p, r.Round)
			}
			in[[2]int{r.Round, p}] = true
		}
		if r.Round >= 40 {
			games = append(games, r.Fixture)
		}
	}
	n := seatingOf(games)
	var near, far int
	for pair, k := range n.met {
		switch d := pair[0] - pair[1]; {
		case d == 1:
			near += k
		case d == 4:
			far += k
		case d > 9:
			t.Errorf("%v met %d times", pair, k)
		}
	}
	assert.Truef(t, slices.Max(played)-slices.Min(played) <= 1 && len(results) == 420, "%d games, %v", len(results), played)
	assert.Truef(t, near/13 >= 2*far/10 && far != 0, "neighbours met %d times, players 4 apart %d times", near/13, far/10)
	assert.True(t, slices.ContainsFunc(games, func(g Fixture) bool { return slices.Max(g.Players)-slices.Min(g.Players) > 7 }), "with a spread only neighbours meet")
	for p := range 14 {
		for seat := range 4 {
			if k := n.seats[[2]int{p, seat}]; k < 8 || k > 38 {
				t.Errorf("player %d sat %d times at seat %d", p, k, seat)
			}
		}
	}
	s.Spread = 0
	for _, r := range playLower(t, s) {
		if r.Round >= 40 && slices.Max(r.Players)-slices.Min(r.Players) > 7 { // close players may change places
			t.Errorf("without a spread %v meet in round %d", r.Players, r.Round)
		}
	}
}

// playLower plays a schedule in which the lower-numbered of two players always wins.
func playLower(t *testing.T, s Schedule) (results []Placing) {
	t.Helper()
	for {
		games, err := s.Next(results)
		require.NoError(t, err)
		if len(games) == 0 {
			return results
		}
		for _, g := range games {
			results = append(results, Placing{g, placesOf(g.Players)})
		}
	}
}

// TestDuel: the games of a pair share a seed with the seats exchanged, and the test receives the
// results in order and only up to its end.
func TestDuel(t *testing.T) {
	test := sprt.Test{Elo0: 0, Elo1: 200, Alpha: 0.05, Beta: 0.05}
	s := Duel{A: 3, B: 1, Test: test, Most: 50, Ahead: 4}
	games := all(t, s)
	for i, g := range games {
		want := []int{3, 1}
		if i%2 == 1 {
			want = []int{1, 3}
		}
		assert.Truef(t, g.Seed == i/2 && slices.Equal(g.Players, want) && g.Number == int64(i) && len(games) == 8, "game %d: %v", i, g)
	}
	// A wins two games in three, in either seat.
	var results []Placing
	want, _ := sprt.New(test)
	for e := 0; ; e++ {
		points := 0
		for r, players := range [][]int{{3, 1}, {1, 3}} {
			places := []int{1, 2}
			if won := (2*e+r)%3 > 0; won != (r == 0) {
				places = []int{2, 1}
			}
			if places[r] == 1 {
				points += 2
			}
			results = append(results, Placing{Fixture{Number: int64(2*e + r), Players: players, Seed: e}, places})
		}
		if want.Decision() == sprt.Continue {
			require.NoError(t, want.Add(points))
		} else if e > 40 {
			break
		}
	}
	got, err := s.State(results)
	require.NoErrorf(t, err, "%v", got)
	assert.Truef(t, reflect.DeepEqual(got, want) && got.Decision() == sprt.H1, "%v after, want %v", got, want)
	if games, err := s.Next(results); len(games) > 0 || err != nil {
		t.Error(games, err)
	}
	// Without the second game, the results after it do not count.
	got, err = s.State(append(slices.Clone(results[:3]), results[4:]...))
	if n := got.Counts(); err != nil || n[0]+n[1]+n[2]+n[3]+n[4] != 1 {
		t.Error(n, err)
	}
	if games, err := s.Next(append(slices.Clone(results[:3]), results[4:]...)); len(games) != 1 || err != nil {
		t.Error(games, err)
	}
	s.Most = 2
	if state, err := s.State(results); err != nil || state.Decision() != sprt.Continue {
		t.Errorf("two seeds of more: %v, %v", state.Counts(), err)
	}
	if games, err := s.Next(results[:4]); len(games) > 0 || err != nil {
		t.Error(games, err)
	}
	// For players of similar strength the number of games at once grows.
	even := Duel{A: 0, B: 1, Test: sprt.Test{Elo0: -1, Elo1: 1, Alpha: 0.05, Beta: 0.05}, Most: 500, Ahead: 64}
	results = nil
	var rounds []int
	for range 4 {
		games, err := even.Next(results)
		require.NoError(t, err)
		rounds = append(rounds, len(games)/2)
		for _, g := range games {
			results = append(results, Placing{g, []int{1 + g.Seed%2, 2 - g.Seed%2}})
		}
	}
	if want := []int{16, 16, 32, 64}; !slices.Equal(rounds, want) {
		t.Errorf("%v seeds at once, expected %v", rounds, want)
	}
}
