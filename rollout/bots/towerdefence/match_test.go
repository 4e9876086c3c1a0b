package towerdefence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/rollout/bots"
	"moonfarm/rollout/bots/child"
	"moonfarm/rollout/policy"
	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire/matchlog"
	"moonfarm/sim/towerdefence/wire/referee"
)

func maker(t testing.TB, spec string) rollout.Maker {
	t.Helper()
	m, err := policy.New("towerdefence", spec)
	require.NoError(t, err)
	return m
}

// stateOf returns the state of the game that a match plays.
func stateOf(v env.Vector) *towerdefence.State {
	states, _ := env.States[towerdefence.State](v)
	return &states[0]
}

// TestGame: with a bot at each seat their files and their output are in the log, and their
// commands reach the game.
func TestGame(t *testing.T) {
	a := scripted(t, "seen", quoted("0,0,2", "7,7,1", "\n1", "3,3,0\n1,1,1", "1,1,2")...)
	b := scripted(t, "seen", quoted("1,0,2", "No Command", "6,2,1", "7,2,1")...)
	m := &Match{Rules: rules(9), Seats: []Seat{{Program: a, Name: "Ann"}, {Program: b}}}
	m.Rules.SetStart([2]int{200, 300}, [2]int{100, 50})
	var seen []towerdefence.State
	m.Watch = func(v env.Vector) error { seen = append(seen, *stateOf(v)); return nil }
	r, l := play(t, m)
	require.Truef(t, r.Turns == 10 && r.Status == sim.Over && r.Final.End == referee.EndMaxRounds && len(seen) == 11, "%+v, %+v, %d watched", r.Result, r.Final, len(seen))
	players := []string{"A - Ann", "B - " + b.Name}
	for round := range 10 {
		for i, p := range []*Program{a, b} {
			for file, name := range map[string]string{stateFile: "JsonMap.json", textFile: "TextMap.txt"} {
				got := read(t, filepath.Join(p.Dir, fmt.Sprintf("seen-%03d-%s", round, file)))
				if want := l.text(t, round, players[i], name); got != want {
					t.Fatalf("round %d, %s: the bot was shown\n%s\nthe log has\n%s", round, players[i], got, want)
				}
			}
		}
	}
	commands := ""
	for round := range 6 {
		commands += l.text(t, round, players[0], "PlayerCommand.txt") + " " + l.text(t, round, players[1], "PlayerCommand.txt") + ";"
	}
	assert.Equal(t, "0,0,2 1,0,2;7,7,1 No Command; 6,2,1;3,3,0 7,2,1;1,1,2 7,2,1;1,1,2 7,2,1;", commands, "commands")
	assert.Equal(t, "line \"7,7,1\"\n", l.text(t, 1, players[0], "Console/BotOutput.txt"), "printed")
	last := seen[10].Half
	k, ok := last[0].Kind(3*8 + 3)
	assert.Truef(t, k == towerdefence.Defense && ok && last[1].Standing(towerdefence.Attack) != 0, "boards %+v", last)
	for i, rec := range r.Records {
		clean(t, rec, Refused)
		if rec.Rounds != 10 || rec.Longest <= 0 || r.Used[i] < rec.Longest || r.Crashes[i] != nil || len(rec.Lines) != 1 {
			t.Errorf("seat %d: %+v, used %v, crash %v", i, rec, r.Used[i], r.Crashes[i])
		}
	}
	if f := r.Records[0].Faults[Refused]; f.Count != 5 || f.Round != 5 || f.Text != `"1,1,2"` { // the cell is occupied
		t.Errorf("refused %+v", f)
	}
}

