package recordings_test

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout"
	"moonfarm/rollout/recordings"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/config"
	"moonfarm/sim/terminal/wire/replay"
)

// read reads the single game of a recording.
func read(t *testing.T, file string) recordings.RecordedGame {
	t.Helper()
	in, err := recordings.Open(context.Background(), file)
	require.NoError(t, err)
	defer in.Close()
	var games []recordings.RecordedGame
	_, err = in.Read(recordings.ReadOptions{Keep: true}, func(g *recordings.RecordedGame) error {
		games = append(games, *g)
		return g.Why
	})
	require.NoError(t, err)
	require.Len(t, games, 1)
	return games[0]
}

// TestForms writes the episode of a recording in every form: each result verifies, and has the same
// episode.
func TestForms(t *testing.T) {
	for _, engine := range recordings.Engines() {
		game := engine.Info().Game
		want := read(t, sampleFile(t, game))
		want.Name = ""
		for _, form := range engine.Info().Forms {
			t.Run(game+"/"+form.Name, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "written"+form.Ext)
				if form.Write != nil {
					var b bytes.Buffer
					require.NoError(t, form.Write(&b, &want))
					require.NoError(t, os.WriteFile(path, b.Bytes(), 0o666))
				} else {
					require.NoError(t, form.WriteFolder(func(name string) (io.WriteCloser, error) {
						file := filepath.Join(path, filepath.FromSlash(name))
						if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
							return nil, err
						}
						return os.Create(file)
					}, &want))
					entries, err := os.ReadDir(path)
					require.NoError(t, err)
					for _, e := range entries {
						assert.True(t, form.Owns(e), e.Name())
					}
				}
				report, err := recordings.Verify(context.Background(), path, "")
				require.NoError(t, err)
				assert.Equal(t, game, report.Game)
				assert.Zero(t, report.Different, "%+v", report.First)
				assert.Positive(t, report.Compared(engine.Info().Counts[1:]))
				got := read(t, path)
				assert.Equal(t, want.Rules, got.Rules)
				assert.Equal(t, want.Episode.Turns, got.Episode.Turns)
				assert.Equal(t, want.Episode.Outcome, got.Episode.Outcome)
				assert.Equal(t, want.Episode.Orders, got.Episode.Orders)
				assert.Equal(t, want.Episode.Ends, got.Episode.Ends)
			})
		}
	}
}

// TestErrors: errors tell wrong options from wrong recordings.
func TestErrors(t *testing.T) {
	ctx := context.Background()
	folder := t.TempDir()
	damaged := filepath.Join(folder, "damaged.jsonl")
	text := sample(t, "towerdefence")
	require.NoError(t, os.WriteFile(damaged, text[:len(text)/2], 0o666))

	report, err := recordings.Verify(ctx, damaged, "")
	assert.ErrorContains(t, err, "damaged.jsonl")
	assert.Equal(t, err.Error(), report.Error)
	assert.Equal(t, "towerdefence", report.Game)
	assert.Positive(t, report.Counts["rounds"])

	var option *recordings.OptionError
	_, err = recordings.Verify(ctx, sampleFile(t, "towerdefence"), "nothing = known")
	require.ErrorAs(t, err, &option)
	assert.Equal(t, "rules", option.Option)

	_, err = recordings.Verify(ctx, filepath.Join(folder, "missing"), "")
	assert.ErrorIs(t, err, fs.ErrNotExist)
	_, err = recordings.Verify(ctx, folder, "")
	assert.ErrorContains(t, err, "expected a recording, or the folder of a match log of towerdefence")

	for _, c := range []struct {
		game, option, want string
		o                  recordings.ShowOptions
	}{
		{"towerdefence", "as", "as frame: expected one of: text, console, state, textmap (for towerdefence)", recordings.ShowOptions{As: "frame"}},
		{"towerdefence", "round", "round 99: expected 0 to 48, the game has no more rounds", recordings.ShowOptions{As: "text", Game: 1, Round: 99, Frame: -1}},
		{"towerdefence", "frame", "frame 2: towerdefence has no frames", recordings.ShowOptions{As: "text", Game: 1, Frame: 2}},
		{"terminal", "game", "game 2: expected 1: a replay has one game", recordings.ShowOptions{As: "text", Game: 2, Frame: -1}},
		{"terminal", "frame", "frame 3: it needs a turn", recordings.ShowOptions{As: "text", Game: 1, Round: -1, Frame: 3}},
		{"codecraft", "seat", "seat D: the game has seats A to B", recordings.ShowOptions{As: "text", Game: 1, Round: -1, Frame: -1, Seat: 3}},
	} {
		t.Run(c.want, func(t *testing.T) {
			in, err := recordings.Open(ctx, sampleFile(t, c.game))
			require.NoError(t, err)
			defer in.Close()
			c.o.RoundName = "round"
			_, err = in.Show("", c.o)
			require.ErrorAs(t, err, &option)
			assert.Equal(t, c.option, option.Option)
			assert.EqualError(t, err, c.want)
		})
	}
}

// TestRuleSets: the page lists the rule sets of every game.
func TestRuleSets(t *testing.T) {
	page := string(simtest.Text(t, "README.md"))
	for _, e := range recordings.Engines() {
		_, row, ok := strings.Cut(page, "\n| "+e.Info().Game+" | ")
		assert.Truef(t, ok, "%s has no row", e.Info().Game)
		row, _, _ = strings.Cut(row, "\n")
		for _, name := range e.Info().RuleSets {
			assert.Regexp(t, `[ ,]`+name+`[ ,]`, row)
		}
	}
}

