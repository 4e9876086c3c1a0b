package players

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/arena/schedule"
)

// towerdefenceBots has bots of Tower Defence, by kind. Each call plays one round.
var towerdefenceBots = map[string]func() int{
	"idles":     func() int { return tell("") },
	"remembers": remembers,
	"builds":    func() int { return tell("0,0,2") },
	"leaves none": func() int {
		fmt.Println("nothing to say")
		return 0
	},
	"errs": func() int { // garbled in the first round, then refused
		if roundShown() == 0 {
			return tell("x,y,z")
		}
		return tell("-1,0,2")
	},
	"fails": func() int { tell("7,7,2"); return 3 },
	"floods": func() int { // fails in every other round, and leaves no command in the rest
		for i := range 1000 {
			fmt.Println("line", i, strings.Repeat("x", 1000))
		}
		return roundShown() % 2
	},
	"thinks": func() int { // hangs in the first round
		if roundShown() == 0 {
			fmt.Println("I think")
			hang()
		}
		return tell("")
	},
	"burns": func() int {
		for end := time.Now().Add(time.Hour); time.Now().Before(end); {
		}
		return 0
	},
}

// roundShown returns the round in state.json, -1 if it cannot be read.
func roundShown() int {
	var state struct{ GameDetails struct{ Round int } }
	text, err := os.ReadFile("state.json")
	if err != nil || json.Unmarshal(text, &state) != nil {
		return -1
	}
	return state.GameDetails.Round
}

// tell writes the command.
func tell(command string) int {
	if err := os.WriteFile("command.txt", []byte(command), 0o666); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// towerdefenceBot returns a bot in a folder of its own.
func towerdefenceBot(t *testing.T, g *Runner, kind string) *Entrant {
	t.Helper()
	self, err := filepath.Abs(os.Args[0])
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	p, err := g.Enter("cmd:'" + self + "' bot '" + kind + "'")
	require.NoError(t, err)
	return p
}

// TestTowerDefenceNames: the match log has the nicknames of bots, their names where different bots have one nickname, and
// a name that was given.
func TestTowerDefenceNames(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a script for sh")
	}
	t.Chdir(t.TempDir())
	for _, dir := range []string{"one/bot", "two/bot"} {
		require.NoError(t, os.MkdirAll(dir, 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "bot.json"), []byte(`{"botLanguage":"rust","botLocation":"/","botFileName":"bot","nickName":"Nick"}`), 0o666))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "bot"), []byte("#!/bin/sh\n"), 0o777))
	}
	g := open(t, Options{Rules: "game.config.max-rounds=1\n"}, "towerdefence")
	for _, c := range []struct{ first, second, want string }{
		{"bot:one/bot", "empty", "A - Nick"}, {"bot:one/bot", "bot:one/bot", "A - Nick"}, {"bot:one/bot", "bot:two/bot", "A - bot_one_bot"}, {"mine=bot:one/bot", "bot:two/bot", "A - mine"},
	} {
		m := &Meeting{}
		for _, text := range []string{c.first, c.second} {
			p, err := g.Enter(text)
			require.NoError(t, err)
			m.Seats = append(m.Seats, p)
		}
		var names []string
		m.Create = func(name string) (io.WriteCloser, error) {
			names = append(names, name)
			return file{&strings.Builder{}}, nil
		}
		_, err := g.Play(t.Context(), m)
		require.NoError(t, err)
		require.NotEmpty(t, names)
		assert.Contains(t, strings.Join(names, "\n"), c.want, "%s against %s", c.first, c.second)
	}
}

