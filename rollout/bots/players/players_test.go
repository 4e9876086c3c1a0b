package players

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env/catalog"
	"moonfarm/rollout/arena/schedule"
)

// botMain is the main function of the test's program as a bot. The kinds "hangs" and
// "leaves" are bots of any game, the others of one game.
func botMain(kind string) int {
	switch kind {
	case "hangs":
		hang()
	case "leaves":
		fmt.Fprintln(os.Stderr, "no time")
		return 3
	case "craft":
		return craft(os.Args[3:])
	case "counts":
		return counts()
	case "algo", "algo-slow":
		return algo(kind == "algo-slow")
	}
	if plays := towerdefenceBots[kind]; plays != nil {
		return plays()
	}
	return 0
}

func open(t *testing.T, c Options, game string) *Runner {
	t.Helper()
	var err error
	c.Game, err = catalog.Find(game)
	require.NoError(t, err)
	g, err := Open(c)
	require.NoError(t, err)
	return g
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		text string
		kind Kind
		rest string
	}{
		{"econ", Policy, "econ"}, {"mix(0.5*econ,0.5*random)", Policy, "mix(0.5*econ,0.5*random)"}, {"econ(", Policy, "econ("},
		{"bot:econ", Folder, "econ"}, {"cmd:econ", Command, "econ"}, {"tcp:econ", Port, "econ"}, {"tcp", Port, ""}, {"tcp:", Port, ""},
		{"./econ", Command, "./econ"}, {"python3 ./a(1)/b.py", Command, "python3 ./a(1)/b.py"}, {"economy", Command, "economy"},
		{"botany", Command, "botany"}, {"", Command, ""}, {`"my nets/a.onnx"(greedy)`, Policy, `"my nets/a.onnx"(greedy)`},
		{"nets/a.ONNX --fast", Policy, "nets/a.ONNX --fast"}, {`"./my bot" --fast`, Command, `"./my bot" --fast`}, {"cmd:a.onnx", Command, "a.onnx"},
	} {
		t.Run(c.text, func(t *testing.T) {
			kind, rest := Split("codecraft", c.text)
			assert.Truef(t, kind == c.kind && rest == c.rest, "%q: %v %q, want %v %q", c.text, kind, rest, c.kind, c.rest)
		})
	}
}

func TestNamed(t *testing.T) {
	for text, want := range map[string][2]string{
		"old=bot:bots/x": {"old", "bot:bots/x"}, "v 1.2=cmd:./x": {"v 1.2", "cmd:./x"}, "debugged=tcp:": {"debugged", "tcp:"},
		"bot:a=bot:b": {"", "bot:a=bot:b"}, "bot:x": {"", "bot:x"}, "a=econ": {"", "a=econ"}, "mcts(sims=2)": {"", "mcts(sims=2)"}, "=bot:x": {"", "=bot:x"},
		"a/b=bot:x": {"", "a/b=bot:x"}, "env A=bot:x": {"env A", "bot:x"},
	} {
		name, rest := cutName(text)
		assert.Equal(t, want, [2]string{name, rest}, text)
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "run.sh"), []byte("#!/bin/sh\n"), 0o777))
	g := open(t, Options{}, "terminal")
	p, err := g.Enter("mine=bot:" + dir)
	require.NoError(t, err)
	assert.True(t, p.Name == "mine" && p.Kind == Folder, "%+v", p)
	_, err = g.Enter("maze=bot:" + dir)
	assert.ErrorContains(t, err, "maze is the name of a policy")
}

