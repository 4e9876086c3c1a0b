package codecraft_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/internal/plain"
	"moonfarm/sim/prng"
	"moonfarm/sim/simtest"
)

// visit calls look with random states of random rules, which have stored actions.
func visit(t *testing.T, seed uint64, states int, look func(r *prng.Rand, g *codecraft.Game, s *codecraft.State)) {
	t.Helper()
	for i := range states {
		r := prng.New(prng.StreamSeed(seed, uint64(i), 0, 0, prng.PurposeGame))
		sc := scenarios[r.IntN(len(scenarios))]
		rules := twinRules(&r)
		if sc.name == "crammed" || rules.MaxTurns < 1000 {
			continue
		}
		g, err := codecraft.New(rules)
		require.NoError(t, err)
		s := sc.begin(&r, g)
		c := &commander{r: &r, s: &s, g: g}
		sc.mood(&r, c)
		c.again, c.careless = 100, 0
		turn := sim.NewTurn(g.Info().MaxOrders)
		for p := range sim.Player(rules.Players) {
			turn.Set(p, c.orders(nil, p))
		}
		g.Step(&s, turn)
		look(&r, g, &s)
	}
}

// TestPlayersAreAlike checks that players are equal: if players exchange everything that they have,
// their results after a tick are exchanged, and nothing else changes.
func TestPlayersAreAlike(t *testing.T) {
	visit(t, 21, 150, func(r *prng.Rand, g *codecraft.Game, s *codecraft.State) {
		n := g.Info().Players
		seats := []sim.Player{0, 1, 2, 3}
		for i := n - 1; i > 0; i-- {
			k := r.IntN(i + 1)
			seats[i], seats[k] = seats[k], seats[i]
		}
		a, b := *s, reseated(s, seats)
		statusA, statusB := g.Tick(&a), g.Tick(&b)
		if want := reseated(&a, seats); b != want || statusA != statusB {
			t.Fatalf("seats %v: %v, %v; %s", seats[:n], statusA, statusB, simtest.Diff(&b, &want))
		}
	})
}

// reseated returns a state in which player seats[p] has what player p had.
func reseated(s *codecraft.State, seats []sim.Player) codecraft.State {
	a := *s
	for i := range a.Units[:a.N] {
		a.Units[i].Owner = seats[s.Units[i].Owner]
	}
	for p, q := range seats {
		a.Score[q], a.Resource[q], a.Own[q] = s.Score[p], s.Resource[p], s.Own[p]
		a.Count[q], a.PopUse[q], a.PopProvide[q] = s.Count[p], s.PopUse[p], s.PopProvide[p]
	}
	return a
}

// TestNoSideIsBetter checks that all directions are equal: on a map rotated by 90°, the possible
// actions of units are rotated as well.
func TestNoSideIsBetter(t *testing.T) {
	looked := 0
	visit(t, 22, 100, func(r *prng.Rand, g *codecraft.Game, s *codecraft.State) {
		turned := quarter(g, s)
		steps, victims := make([]codecraft.Steps, s.N), make([][]uint32, s.N)
		g.Plan(s)
		for i := range steps {
			steps[i], victims[i] = g.Steps(i), g.AppendVictims(nil, s, i)
		}
		g.Plan(&turned)
		for i := range steps {
			want := codecraft.Steps(0) // +x becomes −y, −x +y, +y +x and −y −x
			for d, to := range [4]int{3, 2, 0, 1} {
				want |= steps[i] >> d & 1 << to
			}
			got := g.Steps(i)
			require.Equalf(t, want, got, "unit %d: steps %04b, %04b on the turned map, want %04b", i, steps[i], got, want)
			hit := g.AppendVictims(nil, &turned, i)
			for k, id := range victims[i] {
				victims[i][k] = turnedID(s, &turned, id)
			}
			slices.Sort(victims[i])
			require.Truef(t, slices.Equal(hit, victims[i]), "unit %d: victims %v on the turned map, want %v", i, hit, victims[i])
			if steps[i] != 0 || hit != nil {
				looked++
			}
		}
	})
	assert.GreaterOrEqualf(t, looked, 1000, "only %d units had anything to do", looked)
}

// quarter returns a state on the map rotated to the right: (x, y) goes to (y, 79−x). Resources get
// other ids.
func quarter(g *codecraft.Game, s *codecraft.State) (turned codecraft.State) {
	rules := g.Rules()
	var raw codecraft.State
	for x := range codecraft.Side {
		for y := range codecraft.Side {
			if s.Veins[x][y>>6]>>(y&63)&1 != 0 {
				raw.Resources.Add(y, codecraft.Side-1-x)
			}
			raw.Health[codecraft.CellOf(y, codecraft.Side-1-x)] = s.Health[codecraft.CellOf(x, y)]
		}
	}
	raw.SetVeins()
	raw.Seed, raw.Tick, raw.NextID, raw.FirstID = s.Seed, s.Tick, s.NextID, s.FirstID
	raw.Score, raw.Resource, raw.N = s.Score, s.Resource, s.N
	for i, u := range s.Units[:s.N] {
		size := uint8(rules.Types[u.Type].Size)
		u.X, u.Y = u.Y, codecraft.Side-u.X-size
		raw.Units[i] = u
		a := s.Acts[i]
		if a.Parts&codecraft.HasMove != 0 {
			a.MoveX, a.MoveY = a.MoveY, codecraft.Side-1-a.MoveX
		}
		if a.Parts&codecraft.HasTarget != 0 {
			a.Target = turnedID(s, &raw, a.Target)
		}
		raw.Acts[i] = a
	}
	p := plain.New(rules)
	p.Load(&raw)
	p.Store(&turned)
	return turned
}

