package terminal

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/features/featuretest"
	"moonfarm/sim"
	"moonfarm/sim/prng"
	tm "moonfarm/sim/terminal"
)

func rules(t testing.TB, name string) tm.Rules {
	t.Helper()
	r, ok := tm.RuleSet(name)
	require.Truef(t, ok, "no rule set %s", name)
	return r
}

func newGame(t testing.TB, r tm.Rules) *tm.Game {
	t.Helper()
	g, err := tm.New(r)
	require.NoError(t, err)
	return g
}

func TestConformance(t *testing.T) {
	for _, name := range []string{"2026", "2020"} {
		t.Run(name, func(t *testing.T) {
			r := rules(t, name)
			featuretest.Run(t, func() sim.Game[tm.State] { return newGame(t, r) }, Kit(newGame(t, r)), featuretest.Options{Games: 4})
		})
	}
}

func TestFormsConformance(t *testing.T) {
	for name, r := range map[string]tm.Rules{"2026": rules(t, "2026"), "2022": rules(t, "2022"), "2020": rules(t, "2020"), "classic": rules(t, "classic"), "tight": tight(t), "heavy": heavy(t)} {
		t.Run(name, func(t *testing.T) {
			featuretest.RunForms(t, func() sim.Game[tm.State] { return newGame(t, r) }, Kit(newGame(t, r)), featuretest.Options{Games: 2, Every: 7})
		})
	}
}

// heavy returns rules with health above 255 and structures that give resources.
func heavy(t testing.TB) tm.Rules {
	r := rules(t, "2020")
	r.Units[tm.Wall].Health, r.Upgraded[tm.Wall].Health = 300.5, 1200
	r.Upgraded[tm.Support].GivesCores = 0.5
	r.RemovedGive = false
	return r
}

// visit calls check for the states of random games, before each turn.
func visit(g *tm.Game, seed uint64, turns int, check func(s *tm.State)) {
	r := prng.New(seed)
	turn := sim.NewTurn(tm.PlayoutOrders)
	var s tm.State
	g.Reset(&s, 0)
	for range turns {
		check(&s)
		for p := range sim.Player(2) {
			turn.Set(p, g.Playout(nil, &s, p, &r))
		}
		if g.Step(&s, turn) != sim.Running {
			g.Reset(&s, 0)
		}
	}
}

// plainHealth returns the value of a health in the planes.
func plainHealth(r *tm.Rules, u tm.Piece) int {
	most := max(r.Units[u.Kind].Health, r.Upgraded[u.Kind].Health)
	exact := float64(u.Health)
	if most > 255 {
		exact = float64(u.Health * (255 / most))
	}
	return max(1, int(math.Ceil(exact)))
}

// plainPlanes writes the planes cell by cell from State.At: the own half from one state, the enemy's
// half from another.
func plainPlanes(r *tm.Rules, own, enemy *tm.State, p sim.Player) []uint8 {
	dst := make([]uint8, boardBytes)
	for y := range side {
		for x := range side {
			ax, ay := x, y
			if p == 1 {
				ax, ay = 27-x, 27-y
			}
			put := func(plane, v int) { dst[plane*planeBytes+y*side+x] = uint8(v) }
			if !tm.Inside(ax, ay) {
				continue
			}
			put(planeArena, 1)
			s, first := own, planeOwn
			if y >= 14 {
				s, first = enemy, planeEnemy
			}
			u, ok := s.At(ax, ay)
			if !ok {
				continue
			}
			put(first+int(u.Kind), plainHealth(r, u))
			put(planeRemoval, int(u.RemoveIn))
			if u.Upgraded {
				put(planeUpgraded, 1)
			}
		}
	}
	return dst
}

func TestPlanesTwin(t *testing.T) {
	for name, r := range map[string]tm.Rules{"2026": rules(t, "2026"), "2022": rules(t, "2022"), "heavy": heavy(t)} {
		t.Run(name, func(t *testing.T) {
			g := newGame(t, r)
			e := NewEncoder(g)
			structures := 0
			visit(g, 7, 300, func(s *tm.State) {
				structures += s.Own[0].Count() + s.Own[1].Count()
				for p := range sim.Player(2) {
					want, at := plainPlanes(&r, s, s, p), fmt.Sprintf("turn %d seat %d", s.Turn, p)
					featuretest.SamePlanes(t, e, at, featuretest.Planes(e, s, p), want)
					featuretest.SamePlanes(t, e, at+", packed", featuretest.Unpacked(t, e, s, p), want)
				}
			})
			t.Logf("%d structures a state", structures/300)
		})
	}
}

