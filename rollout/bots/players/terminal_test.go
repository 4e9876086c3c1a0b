package players

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/arena"
	bot "moonfarm/rollout/bots/terminal"
	"moonfarm/sim/terminal/wire/replay"
)

// algo is a bot of Terminal: in turn 1 it gives a command for a cell that is not in
// the arena, and one that the rules refuse. A slow one thinks for a time in turns 1 and 2.
func algo(slow bool) int {
	in := bufio.NewReaderSize(os.Stdin, 1<<16)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return 0
		}
		turn := 0
		if n, _ := fmt.Sscanf(line[max(strings.Index(line, `"turnInfo":[0,`), 0):], `"turnInfo":[0,%d`, &turn); n == 0 {
			continue
		}
		if slow && turn > 0 {
			dawdle(thinks)
		}
		answer := "[]\n[]\n"
		if turn == 1 {
			fmt.Fprintln(os.Stderr, "turn 1")
			answer = `[["FF",0,0]]` + "\n" + `[["PI",12,5]]` + "\n"
		}
		os.Stdout.WriteString(answer)
	}
}

// thinks is how long a slow algo thinks.
const thinks = 1100 * time.Millisecond

// terminalGame plays a game of three turns between an algo and the policy empty.
func terminalGame(t *testing.T, kind string, l Limits, m *Meeting) *Outcome {
	t.Helper()
	g := open(t, Options{Rules: "moonfarm.maxTurns=3\n", Limits: l}, "terminal")
	for _, text := range []string{"cmd:'" + os.Args[0] + "' bot " + kind, "empty"} {
		p, err := g.Enter(text)
		require.NoError(t, err)
		m.Seats = append(m.Seats, p)
	}
	o, err := g.Play(t.Context(), m)
	require.NoError(t, err)
	return o
}

// TestTerminalIllegal: a game has one fault for all commands that cannot be read and one for
// all that the rules refuse, with their number and the first one.
func TestTerminalIllegal(t *testing.T) {
	var recording, log bytes.Buffer
	o := terminalGame(t, "algo", Limits{}, &Meeting{Replay: &recording, Log: func(int) io.Writer { return &log }})
	s := &o.Seats[0]
	want := []arena.Fault{
		{Seat: 0, Turn: 1, Kind: FaultIllegal, Times: 1, Text: "line 1, command 1: expected a cell of the arena, found (0, 0)"},
		{Seat: 0, Turn: 1, Kind: FaultIllegal, Times: 1, Text: `the rules refuse ["PI", 12, 5]`},
	}
	require.Truef(t, slices.Equal(s.Faults, want) && s.Crash == nil && o.Turns == 3, "%+v, want the faults %+v", o, want)
	assert.Truef(t, s.Longest > 0 && s.Longest <= s.Used && printed(log.String()) == "turn 1\n" && strings.Contains(log.String(), "== turn 1: [[\"FF\",0,0]] [[\"PI\",12,5]] ==\n") && len(o.Seats[1].Faults) == 0, "longest %v of %v, log %q, %+v", s.Longest, s.Used, &log, o.Seats[1])
	_, report, err := replay.Verify("match", &recording, nil)
	require.NoError(t, err, "replay")
	assert.Truef(t, report.Different <= 0 && report.Complete && report.Turns == 3, "replay, %+v", report)
}

