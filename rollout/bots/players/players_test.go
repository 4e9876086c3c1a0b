package players

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
	if c.Game, err = catalog.Find(game); err != nil {
		t.Fatal(err)
	}
	g, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
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
			if kind, rest := Split("codecraft", c.text); kind != c.kind || rest != c.rest {
				t.Errorf("%q: %v %q, want %v %q", c.text, kind, rest, c.kind, c.rest)
			}
		})
	}
}

func TestEnterErrors(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Mkdir("mine", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"mine/run.sh", "own.sh"} {
		if err := os.WriteFile(name, []byte("#!/bin/sh\n"), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ game, text, err string }{
		{"terminal", "bot:", "the folder is missing: expected bot:DIR"},
		{"terminal", "bot:nowhere", "there is no folder nowhere"},
		{"terminal", "bot:own.sh", "own.sh is a file: write the folder that it is in, bot:., or start it as a program, ./own.sh"},
		{"terminal", "bot:mine/run.sh", "mine/run.sh is a file: write the folder that it is in, bot:mine, or start it as a program, mine/run.sh"},
		{"towerdefence", "bot:mine/run.sh", "write the folder that it is in, bot:mine,"},
		{"codecraft", "bot:" + dir, "want run.sh, or a file command with a command line, in the folder, found neither"},
		{"codecraft", "bot:nowhere", "there is no folder nowhere"},
		{"codecraft", "tcp:seven", "expected a port"},
		{"codecraft", "tcp:65536", "expected a port"},
		{"terminal", "tcp:1", "bots of Terminal do not connect to a port"},
		{"terminal", "bot:" + dir, "found neither"},
		{"towerdefence", "tcp:1", "bots of Tower Defence do not connect to a port"},
		{"towerdefence", "bot:" + dir, "bot.json"},
		{"towerdefence", "cmd:'", "is not closed"},
		{"terminal", "cmd: ", "want the name of a program"},
		{"tron", "bot:" + dir, "there are bots of towerdefence, terminal, codecraft; tron is played by policies only"},
		{"tron", "mix(1*fast)", `no policy "fast"`},
	} {
		t.Run(c.game+" "+c.text, func(t *testing.T) {
			_, err := open(t, Options{}, c.game).Enter(c.text)
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s %q: %v, want %q", c.game, c.text, err, c.err)
			}
			if errors.As(err, new(*ProgramError)) {
				t.Errorf("%s %q: %v is of a program", c.game, c.text, err)
			}
		})
	}
	for _, game := range BotGames() {
		t.Run(game, func(t *testing.T) {
			var none *ProgramError
			if _, err := open(t, Options{}, game).Enter("./none --fast"); !errors.As(err, &none) || none.Word != "" {
				t.Errorf("%s: %v", game, err)
			}
			for text, want := range map[string]string{"own.sh": "did you mean ./own.sh?", "mine": "did you mean bot:mine?", "mine --fast": "did you mean bot:mine?"} {
				_, err := open(t, Options{}, game).Enter(text)
				if says := err != nil && strings.Contains(err.Error(), want); !says {
					t.Errorf("%s %q: error %v, want one with %q", game, text, err, want)
				}
			}
			if _, err := open(t, Options{}, game).Enter("ecno"); !errors.As(err, &none) || none.Word != "ecno" || len(none.Names) < 4 {
				t.Errorf("%s: %v", game, err)
			}
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
		if err := os.Mkdir(name, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"nets", "my", "nets v2/td.onnx", "my bots/run.sh", "main.py"} {
		if err := os.WriteFile(name, []byte("#!/bin/sh\ntouch started\n"), 0o777); err != nil {
			t.Fatal(err)
		}
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
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s %q: %+v, error %v, want %q", game, text, p, err, want)
				}
			}
			for _, text := range []string{"my main.py", "my --net nets/td.onnx", `"my bots/run.sh" --fast`, "cmd:nets v2/td.onnx", "cmd:my bots/run.sh"} {
				p, err := open(t, Options{}, game).Enter(text)
				if err != nil || p.Kind != Command {
					t.Errorf("%s %q: %+v, %v", game, text, p, err)
				}
			}
		})
	}
	if _, err := os.Stat("started"); err == nil {
		t.Error("a program was started")
	}
}

func TestLimits(t *testing.T) {
	game := open(t, Options{}, "tron").game
	negative := -time.Second
	if _, err := Open(Options{Game: game, Limits: Limits{Answer: &negative}}); err == nil {
		t.Error("a negative limit is taken")
	}
	none, second, bytes := time.Duration(0), time.Second, int64(5)
	l := Limits{Answer: &none, CPU: &second, Memory: &bytes}
	b := l.override(generous(time.Minute, time.Hour))
	if b.Accept != time.Minute || b.Answer != 0 || b.process.CPU != time.Second || b.process.Memory != 5 || b.process.Processes != localProcesses {
		t.Errorf("%+v", b)
	}
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
				if err != nil {
					t.Fatal(err)
				}
				m.Seats = append(m.Seats, p)
			}
			turns, last := 0, 0
			m.Watch = func(turn int, scores []float64) { turns, last = turns+1, turn }
			o, err := g.Play(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			if turns != o.Turns+1 || last != o.Turns || o.Turns < 5 || len(o.Seats) != 2 {
				t.Errorf("%s: %d turns, told %d times, last of turn %d", game, o.Turns, turns, last)
			}
			for i, s := range o.Seats {
				if other := o.Seats[1-i]; s.Result > other.Result && (s.Place != 1 || other.Place != 2) || s.Crash != nil || len(s.Faults) > 0 {
					t.Errorf("%s: %+v", game, o.Seats)
				}
			}
			m.Watch = nil
			again, err := g.Play(t.Context(), m)
			if err != nil || again.Sum != o.Sum || again.Turns != o.Turns {
				t.Errorf("%s: %v, sum %x, then %x", game, err, o.Sum, again.Sum)
			}
			m.Seed = 4
			if other, err := g.Play(t.Context(), m); err != nil || other.Sum == o.Sum {
				t.Errorf("%s: %v; another seed is the same game", game, err)
			}
		})
	}
}

func TestSeats(t *testing.T) {
	g := open(t, Options{}, "tron")
	if _, err := g.Play(t.Context(), &Meeting{}); !errors.Is(err, ErrSeats) {
		t.Error(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
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
				if err != nil {
					t.Fatal(err)
				}
				bot, err := g.Enter("'" + self + "' bot " + kind)
				if err != nil {
					t.Fatal(err)
				}
				o, err := g.Play(t.Context(), &Meeting{Seats: []*Entrant{other, bot}})
				if err != nil {
					t.Fatalf("%s, %s: %v", game, kind, err)
				}
				played := o.Played(schedule.Fixture{Number: 7})
				found := false
				for _, f := range played.Faults {
					found = found || f.Seat == 1 && f.Kind == want && f.Times > 0 && f.Text != ""
				}
				if !found || len(o.Seats[0].Faults) > 0 || played.Number != 7 || len(played.Results) != 2 {
					t.Errorf("%s, %s: %+v", game, kind, played)
				}
			})
		}
	}
}
