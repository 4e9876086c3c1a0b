package tron_test

import (
	"math/bits"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/tron"
	"moonfarm/sim/tron/internal/plain"
)

// Positions; each text has the eight rows of the board and both cycles.
const (
	face = `turn 3
A right
B left
........
........
........
.aaA.bbb
.....B..
........
........
........
`
	edge = `turn 2
A up
B right
..A.....
..a.....
..a.....
........
........
.....bbB
........
........
`
)

// play plays a turn from a position, on the game and its twin, and returns the
// position after it as text.
func play(t *testing.T, torus bool, text string, a, b sim.Order) string {
	t.Helper()
	g, _ := tron.New(tron.Rules{Torus: torus})
	s, err := tron.ParseText(text)
	require.NoError(t, err)
	twin := twinOf(torus, &s)
	turn := sim.NewTurn(1)
	turn.SetOne(0, a)
	turn.SetOne(1, b)
	status := g.Step(&s, turn)
	assert.Equalf(t, status == sim.Running, twin.Play([2]int{int(a), int(b)}), "status %v, the twin goes on", status)
	assert.Equal(t, "", compare(&s, twin))
	return string(tron.AppendText(nil, &s))
}

// wantLines checks that a text has the given lines.
func wantLines(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		assert.Containsf(t, "\n"+text, "\n"+line+"\n", "want the line %q in\n%s", line, text)
	}
}

func TestClause_2_1_Walls(t *testing.T) {
	wantLines(t, play(t, false, edge, tron.Straight, tron.TurnLeft), "A up crashed", "B up")
	wantLines(t, play(t, false, edge, tron.TurnLeft, tron.Straight), "A left", "B right crashed")
}

func TestClause_2_2_Torus(t *testing.T) {
	wantLines(t, play(t, true, edge, tron.Straight, tron.Straight), "A up", "B right", "B....bbb", "..A.....")
}

func TestClause_2_3_Start(t *testing.T) {
	g, _ := tron.New(tron.DefaultRules())
	seen := map[uint8]bool{}
	for seed := range uint64(500) {
		var s tron.State
		g.Reset(&s, seed)
		require.Truef(t, s.Head[0]%8 <= 3 && s.Head[0]+s.Head[1] == 63 && s.Heading == [2]tron.Heading{tron.Right, tron.Left} && s.Trail == [2]uint64{1 << s.Head[0], 1 << s.Head[1]}, "seed %d: %+v", seed, s)
		seen[s.Head[0]] = true
	}
	assert.Equalf(t, 32, len(seen), "A begins on %d cells, want 32", len(seen))
}

func TestClause_2_4_Symmetry(t *testing.T) {
	s, err := tron.ParseText(face)
	require.NoError(t, err)
	v := s.View(1)
	wantLines(t, string(tron.AppendText(nil, &v)), "A right", "B left", "aaa.Bbb.", "..A.....")
	assert.True(t, s == s.View(0) && s == v.View(1), "turned twice it is another position")
}

func TestClause_3_1_Turns(t *testing.T) {
	wantLines(t, play(t, false, face, tron.TurnLeft, tron.TurnLeft), "A up", "B down")
	wantLines(t, play(t, false, face, tron.TurnRight, tron.TurnRight), "A down", "B up crashed")
}

func TestClause_3_2_AtOnce(t *testing.T) {
	wantLines(t, play(t, false, face, tron.TurnRight, tron.Straight), ".aaa.bbb", "...ABb..")
}

func TestClause_3_3_Trails(t *testing.T) {
	text := strings.Replace(face, ".aaA.bbb\n.....B..", ".aaAbbbb\n....B...", 1)
	wantLines(t, play(t, false, text, tron.Straight, tron.Straight), "A right crashed", "B left", "...Bb...")
	text = strings.Replace(face, ".aaA.bbb\n.....B..", ".aaABbbb\n........", 1)
	wantLines(t, play(t, false, text, tron.Straight, tron.Straight), "A right crashed", "B left crashed", ".aaABbbb")
}

func TestClause_3_4_SameCell(t *testing.T) {
	text := strings.Replace(face, ".aaA.bbb\n.....B..", ".aaA.Bbb\n........", 1)
	wantLines(t, play(t, false, text, tron.Straight, tron.Straight), "A right crashed", "B left crashed", ".aaA.Bbb")
}

func TestClause_3_5_Trail(t *testing.T) {
	wantLines(t, play(t, false, face, tron.Straight, tron.TurnLeft), ".aaaAbbb", ".....b..", ".....B..", "turn 4")
}

func TestClause_4_1_AnyTime(t *testing.T) {
	g, _ := tron.New(tron.DefaultRules())
	s, _ := tron.ParseText(edge)
	got := g.AppendOrders(nil, &s, 0)
	assert.Truef(t, len(got) == tron.Orders && got[0] == tron.Straight && got[1] == tron.TurnLeft && got[2] == tron.TurnRight, "orders %v", got)
}

func TestClause_4_2_OtherNumbers(t *testing.T) {
	got, want := play(t, false, face, 3, 1<<63), play(t, false, face, 0, 0)
	assert.Equal(t, want, got)
}

func TestClause_4_3_FirstOrder(t *testing.T) {
	g, _ := tron.New(tron.DefaultRules())
	s, _ := tron.ParseText(face)
	turn := sim.NewTurn(2)
	turn.Set(0, []sim.Order{tron.TurnLeft, tron.TurnRight})
	g.Step(&s, turn)
	wantLines(t, string(tron.AppendText(nil, &s)), "A up", "B left")
}

func TestClause_5_1_End(t *testing.T) {
	// Both cycles fill their halves row by row; at the last cell they crash.
	g, _ := tron.New(tron.DefaultRules())
	s := tron.State{Head: [2]uint8{0, 63}, Trail: [2]uint64{1, 1 << 63}, Heading: [2]tron.Heading{tron.Right, tron.Left}}
	twin := plain.New(false, 0, 0)
	turn := sim.NewTurn(1)
	for n := 1; ; n++ {
		o := tron.Straight
		if n%8 <= 1 && n > 1 && n < 32 { // at the end of a row
			o = [2]sim.Order{tron.TurnLeft, tron.TurnRight}[n/8%2]
		}
		turn.SetOne(0, o)
		turn.SetOne(1, o)
		status := g.Step(&s, turn)
		twin.Play([2]int{int(o), int(o)})
		require.Equal(t, "", compare(&s, twin))
		if status == sim.Over {
			if n != 32 || n != g.Info().MaxTurns || s.Free() != 0 || s.Crashed != [2]bool{true, true} {
				t.Errorf("over after turn %d:\n%s", n, tron.AppendText(nil, &s))
			}
			return
		}
	}
}

func TestClause_5_2_Winner(t *testing.T) {
	g, _ := tron.New(tron.DefaultRules())
	for crashed, want := range map[[2]bool]float32{{}: 0, {true, false}: -1, {false, true}: 1, {true, true}: 0} {
		s := tron.State{Crashed: crashed}
		a, b := g.Outcome(&s, 0).Result, g.Outcome(&s, 1).Result
		assert.Truef(t, a == want && b == -want, "crashed %v: results %v and %v, want %v and %v", crashed, a, b, want, -want)
	}
}

func TestClause_5_3_Score(t *testing.T) {
	g, _ := tron.New(tron.DefaultRules())
	s, _ := tron.ParseText(face)
	for p, want := range []float64{3, 4} {
		got := g.Outcome(&s, sim.Player(p)).Score
		assert.Truef(t, got == want && int(want) == bits.OnesCount64(s.Trail[p]), "seat %d: score %v, want %v", p, got, want)
	}
}
