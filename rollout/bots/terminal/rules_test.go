package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/rollout/bots"
	"moonfarm/rollout/bots/child"
	"moonfarm/sim"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/config"
	"moonfarm/sim/terminal/wire/replay"
)

// slow returns a bot that thinks for these times in its first turns.
func slow(turns ...time.Duration) Seat {
	return bot(func(in *bufio.Reader, out io.Writer) error {
		return serve(in, &sleeper{out, turns}, nil)
	})
}

// sleeper sleeps before it writes.
type sleeper struct {
	io.Writer
	times []time.Duration
}

func (s *sleeper) Write(b []byte) (int, error) {
	if len(s.times) > 0 {
		dawdle(s.times[0])
		s.times = s.times[1:]
	}
	return s.Writer.Write(b)
}

// TestThinking: each full second beyond the soft limit costs one health, the commands
// count, and the replay has all times.
func TestThinking(t *testing.T) {
	t.Parallel()
	m := ruled(t, "2022", 2, Seat{Policy: maker(t, "empty")}, slow(0, 1100*time.Millisecond))
	m.Limits.Soft = time.Millisecond
	m.Limits.Hard = 0
	r, file := played(t, m)
	end := &r.End.Players[1]
	// Both turns may take longer on a busy machine.
	times := make([]float64, 2)
	damage := 0.0
	for turn := range times {
		_, f, _, err := replay.FindFrame("match", strings.NewReader(string(file)), turn, 0)
		require.NoError(t, err)
		times[turn] = f.Stats[1].Time
		damage += float64((int(f.Stats[1].Time) - 1) / 1000)
	}
	if times[1] < 1100 || end.Time != times[0]+times[1] || end.TimeDamage != damage || damage == 0 || end.Crashed || r.Crashes[1] != nil {
		t.Errorf("times %v, %+v", times, *end)
	}
	assert.Truef(t, r.End.Players[0].Points == float32(damage) && r.End.Winner == 1 && r.Players[1].Longest >= 1100*time.Millisecond && r.Used[1] >= r.Players[1].Longest, "%+v, %+v", r.End, r.Players[1])
}

// TestStart: only time after Limits.Start is counted.
func TestStart(t *testing.T) {
	t.Parallel()
	for _, start := range []time.Duration{0, ample} {
		t.Run(start.String(), func(t *testing.T) {
			m := ruled(t, "2022", 1, slow(200*time.Millisecond))
			m.Limits.Start = start
			r, _ := played(t, m)
			counted := r.End.Players[0].Time > 0
			assert.Truef(t, counted == (start == 0) && (r.Used[0] > 0) == counted, "start %v: %v ms, used %v", start, r.End.Players[0].Time, r.Used[0])
			// The bot thought and the other player did not, so the other wins if the time counts. With
			// equal times player 1 wins, as in the original.
			assert.Equalf(t, 1+min(int(r.End.Players[0].Time), 1), r.End.Winner, "start %v", start)
			assert.Equalf(t, counted, r.ByTime, "start %v", start)
		})
	}
	// Within this limit the bot would be late if all its time were counted.
	m := ruled(t, "2022", 1, slow(3*time.Second))
	m.Limits.Start, m.Limits.Hard = ample, 2*time.Second
	r, _ := played(t, m)
	assert.Nil(t, r.Crashes[0])
}

// TestLate: an answer that was read a little after the limit is a timeout too.
func TestLate(t *testing.T) {
	t.Parallel()
	rules, _ := terminal.RuleSet("2022")
	limits := Limits{Hard: time.Millisecond}
	timed := limits.withLimits(rules)
	s := &seatedBot{player: &tardy{}, limits: &limits, rules: &timed, names: &[8]string{}}
	orders, err := s.Ask(nil)
	assert.Truef(t, errors.Is(err, errHard) && len(orders) == 2 && terminal.Decode(orders[1]).Op == terminal.OpPenalty && s.crashed, "%v, orders %v", err, orders)
}