// TestHealthRoundsUp checks that the value of a structure is never 0, and that full health has the
// greatest value.
func TestHealthRoundsUp(t *testing.T) {
	for name, r := range map[string]tm.Rules{"2026": rules(t, "2026"), "heavy": heavy(t)} {
		e := NewEncoder(newGame(t, r))
		for k := range tm.Kind(tm.Structures) {
			most := max(r.Units[k].Health, r.Upgraded[k].Health)
			for _, c := range []struct {
				health float32
				want   float32
			}{
				{math.SmallestNonzeroFloat32, 1}, {-3, 1}, {0.02, 1}, {most, min(255, float32(math.Ceil(float64(most))))}, {2 * most, min(255, 2*most)},
			} {
				if got := e.health(tm.Cell{Health: c.health, Mark: uint32(k)}); float32(got) != c.want {
					t.Errorf("%s: %v of %v health is shown as %d, want %v", name, k, c.health, got, c.want)
				}
			}
		}
	}
}

// TestScalars compares every scalar with the effect of a turn without orders.
func TestScalars(t *testing.T) {
	for name, r := range map[string]tm.Rules{"2026": rules(t, "2026"), "2020": rules(t, "2020"), "heavy": heavy(t)} {
		t.Run(name, func(t *testing.T) {
			g := newGame(t, r)
			e := NewEncoder(g)
			visit(g, 3, 250, func(s *tm.State) { checkScalars(t, g, e, s) })
		})
	}
}

func checkScalars(t *testing.T, g *tm.Game, e *Encoder, s *tm.State) {
	t.Helper()
	table, r := e.Description().Scalars, g.Rules()
	var record tm.Record
	after := *s
	g.Record(&record)
	g.Step(&after, new(sim.Turn))
	g.Record(nil)
	refunded := [2]bool{}
	for _, d := range record.Removed {
		refunded[d.Player] = true
	}
	for p := range sim.Player(2) {
		got := make([]float32, scalars)
		e.Scalars(got, s, p)
		want := map[string]float32{"turn": float32(s.Turn), "turns_left": float32(r.MaxTurns) - float32(s.Turn)}
		for i, owner := range []string{"own_", "enemy_"} {
			q := p ^ sim.Player(i)
			want[owner+"health"], want[owner+"cores"], want[owner+"bits"] = s.Health[q], s.Cores[q], s.Bits[q]
			want[owner+"points"] = float32(g.Outcome(s, q).Score)
			income, kept := got[i*scalarsPerSide+scalarBitsIncome], got[i*scalarsPerSide+scalarBitsKept]
			want[owner+"bits_income"], want[owner+"bits_kept"] = income, kept
			if kept+income != after.Bits[q] || kept > s.Bits[q] {
				t.Fatalf("turn %d: bits %v, kept %v, income %v; the next turn has %v", s.Turn, s.Bits[q], kept, income, after.Bits[q])
			}
			cores := got[i*scalarsPerSide+scalarCoresIncome]
			want[owner+"cores_income"] = cores
			if !refunded[q] && s.Cores[q]+cores != after.Cores[q] || refunded[q] && s.Cores[q]+cores > after.Cores[q] {
				t.Fatalf("turn %d: cores %v, income %v; the next turn has %v, refunds %v", s.Turn, s.Cores[q], cores, after.Cores[q], refunded[q])
			}
		}
		for i, f := range table {
			if v, ok := want[f.Name]; !ok || v != got[i] {
				t.Fatalf("turn %d seat %d: %s is %v, want %v", s.Turn, p, f.Name, got[i], v)
			}
		}
	}
}

// TestMeasures checks the measures on a board made by hand.
func TestMeasures(t *testing.T) {
	g := newGame(t, rules(t, "2026"))
	var s tm.State
	g.Reset(&s, 0)
	turn := sim.NewTurn(3)
	turn.Set(0, []sim.Order{tm.Place(tm.Turret, 13, 5), tm.UpgradeAt(13, 5), tm.Place(tm.Wall, 3, 13)})
	g.Step(&s, turn)
	wall, _ := s.At(3, 13)
	for cell, c := range s.Cells {
		if c.ID() == wall.ID {
			s.Cells[cell].Health = 15 // of 60
		}
	}
	s.Health[1] = 37
	want := map[string][2]float64{"health": {40, 37}, "points": {3, 0}, "invested": {2 + 4 + 0.25, 0}, "wealth": {5 + 2 + 4 + 0.25, 12}}
	for _, m := range Kit(g).Measures {
		for p := range sim.Player(2) {
			if got := m.Of(g, &s, p); got != want[m.Name][p] {
				t.Errorf("%s of seat %d is %v, want %v", m.Name, p, got, want[m.Name][p])
			}
		}
	}
}
