package command

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/cmd/moonfarm/internal/commandtest"
	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/sim/simtest"
	"moonfarm/sim/unzip"
)

// shownFilm is what a page has of a game.
type shownFilm struct {
	Printed bool
	Marks   []struct {
		Turn, Seat int
		Kind, Note string
	}
	Stats []struct {
		Name string
		Seat int
	}
	frames struct {
		Printed [][]*struct {
			Lines []string
			Left  int
		}
	}
	stats struct{ Turns [][]*float64 }
}

// pageOf makes a page without a server, and returns what it has of a game.
func pageOf(t *testing.T, game uint64, args ...string) (f shownFilm) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	moonfarm(t, console.ExitOK, append([]string{"view", "--out", file}, args...)...)
	found := regexp.MustCompile(`(?s) id="moonfarm-data">(.*?)</script>`).FindStringSubmatch(string(simtest.Text(t, file)))
	require.NotNil(t, found)
	var packed map[string]string
	require.NoError(t, json.Unmarshal([]byte(found[1]), &packed))
	for name, into := range map[string]any{"film.json?game=%d": &f, "stats.json?game=%d": &f.stats, "frames.json?game=%d&seat=-1&from=0": &f.frames} {
		in, err := unzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed[fmt.Sprintf(name, game)])))
		require.NoError(t, err)
		require.NoError(t, json.NewDecoder(in).Decode(into))
	}
	return f
}

// linesOf returns the lines of a seat by position; "" for positions without any.
func (s *shownFilm) linesOf(seat int) (all []string) {
	for _, seats := range s.frames.Printed {
		text := ""
		if seats != nil && seats[seat] != nil {
			text = strings.Join(seats[seat].Lines, "|")
		}
		all = append(all, text)
	}
	return all
}

// numbers returns the numbers that the names of files begin with.
func numbers(t *testing.T, pattern string) (all []uint64) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	for _, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		n, err := strconv.ParseUint(name, 10, 64)
		require.NoError(t, err)
		all = append(all, n)
	}
	require.NotEmpty(t, all)
	return all
}

// TestViewOutput: pages of recordings and of tournaments have what real bots wrote to standard error, turn by turn.
func TestViewOutput(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the bot here is a script of sh")
	}
	t.Chdir(t.TempDir())
	commandtest.WriteFiles(t, ".", map[string]string{"short.properties": "game.config.max-rounds=5\n", "bot.sh": `echo "<b>$(grep -o '"round":[0-9]*' state.json)" >&2
echo > command.txt
`})
	finish(t, "match", "towerdefence", "--rules", "short.properties", "--player", "sh bot.sh", "--player", "empty", "--games", "2", "--save-replay", "log-{game}", "--logs", "logs")
	want := []string{"", `<b>"round":0`, `<b>"round":1`, `<b>"round":2`}
	rules := []string{"--rules", "short.properties"}
	for game, seat := range []int{0, 1} {
		f := pageOf(t, 0, append(rules, fmt.Sprintf("log-%04d", game+1))...)
		assert.True(t, f.Printed)
		assert.Equal(t, want, f.linesOf(seat)[:4], "of the match log")
		assert.Equal(t, make([]string, 4), f.linesOf(1 - seat)[:4])
	}
	finish(t, "eval", "towerdefence", "--rules", "short.properties", "--player", "sh bot.sh", "--player", "empty", "--games", "2", "--out", "cup")
	f := pageOf(t, numbers(t, "cup/replays/*")[0], "cup")
	seat := slices.IndexFunc([]int{0, 1}, func(p int) bool { return f.linesOf(p)[1] != "" })
	require.GreaterOrEqual(t, seat, 0, "%+v", f.frames.Printed)
	assert.Equal(t, want, f.linesOf(seat)[:4])

	_, text := said(t, console.ExitUsage, "view", "log-0001", "--rules", "short.properties", "--log", "a", "--log", "b", "--log", "c")
	assert.Contains(t, text, "--log: found 3, the game has 2 seats")
	_, text = said(t, console.ExitFailure, "view", "log-0001", "--rules", "short.properties", "--log", "none.log")
	assert.Contains(t, text, "--log: open none.log: ")
	_, text = said(t, console.ExitFailure, "view", "log-0001", "--rules", "short.properties", "--log", "logs")
	assert.Contains(t, text, "logs: expected a file, found a folder")
	_, text = said(t, console.ExitUsage, "view", "log-0001", "--rules", "short.properties", "--log", "logs/game-0001-player-1.log", "--tty")
	assert.Contains(t, text, "--log: it is shown on pages of recorded games")
	_, text = said(t, console.ExitUsage, "view", "cup", "--log", "logs/game-0001-player-1.log")
	assert.Contains(t, text, "cup is a tournament, which has its own logs")
}