// TestGameLimit: a bot whose answers have taken the time of the whole game has crashed; the
// hard limit still holds for each answer.
func TestGameLimit(t *testing.T) {
	t.Parallel()
	const third = 100 * time.Millisecond
	for i, c := range []struct {
		bot        Seat
		hard, game time.Duration
		want       string
		turn       int // the last turn in which it can crash
		timeout    bool
	}{
		{slow(third, third, third, third), 0, 3*third - third/2, "the 250ms for all answers of a game are used up", 2, false},
		{slow(third, third, third, third), ample, 3*third - third/2, "the 250ms for all answers of a game are used up", 2, false},
		{slow(10 * third), 0, third, "the 100ms for all answers", 0, false},
		{slow(10 * third), third, ample, "did not answer within 100ms", 0, true},
	} {
		t.Run(c.want, func(t *testing.T) {
			m := ruled(t, "2022", 5)
			m.Seats[i%2], m.Seats[1-i%2] = c.bot, Seat{Policy: maker(t, "starter")}
			m.Limits.Hard, m.Limits.Game = c.hard, c.game
			r, _ := played(t, m)
			crash, end := r.Crashes[i%2], &r.End.Players[i%2]
			assert.Truef(t, crash != nil && crash.Turn <= c.turn && strings.Contains(crash.Err.Error(), c.want) && late(crash.Err), "%d: %+v", i, crash)
			assert.Truef(t, end.Crashed && end.TimeoutDeath == c.timeout && r.End.Winner == 2-i%2 && end.Time >= float64(min(c.game, third).Milliseconds()), "%d: %+v", i, r.End)
		})
	}
	// The time to start is not counted here either.
	m := ruled(t, "2022", 1, slow(3*third))
	m.Limits.Start, m.Limits.Game = ample, third
	r, _ := played(t, m)
	assert.Nil(t, r.Crashes[0])
}

// tardy is a player whose answer is read after the deadline.
type tardy struct{ player }

func (*tardy) Write([]byte, time.Time) error { return nil }
func (*tardy) ReadLine(deadline time.Time) ([]byte, error) {
	dawdle(time.Until(deadline) + 5*time.Millisecond)
	return []byte("[]"), nil
}

// TestRefused: commands without effect are counted and reported, in the bot's own
// coordinates, on either side; other commands are carried out.
func TestRefused(t *testing.T) {
	t.Parallel()
	answer := `[["FF",13,13],["FF",13,13],["UP",13,12],["RM",13,13],["XX",13,1],["FF",0,0],["FF",13,14],[1]]` + "\n" +
		`[["PI",13,0],["PI",13,0],["PI",13,0],["PI",13,0],["PI",13,0],["PI",13,0],["PI",13,0],["PI",12,5]]` + "\n"
	told := []string{
		`turn 0: line 1, command 5: expected one of the shorthands ["FF" "EF" "DF" "PI" "EI" "SI" "RM" "UP"], found "\"XX\""`,
		`turn 0: line 1, command 6: expected a cell of the arena, found (0, 0)`,
		`turn 0: line 1, command 8: expected [shorthand, x, y], found "[1]"`,
		`turn 0: the rules refuse ["FF", 13, 13]`,
		`turn 0: the rules refuse ["UP", 13, 12]`,
		`turn 0: the rules refuse ["FF", 13, 14]`,
		`turn 0: the rules refuse 2 of 7 ["PI", 13, 0]`,
		`turn 0: the rules refuse ["PI", 12, 5]`,
	}
	m := ruled(t, "2022", 2, answering(answer, "x\n[]\n"), answering(answer, "[]\nx\n"))
	got := tells(m)
	r, _ := played(t, m)
	_, unread, _ := strings.Cut(told[0], ": ")
	for p, one := range r.Players {
		assert.Equal(t, Refusals{4, 0, unread}, one.Refused.Unread, "seat %d", p)
		assert.Equal(t, Refusals{6, 0, `the rules refuse ["FF", 13, 13]`}, one.Refused.Rules, "seat %d", p)
		assert.Equal(t, append(slices.Clone(told), fmt.Sprintf(`turn 1: line %d: expected a JSON list of commands, found "x"`, p+1)), got[p])
		assert.Equalf(t, float32(5), r.End.Players[p].MobileSpent, "seat %d: %+v", p, r.End.Players[p])
	}
}

