package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/arena"
	"moonfarm/rollout/arena/report"
	"moonfarm/rollout/arena/schedule"
	"moonfarm/rollout/arena/sprt"
	"moonfarm/rollout/view/overview"
	"moonfarm/sim/prng"
)

// circle returns a report on rock, paper and scissors.
func circle(t *testing.T, faults ...arena.Fault) *arena.Report {
	t.Helper()
	var games []arena.Played
	for seed := range 10 {
		for i := range 3 {
			games = append(games, arena.Played{Fixture: schedule.Fixture{Players: []int{i, (i + 1) % 3}, Seed: seed}, Turns: 5,
				Results: []float32{-1, 1}, Scores: []float64{0, 1}, Sum: prng.Digest(seed / 2), Faults: faults})
		}
	}
	r, err := arena.Evaluate([]string{"rock", "pap|er", "scissors"}, games, -1)
	require.NoError(t, err)
	return r
}

func text(rows [][]string) string {
	var lines []string
	for _, row := range rows {
		lines = append(lines, strings.Join(row, "  "))
	}
	return strings.Join(lines, "\n")
}

func TestTables(t *testing.T) {
	r := circle(t, arena.Fault{Seat: 1, Kind: "timeout", Times: 2}, arena.Fault{Kind: "crash"})
	got := text(report.Standings(r))
	assert.Truef(t, strings.HasSuffix(got, "10  0  10  0.000  0.33  10 crash, 20 timeout") && strings.Count(got, "\n") == 3 && strings.HasPrefix(got, "player  elo  95 %  games"), "standings\n%s", got)
	assert.NotContains(t, text(report.Standings(circle(t))), "faults", "standings without faults")
	got = text(report.Pairs(r))
	assert.Truef(t, strings.Contains(got, "rock  pap|er  0.000  ") && strings.Contains(got, "rock  scissors  1.000  ") && strings.Count(got, "\n") == 3, "pairs\n%s", got)
	notes := report.Notes(r)
	assert.Truef(t, len(notes) == 4 && notes[0] == "rock against pap|er: 5 of 10 games repeat others, and have the weight of one game with these" && strings.HasPrefix(notes[3], "15 of 30 games are different; "), "notes %q", notes)
	var out bytes.Buffer
	err := report.Markdown(&out, report.Standings(r))
	require.NoError(t, err)
	assert.Truef(t, strings.Contains(out.String(), `| pap\|er | `) && strings.Contains(out.String(), "|\n|---|---|"), "markdown\n%s", &out)
	out.Reset()
	err = report.CSV(&out, r)
	require.NoError(t, err)
	assert.Truef(t, strings.Contains(out.String(), "\npap|er,20,10,0,10,0.5,") && strings.Contains(out.String(), ",30,0\n"), "csv\n%s", &out)
}

// TestSchedules checks the tables of the stages of a contest, the last first.
func TestSchedules(t *testing.T) {
	r := circle(t)
	for _, name := range []string{"Round", "Finals"} {
		r.Stages = append(r.Stages, arena.StageReport{Stage: name, Standings: []arena.StageStanding{{Player: "rock", Games: 3, Points: 7}, {Player: "scissors", Games: 3, Points: 2.5}}})
	}
	want := "stage  place  player  points  games\nFinals  1  rock  7  3\nFinals  2  scissors  2  3\nRound  1  rock  7  3\nRound  2  scissors  2  3"
	assert.Equal(t, want, text(report.Stages(r)), "stages")
}

