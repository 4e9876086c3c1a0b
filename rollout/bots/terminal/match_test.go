package terminal

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/simtest"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/config"
	"moonfarm/sim/terminal/wire/frame"
	"moonfarm/sim/terminal/wire/replay"
)

// timeless returns a frame as text without values that depend on the clock.
func timeless(f *frame.Frame) string {
	var g frame.Frame
	frame.View(&g, f, 0)
	for p := range g.Stats {
		g.Stats[p].Time = 0
	}
	if g.End != nil {
		g.End.Duration = 0
		if a, b := g.Stats[0].Health, g.Stats[1].Health; a == b || a <= 0 && b <= 0 {
			g.End.Winner = 0 // decided by the times
		}
		for p := range g.End.Players {
			g.End.Players[p].Time = 0
		}
	}
	return string(g.Append(nil, config.Local))
}

// parse reads a frame.
func parse(t testing.TB, line []byte) *frame.Frame {
	t.Helper()
	f := new(frame.Frame)
	require.NoError(t, frame.Parse(f, line))
	return f
}

// answersOf returns the answers of both players in a match, turn by turn.
func answersOf(m *replay.Match) (answers [2][]string) {
	for p := range sim.Player(2) {
		for turn := range m.Turns {
			answers[p] = append(answers[p], string(frame.AppendAnswer(nil, m.OrdersOf(turn, p), &m.Config.Shorthands, p)))
		}
	}
	return answers
}

// replayed plays the orders of a recording again with bots at both seats, and checks
// every line that they get and every frame of the new replay.
func replayed(t *testing.T, name string, recording []byte) {
	t.Helper()
	old, _, err := replay.Verify(name, bytes.NewReader(recording), nil)
	require.NoError(t, err)
	if slices.ContainsFunc(old.Orders, func(o sim.Order) bool { return terminal.Decode(o).Op == terminal.OpPenalty }) {
		t.Logf("%s: its players lost health by thinking or crashes, which its bots do not repeat", name)
		return
	}
	// The original has no fixed order for some events; ours is by ids.
	var ours bytes.Buffer
	require.NoError(t, replay.WriteMatch(&ours, old, config.Local))
	var frames []*frame.Frame
	r, err := replay.NewReader(name, &ours)
	for err == nil {
		f := new(frame.Frame)
		if err = r.Next(f); err == nil {
			frames = append(frames, f)
		}
	}
	require.True(t, err == io.EOF, err)
	m := &Match{Config: old.Config}
	m.Limits = LocalLimits(&m.Config)
	var lines [2][]string
	answers := answersOf(old)
	for p := range sim.Player(2) {
		m.Seats[p] = bot(func(in *bufio.Reader, out io.Writer) error {
			return serve(in, out, func(line []byte) { lines[p] = append(lines[p], string(line)) }, answers[p]...)
		})
		m.Seats[p].Name = old.Names[p]
	}
	_, file := played(t, m)
	for p := range lines {
		if len(lines[p]) != len(frames)+1 || lines[p][0] != string(old.Config.Append(nil, config.Local))+"\n" {
			t.Fatalf("%s: the bot of seat %d got %d lines, recorded %d frames", name, p, len(lines[p]), len(frames))
		}
		for i, f := range frames {
			want := new(frame.Frame)
			frame.View(want, f, sim.Player(p))
			same(t, fmt.Sprintf("%s: frame %d of seat %d", name, i, p), parse(t, []byte(lines[p][1+i])), want)
		}
	}
	r, _ = replay.NewReader(name, bytes.NewReader(file))
	for i, f := range frames {
		got := new(frame.Frame)
		require.NoError(t, r.Next(got))
		same(t, fmt.Sprintf("%s: frame %d of the replay", name, i), got, f)
	}
}

// same compares frames except for values that depend on the clock.
func same(t *testing.T, what string, got, want *frame.Frame) {
	t.Helper()
	a, b := timeless(got), timeless(want)
	require.Equal(t, b, a, what)
}

// TestRecorded: bots that give the orders of a match between policies get its frames, each
// from its own side, and play it to the same end.
func TestRecorded(t *testing.T) {
	m := ruled(t, "2026", 12, Seat{Name: "anna", Policy: maker(t, "maze")}, Seat{Name: "bert", Policy: maker(t, "starter")})
	r, file := played(t, m)
	require.Truef(t, r.Turns >= 5 && r.End.Players[0].Time == 0 && r.End.Players[1].Name == "bert" && r.End.Frames > r.Turns, "%+v", r.End)
	replayed(t, "policies", file)
}

// longEnv asks for the long form of tests.
const longEnv = "MOONFARM_LONG"

// TestRecordings does the same with the latest recording of the original, or with one of
// each year in the long form.
func TestRecordings(t *testing.T) {
	if testing.Short() {
		t.Skip("every line is compared")
	}
	names := simtest.SharedFiles(t, "replays", "terminal", "202*-001.replay.gz")
	if os.Getenv(longEnv) == "" {
		names = names[len(names)-1:]
	}
	for _, name := range names {
		replayed(t, name, simtest.Text(t, name))
	}
}