// turnedID returns the id on the rotated map of the entity with the given id in s.
func turnedID(s, turned *codecraft.State, id uint32) uint32 {
	if x, y, ok := s.ResourceAt(id); ok {
		return turned.ResourceID(y, codecraft.Side-1-x)
	}
	return id
}

// TestLimitOnlyLimits checks that with a lower limit of searches, a move without closest position
// has the same first steps or none.
func TestLimitOnlyLimits(t *testing.T) {
	limited, same := 0, 0
	visit(t, 23, 60, func(r *prng.Rand, g *codecraft.Game, s *codecraft.State) {
		for i := range s.Units[:s.N] {
			s.Acts[i].Parts &^= codecraft.FindClosest
			if s.Acts[i].Parts&codecraft.HasAuto != 0 {
				a := &s.Acts[i]
				a.Parts, a.Valid, a.Range = a.Parts&^codecraft.HasAuto, 0, 0
			}
		}
		rules := g.Rules()
		var steps [2][codecraft.MaxUnits]codecraft.Steps
		for k, nodes := range []int32{codecraft.Cells, pick[int32](r, 1, 30, 200, 1000)} {
			rules.MaxNodes = nodes
			h, err := codecraft.New(rules)
			require.NoError(t, err)
			h.Plan(s)
			for i := range s.Units[:s.N] {
				steps[k][i] = h.Steps(i)
			}
		}
		for i := range s.Units[:s.N] {
			switch free, less := steps[0][i], steps[1][i]; {
			case free == less:
				same++
			case less == 0:
				limited++
			default:
				t.Fatalf("unit %d: steps %04b without a limit, %04b with %d cells", i, free, less, rules.MaxNodes)
			}
		}
	})
	assert.Truef(t, limited >= 100 && same >= 100, "%d moves limited, %d not: too few of one sort", limited, same)
}

// TestDraw compares what Draw announces after Plan with what the next tick does: the victims, and the
// cells of the units that move.
func TestDraw(t *testing.T) {
	hits, moved := 0, 0
	visit(t, 31, 150, func(_ *prng.Rand, g *codecraft.Game, s *codecraft.State) {
		type drawn struct {
			victim uint32
			x, y   int
			moves  bool
		}
		list := map[uint32]drawn{}
		g.Plan(s)
		for i, u := range s.Units[:s.N] {
			var d drawn
			d.victim, d.x, d.y, d.moves = g.Draw(s, i)
			list[u.ID] = d
		}
		var record codecraft.Record
		g.Record(&record)
		after := *s
		g.Tick(&after)
		g.Record(nil)
		attacked := map[uint32]uint32{}
		for _, h := range record.Attacks {
			attacked[h.Attacker] = h.Victim
		}
		for i, u := range s.Units[:s.N] {
			d := list[u.ID]
			if d.victim != 0 && !g.Rules().DeadRest {
				hits++
				if attacked[u.ID] != d.victim || d.moves {
					t.Fatalf("unit %d attacks %d, drawn was %+v", u.ID, attacked[u.ID], d)
				}
			}
			if k := after.Find(u.ID); k >= 0 && (after.Units[k].X != u.X || after.Units[k].Y != u.Y) {
				moved++
				if !d.moves || int(after.Units[k].X) != d.x || int(after.Units[k].Y) != d.y {
					t.Fatalf("unit %d (index %d) moves to %d,%d, drawn was %+v", u.ID, i, after.Units[k].X, after.Units[k].Y, d)
				}
			}
		}
	})
	assert.Truef(t, hits > 100 && moved > 500, "%d attacks and %d moves", hits, moved)
}

// TestRecordBalance balances the damage, the repairs and the builds of a Record with the
// healths before and after the tick.
func TestRecordBalance(t *testing.T) {
	total := func(s *codecraft.State) (sum int32) {
		for _, u := range s.Units[:s.N] {
			sum += int32(u.Health)
		}
		for _, h := range s.Health {
			sum += int32(h)
		}
		return sum
	}
	builds, repairs, wasted := 0, 0, 0
	visit(t, 37, 150, func(_ *prng.Rand, g *codecraft.Game, s *codecraft.State) {
		var record codecraft.Record
		g.Record(&record)
		after := *s
		g.Tick(&after)
		g.Record(nil)
		want := total(s)
		require.Len(t, record.Dealt, len(record.Attacks))
		for _, n := range record.Dealt {
			if want -= n; n == 0 {
				wasted++
			}
		}
		for _, w := range record.Builds {
			want += w.Health
			require.Truef(t, s.Find(w.Target) < 0 && after.Find(w.Target) >= 0 && s.Find(w.Worker) >= 0, "%+v", w)
			builds++
		}
		for _, w := range record.Repairs {
			want += w.Health
			repairs++
		}
		require.Equal(t, want, total(&after))
	})
	assert.Truef(t, builds > 10 && repairs > 10, "%d builds, %d repairs, %d wasted attacks", builds, repairs, wasted)
}