// TestUnknown: a number that the games do not determine is a dash in a table, an empty cell in CSV,
// and has a sentence; the tables explain their scales.
func TestUnknown(t *testing.T) {
	var games []arena.Played
	for seed := range 3 {
		games = append(games, arena.Played{Fixture: schedule.Fixture{Players: []int{0, 1}, Seed: seed}, Results: []float32{1, -1}, Scores: []float64{1, 0}, Sum: prng.Digest(seed)})
	}
	r, err := arena.Evaluate([]string{"a", "b"}, games, -1)
	require.NoError(t, err)
	row := report.Pairs(r)[1]
	assert.Truef(t, strings.Join(row[4:7], " ") == "— — —" && row[8] == "—", "a pair of three games: %q", row)
	row = report.Standings(r)[1]
	assert.Equalf(t, "—", row[2], "a player of three games: %q", row)
	var out bytes.Buffer
	err = report.CSV(&out, r)
	require.NoError(t, err)
	assert.Containsf(t, out.String(), ",,,,", "csv\n%s", &out)
	notes := report.Scales(r)
	assert.Truef(t, len(notes) == 4 && strings.Contains(notes[1], "fit to all games") && strings.Contains(notes[2], "the scale of sprt") && strings.HasPrefix(notes[3], "—: "), "notes %q", notes)
	for seed := 3; seed < 30; seed++ {
		g := games[0]
		g.Seed, g.Sum = seed, prng.Digest(seed)
		games = append(games, g)
	}
	r, err = arena.Evaluate([]string{"a", "b"}, games, -1)
	require.NoError(t, err)
	row = report.Pairs(r)[1]
	assert.Truef(t, row[4] == "—" && strings.HasPrefix(row[5], "over +") && row[6] == "1.000", "all of 30 games won: %q", row)
	games[4].Results, games[4].Clock, games[5].Box = []float32{-1, 1}, true, "landlock"
	if r, err = arena.Evaluate([]string{"a", "b"}, games, -1); err != nil || len(report.Scales(r)) != 3 {
		t.Errorf("%v: notes %q", err, report.Scales(r))
	}
	notes = report.Notes(r)
	assert.Truef(t, len(notes) == 2 && strings.HasPrefix(notes[0], "the clock decided 1 of 30 games: "), "a game that the clock decided: %q", notes)
	assert.Equal(t, "box of the bots in 1 game: landlock", notes[1])
	row = report.Pairs(r)[1]
	assert.Truef(t, !strings.Contains(strings.Join(row, " "), "—") && row[4] != row[7], "one of 30 games lost: %q", row)
}

func TestTest(t *testing.T) {
	test, err := sprt.Parse("0,50")
	require.NoError(t, err)
	for _, c := range []struct {
		result, times int
		want          string
	}{
		{4, 0, "sprt 0, 50 (logistic): undecided: more games are needed"},
		{4, 500, "sprt 0, 50 (logistic): decided: a is more than 0 points stronger than b"},
		{0, 500, "sprt 0, 50 (logistic): decided: a is not 50 points stronger than b"},
	} {
		t.Run(c.want, func(t *testing.T) {
			s, err := sprt.New(test)
			require.NoError(t, err)
			for k := 0; k < c.times && s.Decision() == sprt.Continue; k++ {
				require.NoError(t, s.Add(c.result))
			}
			got := report.Test(s, "a", "b")
			assert.Truef(t, strings.HasPrefix(got, c.want+"\nllr "), "%s, want %s", got, c.want)
		})
	}
}

// tournament returns a round robin with the given number of seats and seeds: the player with the
// smaller number wins, except in three games of eleven.
func tournament(players, seats, seeds int) (names []string, games []arena.Played) {
	for i := range players {
		names = append(names, fmt.Sprintf("player-%c", 'a'+i))
	}
	for seed := range seeds {
		for first := range players {
			g := arena.Played{Fixture: schedule.Fixture{Number: int64(len(games)), Seed: seed}, Turns: 20 + 7*(len(games)%9), Cut: len(games)%10 == 9, Sum: prng.Digest(len(games))}
			for seat := range seats {
				g.Players = append(g.Players, (first+seat*(1+seed%(players-1)/max(1, seats-1)))%players)
				strength := float32(-g.Players[seat])
				if len(games)*37%11 < 3 {
					strength = -strength
				}
				g.Results, g.Scores = append(g.Results, strength), append(g.Scores, float64(10*strength))
			}
			games = append(games, g)
		}
	}
	return names, games
}

// about returns the sections of the overview of games by their titles, and checks that two are the same bytes.
func about(t *testing.T, names []string, games []arena.Played, change func(r *arena.Report)) (map[string]overview.Section, *arena.Report) {
	t.Helper()
	r, err := arena.Evaluate(names, games, -1)
	require.NoError(t, err)
	r.Game, r.Rules, r.Seed, r.Schedule = "chess", "1.2", 7, "round-robin"
	if change != nil {
		change(r)
	}
	var texts [2][]byte
	sections := map[string]overview.Section{}
	for i := range texts {
		o, err := report.Overview(r, games)
		require.NoError(t, err)
		texts[i], err = json.Marshal(o)
		require.NoError(t, err)
		for _, s := range o.Sections {
			sections[s.Title] = s
			for _, table := range s.Tables {
				for _, row := range table.Rows {
					require.Len(t, row, len(table.Columns), "%s: %v", s.Title, row)
				}
			}
		}
	}
	assert.Equal(t, string(texts[0]), string(texts[1]), "the same games made two overviews")
	return sections, r
}