// TestCommands: the command of a bot is read as the original reads it, and its faults are
// counted and named.
func TestCommands(t *testing.T) {
	for _, c := range []struct {
		line, want string
		kind       FaultKind // Kinds: no fault
		text       string
		failures   int // after two rounds
	}{
		{`"1,1,2"`, "1,1,2", Refused, `"1,1,2"`, 1}, // in the second round
		{`""`, "No Command", FaultKinds, "", 0},
		{`" \t\r\n\u3000\n"`, "No Command", FaultKinds, "", 0},
		{`"No Command"`, "No Command", FaultKinds, "", 0},
		{`"\n1,2,0"`, "", FaultKinds, "", 0},
		{`-`, "", Missing, "command.txt: no such file or directory", 0},
		{`7`, "No Command", Failed, "exit status 7: I give up", 0},
		{`"1,1,2\n\xff"`, "No Command", Garbled, "command.txt is not UTF-8: the original takes no command from it", 0},
		{`"1,\xff,2"`, "No Command", Garbled, "command.txt is not UTF-8: the original takes no command from it", 0},
		{`"0,0"`, "0,0", Garbled, `"0,0"`, 4},
		{`"-1,0,2"`, "-1,0,2", Refused, `"-1,0,2"`, 1},
		{`"Exception"`, "Exception", Garbled, `"Exception"`, 2},
		{`"` + strings.Repeat("x,", 9000) + `"`, strings.Repeat("x,", maxCommand/2), Garbled, `"` + strings.Repeat("x,", 30) + `"…`, 4},
	} {
		t.Run(fmt.Sprintf("%.60s", c.line), func(t *testing.T) {
			m := &Match{Rules: rules(1), Seats: []Seat{{}, {Program: scripted(t, "script", c.line)}}}
			failures := 0
			m.Watch = func(v env.Vector) error { failures = int(stateOf(v).Half[1].Failures); return nil }
			r, l := play(t, m)
			name := "B - " + m.Seats[1].Program.Name
			got := l.text(t, 0, name, "PlayerCommand.txt")
			assert.Truef(t, got == c.want && failures == c.failures, "%.60s: command %.60q, want %.60q; %d failures, want %d", c.line, got, c.want, failures, c.failures)
			rec := r.Records[1]
			clean(t, rec, c.kind)
			if c.kind != FaultKinds && rec.Faults[c.kind].Text != c.text {
				t.Errorf("%.60s: %v: %+v, want %q", c.line, c.kind, rec.Faults[c.kind], c.text)
			}
		})
	}
}

// TestTournament: with Tournament a bot that leaves no command fails, and the match ends
// after too many such rounds, also if the bot cannot be started at all.
func TestTournament(t *testing.T) {
	for _, kind := range []string{"-", "leaves"} {
		t.Run(kind, func(t *testing.T) {
			m := &Match{Rules: rules(400), Tournament: true, Seats: []Seat{{Program: scripted(t, "script", kind)}, {}}}
			m.Rules.MaxDoNothings = 6
			if kind == "leaves" {
				m.Seats[0].Program = bot(t, "leaves")
			}
			r, l := play(t, m)
			assert.Truef(t, r.Turns == 6 && r.Final.End == referee.EndTimeout && r.Records[0].Faults[Missing].Count != 0, "%s: %d rounds, %+v, %+v", kind, r.Turns, r.Final, r.Records[0])
			assert.Equalf(t, "Exception", l.text(t, 5, "A - "+m.Seats[0].Program.Name, "PlayerCommand.txt"), "%s: command", kind)
			end := string(l.files["Round 006/endGameState.txt"].Data)
			assert.Truef(t, strings.HasPrefix(end, "Bot did nothing too many consecutive rounds\n\n"), "%s: %q", kind, end)
			assert.Equalf(t, kind == "leaves", r.Crashes[0] != nil, "%s: crash %+v", kind, r.Crashes[0])
		})
	}
}

// TestAborted: a command of commas aborts the match: there is no result, and the log has no
// end.
func TestAborted(t *testing.T) {
	m := &Match{Rules: rules(400), Seats: []Seat{
		{Program: scripted(t, "script", quoted("0,0,2", "-1,0,2", ",,")...)},
		{Program: scripted(t, "script", quoted("0,0,2", "-1,0,2")...)},
	}}
	r, l := play(t, m)
	assert.Truef(t, r.Turns == 3 && r.Status == sim.Cut && r.Final.End == referee.EndAborted, "%+v, %+v", r.Result, r.Final)
	clean(t, r.Records[0], Garbled, Refused)
	clean(t, r.Records[1], Refused) // in round 1; round 2 was never played
	a, b := &r.Records[0].Faults, &r.Records[1].Faults
	assert.Truef(t, a[Garbled].Count == 1 && a[Garbled].Round == 2 && a[Refused].Count == 1 && b[Refused].Count == 1, "%+v, %+v", a, b)
	_, ok := l.files["Round 003/endGameState.txt"]
	assert.False(t, ok, "the log has an end")
}

