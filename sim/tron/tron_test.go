package tron_test

import (
	"fmt"
	"math/bits"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
	"moonfarm/sim/tron"
	"moonfarm/sim/tron/internal/plain"
)

func newGame(torus bool) func() sim.Game[tron.State] {
	return func() sim.Game[tron.State] {
		g, _ := tron.New(tron.Rules{Torus: torus})
		return g
	}
}

func TestConformance(t *testing.T) {
	for _, torus := range []bool{false, true} {
		simtest.Run(t, newGame(torus), simtest.Options[tron.State]{
			Games: 50, Mirror: func(dst, src *tron.State) { *dst = src.View(1) },
		})
	}
}

// twinOf returns a twin in the same position.
func twinOf(torus bool, s *tron.State) *plain.Game {
	twin := &plain.Game{Torus: torus, Turns: int(s.Turn), Crash: s.Crashed}
	for p := range 2 {
		twin.X[p], twin.Y[p] = int(s.Head[p]%8), int(s.Head[p]/8)
		twin.DX[p], twin.DY[p] = [4]int{1, 0, -1, 0}[s.Heading[p]], [4]int{0, 1, 0, -1}[s.Heading[p]]
		for cell := range 64 {
			if s.Trail[p]>>cell&1 != 0 {
				twin.Board[cell/8][cell%8] = byte('a' + p)
			}
		}
	}
	return twin
}

// compare returns how a state differs from its twin, or "" if it does not.
func compare(s *tron.State, twin *plain.Game) string {
	if want := twinOf(twin.Torus, s); *want != *twin {
		return fmt.Sprintf("the fast game is at %+v, the plain one at %+v", *want, *twin)
	}
	return ""
}

// TestTwin plays random games on the game and its twin.
func TestTwin(t *testing.T) {
	for seed := range uint64(2000) {
		g, _ := tron.New(tron.Rules{Torus: seed%2 != 0})
		var s tron.State
		g.Reset(&s, seed)
		twin := plain.New(seed%2 != 0, int(s.Head[0]%8), int(s.Head[0]/8))
		r := prng.New(seed)
		turn := sim.NewTurn(1)
		for status := sim.Running; status == sim.Running; {
			var orders [2]int
			for p := range orders {
				orders[p] = max(r.IntN(6)-3, 0)
				turn.SetOne(sim.Player(p), sim.Order(orders[p]))
			}
			status = g.Step(&s, turn)
			running := twin.Play(orders)
			if d := compare(&s, twin); d != "" || running != (status == sim.Running) {
				t.Fatalf("seed %d turn %d: %v, the twin goes on: %v; %s", seed, s.Turn, status, running, d)
			}
			for p := range 2 {
				if got, want := g.Outcome(&s, sim.Player(p)).Result, float32(twin.Result(p)); got != want {
					t.Fatalf("seed %d turn %d: result %v, want %v", seed, s.Turn, got, want)
				}
			}
		}
	}
}

// playthroughOrders are the orders of the golden game, by turn.
var playthroughOrders = [][2]sim.Order{
	{0, 0}, {tron.TurnRight, tron.TurnLeft}, {0, tron.TurnRight}, {tron.TurnLeft, 0}, {0, tron.TurnRight}, {tron.TurnLeft, 0}, {0, 0}, {0, 0}, {0, 0},
}

// TestPlaythrough compares one whole game with testdata/playthrough.txt, where
// reviewers see how a change affects play. After an intended change, raise
// RulesVersion and write the file by go test -update.
func TestPlaythrough(t *testing.T) {
	g, _ := tron.New(tron.DefaultRules())
	var s tron.State
	g.Reset(&s, 1)
	info := g.Info()
	got := fmt.Appendf(nil, "game %s rules %s players %d turns %d orders %d\n\n", info.Name, info.Rules, info.Players, info.MaxTurns, info.MaxOrders)
	turn := sim.NewTurn(1)
	status := sim.Running
	for _, o := range playthroughOrders {
		got = tron.AppendText(got, &s)
		if status != sim.Running {
			break
		}
		got = fmt.Appendf(got, "orders %d %d\n\n", o[0], o[1])
		turn.SetOne(0, o[0])
		turn.SetOne(1, o[1])
		status = g.Step(&s, turn)
	}
	a, b := g.Outcome(&s, 0), g.Outcome(&s, 1)
	got = fmt.Appendf(got, "%v: A result %v score %v, B result %v score %v\n", status, a.Result, a.Score, b.Result, b.Score)
	simtest.Golden(t, "testdata/playthrough.txt", got)
}