// TestShown: names for tables are short and different.
func TestShown(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, c := range []struct{ names, want []string }{
		{[]string{"bot:/home/me/bots/algo", "econ", "tcp:31001"}, []string{"bot:algo", "econ", "tcp:31001"}},
		{[]string{"bot:/v/one/algo/", "bot:/v/two/algo", `bot:C:\v\maze`}, []string{"bot:one/algo", "bot:two/algo", "bot:maze"}},
		{[]string{"bot:algo", "bot:/a/algo", "bot:/b/algo"}, []string{"bot:algo", "bot:a/algo", "bot:b/algo"}},
		{[]string{"bot:/a/algo", "bot:/a/algo #2"}, []string{"bot:algo", "bot:algo #2"}},
		{[]string{"bot:.", "bot:/", "bot:", "bot:/x"}, []string{"bot:.", "bot:/", "bot:", "bot:x"}},
		{[]string{"same", "same"}, []string{"same", "same"}},
		{[]string{long + "1", long + "2"}, []string{long[:21] + "…" + long[:41] + "1", long[:21] + "…" + long[:41] + "2"}},
		{[]string{long[:30] + "1" + long[:60], long[:30] + "2" + long[:60]}, []string{long[:30] + "1" + long[:60], long[:30] + "2" + long[:60]}},
		{nil, []string{}},
	} {
		assert.Equal(t, c.want, Shown(c.names))
	}
}

func TestEnterErrors(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	require.NoError(t, os.Mkdir("mine", 0o777))
	for _, name := range []string{"mine/run.sh", "own.sh"} {
		require.NoError(t, os.WriteFile(name, []byte("#!/bin/sh\n"), 0o777))
	}
	for _, c := range []struct{ game, text, err string }{
		{"terminal", "bot:", "the folder is missing: expected bot:DIR"},
		{"terminal", "bot:nowhere", "there is no folder nowhere"},
		{"terminal", "bot:own.sh", "own.sh is a file: write the folder that it is in, bot:., or start it as a program, ./own.sh"},
		{"terminal", "bot:mine/run.sh", "mine/run.sh is a file: write the folder that it is in, bot:mine, or start it as a program, mine/run.sh"},
		{"towerdefence", "bot:mine/run.sh", "write the folder that it is in, bot:mine,"},
		{"codecraft", "bot:" + dir, "expected run.sh, or a file command with a command line, in the folder, found neither"},
		{"codecraft", "bot:nowhere", "there is no folder nowhere"},
		{"codecraft", "tcp:seven", "expected a port"},
		{"codecraft", "tcp:65536", "expected a port"},
		{"terminal", "tcp:1", "bots of Terminal do not connect to a port"},
		{"terminal", "bot:" + dir, "found neither"},
		{"towerdefence", "tcp:1", "bots of Tower Defence do not connect to a port"},
		{"towerdefence", "bot:" + dir, "bot.json"},
		{"towerdefence", "cmd:'", "is not closed"},
		{"terminal", "cmd: ", "expected the name of a program"},
		{"tron", "bot:" + dir, "there are bots of towerdefence, terminal, codecraft; tron is played by policies only"},
		{"tron", "mix(1*fast)", `no policy "fast"`},
	} {
		t.Run(c.game+" "+c.text, func(t *testing.T) {
			_, err := open(t, Options{}, c.game).Enter(c.text)
			assert.ErrorContainsf(t, err, c.err, "%s %q", c.game, c.text)
			assert.Falsef(t, errors.As(err, new(*ProgramError)), "%s %q: %v is of a program", c.game, c.text, err)
		})
	}
	for _, game := range BotGames() {
		t.Run(game, func(t *testing.T) {
			var none *ProgramError
			_, err := open(t, Options{}, game).Enter("./none --fast")
			assert.Truef(t, errors.As(err, &none) && none.Word == "", "%s: %v", game, err)
			for text, want := range map[string]string{"own.sh": "did you mean ./own.sh?", "mine": "did you mean bot:mine?", "mine --fast": "did you mean bot:mine?"} {
				_, err := open(t, Options{}, game).Enter(text)
				assert.Truef(t, err != nil && strings.Contains(err.Error(), want), "%s %q: error %v, want one with %q", game, text, err, want)
			}
			_, err = open(t, Options{}, game).Enter("ecno")
			assert.Truef(t, errors.As(err, &none) && none.Word == "ecno" && len(none.Names) >= 4, "%s: %v", game, err)
		})
	}
}