// TestInterrupted: reading ends with the context.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := recordings.Verify(ctx, sampleFile(t, "codecraft"), "")
	assert.ErrorIs(t, err, context.Canceled)
}

func TestSource(t *testing.T) {
	for _, c := range []struct{ source, file, name string }{
		{"many.jsonl#3 final match", "logs/many.jsonl", "final match"},
		{"many.jsonl#4", "many.jsonl", ""},
		{"one.replay", "one.replay", ""},
	} {
		t.Run(c.source, func(t *testing.T) {
			g := recordings.RecordedGame{Name: c.name}
			for _, digit := range []byte(c.source) {
				if digit >= '1' && digit <= '9' {
					g.Number = int(digit - '0')
				}
			}
			assert.Equal(t, c.source, g.Source(c.file))
			assert.Equal(t, c.name, recordings.NameIn(c.source))
		})
	}
}

// TestWinners changes the recorded winner of a game, or its scores where the recording names no
// winner. Verify finds the difference, and Read refuses the game or, with Keep, ends it before.
func TestWinners(t *testing.T) {
	crash := []sim.Order{terminal.Clock(41), terminal.Penalty(1e6)}
	tie := func(clock uint32) string {
		r, _ := terminal.RuleSet("2022")
		m, turn := &replay.Match{Config: config.Of(r)}, new(sim.Turn)
		m.Add(turn)
		turn.Set(0, crash)
		turn.Set(1, []sim.Order{terminal.Clock(clock), crash[1]})
		m.Add(turn)
		var b bytes.Buffer
		require.NoError(t, replay.WriteMatch(&b, m, config.Local))
		return strings.Replace(b.String(), `"winner":0`, `"winner":1`, 1) // as in the original
	}
	craft := recordings.RecordedGame{Rules: "round1-2\nmax_tick_count=3\n"}
	craft.Episode = rollout.Episode{Players: 2, Turns: 3, Ends: make([]int32, 6), Status: sim.Over}
	engine, _ := recordings.Of("codecraft")
	var b bytes.Buffer
	require.NoError(t, engine.Info().Forms[0].Write(&b, &craft))
	for _, c := range []struct {
		name, file, text, results, from, to, field string
		result                                     float32
	}{
		{"health decides", "a.replay", string(terminalSample(t)), "", `"winner":2`, `"winner":1`, "endStats.winner", -1},
		{"health decides, nobody", "a.replay", string(terminalSample(t)), "", `"winner":2`, `"winner":0`, "endStats.winner", -1},
		{"times decide", "a.replay", tie(40), "", `"winner":2`, `"winner":1`, "endStats.winner", -1},
		{"equal times", "a.replay", tie(41), "", `"winner":1`, `"winner":2`, "endStats.winner", 1},
		{"equal times, nobody", "a.replay", tie(41), "", `"winner":1`, `"winner":0`, "endStats.winner", 1},
		{"towerdefence", "a.jsonl", string(sample(t, "towerdefence")), "", `"winner":"A"`, `"winner":"B"`, "winner", 1},
		{"towerdefence, a tie", "a.jsonl", string(sample(t, "towerdefence")), "", `"winner":"A"`, `"winner":"tie"`, "winner", 1},
		{"codecraft", "a.replay", b.String(), `{"players":[{},{}],"results":[0,0],"seed":1}`, `[0,0]`, `[0,1]`, "scores in a.json", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			file, results := filepath.Join(dir, c.file), filepath.Join(dir, "a.json")
			require.NoError(t, os.WriteFile(results, []byte(c.results), 0o666))
			require.NoError(t, os.WriteFile(file, []byte(c.text), 0o666))
			report, err := recordings.Verify(t.Context(), file, "")
			require.NoError(t, err)
			require.Nil(t, report.First)
			game := read(t, file)
			assert.Equal(t, c.result, game.Episode.Outcome[0].Result)
			assert.Equal(t, -c.result, game.Episode.Outcome[1].Result)

			wrong, changed := file, strings.Replace(c.text, c.from, c.to, 1)
			if c.results != "" {
				wrong, changed = results, strings.Replace(c.results, c.from, c.to, 1)
			}
			require.NoError(t, os.WriteFile(wrong, []byte(changed), 0o666))
			report, err = recordings.Verify(t.Context(), file, "")
			require.NoError(t, err)
			require.NotNil(t, report.First)
			assert.Equal(t, c.field, report.First.Field)
			assert.Equal(t, 1, report.Different)
			kept := read(t, file)
			assert.Equal(t, sim.Cut, kept.Episode.Status)
			assert.Equal(t, game.Episode.Turns-1, kept.Episode.Turns)
			assert.Contains(t, kept.Episode.Stopped, strings.TrimPrefix(c.field, "scores in "))
			in, err := recordings.Open(t.Context(), file)
			require.NoError(t, err)
			defer in.Close()
			_, err = in.Read(recordings.ReadOptions{}, func(g *recordings.RecordedGame) error { return g.Why })
			assert.ErrorContains(t, err, strings.TrimPrefix(c.field, "scores in "))
		})
	}
}