// TestPolicies: a match of policies is reproducible and has a log.
func TestPolicies(t *testing.T) {
	m := &Match{Rules: rules(400), Seed: 7, Seats: []Seat{{Policy: maker(t, "econ")}, {Policy: maker(t, "mix(0.7*turtle,0.3*random)")}}}
	r, l := play(t, m)
	assert.Truef(t, r.Turns >= 30 && r.Final.End != "" && r.Final.Winner != referee.Tie && r.Records == [2]*Record{} && len(l.files) == 10*(r.Turns+1)+2, "%+v, %+v, %d files", r.Result, r.Final, len(l.files))
	again, _ := play(t, m)
	assert.Truef(t, again.Final == r.Final && again.Score == r.Score && again.Health == r.Health, "first %+v, then %+v", r, again)
}

// TestAgainstPolicy: in a match of a bot against a policy the bot's faults are counted, and
// the log can be read as a match of 3.0.2.
func TestAgainstPolicy(t *testing.T) {
	b := scripted(t, "script", append(quoted("0,0,2", "", "x,y,z", "-5,0,2"), "-", "3", `"1,1,2"`)...)
	m := &Match{Rules: rules(400), Seats: []Seat{{Program: b}, {Policy: maker(t, "rush")}}}
	r, l := play(t, m)
	assert.Truef(t, r.Final.End == referee.EndDead && r.Final.Winner == referee.WinnerB && r.Health[0] == 0 && r.Score[1] != 0, "%+v, %+v", r.Final, r)
	f := &r.Records[0].Faults
	for k, want := range map[FaultKind]int{Garbled: 1, Missing: 1, Failed: 1, Late: 0} {
		assert.Equalf(t, want, f[k].Count, "%v: %+v", k, f[k])
	}
	got := l.text(t, 4, "A - "+b.Name, "PlayerCommand.txt")
	assert.Equalf(t, "", got, "command %q where there was none", got)
	log, err := matchlog.Read(l.files)
	require.NoErrorf(t, err, "%+v", log)
	assert.Truef(t, log.Final != nil && log.Final.Score == r.Score && log.Names == [2]string{b.Name, "policy"}, "%+v", log)
}

// TestGameLimit: a bot whose rounds together take too long is not asked again; the other bot
// plays to the end.
func TestGameLimit(t *testing.T) {
	m := &Match{Rules: rules(30), Seats: []Seat{
		{Program: bot(t, "sleeps", "40ms"), Limits: bots.Limits{Game: 200 * time.Millisecond, Answer: ample}},
		{Program: scripted(t, "script", quoted("0,0,2")...)},
	}}
	r, _ := play(t, m)
	c := r.Crashes[0]
	assert.Truef(t, c != nil && c.Err.Error() == "the 200ms for all rounds of a match are used up" && c.Turn <= r.Records[0].Rounds && c.Turn <= 6, "crash %+v, %+v", c, r.Records[0])
	assert.Truef(t, r.Turns == 31 && r.Records[1].Rounds == 31 && r.Score[1] != 0, "%d rounds, %+v", r.Turns, r.Records[1])
	m.Seats[0].Program = bot(t, "sleeps", "1h")
	r, _ = play(t, m)
	if c, rec := r.Crashes[0], r.Records[0]; c == nil || c.Turn != 0 || rec.Rounds != 1 || !reflect.DeepEqual(rec.Faults, [FaultKinds]Faults{}) ||
		c.Err.Error() != "the 200ms for all rounds of a match are used up" {
		t.Errorf("crash %+v, %+v", c, rec)
	}
}

// TestLogError: a match whose log cannot be written is not played to its end.
func TestLogError(t *testing.T) {
	seen, files := 0, 0
	full := errors.New("disk full")
	m := &Match{Rules: rules(400), Seats: make([]Seat, 2)}
	m.Watch = func(env.Vector) error { seen++; return nil }
	m.Create = func(string) (io.WriteCloser, error) {
		if files++; files > 25 {
			return nil, full
		}
		return &logFile{log: &log{files: fstest.MapFS{}}}, nil
	}
	_, err := m.Play(t.Context())
	assert.Truef(t, errors.Is(err, full) && seen <= 6+maxQueued && files == 26, "error %v after %d rounds and %d files", err, seen, files)
}

