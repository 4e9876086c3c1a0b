package schedule

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/combin"

	"moonfarm/rollout/arena/sprt"
	"moonfarm/sim/prng"
)

// outcome draws places that depend only on the players, the seed and the seats. Lower-numbered
// players are stronger, and some places are shared.
func outcome(g Fixture) []int {
	k := uint64(g.Seed)
	for _, p := range g.Players {
		k = prng.Mix(k*31 + uint64(p) + 1)
	}
	r := prng.New(k)
	strength := make([]int, len(g.Players))
	for seat, p := range g.Players {
		strength[seat] = (p + r.IntN(8)) / 2
	}
	return placesOf(strength)
}

// placesOf returns the places of players with the given values; the least value is first.
func placesOf(numbers []int) []int {
	places := make([]int, len(numbers))
	for i, x := range numbers {
		places[i] = 1
		for _, y := range numbers {
			if y < x {
				places[i]++
			}
		}
	}
	return places
}

// play plays a schedule to its end. At each step one of the possible games ends, chosen at random
// if lot is not 0; from time to time the tournament is interrupted and continued from its stored
// results.
func play(t *testing.T, s Schedule, lot uint64) []Placing {
	t.Helper()
	return playOn(t, s, nil, lot)
}

func playOn(t *testing.T, s Schedule, results []Placing, lot uint64) []Placing {
	t.Helper()
	r := prng.New(lot)
	for len(results) < 100_000 {
		games, err := s.Next(results)
		require.NoError(t, err)
		if len(games) == 0 {
			slices.SortFunc(results, func(a, b Placing) int { return cmp.Compare(a.Number, b.Number) })
			return results
		}
		n := min(len(games), 1+r.IntN(20))
		if lot != 0 {
			for i := len(games) - 1; i > 0; i-- {
				j := r.IntN(i + 1)
				games[i], games[j] = games[j], games[i]
			}
		}
		for _, g := range games[:n] {
			results = append(results, Placing{g, outcome(g)})
		}
		if r.IntN(4) == 0 {
			text, err := json.Marshal(results)
			require.NoError(t, err)
			results = nil
			require.NoError(t, json.Unmarshal(text, &results))
		}
	}
	t.Fatal("the schedule has no end")
	return nil
}

// schedules returns one schedule of each kind.
func schedules() map[string]Schedule {
	return map[string]Schedule{
		"round robin":        RoundRobin{Players: 5, Seats: 2, Seeds: 7},
		"round robin, 3":     RoundRobin{Players: 5, Seats: 3, Seeds: 2},
		"round robin, 4":     RoundRobin{Players: 3, Seats: 4, Seeds: 3},
		"gauntlet":           RoundRobin{Players: 6, Seats: 2, Seeds: 3, Gauntlet: true},
		"gauntlet, 4":        RoundRobin{Players: 6, Seats: 4, Seeds: 2, Gauntlet: true},
		"Swiss":              Swiss{Players: 9, Rounds: 6, Seeds: 2, Seed: 3},
		"Swiss, joined late": Swiss{Players: 12, Rounds: 7, Seeds: 1, Seed: 4, Joined: []int{0, 2, 5}},
		"duel":               Duel{A: 0, B: 1, Test: sprt.Test{Elo0: 0, Elo1: 60, Alpha: 0.05, Beta: 0.05}, Most: 300, Ahead: 8},
		"championship":       Championship{Players: 9, Games: 2, Seats: contestSeats, Seed: 5},
		"Sandbox":            Sandbox{Players: 11, Seats: 4, Rounds: 20, Spread: 50, Seed: 9, Joined: []int{3}},
		"championship, 3":    Championship{Players: 21, Games: 3, Seats: [4]int{4, 4, 3, 2}, Seed: 5},
	}
}

// TestAnyOrder: the games and results in the end do not depend on the order in which games end, or
// on interruptions; all numbers differ, and so do the players of a game.
func TestAnyOrder(t *testing.T) {
	for name, s := range schedules() {
		t.Run(name, func(t *testing.T) {
			want := play(t, s, 0)
			duel, isDuel := s.(Duel)
			for lot := uint64(1); lot < 6; lot++ {
				got := play(t, s, lot)
				if isDuel {
					checkDuel(t, duel, got, want)
				} else if !reflect.DeepEqual(got, want) {
					t.Fatalf("%d games, %d in order, and others", len(got), len(want))
				}
			}
			for i, r := range want {
				if i > 0 && r.Number <= want[i-1].Number || r.Number < 0 || r.Number >= 1<<53 {
					t.Errorf("game %d comes after %d", r.Number, want[max(0, i-1)].Number)
				}
				_, twice := s.(RoundRobin)
				assert.Truef(t, twice || len(slices.Compact(slices.Sorted(slices.Values(r.Players)))) == len(r.Players), "game %d is played by %v", r.Number, r.Players)
			}
		})
	}
}

