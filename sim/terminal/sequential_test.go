package terminal_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
	"moonfarm/sim/terminal"
)

func newSequential(t testing.TB, name string) *terminal.Sequential {
	t.Helper()
	plain := mustGame(t, name)
	g, err := terminal.NewSequential(plain.Rules())
	require.NoError(t, err)
	return g
}

func TestSequentialConformance(t *testing.T) {
	fresh := func() sim.Game[terminal.SequentialState] {
		return newSequential(t, "2026")
	}
	simtest.Run(t, fresh, simtest.Options[terminal.SequentialState]{Games: 4, Turns: 600})
}

func TestSequentialInfo(t *testing.T) {
	for _, name := range terminal.RuleSets() {
		a, b := mustGame(t, name).Info(), newSequential(t, name).Info()
		assert.Truef(t, b.Name == "terminal-sequential" && b.Config == a.Config && b.Rules == a.Rules && b.MaxOrders == 1 && b.Players == 2, "%s: %+v", name, b)
		want := a.MaxTurns * terminal.SequentialSteps
		assert.Equalf(t, want, b.MaxTurns, "%s: %d turns, want %d", name, b.MaxTurns, want)
	}
}

// single returns the commands of a turn for the sequential form: one unit each, the first line before
// the second.
func single(orders []sim.Order) (all []sim.Order) {
	for _, second := range []bool{false, true} {
		for _, o := range orders {
			switch c := terminal.Decode(o); {
			case c.Op == terminal.OpSpawn && second:
				for range c.Count {
					all = append(all, terminal.Spawn(c.Kind, int(c.X), int(c.Y), 1))
				}
			case c.Op >= terminal.OpPlace && c.Op <= terminal.OpRemove && !second:
				all = append(all, o)
			}
		}
	}
	return all
}

// TestSequentialPlaysTheSame plays random turns at once and one command at a time, and compares the
// states.
func TestSequentialPlaysTheSame(t *testing.T) {
	for _, name := range []string{"2026", "2022", "2020", "classic"} {
		t.Run(name, func(t *testing.T) { playBoth(t, name) })
	}
}

func playBoth(t *testing.T, name string) {
	g := newSequential(t, name)
	plain := newGame(t, g.Rules())
	turn, step := sim.NewTurn(terminal.PlayoutOrders), sim.NewTurn(1)
	steps := 0
	for seed := range uint64(8) {
		var want terminal.State
		var s terminal.SequentialState
		plain.Reset(&want, seed)
		g.Reset(&s, seed)
		r := prng.New(seed)
		status := sim.Running
		for status == sim.Running {
			var lists [2][]sim.Order
			for p := range sim.Player(2) {
				given := plain.Playout(nil, &want, p, &r)
				if r.IntN(4) == 0 { // a few orders that may be illegal or repeated
					given = append(given, given...)
					given = append(given, terminal.UpgradeAt(r.IntN(28), r.IntN(28)), terminal.RemoveAt(r.IntN(28), r.IntN(28)))
				}
				turn.Set(p, given)
				lists[p] = single(given)
			}
			status = plain.Step(&want, turn)
			var last sim.Status
			for i := 0; i <= max(len(lists[0]), len(lists[1])); i++ {
				step.Clear()
				for p := range sim.Player(2) {
					if i < len(lists[p]) {
						step.Add(p, lists[p][i])
					}
				}
				last = g.Step(&s, step)
				steps++
			}
			if d := simtest.Diff(&want, &s.Base); d != "" || last != status {
				t.Fatalf("seed %d turn %d: %v, step by step %v; %s", seed, want.Turn, status, last, d)
			}
			if d := simtest.Diff(&s.Base, &s.View); d != "" {
				t.Fatalf("seed %d turn %d: the view does not begin as the turn: %s", seed, want.Turn, d)
			}
		}
	}
	t.Logf("%d steps", steps)
}

// TestSequentialView checks that a player sees its own commands at once, and the other player does
// not.
func TestSequentialView(t *testing.T) {
	g := newSequential(t, "2026")
	var s terminal.SequentialState
	g.Reset(&s, 0)
	base := s.Base
	give := func(a, b sim.Order) sim.Status {
		turn := sim.NewTurn(1)
		turn.SetOne(0, a)
		turn.SetOne(1, b)
		return g.Step(&s, turn)
	}
	give(terminal.Place(terminal.Turret, 13, 5), terminal.Place(terminal.Wall, 10, 20))
	give(terminal.UpgradeAt(13, 5), terminal.RemoveAt(10, 20))
	give(terminal.Spawn(terminal.Scout, 0, 13, 7), terminal.Nothing)
	piece, ok := s.View.At(13, 5)
	assert.Truef(t, ok && piece.Upgraded && piece.Kind == terminal.Turret, "the turret is not seen: %+v", piece)
	piece, ok = s.View.At(10, 20)
	assert.Truef(t, ok && piece.RemoveIn != 0, "the removal is not seen: %+v", piece)
	want := [2]float32{2, 7}
	assert.Truef(t, s.View.Cores == want, "cores %v, want %v", s.View.Cores, want)
	assert.Truef(t, s.View.Bits == [2]float32{0, 1} && s.Mobile[0][26][0] == 1 && s.Waiting == [2]uint32{1 << 26, 0}, "the scout is not seen: bits %v, %v", s.View.Bits, s.Mobile)
	assert.Equal(t, "", simtest.Diff(&base, &s.Base), "the turn's start changed")
	assert.Equal(t, []sim.Order{0}, g.AppendOrders(nil, &s, 1), "seat 1 has ended its turn and may give")
	assert.False(t, slices.Contains(g.AppendOrders(nil, &s, 0), terminal.Place(terminal.Wall, 0, 13)), "a wall may be placed where a scout waits")
	count := s.N
	give(terminal.Place(terminal.Wall, 0, 13), terminal.Place(terminal.Wall, 11, 20))
	assert.Truef(t, s.N == count, "commands that are not legal were taken: %v, then %v", count, s.N)
	status := give(0, 0)
	assert.Truef(t, status == sim.Running && s.Base.Turn == 1 && s.Steps == 0, "the turn was not played: %v, turn %d", status, s.Base.Turn)
}