// TestAmbiguous: a text that could be meant otherwise than as a command line starts no
// program.
func TestAmbiguous(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, name := range []string{"nets v2", "my bots"} {
		require.NoError(t, os.Mkdir(name, 0o777))
	}
	for _, name := range []string{"nets", "my", "nets v2/td.onnx", "my bots/run.sh", "main.py"} {
		require.NoError(t, os.WriteFile(name, []byte("#!/bin/sh\ntouch started\n"), 0o777))
	}
	for _, game := range BotGames() {
		t.Run(game, func(t *testing.T) {
			for text, want := range map[string]string{
				"nets v2/td.onnx":          `a network or a command line? Write the path of a network in quotes, such as "my nets/small.onnx"(greedy), and a command line as cmd:nets v2/td.onnx`,
				"nets v2/td.ONNX (greedy)": "a network or a command line?",
				"nets v3/gone.onnx":        "a network or a command line?",
				`"nets v2/td.onnx"`:        "nets v2/td.onnx: onnx: ",
				"my bots/run.sh":           `there is a file "my bots/run.sh"; a path with blanks needs quotes around it`,
				"my bots/run.sh --fast":    `there is a file "my bots/run.sh"`,
				"my bots":                  "a folder; did you mean bot:my bots?",
			} {
				p, err := open(t, Options{}, game).Enter(text)
				assert.ErrorContainsf(t, err, want, "%s %q: %+v", game, text, p)
			}
			for _, text := range []string{"my main.py", "my --net nets/td.onnx", `"my bots/run.sh" --fast`, "cmd:nets v2/td.onnx", "cmd:my bots/run.sh"} {
				p, err := open(t, Options{}, game).Enter(text)
				require.NoErrorf(t, err, "%s %q: %+v", game, text, p)
				assert.Equalf(t, Command, p.Kind, "%s %q: %+v", game, text, p)
			}
		})
	}
	_, err := os.Stat("started")
	assert.Error(t, err, "a program was started")
}

func TestLimits(t *testing.T) {
	game := open(t, Options{}, "tron").game
	negative := -time.Second
	_, err := Open(Options{Game: game, Limits: Limits{Answer: &negative}})
	assert.Error(t, err, "a negative limit is taken")
	none, second, bytes := time.Duration(0), time.Second, int64(5)
	l := Limits{Answer: &none, CPU: &second, Memory: &bytes}
	b := l.override(generous(time.Minute, time.Hour))
	assert.Truef(t, b.Accept == time.Minute && b.Answer == 0 && b.process.CPU == time.Second && b.process.Memory == 5 && b.process.Processes == localProcesses, "%+v", b)
}

// TestPolicies: policies play each game; the player with the better result has the better
// place; the same seed gives the same game.
func TestPolicies(t *testing.T) {
	for game, texts := range map[string][]string{
		"towerdefence": {"econ", "random"}, "terminal": {"maze", "random"}, "codecraft": {"econ", "empty"}, "tron": {"safe", "random"},
	} {
		t.Run(game, func(t *testing.T) {
			g := open(t, Options{Rules: map[string]string{"codecraft": "max_tick_count=60\n"}[game]}, game)
			m := &Meeting{Seed: 3}
			for _, text := range texts {
				p, err := g.Enter(text)
				require.NoError(t, err)
				m.Seats = append(m.Seats, p)
			}
			turns, last := 0, 0
			m.Watch = func(turn int, scores []float64) { turns, last = turns+1, turn }
			o, err := g.Play(t.Context(), m)
			require.NoError(t, err)
			assert.Truef(t, turns == o.Turns+1 && last == o.Turns && o.Turns >= 5 && len(o.Seats) == 2, "%s: %d turns, told %d times, last of turn %d", game, o.Turns, turns, last)
			for i, s := range o.Seats {
				other := o.Seats[1-i]
				assert.Truef(t, (s.Result <= other.Result || s.Place == 1 && other.Place == 2) && s.Crash == nil && len(s.Faults) == 0, "%s: %+v", game, o.Seats)
			}
			m.Watch = nil
			again, err := g.Play(t.Context(), m)
			require.NoErrorf(t, err, "%s", game)
			assert.Truef(t, again.Sum == o.Sum && again.Turns == o.Turns, "%s, sum %x, then %x", game, o.Sum, again.Sum)
			m.Seed = 4
			other, err := g.Play(t.Context(), m)
			require.NoErrorf(t, err, "%s", game)
			assert.NotEqualf(t, o.Sum, other.Sum, "%s; another seed is the same game", game)
		})
	}
}

