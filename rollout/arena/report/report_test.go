package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/arena"
	"moonfarm/rollout/arena/report"
	"moonfarm/rollout/arena/schedule"
	"moonfarm/rollout/arena/sprt"
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
	games[4].Results, games[4].Clock = []float32{-1, 1}, true
	if r, err = arena.Evaluate([]string{"a", "b"}, games, -1); err != nil || len(report.Scales(r)) != 3 {
		t.Errorf("%v: notes %q", err, report.Scales(r))
	}
	notes = report.Notes(r)
	assert.Truef(t, len(notes) == 1 && strings.HasPrefix(notes[0], "the clock decided 1 of 30 games: "), "a game that the clock decided: %q", notes)
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
