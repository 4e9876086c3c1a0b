package schedule

import (
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/arena/rating"
	"moonfarm/rollout/arena/sprt"
)

// TestCodeCraft: the original stages, with 1,100 players of whom the lower-numbered win.
func TestCodeCraft(t *testing.T) {
	s := codeCraft(ratingsOf(1102), 3, 1)
	want := []struct{ players, seats, games, stay int }{{1080, 4, 2 * 3 * 270, 300}, {360, 4, 2 * 3 * 90, 50}, {60, 2, 2 * 3 * 60 * 59 / 2, 0}}
	var results []Placing
	for stage, w := range want {
		games, err := s.Next(results)
		require.NoErrorf(t, err, "stage %d: %d games", stage, len(games))
		require.Equalf(t, w.games, len(games), "stage %d: %d games", stage, len(games))
		type wave struct{ part, wave int }
		seen := map[wave]map[int]int{}
		for i, g := range games {
			if g.Stage != stage || len(g.Players) != w.seats {
				t.Fatalf("stage %d: game %v", stage, g)
			}
			at := wave{i / (w.games / 2), g.Round}
			if seen[at] == nil {
				seen[at] = map[int]int{}
			}
			for _, p := range g.Players {
				seen[at][p]++
			}
		}
		assert.Lenf(t, seen, 6, "stage %d: %d waves", stage, len(seen))
		for at, players := range seen {
			each := 1
			if w.seats == 2 {
				each = 59
			}
			for p, n := range players {
				if n != each {
					t.Errorf("stage %d: player %d has %d games in wave %v", stage, p, n, at)
				}
			}
			if len(players) != w.players {
				t.Errorf("stage %d: %d players in wave %v", stage, len(players), at)
			}
		}
		for _, g := range games {
			results = append(results, Placing{g, placesOf(g.Players)})
		}
		standings, err := s.Standings(results)
		require.NoError(t, err)
		checkPromotion(t, s, stage, standings)
	}
	games, err := s.Next(results)
	assert.Truef(t, len(games) == 0 && err == nil, "%v %v", games, err)
}

// checkPromotion: the best of a stage and the best of the Sandbox begin the next stage.
func checkPromotion(t *testing.T, s Contest, stage int, standings [][]rating.Entry) {
	t.Helper()
	here := standings[stage]
	for i := range here[1:] {
		assert.Truef(t, here[i].Points >= here[i+1].Points && (here[i].Points != here[i+1].Points || here[i].Player <= here[i+1].Player), "stage %d: standings %v", stage, here[i:i+2])
	}
	if stage+1 == len(s.Stages) {
		return
	}
	take, extra := s.Stages[stage+1].FromStage, s.Stages[stage+1].FromSandbox
	var want, got []int
	for _, st := range here[:take] {
		want = append(want, st.Player)
	}
	for p := 0; extra > 0; p++ { // the Sandbox ranks players by number
		if !slices.Contains(want[:take], p) {
			want = append(want, p)
			extra--
		}
	}
	for _, st := range standings[stage+1] {
		got = append(got, st.Player)
		assert.Zerof(t, st.Points, "player %d begins stage %d with %v points", st.Player, stage+1, st.Points)
	}
	slices.Sort(want)
	slices.Sort(got)
	assert.Truef(t, slices.Equal(got, want), "stage %d has players", stage+1)
}

// TestSandboxChanges: later stages use the later ratings.
func TestSandboxChanges(t *testing.T) {
	s := smallContest(20, 1)
	s.Sandbox = append(s.Sandbox, slices.Clone(s.Sandbox[0]))
	for i := range s.Sandbox[1] {
		s.Sandbox[1][i].Points = float64(i)
	}
	standings, err := s.Standings(play(t, s, 0))
	require.NoError(t, err)
	// 6 of the 16 of round 1 go on, with the last 4 of the list, minus one for full games; 3 of
	// round 2 reach the finals with 2 more.
	for stage, want := range []int{16, 9, 5} {
		assert.Equalf(t, want, len(standings[stage]), "stage %d has %v", stage, standings[stage])
	}
	for _, p := range []int{19, 18, 17} {
		assert.Truef(t, slices.ContainsFunc(standings[1], func(e rating.Entry) bool { return e.Player == p }), "round 2 has no %d: %v", p, standings[1])
	}
}

// TestFinalsAreBalanced: each pair meets once per repetition, and after an even number of
// repetitions both have sat first equally often.
func TestFinalsAreBalanced(t *testing.T) {
	for players := 2; players < 9; players++ {
		s := codeCraft(ratingsOf(players), 2, 1)
		s.Stages = []rating.Stage{{Name: "finals", Seats: 2, Parts: 1, FromSandbox: players}}
		games := all(t, s)
		if n := seatingOf(games); !same(n.both, players*(players-1)*2) || !same(n.seats, players*2) {
			t.Errorf("%d players: %v", players, n.both)
		}
		n := seatingOf(games[:len(games)/2])
		for p := range players {
			if d := n.seats[[2]int{p, 0}] - n.seats[[2]int{p, 1}]; d < -1 || d > 1 {
				t.Errorf("%d players: %d sits first %d times more often", players, p, d)
			}
		}
		assert.Truef(t, same(n.met, players*(players-1)), "%d players: %v", players, n.met)
	}
}

// TestSandbox: no player plays twice in a round, all play equally often, and once the ratings show
// that lower-numbered players win, players with similar numbers meet more often.
func TestSandbox(t *testing.T) {
	s := Sandbox{Players: 14, Seats: 4, Rounds: 140, Spread: 100, Seed: 1}
	played := make([]int, 14)
	in := map[[2]int]bool{}
	results := playSandbox(t, s)
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
	for _, r := range playSandbox(t, s) {
		if r.Round >= 40 && slices.Max(r.Players)-slices.Min(r.Players) > 7 { // close players may change places
			t.Errorf("without a spread %v meet in round %d", r.Players, r.Round)
		}
	}
}

// playSandbox plays a Sandbox in which the lower-numbered of two players always wins.
func playSandbox(t *testing.T, s Sandbox) (results []Placing) {
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
	test := sprt.Test{Elo0: 0, Elo1: 200, Alpha: 0.05, Beta: 0.05, Pairs: true}
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
	single := Duel{A: 0, B: 1, Test: test, Most: 50, Ahead: 3}
	single.Test.Pairs = false
	for i, g := range all(t, single) {
		assert.Truef(t, g.Seed == i && g.Players[0] == i%2, "game %d: %v", i, g)
	}
	// For players of similar strength the number of games at once grows.
	even := Duel{A: 0, B: 1, Test: sprt.Test{Elo0: -1, Elo1: 1, Alpha: 0.05, Beta: 0.05, Pairs: true}, Most: 500, Ahead: 64}
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