// TestTowerDefenceLog: the output of a bot goes to its log, round by round, and to the match
// log if there is one.
func TestTowerDefenceLog(t *testing.T) {
	for _, matchLog := range []bool{false, true} {
		t.Run(fmt.Sprintf("match log %v", matchLog), func(t *testing.T) {
			g := open(t, Options{Rules: "game.config.max-rounds=3\n"}, "towerdefence")
			other, err := g.Enter("empty")
			require.NoError(t, err)
			var log bytes.Buffer
			m := &Meeting{Seats: []*Entrant{other, towerdefenceBot(t, g, "leaves none")}, Log: func(seat int) io.Writer {
				assert.Equalf(t, 1, seat, "seat %d has no bot", seat)
				return &log
			}}
			printed := map[string]*strings.Builder{}
			if matchLog {
				m.Create = func(name string) (io.WriteCloser, error) {
					printed[name] = &strings.Builder{}
					return file{printed[name]}, nil
				}
			}
			o, err := g.Play(t.Context(), m)
			require.NoError(t, err)
			got, want := regexp.MustCompile(`round \d+`).ReplaceAllString(log.String(), "round N"), strings.Repeat("== round N ==\nnothing to say\n== round N: no command ==\n", o.Turns)
			assert.Truef(t, o.Turns == 4 && got == want, "match log %v: %d rounds, %q in the log", matchLog, o.Turns, got)
			rounds := 0
			for _, text := range printed {
				rounds += strings.Count(text.String(), "nothing to say")
			}
			assert.Equalf(t, rounds >= 4, matchLog, "match log %v: it has the output %d times", matchLog, rounds)
		})
	}
}

// file is a file in memory.
type file struct{ *strings.Builder }

// Close implements io.Closer.
func (file) Close() error { return nil }

// TestTowerDefenceFaults: a bot's faults of each kind are one fault with their number, with
// the kinds of all games where one fits. Doing nothing is not a fault.
func TestTowerDefenceFaults(t *testing.T) {
	little := 200 * time.Millisecond
	for _, c := range []struct {
		kind    string
		limits  Limits
		want    string // faults: kind, times, turn
		text    string // the last one's
		crashed bool
	}{
		{"idles", Limits{}, "", "", false},
		{"builds", Limits{}, "illegal 3 1", `refused: "0,0,2"`, false}, // the cell is occupied
		{"leaves none", Limits{}, "missing 4 0", "command.txt: ", false},
		{"errs", Limits{}, "illegal 1 0, illegal 3 1", `refused: "-1,0,2"`, false},
		{"fails", Limits{}, "illegal 3 1, crash 4 0", "", false},
		{"hangs", Limits{Answer: &little}, "timeout 4 0", "did not end within 200ms", false},
		{"hangs", Limits{Game: &little}, "timeout 1 0", "the 200ms for all rounds of a match are used up", true},
		{"burns", Limits{CPU: &little}, "timeout 1 0", "of processor time, the limit is 200ms", true},
	} {
		t.Run(c.kind, func(t *testing.T) {
			if c.limits.CPU != nil && runtime.GOOS != "linux" {
				t.Skip("processor time is measured while the bot runs on Linux alone")
			}
			g := open(t, Options{Rules: "game.config.max-rounds=3\n", Limits: c.limits}, "towerdefence")
			other, err := g.Enter("econ")
			require.NoError(t, err)
			o, err := g.Play(t.Context(), &Meeting{Seats: []*Entrant{other, towerdefenceBot(t, g, c.kind)}})
			require.NoError(t, err)
			own, got, text := o.Seats[1], []string{}, ""
			for _, f := range own.Faults {
				got, text = append(got, fmt.Sprint(f.Kind, " ", f.Times, " ", f.Turn)), f.Text
			}
			slices.Sort(got)
			want := strings.Split(c.want, ", ")
			if slices.Sort(want); strings.Join(got, ", ") != strings.Join(want, ", ") || !strings.Contains(text, c.text) {
				t.Errorf("%+v, want %s: %s", own.Faults, c.want, c.text)
			}
			assert.Truef(t, (own.Crash != nil) == c.crashed && len(o.Seats[0].Faults) == 0 && o.Turns == 4 && o.Seats[0].Score != 0, "%+v", o)
		})
	}
}