// TestInterrupt: a match that is interrupted ends at once.
func TestInterrupt(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	b := bot(t, "sleeps", "1h")
	begun := filepath.Join(b.Dir, "begun")
	go func() {
		assert.Eventually(t, func() bool { _, err := os.Stat(begun); return err == nil }, ample, time.Millisecond)
		cancel(cause)
	}()
	begin := time.Now()
	_, err := (&Match{Rules: rules(400), Seats: []Seat{{Program: b}, {}}}).Play(ctx)
	assert.Truef(t, errors.Is(err, cause) && time.Since(begin) <= 2*ample, "%v after %v", err, time.Since(begin))
	gone(t, b)
}

func TestRefusedMatches(t *testing.T) {
	stop := errors.New("stop")
	b := bot(t, "empty")
	away := *b
	away.Work = filepath.Join(b.Dir, "away")
	outside := *b
	outside.Dir = t.TempDir()
	for _, c := range []struct {
		match Match
		want  string
	}{
		{Match{Rules: rules(9), Seats: make([]Seat, 3)}, "3 seats for a game of 2 players"},
		{Match{Seats: make([]Seat, 2)}, "max-rounds"},
		{Match{Rules: rules(9), Seats: []Seat{{}, {Program: b, Policy: maker(t, "rush")}}}, "seat 2: a policy and a bot"},
		{Match{Rules: rules(9), Seats: []Seat{{}, {Limits: bots.Limits{Game: -1}}}}, "seat 2: a negative limit"},
		{Match{Rules: rules(9), Seats: []Seat{{Program: b, Process: child.Limits{CPU: -1}}, {}}}, "seat 1: the host: a negative limit"},
		{Match{Rules: rules(9), Seats: []Seat{{Program: &away}, {}}}, "seat 1: lstat " + away.Work},
		{Match{Rules: rules(9), Seats: []Seat{{Program: &outside, Copy: true}, {}}}, "outside of its folder"},
		{Match{Rules: rules(9), Seats: make([]Seat, 2), Hooks: bots.Hooks{Watch: func(env.Vector) error { return stop }}}, "stop"},
		{Match{Rules: rules(9), Seats: make([]Seat, 2), Create: func(string) (io.WriteCloser, error) { return nil, fs.ErrPermission }}, "match log: CommandOrder.txt"},
	} {
		t.Run(c.want, func(t *testing.T) {
			_, err := c.match.Play(t.Context())
			assert.ErrorContains(t, err, c.want)
		})
	}
}

// TestAgree: agree finds differences between the game and its referee.
func TestAgree(t *testing.T) {
	for name, change := range map[string]func(s *towerdefence.State){
		"player A: energy 21, not 20":  func(s *towerdefence.State) { s.Half[0].Energy++ },
		"player A: health 99, not 100": func(s *towerdefence.State) { s.Half[0].Base -= 1 << 32 },
		"player A: score ":             func(s *towerdefence.State) { s.Half[0].Ledger += 1 << 32 },
		"player B: failures 1, not 0":  func(s *towerdefence.State) { s.Half[1].Failures++ },
		"round 1, not 0":               func(s *towerdefence.State) { s.Round++ },
	} {
		t.Run(name, func(t *testing.T) {
			h, err := (&Match{Rules: rules(9), Seats: make([]Seat, 2)}).newHost()
			require.NoError(t, err)
			change(h.state)
			err = h.agree(sim.Running, referee.EndCut)
			assert.Truef(t, err != nil && strings.HasPrefix(err.Error(), name), "%v, want %s", err, name)
		})
	}
	h, err := (&Match{Rules: rules(9), Seats: make([]Seat, 2)}).newHost()
	require.NoError(t, err)
	for _, c := range []struct {
		status sim.Status
		end    string
	}{{sim.Over, referee.EndCut}, {sim.Running, referee.EndDead}, {sim.Cut, referee.EndMaxRounds}, {sim.Over, referee.EndAborted}} {
		assert.Errorf(t, h.agree(c.status, c.end), "%v and %q agree", c.status, c.end)
	}
}

func TestKinds(t *testing.T) {
	var names []string
	for k := range FaultKinds + 1 {
		names = append(names, k.String())
		assert.Truef(t, k.String() != "" && !slices.Contains(names[:k], k.String()), "names %q", names)
	}
	assert.Equal(t, "kinds", FaultKind(200).String())
}
