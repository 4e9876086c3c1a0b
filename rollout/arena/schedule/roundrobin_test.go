package schedule

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/combin"
)

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

// TestRepeatedPlayers: orders that only exchange a repeated player with itself are played once.
func TestRepeatedPlayers(t *testing.T) {
	for _, c := range []struct{ players, seats, games int }{{2, 3, 3}, {2, 4, 6}, {3, 4, 12}, {4, 4, 24}} {
		t.Run(fmt.Sprintf("%d players, %d seats", c.players, c.seats), func(t *testing.T) {
			games := all(t, RoundRobin{Players: c.players, Seats: c.seats, Seeds: 1})
			for i, g := range games {
				for _, h := range games[:i] {
					if slices.Equal(g.Players, h.Players) {
						t.Errorf("%v is played twice", g.Players)
					}
				}
			}
			assert.Equalf(t, c.games, len(games), "%d players, %d seats: %d games, want %d", c.players, c.seats, len(games), c.games)
		})
	}
}

// TestNewRoundRobin: the number of games is the number asked for, or the next possible one.
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
