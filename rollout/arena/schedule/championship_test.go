package schedule

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
	assert.Truef(t, s == want, "%+v", s)
	p.Players = 3
	_, err = Named(NameContest, p)
	assert.EqualError(t, err, "contest: 3 players at tables of 4")
	p.Players, p.Games = 5, 1<<20
	_, err = Named(NameContest, p)
	assert.Error(t, err, "a million games of each player in the Sandbox")
}