// TestViewLog: replays that have no output are shown with the logs of match and eval.
func TestViewLog(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("lines can be read late here")
	}
	t.Chdir(t.TempDir())
	commandtest.WriteFiles(t, ".", map[string]string{"short": "moonfarm.maxTurns=4\n"})
	finish(t, "match", "terminal", "--rules", "short", "--player", "starter", "--player", "algobot plays", "--save-replay", "game.replay", "--logs", "logs")
	assert.False(t, pageOf(t, 0, "game.replay").Printed)
	f := pageOf(t, 0, "game.replay", "--log", "", "--log", "logs/game-0001-player-2.log")
	assert.Equal(t, []string{"", "turn 0", "turn 1", "turn 2", "turn 3"}, f.linesOf(1))
	assert.Equal(t, make([]string, 5), f.linesOf(0))
	finish(t, "eval", "terminal", "--rules", "short", "--players", "starter", "--player", "algobot crashes", "--games", "2", "--out", "cup")
	found := 0
	for _, game := range numbers(t, "cup/replays/*.replay") {
		found++
		f := pageOf(t, game, "cup")
		require.NotEmpty(t, f.Marks, "the crash")
		seat := f.Marks[0].Seat
		assert.Equal(t, []string{"", "turn 0", "turn 1", "a stone is in the way"}, f.linesOf(seat))
		assert.Equal(t, make([]string, 4), f.linesOf(1-seat))
		assert.Equal(t, "fault", f.Marks[0].Kind)
		assert.Equal(t, 2, f.Marks[0].Turn)
	}
	assert.Equal(t, 2, found)
}

// TestViewAnalysis: what analyse prints becomes marks and a series of its game, also where it was interrupted.
func TestViewAnalysis(t *testing.T) {
	t.Chdir(t.TempDir())
	blundered(t, "game.jsonl", "mcts(sims=12)", 45)
	text := moonfarm(t, console.ExitOK, "analyse", "game.jsonl", "--policy", "mcts(sims=12)", "--turns", "43-46", "--json")
	commandtest.WriteFiles(t, ".", map[string]string{"found.json": text})
	f := pageOf(t, 0, "game.jsonl", "--analysis", "found.json")
	require.Len(t, f.Marks, 1)
	m := f.Marks[0]
	assert.True(t, m.Turn == 45 && m.Seat == 0 && m.Kind == "worst", "%+v", m)
	assert.Regexp(t, `^lost 0\.\d{3}: played deconstruct \d,\d \([-+]0\.\d{3}\), best .+ \([-+]0\.\d{3}\)$`, m.Note)
	last := len(f.Stats) - 2
	assert.True(t, f.Stats[last].Name == "search value" && f.Stats[last].Seat == 0 && f.Stats[last+1].Seat == 1, "%+v", f.Stats)
	var d analysed
	require.NoError(t, json.Unmarshal([]byte(text), &d))
	for n, values := range f.stats.Turns {
		for p, v := range values[last:] {
			if n < 43 || n > 46 {
				assert.Nil(t, v, "turn %d", n)
			} else if assert.NotNil(t, v, "turn %d", n) {
				assert.InDelta(t, d.Turns[n-43].Seats[p].Value, *v, 1e-6)
			}
		}
	}

	for _, c := range []struct {
		name   string
		change func(d *analysed)
		want   string
	}{
		{"partial", func(d *analysed) { d.Partial, d.Turns = true, d.Turns[2:] }, ""},
		{"another game", func(d *analysed) { d.Game = "terminal" }, `it is of game 1: it belongs to another game than game 1 of game.jsonl: it is of "terminal", the game is one of towerdefence`},
		{"another length", func(d *analysed) { d.Length++ }, "turns, the game has "},
		{"other seats", func(d *analysed) { d.Seats = d.Seats[:1] }, "it has 1 seat, the game has 2"},
		{"another player", func(d *analysed) { d.Seats[1].Player = "x" }, `its player at seat B is "x", that of the game "careful"`},
		{"number 0", func(d *analysed) { d.Number = 0 }, "it is an analysis of an episode, or damaged"},
		{"number 2", func(d *analysed) { d.Number = 2 }, "it is of game 2, game.jsonl has 1 game"},
		{"no length", func(d *analysed) { d.Length = 0 }, "found one without game, length or seats"},
		{"turns in disorder", func(d *analysed) { d.Turns[1].Turn = 43 }, "damaged: turn 43 after turn 43 of "},
		{"a turn beyond", func(d *analysed) { d.Turns[3].Turn = d.Length }, "damaged: turn "},
		{"a seat missing", func(d *analysed) { d.Turns[1].Seats = d.Turns[1].Seats[:1] }, "damaged: turn 44 has 1 seat"},
		{"a value", func(d *analysed) { d.Turns[1].Seats[0].Value = 1e300 }, "damaged: turn 44, seat A: another seat, or values out of their range"},
		{"a seat", func(d *analysed) { d.Seats[0].Seat = 1 }, "damaged: seat 1 where seat 0 belongs"},
		{"a worst turn", func(d *analysed) { d.Seats[1].Worst = []int{7} }, "damaged: turn 7 is among the worst turns of seat B, but not among the turns"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d analysed
			require.NoError(t, json.Unmarshal([]byte(text), &d))
			c.change(&d)
			changed, err := json.Marshal(&d)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile("changed.json", changed, 0o666))
			if c.want == "" {
				assert.Len(t, pageOf(t, 0, "game.jsonl", "--analysis", "changed.json").Marks, 1)
				return
			}
			_, said := said(t, console.ExitFailure, "view", "game.jsonl", "--out", "x.html", "--analysis", "changed.json")
			assert.Contains(t, said, "--analysis changed.json: ")
			assert.Contains(t, said, c.want)
			assert.NoFileExists(t, "x.html")
		})
	}
	_, said1 := said(t, console.ExitFailure, "view", "game.jsonl", "--analysis", "game.jsonl")
	assert.Contains(t, said1, "expected the object that analyse --json prints")
}