var stateText = simtest.StateText[tron.State]{
	Parse:  tron.ParseText,
	Append: func(s *tron.State) string { return string(tron.AppendText(nil, s)) },
}

// TestText reads the texts that AppendText writes, and checks errors.
func TestText(t *testing.T) {
	simtest.Play(newGame(false)(), 7, func(_ int, s *tron.State, _ sim.Status) bool {
		stateText.Again(t, *s)
		return true
	})
	for _, c := range []struct{ old, new, want string }{
		{"turn 3", "round 3", `line 1, column 1: expected turn and a number, found "round"`},
		{"turn 3", "turn 33", `turns from 0 to 32`},
		{"A right", "B right", `line 2, column 1: expected A`},
		{"A right", "A east", `expected one of right, down, left, up, found "east"`},
		{"A right", "A right here", `expected the end of the line, found "here"`},
		{".aaA", ".aaAA", "expected 8 cells"},
		{".aaA", ".aax", `line 7, column 4: expected ., a, b, or each of A and B once, found "x"`},
		{"B..", "A..", "each of A and B once"},
		{"B..", "...", "with both cycles"},
		{".aaA.bbb\n", "", "8 rows"},
	} {
		t.Run(c.new, func(t *testing.T) {
			_, err := tron.ParseText(strings.Replace(face, c.old, c.new, 1))
			assert.ErrorContainsf(t, err, c.want, "%q for %q", c.new, c.old)
		})
	}
}

func FuzzText(f *testing.F) { stateText.Fuzz(f, nil, face, edge) }

// TestRules reads and writes the rules.
func TestRules(t *testing.T) {
	read := simtest.RuleText[tron.Rules, *tron.Rules](tron.ParseRules)
	read.Is(t, tron.DefaultRules(), "", "torus=false\n")
	read.Is(t, tron.Rules{Torus: true}, "# a remark\ntorus = true")
	read.EveryField(t, tron.Rules{}, nil)
	simtest.Refuses(t, strings.Contains, func(text string) error { _, err := tron.ParseRules([]byte(text)); return err },
		map[string]string{"torus=1": "line 1", "size=9": "line 1", "walled": "line 1"})
}

// TestClauses checks that every numbered clause of RULES.md has a test and
// every such test a clause.
func TestClauses(t *testing.T) {
	simtest.RulesPage(t).Clauses(t)
}

// TestHashTellsPositionsApart changes one thing of a position after the other.
func TestHashTellsPositionsApart(t *testing.T) {
	stateText.Hashes(t, newGame(false)().Hash, face, [][2]string{
		{"A right", "A up"}, {"B left", "B down"}, {"A right", "A right crashed"}, {"B left", "B left crashed"},
		{".aaA", "..aA"}, {".aaA", ".aAa"}, {".bbb\n.....B", ".Bbb\n.....b"},
	})
}

// TestNearerCellByCell compares the flood in random games with one that goes
// from cell to cell.
func TestNearerCellByCell(t *testing.T) {
	for seed := range uint64(300) {
		g, _ := tron.New(tron.Rules{Torus: seed%2 != 0})
		simtest.Play[tron.State](g, seed, func(_ int, s *tron.State, _ sim.Status) bool {
			if got, want := g.Nearer(s), nearer(g, s); got != want {
				t.Fatalf("seed %d: cells %x, want %x\n%s", seed, got, want, tron.AppendText(nil, s))
			}
			return true
		})
	}
}

// nearer is the plain twin of Nearer: cells that both cycles reach at the same
// step are not passed through.
func nearer(g *tron.Game, s *tron.State) (cells [2]uint64) {
	taken := ^s.Free()
	frontier := [2][]int{{int(s.Head[0])}, {int(s.Head[1])}}
	for len(frontier[0])+len(frontier[1]) > 0 {
		var by [tron.Cells]uint8 // bit p: cycle p reaches it at this step
		for p, list := range frontier {
			for _, from := range list {
				for h := range tron.Heading(4) {
					if next := bits.TrailingZeros64(g.Beside(1<<from, h) &^ taken); next < tron.Cells {
						by[next] |= 1 << p
					}
				}
			}
		}
		frontier = [2][]int{}
		for cell, who := range by {
			if who != 0 {
				taken |= 1 << cell
			}
			if p := int(who) - 1; p == 0 || p == 1 {
				cells[p] |= 1 << cell
				frontier[p] = append(frontier[p], cell)
			}
		}
	}
	return cells
}