// tells returns the refusals that a match tells, by seat.
func tells(m *Match) *[2][]string {
	told := new([2][]string)
	m.Refused = func(seat, turn int, text string) {
		told[seat] = append(told[seat], fmt.Sprintf("turn %d: %s", turn, text))
	}
	return told
}

// TestMany: commands beyond those that a turn can carry out are counted and not read.
func TestMany(t *testing.T) {
	t.Parallel()
	const n = 9000
	flood := "[" + strings.Repeat(`["RM",13,13],`, n) + `["FF",13,13]]` + "\n[]\n"
	m := ruled(t, "2022", 2, answering("[]\n[]\n", flood))
	r, _ := played(t, m)
	one := r.Players[0].Refused
	assert.Truef(t, one.Rules.Turn == 1 && one.Rules.Count == n+1 && strings.Contains(one.Rules.Text, "more than can be carried out"), "%+v", one)
}

// TestMostCommands: a bot that sends as many commands as a line can have, in every turn, costs the host a bounded number of
// allocations, whatever the commands are. They are counted in the host's part of a turn, without the bot. Not parallel, so
// that no other test allocates meanwhile.
func TestMostCommands(t *testing.T) {
	m := ruled(t, "2026", 1)
	for command, orders := range map[string]int{`["XX",13,13]`: 0, `["FF",99,99]`: 0, `["FF",13,13]`: most, `["PI",13,0],["EI",14,0]`: most, `7`: 0} {
		line := []byte("[" + strings.Repeat(command+",", child.MaxAnswer/(len(command)+1)-2) + command + "]")
		s := &seatedBot{names: &m.Config.Shorthands, rules: &m.Config.Rules}
		dst := make([]sim.Order, 0, most)
		assert.LessOrEqual(t, testing.AllocsPerRun(2, func() {
			dst = s.read(dst[:0], line, line)
			s.result.Refused.rules(0, s.orders, nil, 0, s.names)
		}), 5.0*most, command)
		assert.Len(t, dst, orders, command)
		assert.NotEmpty(t, s.result.Refused.told)
	}
}

// most is the room for orders of TestMostCommands, about that of the contest's rules.
const most = 900

// TestRepeated: a refusal that is the same in every turn is counted and reported once, so
// that later refusals are reported, too.
func TestRepeated(t *testing.T) {
	t.Parallel()
	const again = `[["FF",13,13],["FF",13,13]]` + "\n[]\n"
	const turns = 2 * maxTold
	m := ruled(t, "2022", turns+1, answering(strings.Repeat("[]\n[]\n", turns+1)), answering(strings.Repeat(again, turns)+"x\n[]\n"))
	got := tells(m)
	r, _ := played(t, m)
	rules := Refusals{2*turns - 1, 0, `the rules refuse ["FF", 13, 13]`}
	unread := Refusals{1, turns, `line 1: expected a JSON list of commands, found "x"`}
	assert.Equal(t, rules, r.Players[1].Refused.Rules)
	assert.Equal(t, unread, r.Players[1].Refused.Unread)
	assert.Equal(t, []string{"turn 0: " + rules.Text, fmt.Sprintf("turn %d: %s", turns, unread.Text)}, got[1])
}

// TestInterrupted: when the context is done the match ends, and so do the bots.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	m := ruled(t, "2022", 5, started(t, "silent"), started(t, "plays"))
	m.Limits.Hard = 0
	ctx, stop := context.WithCancelCause(t.Context())
	m.Watch = func(env.Vector) error {
		time.AfterFunc(100*time.Millisecond, func() { stop(enough) })
		return nil
	}
	_, err := m.Play(ctx)
	assert.ErrorIs(t, err, enough)
}

// broken fails after a number of writes.
type broken struct{ left int }