// TestViewAnalysisOrders: long orders and orders of strangers become one short line.
func TestViewAnalysisOrders(t *testing.T) {
	m := analysedMove{Lost: 0.5, Played: analysedOrders{Orders: []string{strings.Repeat("é", 500), "b"}}, Best: analysedOrders{Orders: []string{"a\n\u202e<b>", "c"}, Value: 1}}
	assert.Equal(t, "lost 0.500: played "+strings.Repeat("é", 99)+"… (0.000), best a \uFFFD<b>, c (+1.000)", m.note())
}

// TestViewAnalysisDataset: the analysis of an episode is shown with it, beside the search of the episode itself.
func TestViewAnalysisDataset(t *testing.T) {
	t.Chdir(t.TempDir())
	moonfarm(t, console.ExitOK, "generate", "towerdefence", "--policy", "mcts(sims=5)", "--episodes", "3", "--max-turns", "20", "--obs", "none", "--out", "a")
	text := moonfarm(t, console.ExitOK, "analyse", "a", "--policy", "mcts(sims=40)", "--episode", "2", "--worst", "8", "--json")
	commandtest.WriteFiles(t, ".", map[string]string{"found.json": text})
	f := pageOf(t, 2, "a", "--analysis", "found.json")
	assert.NotEmpty(t, f.Marks)
	assert.True(t, slices.IsSortedFunc(f.Marks, func(a, b struct {
		Turn, Seat int
		Kind, Note string
	}) int {
		return a.Turn - b.Turn
	}))
	var names []string
	for _, s := range f.Stats[len(f.Stats)-4:] {
		names = append(names, s.Name)
	}
	assert.Equal(t, []string{"search value", "search value", "search value of the analysis", "search value of the analysis"}, names)
	assert.Empty(t, pageOf(t, 1, "a", "--analysis", "found.json").Marks, "of another episode")
	assert.NotEmpty(t, pageOf(t, 2, "a", "--episodes", "2", "--analysis", "found.json").Marks)
	_, text = said(t, console.ExitFailure, "view", "a", "--episodes", "1", "--analysis", "found.json")
	assert.Contains(t, text, "--analysis found.json: it is of episode 2, which --episodes leaves out")
	_, text = said(t, console.ExitUsage, "view", "a", "--analysis", "found.json", "--gif", "x.gif")
	assert.Contains(t, text, "--analysis: it is shown on pages of recorded games")
	_, text = said(t, console.ExitUsage, "view", "towerdefence", "--players", "econ", "--analysis", "found.json")
	assert.Contains(t, text, "--analysis and --log are for recorded games, towerdefence is played now")
	_, text = said(t, console.ExitUsage, "view", "a", "--log", "found.json")
	assert.Contains(t, text, "--log is for recordings; a is a dataset")
}