// TestTowerDefenceLastLines: only the first fault of each kind keeps the bot's last lines,
// within bounds, however often the bot fails and however much it prints. Faults are also
// reported as they occur.
func TestTowerDefenceLastLines(t *testing.T) {
	while := 5 * time.Second // enough to start and to print a line, on a busy machine too
	for _, c := range []struct {
		kind   string
		limits Limits
		want   map[string]string // by kind of fault: the beginning of the last line
	}{
		{"leaves none", Limits{}, map[string]string{"missing": "nothing to say"}},
		{"thinks", Limits{Answer: &while}, map[string]string{"timeout": "I think"}},
		{"errs", Limits{}, map[string]string{"illegal": ""}},
		{"floods", Limits{}, map[string]string{"missing": "…xx", "crash": "…xx"}},
	} {
		t.Run(c.kind, func(t *testing.T) {
			g := open(t, Options{Rules: "game.config.max-rounds=19\n", Limits: c.limits}, "towerdefence")
			other, err := g.Enter("econ")
			require.NoError(t, err)
			var mu sync.Mutex
			live := map[string][]string{}
			o, err := g.Play(t.Context(), &Meeting{Seats: []*Entrant{other, towerdefenceBot(t, g, c.kind)}, Fault: func(f LiveFault) {
				mu.Lock()
				defer mu.Unlock()
				live[f.Kind] = f.Output
			}})
			require.NoError(t, err)
			require.Equal(t, 20, o.Turns)
			kept := map[string]string{}
			for _, f := range o.Seats[1].Faults {
				kept[f.Kind] = f.Output
				assert.Equal(t, f.Output, strings.Join(live[f.Kind], "\n"), f.Kind)
			}
			assert.Len(t, kept, len(c.want), "%+v", o.Seats[1].Faults)
			for kind, begin := range c.want {
				assert.Contains(t, kept, kind)
				lines := strings.Split(kept[kind], "\n")
				assert.True(t, strings.HasPrefix(lines[len(lines)-1], begin) && (begin == "") == (kept[kind] == ""), "%s: %q", kind, kept[kind])
				assert.LessOrEqual(t, len(lines), 10, kind)
				assert.LessOrEqual(t, len(kept[kind]), 4096, kind)
			}
			line, err := json.Marshal(o.Played(schedule.Fixture{}).Faults)
			require.NoError(t, err)
			assert.Less(t, len(line), 16<<10)
		})
	}
}

// TestTowerDefenceSite: with the limits of the contest's site a bot that leaves no command
// fails, and loses after too many such rounds; a bot that does nothing plays on.
func TestTowerDefenceSite(t *testing.T) {
	answer := time.Minute // this machine may be busy
	for kind, want := range map[string]int{"leaves none": 3, "idles": 6} {
		for site, turns := range map[bool]int{true: want, false: 6} {
			t.Run(fmt.Sprintf("%s, site %v", kind, site), func(t *testing.T) {
				g := open(t, Options{Rules: "game.config.max-rounds=5\ngame.config.max-do-nothings=3\n",
					Limits: Limits{Site: site, Answer: &answer}}, "towerdefence")
				other, err := g.Enter("econ")
				require.NoError(t, err)
				o, err := g.Play(t.Context(), &Meeting{Seats: []*Entrant{towerdefenceBot(t, g, kind), other}})
				require.NoError(t, err)
				assert.Truef(t, o.Turns == turns && o.Seats[1].Place == 1 && o.Seats[0].Place == 2 && o.Seats[0].Crash == nil, "%s, site %v: %+v", kind, site, o)
			})
		}
	}
}

// TestTowerDefenceCopies: copies of a bot's folder are deleted after the game, and the
// folder is not changed.
func TestTowerDefenceCopies(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	g := open(t, Options{Rules: "game.config.max-rounds=1\n"}, "towerdefence")
	p := towerdefenceBot(t, g, "builds")
	_, err := g.Play(t.Context(), &Meeting{Seats: []*Entrant{p, p}, Copies: true})
	require.NoError(t, err)
	for _, dir := range []string{temporary, "."} {
		left, err := os.ReadDir(dir)
		require.NoErrorf(t, err, "%s: %v", dir, left)
		assert.Empty(t, left, dir)
	}
}