func (b *broken) Write(p []byte) (int, error) {
	if b.left--; b.left < 0 {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}

// TestErrors: a match with contradicting fields is not played, and an error of this machine
// ends it.
func TestErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want   string
		change func(m *Match)
	}{
		{"seat 1: a policy and a program", func(m *Match) { m.Seats[0].Policy = maker(t, "empty") }},
		{"seat 2: ", func(m *Match) { m.Seats[1].Program = child.Program{Args: []string{"/no/such/program"}} }},
		{"no such file", func(m *Match) { m.Seats[0] = started(t, "plays"); m.Seats[0].Program.Dir = "/no/such/folder" }},
		{"a negative limit", func(m *Match) { m.Limits.Soft = -1 }},
		{"negative", func(m *Match) { m.Limits.Process.CPU = -1; m.Seats[0] = started(t, "plays") }},
		{"startHealth", func(m *Match) { m.Config.Rules.Units[0].Health = -1 }},
		{"the replay: disk full", func(m *Match) { m.Replay = &broken{2} }},
		{"seen enough", func(m *Match) { m.Watch = func(env.Vector) error { return errors.New("seen enough") } }},
		{"the host: no guard", func(m *Match) {
			m.Seats[1].begin = func(context.Context, child.Limits) (player, error) {
				return nil, fmt.Errorf("%w: no guard", bots.ErrHost)
			}
		}},
	} {
		t.Run(c.want, func(t *testing.T) {
			m := ruled(t, "2022", 3, answering())
			c.change(m)
			_, err := m.Play(t.Context())
			assert.ErrorContains(t, err, c.want)
		})
	}
	// A program that cannot be started has crashed.
	bad := filepath.Join(t.TempDir(), "bad.sh")
	require.NoError(t, os.WriteFile(bad, []byte("#!/no/such/interpreter\n"), 0o700))
	if runtime.GOOS == "windows" {
		return
	}
	m := ruled(t, "2022", 3, answering(), Seat{Program: child.Program{Args: []string{bad}}})
	r, _ := played(t, m)
	assert.Truef(t, r.Crashes[1] != nil && r.Crashes[1].Turn == 0 && strings.Contains(r.Crashes[1].Err.Error(), "could not be started") && r.End.Winner == 1 && r.End.Players[1].Crashed && r.Turns == 1, "%+v, %+v", r.Crashes[1], r.End)
}

// TestLimits: the contest's limits come from the config, as far as it contains them.
func TestLimits(t *testing.T) {
	rules, _ := terminal.RuleSet("2022")
	c := config.Of(rules)
	l := SiteLimits(&c)
	assert.Equal(t, Limits{Start: 3 * time.Second, Soft: 5 * time.Second, Hard: 35 * time.Second, End: 3 * time.Second}, l)
	c.Raw = []byte(`{"timingAndReplay":{"waitTimeStartGame":1500,"waitTimeEndGame":-3}}`)
	c.Rules.SoftTime, c.Rules.MaxTime = 0, 0
	l = SiteLimits(&c)
	assert.Equal(t, Limits{Start: 1500 * time.Millisecond, End: 3 * time.Second}, l)
	l = LocalLimits(&c)
	assert.Truef(t, l.Soft == 0 && l.Hard >= time.Minute && l.Start == 1500*time.Millisecond, "%+v", l)
	for limit, want := range map[[2]time.Duration][2]int32{
		{}: {1<<31 - 1, 0}, {time.Microsecond, time.Microsecond}: {1, 1}, {1e9, 2e9}: {1000, 2000}, {1 << 62, 1 << 62}: {1<<31 - 1, 1<<31 - 1},
	} {
		t.Run(fmt.Sprintf("soft %v, hard %v", limit[0], limit[1]), func(t *testing.T) {
			l := Limits{Soft: limit[0], Hard: limit[1]}
			r := l.withLimits(rules)
			assert.Truef(t, r.SoftTime == want[0] && r.MaxTime == want[1], "%+v: %d and %d", l, r.SoftTime, r.MaxTime)
		})
	}
}

// folder makes a folder with these files; scripts are executable.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		mode := os.FileMode(0o600)
		if strings.HasPrefix(text, "#!") {
			mode = 0o700
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), mode))
	}
	return dir
}