// TestTerminalThinking: thinking costs health only with a soft limit, the contest's or a
// given one; a limit of all answers ends the game.
func TestTerminalThinking(t *testing.T) {
	t.Parallel()
	short, game, none := time.Millisecond, thinks+thinks/2, time.Duration(0)
	for _, c := range []struct {
		name   string
		limits Limits
		lost   float64 // health at least
		kind   string  // of the fault, apart from refused commands
	}{
		{"local", Limits{}, 0, ""},
		{"soft", Limits{Soft: &short}, 2, ""},
		{"none", Limits{Site: true, Soft: &none}, 0, ""},
		{"game", Limits{Game: &game}, 31, FaultTimeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := terminalGame(t, "algo-slow", c.limits, &Meeting{})
			got, s := o.Seats[1].Score, &o.Seats[0]
			assert.Truef(t, got >= c.lost && (c.lost != 0 || got <= 0), "it lost %v health, want %v", got, c.lost)
			assert.Truef(t, (s.Crash != nil) == (c.kind != "") && (c.kind == "" || s.Faults[0].Kind == c.kind && s.Faults[0].Text != "" && s.Faults[0].Turn == s.Crash.Turn), "%+v, crash %+v", s, s.Crash)
			assert.Truef(t, c.kind == "" || o.Seats[1].Place == 1 && s.Place == 2 && strings.Contains(s.Comment, "for all answers of a game"), "%+v", o.Seats)
		})
	}
}

// TestTerminalLimits: given limits replace those of the profile.
func TestTerminalLimits(t *testing.T) {
	second, none, memory, processes := time.Second, time.Duration(0), int64(1<<20), 3
	site := bot.Limits{Start: 3 * time.Second, Soft: 5 * time.Second, Hard: 35 * time.Second, End: 3 * time.Second}
	own := bot.Limits{Start: site.Start, End: site.End, Hard: 10 * time.Minute}
	own.Process.Memory, own.Process.Processes = localMemory, localProcesses
	for name, c := range map[string]struct {
		limits Limits
		from   bot.Limits
		change func(l *bot.Limits)
	}{
		"local":          {Limits{}, own, func(*bot.Limits) {}},
		"site":           {Limits{Site: true}, site, func(*bot.Limits) {}},
		"answer":         {Limits{Answer: &second}, own, func(l *bot.Limits) { l.Hard = second }},
		"site, answer 0": {Limits{Site: true, Answer: &none}, site, func(l *bot.Limits) { l.Hard = 0 }},
		"soft":           {Limits{Soft: &second}, own, func(l *bot.Limits) { l.Soft = second }},
		"site, soft 0":   {Limits{Site: true, Soft: &none}, site, func(l *bot.Limits) { l.Soft = 0 }},
		"game":           {Limits{Game: &second}, own, func(l *bot.Limits) { l.Game = second }},
		"site, processes": {Limits{Site: true, CPU: &second, Memory: &memory, Processes: &processes}, site, func(l *bot.Limits) {
			l.Process.CPU, l.Process.Memory, l.Process.Processes = second, memory, processes
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c.change(&c.from)
			h := open(t, Options{Rules: "2022", Limits: c.limits}, "terminal").host.(*terminalHost)
			require.Equal(t, c.from, h.limits)
		})
	}
	negative := -time.Second
	game := open(t, Options{}, "terminal").game
	_, err := Open(Options{Game: game, Limits: Limits{Soft: &negative}})
	assert.Error(t, err, "a negative soft limit is taken")
}

// TestTerminalFolder: a folder of an algo plays by its run.sh.
func TestTerminalFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "my algo")
	require.NoError(t, os.Mkdir(dir, 0o777))
	self, err := filepath.Abs(os.Args[0])
	require.NoError(t, err)
	script := "#!/bin/sh\nexec '" + self + "' bot algo\n"
	if filepath.Separator == '\\' {
		t.Skip("a script for sh")
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "run.sh"), []byte(script), 0o777))
	g := open(t, Options{Rules: "moonfarm.maxTurns=2\n"}, "terminal")
	p, err := g.Enter("bot:" + dir)
	require.NoError(t, err)
	o, err := g.Play(t.Context(), &Meeting{Seats: []*Entrant{p, p}})
	require.NoError(t, err)
	require.Equalf(t, 2, o.Turns, "%+v", o)
	for _, s := range o.Seats {
		assert.Truef(t, s.Crash == nil && len(s.Faults) == 2 && s.Faults[0].Times+s.Faults[1].Times == 2, "%+v", s)
	}
}