func TestSeats(t *testing.T) {
	g := open(t, Options{}, "tron")
	_, err := g.Play(t.Context(), &Meeting{})
	assert.ErrorIs(t, err, ErrSeats)
	for seats := 1; seats <= 4; seats++ {
		if g := open(t, Options{Rules: "finals", Seats: seats}, "codecraft"); g.Seats != seats {
			t.Errorf("%d seats, want %d", g.Seats, seats)
		}
	}
	if g := open(t, Options{Rules: "round1-4", Seats: 2}, "codecraft"); g.Seats != 4 {
		t.Errorf("%d seats, want 4", g.Seats)
	}
}

// TestFaults: faults of bots are reported with seat, turn and kind in every game.
func TestFaults(t *testing.T) {
	self, err := filepath.Abs(os.Args[0])
	require.NoError(t, err)
	t.Chdir(t.TempDir()) // bots of Tower Defence work in the current folder
	for _, game := range BotGames() {
		for kind, want := range map[string]string{"leaves": FaultCrash, "hangs": FaultTimeout} {
			t.Run(game+" "+kind, func(t *testing.T) {
				limit := time.Minute
				if kind == "hangs" {
					limit = 100 * time.Millisecond
				}
				c := Options{Limits: Limits{Answer: &limit, Accept: &limit}}
				if game == "codecraft" {
					c.Rules = "max_tick_count=5\n"
				}
				if game == "towerdefence" {
					c.Rules = "game.config.max-rounds=3\n"
				}
				g := open(t, c, game)
				other, err := g.Enter("random")
				require.NoError(t, err)
				bot, err := g.Enter("'" + self + "' bot " + kind)
				require.NoError(t, err)
				o, err := g.Play(t.Context(), &Meeting{Seats: []*Entrant{other, bot}})
				require.NoErrorf(t, err, "%s, %s", game, kind)
				played := o.Played(schedule.Fixture{Number: 7})
				found := false
				for _, f := range played.Faults {
					found = found || f.Seat == 1 && f.Kind == want && f.Times > 0 && f.Text != ""
				}
				assert.Truef(t, found && len(o.Seats[0].Faults) == 0 && played.Number == 7 && len(played.Results) == 2, "%s, %s: %+v", game, kind, played)
			})
		}
	}
}

// TestOverhead: a turn takes at most 2 ms longer than its bot, which answers at once, or than the start of its program in a
// round. Other programs may disturb most of the turns, or of the games, so the fast ones count.
func TestOverhead(t *testing.T) {
	if os.Getenv("MOONFARM_LONG") == "" {
		t.Skip("times games: other work of the machine can break the bars")
	}
	self, err := filepath.Abs(os.Args[0])
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	for game, bot := range map[string]string{"towerdefence": "idles", "terminal": "counts", "codecraft": "craft"} {
		t.Run(game, func(t *testing.T) {
			g := open(t, Options{Rules: map[string]string{"codecraft": "finals"}[game]}, game)
			m := &Meeting{}
			for _, text := range []string{"'" + self + "' bot " + bot, "random"} {
				p, err := g.Enter(text)
				require.NoError(t, err)
				m.Seats = append(m.Seats, p)
			}
			const bar = 2 * time.Millisecond
			beyond := time.Hour
			for k := 0; k < 20 && beyond > bar; k++ {
				var took, alone []time.Duration
				var last time.Time
				m.Watch = func(int, []float64) {
					begin := time.Now()
					if !last.IsZero() {
						took = append(took, begin.Sub(last))
					}
					if game == "towerdefence" {
						assert.NoError(t, exec.Command(self, "bot", bot).Run())
					}
					last = time.Now()
					alone = append(alone, last.Sub(begin))
				}
				o, err := g.Play(t.Context(), m)
				require.NoError(t, err)
				require.Nil(t, o.Seats[0].Crash)
				slices.Sort(took)
				slices.Sort(alone)
				beyond = min(beyond, took[len(took)/8]-alone[len(alone)/8])
			}
			assert.LessOrEqual(t, beyond, bar)
			t.Logf("%v a turn", beyond)
		})
	}
}