// TestRefused: every schedule refuses results that do not belong to it.
func TestRefused(t *testing.T) {
	for name, s := range schedules() {
		t.Run(name, func(t *testing.T) {
			games, err := s.Next(nil)
			require.NoErrorf(t, err, "%v", games)
			require.GreaterOrEqualf(t, len(games), 2, "%v", games)
			good := Placing{games[0], outcome(games[0])}
			other := good
			other.Players = slices.Clone(good.Players)
			slices.Reverse(other.Players)
			seed := good
			seed.Seed++
			short := good
			short.Places = []int{1}
			for want, results := range map[string][]Placing{
				"two results":        {good, good},
				"another tournament": {other},
				"on seed":            {seed},
				"places of 1":        {short},
			} {
				t.Run(want, func(t *testing.T) {
					_, err := s.Next(results)
					assert.ErrorContains(t, err, want)
				})
			}
		})
	}
}

func TestBadSchedules(t *testing.T) {
	test := sprt.Test{Elo0: 0, Elo1: 10, Alpha: 0.05, Beta: 0.05}
	for want, s := range map[string]Schedule{
		"players: 1, expected 2":       RoundRobin{Players: 1, Seats: 2, Seeds: 1},
		"seats: 9, expected 2 to 8":    RoundRobin{Players: 2, Seats: 9, Seeds: 1},
		"seeds: -1":                    RoundRobin{Players: 2, Seats: 2, Seeds: -1},
		"1000 players at tables of 4":  RoundRobin{Players: 1000, Seats: 4, Seeds: 1},
		"20000 players at tables of 8": RoundRobin{Players: 20000, Seats: 8, Seeds: 1},
		"seeds of 2 games":             RoundRobin{Players: 2, Seats: 2, Seeds: 1 << 24},
		"has no number":                RoundRobin{Players: 13, Seats: 7, Seeds: 0},
		"players: 0":                   Swiss{Rounds: 1, Seeds: 1},
		"seeds of a round: 0":          Swiss{Players: 2, Rounds: 1},
		"but Joined for 3":             Swiss{Players: 2, Rounds: 1, Seeds: 1, Joined: []int{0, 0, 0}},
		"round 0 has 1 players":        Swiss{Players: 2, Rounds: 1, Seeds: 1, Joined: []int{0, 1}},
		"against player 4":             Duel{A: 4, B: 4, Test: test, Most: 1, Ahead: 1},
		"seeds at once: 0":             Duel{A: 4, B: 5, Test: test, Most: 1},
		"expected more than elo0":      Duel{A: 4, B: 5, Most: 1, Ahead: 1},
		"players: 3, expected 4":       Sandbox{Players: 3, Seats: 4, Rounds: 1},
		"round 0 has 3 players":        Sandbox{Players: 4, Seats: 4, Rounds: 1, Joined: []int{1}},
		"players of a contest: 3":      Championship{Players: 3, Games: 1, Seats: contestSeats},
		"seats of a contest: 1":        Championship{Players: 9, Games: 1, Seats: [4]int{4, 4, 1, 2}},
		"seats of a contest: 5":        Championship{Players: 9, Games: 1, Seats: [4]int{5, 4, 4, 2}},
		"games of a contest: 0":        Championship{Players: 9, Seats: contestSeats},
		"games of a contest: 32769":    Championship{Players: 9, Games: 1<<15 + 1, Seats: contestSeats},
	} {
		t.Run(want, func(t *testing.T) {
			games, err := s.Next(nil)
			assert.ErrorContainsf(t, err, want, "%T: %d games", s, len(games))
		})
	}
}

// extends checks that the longer schedule has all games of the shorter one, in the same order if it
// is static.
func extends(t *testing.T, short, long Schedule) {
	t.Helper()
	before := play(t, short, 1)
	// The games played so far count in the longer one.
	after := playOn(t, long, slices.Clone(before), 2)
	require.Greaterf(t, len(after), len(before), "%d games, then %d", len(before), len(after))
	require.Equal(t, play(t, long, 3), after, "extended while it was played, the tournament has other games than from the beginning")
	have := map[int64]Placing{}
	for _, r := range after {
		have[r.Number] = r
	}
	for _, r := range before {
		require.Equalf(t, r, have[r.Number], "game %v has become %v", r, have[r.Number])
	}
}

