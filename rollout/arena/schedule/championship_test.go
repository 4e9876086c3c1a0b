package schedule

import (
	"slices"
	"strings"
	"testing"
)

// contestSeats has four seats in each stage but the finals.
var contestSeats = [4]int{4, 4, 4, 2}

// TestChampionship: the Sandbox comes first, then the contest with its best players; stages share
// no numbers and no seeds, and lower-numbered players win.
func TestChampionship(t *testing.T) {
	s := Championship{Players: 30, Games: 12, Seats: contestSeats, Seed: 3}
	if got := strings.Join(s.Stages(), ", "); got != "Sandbox, Round 1, Round 2, Finals" {
		t.Error(got)
	}
	results := play(t, s, 0)
	standings, err := s.Standings(results)
	if err != nil {
		t.Fatal(err)
	}
	// 30 players fill 7 games of four; 300 + 60 of 1080 scale to 9 + 2, cut to 8; 50 + 10 scale to
	// 2 + 1.
	var sizes []int
	for _, table := range standings {
		sizes = append(sizes, len(table))
	}
	if !slices.Equal(sizes, []int{30, 28, 8, 3}) {
		t.Fatalf("players of the stages: %v", sizes)
	}
	games, own, seeds := make([]int, 4), map[[2]int]int{}, map[int]int{}
	for _, r := range results {
		games[r.Stage]++
		if stage, ok := seeds[r.Seed]; ok && stage != r.Stage {
			t.Errorf("seed %d is played in the stages %d and %d", r.Seed, stage, r.Stage)
		}
		seeds[r.Seed] = r.Stage
		for _, p := range r.Players {
			own[[2]int{r.Stage, p}]++
		}
	}
	if want := []int{13 * 7, 2 * 12 * 7, 2 * 12 * 2, 2 * 12 * 3}; !slices.Equal(games, want) {
		t.Errorf("games %v, want %v", games, want)
	}
	for p := range 30 {
		if n := own[[2]int{0, p}]; n < 12 || n > 13 {
			t.Errorf("player %d has %d games in the Sandbox", p, n)
		}
	}
	if first, last := standings[0][0], standings[0][29]; first.Player > 3 || last.Player < 26 || first.Points < 1250 || last.Points > 1150 {
		t.Errorf("the Sandbox's first is %v, its last %v", first, last)
	}
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
	if s.String() != text {
		t.Error(s)
	}
	if got, ok := ParseChampionship(text, 3); !ok || got != s {
		t.Errorf("%+v, %v", got, ok)
	}
	for _, other := range []string{"", "swiss", text + " ", strings.Replace(text, "30", "030", 1), "contest of 1 players"} {
		if got, ok := ParseChampionship(other, 3); ok {
			t.Errorf("%q is %+v", other, got)
		}
	}
}

// TestNamedContest: a contest takes the seats of each stage from the plan, and refuses too few
// players.
func TestNamedContest(t *testing.T) {
	p := Plan{Players: 5, Seats: 2, Games: 3, Seed: 1, Contest: [4]int{4, 4, 0, 0}}
	s, err := Named(NameContest, p)
	if want := (Championship{Players: 5, Games: 3, Seats: [4]int{4, 4, 2, 2}, Seed: 1}); err != nil || s != want {
		t.Errorf("%+v, %v", s, err)
	}
	p.Players = 3
	if _, err := Named(NameContest, p); err == nil || err.Error() != "contest: 3 players at tables of 4" {
		t.Error(err)
	}
	p.Players, p.Games = 5, 1<<20
	if _, err := Named(NameContest, p); err == nil {
		t.Error("a million games of each player in the Sandbox")
	}
}
