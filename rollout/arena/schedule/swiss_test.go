package schedule

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/prng"
)

// numbersTo returns the numbers from 0 to n−1.
func numbersTo(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// canPair reports by exhaustive search whether all vertices can be paired.
func canPair(left []int, edge func(a, b int) bool) bool {
	if len(left) == 0 {
		return true
	}
	for i := 1; i < len(left); i++ {
		if edge(left[0], left[i]) {
			rest := append(slices.Clone(left[1:i]), left[i+1:]...)
			if canPair(rest, edge) {
				return true
			}
		}
	}
	return false
}

// TestMatching compares the matching with exhaustive search on random graphs.
func TestMatching(t *testing.T) {
	perfect := 0
	for seed := range uint64(4000) {
		r := prng.New(seed)
		n := 2 * (1 + r.IntN(5))
		some := 1 + r.IntN(8)
		var graph [10][10]bool
		for a := range n {
			for b := range a {
				graph[a][b] = r.IntN(10) < some
				graph[b][a] = graph[a][b]
			}
		}
		edge := func(a, b int) bool { return graph[a][b] }
		m := newMatching(n, edge)
		want := canPair(numbersTo(n), edge)
		require.Equalf(t, want, m.perfect(), "graph %d: perfect", seed)
		if !want {
			continue
		}
		perfect++
		left := numbersTo(n)
		for len(left) > 0 {
			a, b := left[0], left[1+r.IntN(len(left)-1)]
			rest := slices.DeleteFunc(slices.Clone(left), func(v int) bool { return v == a || v == b })
			want := edge(a, b) && canPair(rest, edge)
			if got := m.fix(a, b); got != want {
				t.Fatalf("graph %d: %d with %d: %v, want %v", seed, a, b, got, want)
			}
			for _, v := range left {
				if m.mate[v] < 0 || m.mate[m.mate[v]] != v || !edge(v, m.mate[v]) {
					t.Fatalf("graph %d: the mates are %v", seed, m.mate)
				}
			}
			if want {
				left = rest
			}
		}
	}
	assert.Truef(t, perfect >= 1000 && perfect <= 3500, "%d graphs of 4000 can be paired", perfect)
}

// TestSwiss plays tournaments of all small sizes and checks each round.
func TestSwiss(t *testing.T) {
	tournaments := 3
	if os.Getenv("MOONFARM_LONG") != "" {
		tournaments = 60
	}
	for players := 2; players < 12; players++ {
		for k := range tournaments {
			s := Swiss{Players: players, Rounds: players + 2, Seeds: 1 + k%2, Seed: uint64(k)}
			checkSwiss(t, s, playSwiss(t, s))
		}
	}
}

// playSwiss plays round by round and checks each round.
func playSwiss(t *testing.T, s Swiss) (rounds [][]Placing) {
	var results []Placing
	for {
		games, err := s.Next(results)
		require.NoError(t, err)
		if len(games) == 0 {
			return rounds
		}
		var round []Placing
		for _, g := range games {
			round = append(round, Placing{g, outcome(g)})
		}
		rounds = append(rounds, round)
		results = append(results, round...)
	}
}

func checkSwiss(t *testing.T, s Swiss, rounds [][]Placing) {
	t.Helper()
	met := make([][]int, s.Players+1)
	for p := range met {
		met[p] = make([]int, s.Players+1) // the last player is the bye
	}
	points := make([]int, s.Players)
	require.Equalf(t, s.Rounds, len(rounds), "%+v: %d rounds", s, len(rounds))
	for i, round := range rounds {
		var free []int // unpaired players and the bye
		for p := range s.Players + s.Players%2 {
			free = append(free, p)
		}
		least := 0 // the fewest earlier meetings of a pair that a pairing needs
		for !canPair(free, func(p, q int) bool { return met[p][q] <= least }) {
			least++
		}
		bye := s.Players
		idle := map[int]bool{}
		for p := range s.Players {
			idle[p] = true
		}
		for _, r := range round {
			p, q := r.Players[0], r.Players[1]
			idle[p], idle[q] = false, false
			points[p] += r.Places[1] - r.Places[0] + 1
			points[q] += r.Places[0] - r.Places[1] + 1
			if r.Number&(1<<gameBits-1) == 0 {
				if met[p][q] > least {
					t.Errorf("%+v: in round %d %d meets %d for time %d, no pair need meet for more than time %d", s, i, p, q, met[p][q]+1, least+1)
				}
				met[p][q]++
				met[q][p]++
			}
			if r.Seed/s.Seeds != i || r.Round != i {
				t.Errorf("%+v: round %d uses seed %d", s, i, r.Seed)
			}
		}
		for p, none := range idle {
			if none {
				if bye != s.Players || s.Players%2 == 0 || met[p][s.Players] > least {
					t.Errorf("%+v: in round %d %d has a bye, after byes %v", s, i, p, met[s.Players])
				}
				bye = p
				met[p][s.Players]++
				met[s.Players][p]++
				points[p] += 2 * len(round) / (s.Players / 2)
			}
		}
	}
	var results []Placing
	for _, r := range rounds {
		results = append(results, r...)
	}
	_, state, err := s.run(results)
	require.NoError(t, err)
	assert.Equalf(t, points, state.points, "%+v", s)
	assert.Equalf(t, met[s.Players][:s.Players], state.byes, "%+v", s)
}

// TestSwissByScore: in the second round of a tournament without draws, winners meet winners; a
// player that wins all games is first.
func TestSwissByScore(t *testing.T) {
	s := Swiss{Players: 16, Rounds: 4, Seeds: 1, Seed: 5}
	var results []Placing
	for round := range 4 {
		games, err := s.Next(results)
		require.NoErrorf(t, err, "%v", games)
		require.Len(t, games, 16)
		won := map[int]int{}
		for _, r := range results {
			won[min(r.Players[0], r.Players[1])]++
		}
		for _, g := range games {
			p, q := g.Players[0], g.Players[1]
			if round < 3 && won[p] != won[q] {
				t.Errorf("in round %d %d with %d wins meets %d with %d", round, p, won[p], q, won[q])
			}
			results = append(results, Placing{g, placesOf(g.Players)})
		}
	}
	_, state, err := s.run(results)
	require.NoError(t, err)
	assert.Equal(t, 16, state.points[0], "the best player, half points in eight games")
	assert.Zero(t, state.points[15], "the last player")
	other := s
	other.Seed++
	a, b := all(t, s), all(t, other)
	assert.False(t, slices.EqualFunc(a, b, func(g, h Fixture) bool { return slices.Equal(g.Players, h.Players) }), "two seeds draw the same first round")
}

// TestLargeSwiss: pairing a round of many players is fast.
func TestLargeSwiss(t *testing.T) {
	s := Swiss{Players: 301, Rounds: 6, Seeds: 1, Seed: 5}
	rounds := playSwiss(t, s)
	assert.True(t, len(rounds) == 6 && len(rounds[5]) == 300, len(rounds))
}

// TestBye: the last in the order gets the first bye, and later the last without a bye.
func TestBye(t *testing.T) {
	s := Swiss{Players: 9, Rounds: 3, Seeds: 1, Seed: 2}
	var results []Placing
	for round := range 3 {
		_, state, err := s.run(results)
		require.NoError(t, err)
		want := -1
		ranked, err := s.ranked(state, round)
		require.NoError(t, err)
		for _, p := range ranked {
			if state.byes[p] == 0 {
				want = p
			}
		}
		games, err := s.Next(results)
		require.NoErrorf(t, err, "%v", games)
		require.Len(t, games, 8)
		for _, g := range games {
			if slices.Contains(g.Players, want) {
				t.Errorf("in round %d %d plays %v, want a bye", round, want, g.Players)
			}
			results = append(results, Placing{g, placesOf(g.Players)})
		}
	}
}