// TestFolder: the command line of a folder's algo, or the error that says what is missing.
func TestFolder(t *testing.T) {
	const shebang, python = "#!/bin/sh\n", `{"language": "python"}`
	for _, c := range []struct {
		files   map[string]string
		windows bool
		want    string // the arguments, with DIR for the folder, or the error
	}{
		{map[string]string{"run.sh": shebang, "algo.json": python}, false, "DIR/run.sh"},
		{map[string]string{"run.sh": "no mode"}, false, "bash DIR/run.sh"},
		{map[string]string{"run.ps1": "", "run.sh": shebang}, true, "powershell -NoProfile -ExecutionPolicy Bypass -File DIR/run.ps1"},
		{map[string]string{"algo.json": python, "algo_strategy.py": ""}, false, "python3 -u DIR/algo_strategy.py"},
		{map[string]string{"algo.json": python, "algo_strategy.py": ""}, true, "py -3 -u DIR/algo_strategy.py"},
		{map[string]string{"algo.json": "\uFEFF" + python + "\r\n", "algo_strategy.py": ""}, false, "python3 -u DIR/algo_strategy.py"},
		{map[string]string{"run.sh": "#!/bin/sh\r\nexit\r\n"}, false, "run.sh: the lines of this script end with CR LF"},
		{map[string]string{"algo.json": python}, false, "algo_strategy.py: no such file or directory"},
		{map[string]string{"algo.json": `{"language": "rust"}`}, false, `expected run.sh: its algo.json names the language "rust"`},
		{map[string]string{"algo.json": `[`}, false, "algo.json: unexpected end"},
		{nil, false, "expected run.sh or algo.json in the folder, found neither"},
		{nil, true, "expected run.ps1 or algo.json"},
	} {
		t.Run(c.want, func(t *testing.T) {
			dir := folder(t, c.files)
			args, err := script(dir, c.windows)
			got := strings.ReplaceAll(filepath.ToSlash(strings.Join(args, " ")), filepath.ToSlash(dir), "DIR")
			assert.Truef(t, (err != nil || got == c.want) && (err == nil || strings.Contains(err.Error(), c.want)), "%v, windows %v: %s, %v; want %s", c.files, c.windows, got, err, c.want)
		})
	}
	_, err := Folder(filepath.Join(t.TempDir(), "none"))
	assert.ErrorContains(t, err, "none", "a folder that is not there")
}

// pythonBot builds two walls in turn 0 and sends a scout in other turns. It prints its
// working directory on standard error.
const pythonBot = `import json, os, sys
print(os.getcwd(), file=sys.stderr)
for line in sys.stdin:
    frame = json.loads(line)
    if "replaySave" in frame.get("timingAndReplay", {}):
        wall, scout = (frame["unitInformation"][i]["shorthand"] for i in (0, 3))
    elif frame["turnInfo"][0] == 0:
        first = frame["turnInfo"][1] == 0
        print(json.dumps([[wall, 13, 5], [wall, 14, 5]] if first else []))
        print(json.dumps([] if first else [[scout, 13, 0]]), flush=True)
    elif frame["turnInfo"][0] == 2:
        sys.exit(0)
`

// TestPython plays a bot in Python from a folder, as the starter kit's are.
func TestPython(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil || runtime.GOOS == "windows" {
		t.Skip("there is no python3")
	}
	dir := folder(t, map[string]string{
		"algo.json": `{"language": "python"}`, "algo_strategy.py": pythonBot,
		"run.sh": "#!/bin/sh\nexec python3 -u \"$(dirname \"$0\")/algo_strategy.py\"\n",
	})
	program, err := Folder(dir)
	require.NoError(t, err)
	m := ruled(t, "2022", 4, Seat{Program: program}, Seat{Program: program})
	m.Limits.End, m.Limits.Process.Box = ample, child.Automatic
	var log strings.Builder
	m.Seats[1].Log = child.NewLog(&log, 1<<16)
	r, _ := played(t, m)
	for p, end := range r.End.Players {
		if end.Crashed || end.StructureSpent != 2*m.Config.Rules.Units[terminal.Wall].Cores || end.MobileSpent != 3 || end.Time == 0 || r.Crashes[p] != nil {
			t.Errorf("seat %d: %+v, %v", p, end, r.Crashes[p])
		}
	}
	want, err := filepath.EvalSymlinks(filepath.Dir(dir))
	printed := slices.DeleteFunc(strings.Split(strings.TrimSpace(log.String()), "\n"), func(line string) bool { return strings.HasPrefix(line, "== ") })
	got, _ := filepath.EvalSymlinks(strings.Join(printed, "\n"))
	require.NoErrorf(t, err, "it worked in %q, want %q", got, want)
	assert.Equal(t, want, got, "it worked")
}