func TestExtended(t *testing.T) {
	for _, c := range []struct {
		name        string
		short, long Schedule
	}{
		{"seeds of a round robin", RoundRobin{Players: 4, Seats: 2, Seeds: 3}, RoundRobin{Players: 4, Seats: 2, Seeds: 30}},
		{"players of a round robin", RoundRobin{Players: 3, Seats: 3, Seeds: 3}, RoundRobin{Players: 6, Seats: 3, Seeds: 3}},
		{"both", RoundRobin{Players: 4, Seats: 4, Seeds: 2}, RoundRobin{Players: 6, Seats: 4, Seeds: 3}},
		{"seats taken twice", RoundRobin{Players: 2, Seats: 4, Seeds: 3}, RoundRobin{Players: 2, Seats: 4, Seeds: 5}},
		{"a gauntlet", RoundRobin{Players: 5, Seats: 2, Seeds: 2, Gauntlet: true}, RoundRobin{Players: 7, Seats: 2, Seeds: 5, Gauntlet: true}},
		{"a gauntlet by a round robin", RoundRobin{Players: 5, Seats: 2, Seeds: 2, Gauntlet: true}, RoundRobin{Players: 5, Seats: 2, Seeds: 2}},
		{"rounds of a Swiss", Swiss{Players: 7, Rounds: 2, Seeds: 1}, Swiss{Players: 7, Rounds: 6, Seeds: 1}},
		{"players of a Swiss", Swiss{Players: 7, Rounds: 3, Seeds: 1},
			Swiss{Players: 9, Rounds: 6, Seeds: 1, Joined: []int{0, 0, 0, 0, 0, 0, 0, 3, 4}}},
		{"rounds of a Sandbox", Sandbox{Players: 9, Seats: 4, Rounds: 3}, Sandbox{Players: 9, Seats: 4, Rounds: 8}},
		{"players of a Sandbox", Sandbox{Players: 8, Seats: 4, Rounds: 3},
			Sandbox{Players: 9, Seats: 4, Rounds: 8, Joined: []int{0, 0, 0, 0, 0, 0, 0, 0, 3}}},
	} {
		t.Run(c.name, func(t *testing.T) { extends(t, c.short, c.long) })
	}
}

func checkDuel(t *testing.T, s Duel, got, want []Placing) {
	t.Helper()
	a, err := s.State(got)
	b, err2 := s.State(want)
	require.NoError(t, err)
	require.NoError(t, err2)
	if !reflect.DeepEqual(a, b) {
		t.Errorf("the test ends with %v, in order with %v", a.Counts(), b.Counts())
	}
}

// all returns the games of a schedule without results.
func all(t *testing.T, s Schedule) []Fixture {
	t.Helper()
	games, err := s.Next(nil)
	require.NoError(t, err)
	return games
}

func TestLineups(t *testing.T) {
	for _, c := range []struct {
		players, seats int
		want           [][]int
	}{
		{2, 2, [][]int{{0, 1}}},
		{4, 2, [][]int{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}},
		{4, 3, [][]int{{0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}}},
		{3, 4, [][]int{{0, 1, 2, 0}}},
		{2, 4, [][]int{{0, 1, 0, 1}}},
	} {
		t.Run(fmt.Sprintf("%d players, %d seats", c.players, c.seats), func(t *testing.T) {
			assert.Equalf(t, c.want, RoundRobin{Players: c.players, Seats: c.seats}.lineups(), "%d players, %d seats", c.players, c.seats)
		})
	}
}

// TestOrder: games come seed by seed, lineup by lineup, order by order.
func TestOrder(t *testing.T) {
	var got [][]int
	for i, g := range all(t, RoundRobin{Players: 3, Seats: 2, Seeds: 2}) {
		assert.Equalf(t, i/6, g.Seed, "game %d is on seed", i)
		got = append(got, g.Players)
	}
	once := [][]int{{0, 1}, {1, 0}, {0, 2}, {2, 0}, {1, 2}, {2, 1}}
	assert.Equal(t, append(slices.Clone(once), once...), got)
	got = nil
	for _, g := range all(t, RoundRobin{Players: 2, Seats: 3, Seeds: 1}) {
		got = append(got, g.Players)
	}
	assert.Equal(t, [][]int{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}, got)
}

// seating counts how often players met, and in which seats.
type seating struct {
	met   map[[2]int]int // player, player
	seats map[[2]int]int // player, seat
	both  map[[4]int]int // player, player, seat, seat
}

func seatingOf(games []Fixture) seating {
	s := seating{map[[2]int]int{}, map[[2]int]int{}, map[[4]int]int{}}
	for _, g := range games {
		for i, p := range g.Players {
			s.seats[[2]int{p, i}]++
			for j, q := range g.Players {
				if p != q {
					s.met[[2]int{p, q}]++
					s.both[[4]int{p, q, i, j}]++
				}
			}
		}
	}
	return s
}