// row returns the texts of a row.
func row(cells []overview.Cell) string {
	var words []string
	for _, c := range cells {
		words = append(words, c.Text)
	}
	return strings.Join(words, " | ")
}

// TestOverview compares the figures of an overview with those of the report and of the games, for few and many
// players, one game, and games for four.
func TestOverview(t *testing.T) {
	for _, c := range []struct{ players, seats, seeds int }{{2, 2, 1}, {2, 2, 30}, {12, 2, 22}, {5, 4, 10}, {4, 4, 1}, {45, 2, 14}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			names, games := tournament(c.players, c.seats, c.seeds)
			s, r := about(t, names, games, nil)
			ranked, order := s["Ratings"].Tables[0], r.ByRating()
			require.Len(t, ranked.Rows, c.players)
			assert.Contains(t, s["Ratings"].Text[0], fmt.Sprintf("chess 1.2, seed 7, round-robin: %d game", len(games)))
			course := s["Ratings over the games"].Charts[0]
			assert.Len(t, course.Lines, min(c.players, 8))
			for rank, i := range order {
				p := &r.Players[i]
				assert.True(t, strings.HasPrefix(row(ranked.Rows[rank]), fmt.Sprintf("%d | %s | %+.0f | ", rank+1, p.Player, p.Elo)), row(ranked.Rows[rank]))
				assert.Equal(t, overview.ToGames(p.Player, ""), ranked.Rows[rank][1].To)
				if rank < len(course.Lines) {
					last := course.Lines[rank].Points
					assert.Equal(t, [2]float64{float64(len(games)), p.Elo}, last[len(last)-1], "the last rating is the rating")
				}
			}
			grid := s["Scores against each other"].Tables[0]
			require.Len(t, grid.Rows, min(c.players, 40))
			for _, p := range r.Pairs {
				for k, i := range order[:len(grid.Rows)] {
					for l, j := range order[:len(grid.Rows)] {
						if r.Players[i].Player == p.A && r.Players[j].Player == p.B && p.Games > 0 {
							cell := grid.Rows[k][l+1]
							assert.Equal(t, []any{p.Score, fmt.Sprint(p.Games), overview.ToGames(p.A, p.B)}, []any{*cell.Heat, cell.Small, cell.To})
							assert.InDelta(t, 1-p.Score, *grid.Rows[l][k+1].Heat, 1e-12)
						}
					}
				}
			}
			all := uint64(0)
			for _, chart := range s["Lengths of games"].Charts {
				for _, n := range chart.Bars.Bars {
					all += n
				}
			}
			assert.Contains(t, []uint64{0, uint64(len(games))}, all)
			assert.NotContains(t, s, "Faults")
		})
	}
	names, games := tournament(45, 2, 14)
	s, _ := about(t, names, games, nil)
	assert.Equal(t, []string{"The first 500 of 630 are shown."}, s["Pairs of players"].Text)
	assert.Contains(t, s["Scores against each other"].Text, "The best 40 of 45 are shown.")
}

// TestInterval: the bar of a rating shows its interval among those of all.
func TestInterval(t *testing.T) {
	names, games := tournament(2, 2, 30)
	s, r := about(t, names, games, nil)
	rows := s["Ratings"].Tables[0].Rows
	first, last := &r.Players[r.ByRating()[0]], &r.Players[r.ByRating()[1]]
	width := *first.EloHigh - *last.EloLow
	assert.Equal(t, []overview.Part{{Share: (*first.EloLow - *last.EloLow) / width}, {Share: (first.Elo - *first.EloLow) / width, Look: overview.Even},
		{Share: (*first.EloHigh - first.Elo) / width, Look: overview.Ahead}}, rows[0][3].Bar)
	names, games = tournament(2, 2, 1)
	s, _ = about(t, names, games, nil)
	assert.Empty(t, s["Ratings"].Tables[0].Rows[0][3].Bar, "the games determine no interval")
}