// TestSequentialSteps plays a turn that no player ends.
func TestSequentialSteps(t *testing.T) {
	g := newSequential(t, "2026")
	var s terminal.SequentialState
	g.Reset(&s, 0)
	turn := sim.NewTurn(1)
	turn.SetOne(0, terminal.Place(terminal.Wall, 13, 5))
	turn.SetOne(1, terminal.Place(terminal.Wall, 13, 5)) // a cell of the other half
	for range terminal.SequentialSteps - 1 {
		g.Step(&s, turn)
	}
	require.Truef(t, s.Base.Turn == 0 && s.Steps == terminal.SequentialSteps-1 && s.N == [2]uint16{1, 0}, "turn %d, step %d, commands %v", s.Base.Turn, s.Steps, s.N)
	if g.Step(&s, turn); s.Base.Turn != 1 {
		t.Error("the last step does not play the turn")
	}
	_, ok := s.Base.At(13, 5)
	assert.True(t, ok, "the wall is not there")
}

// TestSequentialLegal compares Legal with AppendOrders, and both with the commands that the game
// accepts.
func TestSequentialLegal(t *testing.T) {
	g := newSequential(t, "2026")
	turn := sim.NewTurn(1)
	simtest.Play[terminal.SequentialState](g, 3, func(n int, s *terminal.SequentialState, status sim.Status) bool {
		for p := range sim.Player(2) {
			var l terminal.Legal
			g.Legal(&l, s, p)
			orders := g.AppendOrders(nil, s, p)
			want := 1 + count(&l)
			require.Equalf(t, want, len(orders), "step %d seat %d: %d orders, Legal has %d", n, p, len(orders), want)
			for y := range terminal.Side {
				for x := range terminal.Side {
					for _, o := range []sim.Order{
						terminal.Place(0, x, y), terminal.Place(1, x, y), terminal.Place(2, x, y), terminal.UpgradeAt(x, y), terminal.RemoveAt(x, y),
						terminal.Spawn(3, x, y, 1), terminal.Spawn(4, x, y, 1), terminal.Spawn(5, x, y, 1),
					} {
						after := *s
						turn.Clear()
						turn.SetOne(p, o)
						after.Steps, after.Ended[p^1] = 0, 0
						g.Step(&after, turn)
						if taken := after.N[p] == s.N[p]+1; taken != slices.Contains(orders, o) {
							t.Fatalf("step %d seat %d: order %#x taken %v, listed %v", n, p, o, taken, !taken)
						}
					}
				}
			}
		}
		return n < 12 && status == sim.Running
	})
}

func count(l *terminal.Legal) int {
	n := l.Upgrade.Count() + l.Remove.Count()
	for k := range l.Place {
		n += l.Place[k].Count() + l.Spawn[k].Count()
	}
	return n
}

func TestEdge(t *testing.T) {
	for p := range sim.Player(2) {
		next := 0
		for i := range terminal.HalfCells {
			x, y := terminal.LocalXY(i, p)
			e, ok := terminal.Edge(x, y)
			edge := !terminal.Inside(x-1, y) || !terminal.Inside(x+1, y)
			if ok != edge || ok && e != next {
				t.Fatalf("(%d, %d): %d, %v", x, y, e, ok)
			}
			if ok {
				if ex, ey := terminal.EdgeXY(e, p); ex != x || ey != y {
					t.Fatalf("edge cell %d of seat %d is (%d, %d), want (%d, %d)", e, p, ex, ey, x, y)
				}
				next++
			}
		}
		require.Equalf(t, terminal.EdgeCells, next, "%d edge cells", next)
	}
	for _, at := range [][2]int{{13, -1}, {-1, 14}, {13, 28}, {0, 0}, {27, 27}} {
		e, ok := terminal.Edge(at[0], at[1])
		assert.Falsef(t, ok, "%v is edge cell %d", at, e)
	}
}