// same reports whether a table has the given number of entries, all equal and not 0.
func same[K comparable](table map[K]int, entries int) bool {
	first := -1
	for _, n := range table {
		if first < 0 {
			first = n
		}
		if n != first {
			return false
		}
	}
	return len(table) == entries
}

func TestRoundRobinIsBalanced(t *testing.T) {
	for players := 2; players < 8; players++ {
		for seats := 2; seats < 5; seats++ {
			s := RoundRobin{Players: players, Seats: seats, Seeds: 3}
			games := all(t, s)
			if want := 3 * binomial(int64(players), int64(seats)) * int64(combin.NumPermutations(seats, seats)); players >= seats && int64(len(games)) != want {
				t.Errorf("%+v: %d games, expected %d", s, len(games), want)
			}
			if players < seats && seats%players != 0 {
				continue // the first players have more seats than others
			}
			n := seatingOf(games)
			if !same(n.met, players*(players-1)) || !same(n.seats, players*seats) || !same(n.both, players*(players-1)*seats*(seats-1)) {
				t.Errorf("%+v: met %v, seats %v, pairs of seats %v", s, n.met, n.seats, n.both)
			}
		}
	}
}

// TestGauntlet: a gauntlet has the games of the round robin in which player 0 sits.
func TestGauntlet(t *testing.T) {
	for seats := 2; seats < 5; seats++ {
		s := RoundRobin{Players: 7, Seats: seats, Seeds: 3}
		want := slices.DeleteFunc(all(t, s), func(g Fixture) bool { return !slices.Contains(g.Players, 0) })
		s.Gauntlet = true
		assert.Equal(t, want, all(t, s))
	}
	for _, g := range all(t, RoundRobin{Players: 2, Seats: 4, Seeds: 1, Gauntlet: true}) {
		assert.Equalf(t, []int{0, 1, 1, 1}, slices.Sorted(slices.Values(g.Players)), "a gauntlet of two at a table of four: %v", g.Players)
	}
}

// TestNumbers: different lineups, permutations and pairs of numbers have different numbers, without
// gaps.
func TestNumbers(t *testing.T) {
	for seats := 2; seats < 5; seats++ {
		seen := map[int64]bool{}
		var lineup func(chosen []int)
		lineup = func(chosen []int) {
			if len(chosen) == seats {
				seen[lineupRank(chosen)] = true
				return
			}
			for p := range 6 {
				if len(chosen) == 0 || p >= chosen[len(chosen)-1] {
					lineup(append(slices.Clone(chosen), p))
				}
			}
		}
		lineup(nil)
		n := int(binomial(int64(6+seats-1), int64(seats)))
		for k := range n {
			if !seen[int64(k)] {
				t.Errorf("no lineup of %d seats has number %d", seats, k)
			}
		}
		assert.Equalf(t, n, len(seen), "%d numbers of %d lineups", len(seen), n)
	}
	seen := map[int64]bool{}
	for x := range int64(50) {
		for y := range int64(50) {
			n := shell(x, y)
			if seen[n] || n < 0 || n >= 2500 {
				t.Errorf("%d and %d have number %d", x, y, n)
			}
			seen[n] = true
		}
	}
	n := shell(maxShell, 0)
	assert.Truef(t, n < 1<<53 && float64(n) >= math.Exp2(52.9), "the last number is %d", n)
	b := binomial(1000, 20)
	assert.Greaterf(t, b, int64(1<<53), "1000 over 20 is %d", b)
	assert.Equal(t, int64(792), binomial(12, 5), "12 over 5")
}

// TestNewRoundRobin: the number of games is the number asked for, or the next possible one. Orders that only exchange a repeated player
// with itself are played once.
func TestNewRoundRobin(t *testing.T) {
	for _, c := range []struct{ players, seats, games, each, want int }{
		{2, 2, 7, 2, 8}, {3, 2, 8, 2, 8}, {3, 3, 7, 6, 12}, {4, 4, 24, 24, 24}, {5, 4, 1, 24, 24}, {2, 4, 7, 6, 12}, {3, 4, 13, 12, 24}, {2, 3, 3, 3, 3},
	} {
		t.Run(fmt.Sprintf("%d players, %d seats, %d games", c.players, c.seats, c.games), func(t *testing.T) {
			s := NewRoundRobin(c.players, c.seats, c.games)
			games, err := s.Next(nil)
			require.NoError(t, err)
			n := len(games) / len(s.lineups())
			assert.Truef(t, n == c.want && s.Seeds == c.want/c.each, "%+v: %d games of each lineup on %d seeds", c, n, s.Seeds)
		})
	}
}