// TestFaults: the latest fault comes first, with a link to its turn, and the number of all is told.
func TestFaults(t *testing.T) {
	names, games := tournament(2, 2, 60)
	for i := range games {
		games[i].Faults = []arena.Fault{{Seat: 0, Turn: -1, Kind: "illegal", Times: 3}}
	}
	games[119].Faults = append(games[119].Faults, arena.Fault{Seat: 1, Turn: 4, Kind: "crash", Text: "<b>exit", Output: "first\nout of ideas\n"})
	s, _ := about(t, names, games, nil)
	rows := s["Faults"].Tables[0].Rows
	assert.Equal(t, []string{"The latest 100 of 121 are shown."}, s["Faults"].Text)
	require.Len(t, rows, 100)
	assert.Equal(t, "119 | – | A | player-b | illegal × 3 | ", row(rows[0]))
	assert.Equal(t, "119 | 4 | B | player-a | crash | <b>exit", row(rows[1]))
	assert.Equal(t, []string{"#episode=119&turn=0", "#episode=119&turn=4", "out of ideas"}, []string{rows[0][0].To, rows[1][0].To, rows[1][5].Small})
}

// TestCourse: ratings are shown after each round, if there are few, and otherwise after each tenth of the games.
func TestCourse(t *testing.T) {
	names, games := tournament(5, 2, 5)
	tell := func() string {
		s, _ := about(t, names, games, nil)
		text := s["Ratings over the games"].Charts[0].Title + ":"
		for _, p := range s["Ratings over the games"].Charts[0].Lines[0].Points {
			text += fmt.Sprint(" ", p[0])
		}
		return text
	}
	assert.Equal(t, "Elo by the games so far: 3 5 8 10 13 15 18 20 23 25", tell())
	for i := range games {
		games[i].Round = i / 10
	}
	assert.Equal(t, "Elo by the games up to the end of a round: 10 20 25", tell())
	games[24].Stage = 1
	assert.Equal(t, "Elo by the games up to the end of a round: 10 20 24 25", tell())
	for i := range games {
		games[i].Round = i // more rounds than are shown
	}
	assert.Equal(t, "Elo by the games so far: 3 5 8 10 13 15 18 20 23 25", tell())
}

// TestCaveats: the section of the ratings tells what the games do not determine, and what was interrupted.
func TestCaveats(t *testing.T) {
	var games []arena.Played
	for seed := range 8 {
		for first := range 2 { // a always wins against b; c and d meet nobody else
			sign := float32(1 - 2*first*(seed%2))
			games = append(games, arena.Played{Fixture: schedule.Fixture{Players: []int{2 * first, 2*first + 1}, Seed: seed}, Turns: 9,
				Results: []float32{sign, -sign}, Scores: []float64{1, 0}, Sum: prng.Digest(2*seed + first)})
		}
	}
	no := false
	four := []string{"a", "b", "c", "d"}
	s, _ := about(t, four, games, func(r *arena.Report) {
		anchored, err := arena.Evaluate(four, games, 2)
		require.NoError(t, err)
		*r = *anchored
		r.Complete = &no
	})
	text := strings.Join(s["Ratings"].Text, "\n")
	assert.Contains(t, text, "; interrupted before the last game.")
	assert.Contains(t, text, "do not bound both ends of these intervals: a, b")
	assert.Contains(t, text, "No games connect the players of these lists")
	names, plain := tournament(2, 2, 30)
	s, _ = about(t, names, plain, nil)
	assert.Len(t, s["Ratings"].Text, 1, "a tournament without caveats")
}

// TestParts: a sequential test, the stages of a contest and games that repeat have their sections.
func TestParts(t *testing.T) {
	names, games := tournament(2, 2, 30)
	games[2].Sum, games[2].Seed, games[2].Players, games[2].Results, games[2].Turns, games[2].Scores = games[0].Sum, 1, games[0].Players, games[0].Results, games[0].Turns, games[0].Scores
	s, _ := about(t, names, games, func(r *arena.Report) {
		limits, err := sprt.Parse("0,50")
		require.NoError(t, err)
		r.Test, err = sprt.New(limits)
		require.NoError(t, err)
		r.Stages = []arena.StageReport{{Stage: "Round", Standings: []arena.StageStanding{{Player: "player-b", Games: 3, Points: 7}}}}
	})
	assert.Equal(t, []string{"sprt 0, 50 (logistic): undecided: more games are needed"}, s["Sequential test"].Text)
	assert.Equal(t, "points tested | 0 or 50 (logistic)", row(s["Sequential test"].Tables[0].Rows[0]))
	assert.Equal(t, "Round | 1 | player-b | 7 | 3", row(s["Stages"].Tables[0].Rows[0]))
	assert.Contains(t, s["Games that repeat"].Text[0], "repeat")
	assert.NotContains(t, s["Games that repeat"].Text[0], "None")
}
