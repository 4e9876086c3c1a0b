package codecraft_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	scripts "moonfarm/rollout/policy/codecraft"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/codecraft"
)

// long reports whether the long forms of tests run.
func long() bool { return os.Getenv("MOONFARM_LONG") != "" }

// names returns the names of all scripts.
func names() (all []string) {
	for _, s := range scripts.Scripts {
		all = append(all, s.Name)
	}
	return all
}

func newCraft(t testing.TB, r codecraft.Rules) *codecraft.Game {
	t.Helper()
	g, err := codecraft.New(r)
	require.NoError(t, err)
	return g
}

func newScript(t testing.TB, name string) *scripts.ScriptPlayer {
	t.Helper()
	c, err := scripts.NewScriptPlayer(name)
	require.NoError(t, err)
	return c
}

// scriptedGame plays scripts against each other, at most the given number of ticks. It calls
// each in every tick, with the orders of all seats before they are carried out.
func scriptedGame(t testing.TB, preset string, seed uint64, ticks int32, names []string, each func(g *codecraft.Game, s *codecraft.State, turn *sim.Turn)) {
	t.Helper()
	r, ok := codecraft.Preset(preset)
	require.Truef(t, ok, "no preset %s", preset)
	g := newCraft(t, r)
	var players []*scripts.ScriptPlayer
	for p := range int(r.Players) {
		players = append(players, newScript(t, names[p%len(names)]))
	}
	s, turn := new(codecraft.State), sim.NewTurn(g.Info().MaxOrders)
	g.Reset(s, seed)
	for status := sim.Running; status == sim.Running && s.Tick < ticks; status = g.Step(s, turn) {
		for p := range sim.Player(r.Players) {
			turn.Set(p, players[p].AppendOrders(nil, g, s, p))
		}
		each(g, s, turn)
	}
}

// All orders of the scripts are for own entities, change their action, and ask for nothing
// that the entity cannot do; buildings are on the map.
func TestColoniesAreLegal(t *testing.T) {
	ticks := int32(250)
	if long() {
		ticks = 1000
	}
	for _, c := range []struct{ preset, names string }{
		{"finals", "econ turtle"}, {"finals", "econ-near quickstart"}, {"round2-3", "turtle econ-break quickstart"}, {"round1", "quickstart econ turtle"}, {"round2", "squads econ"},
	} {
		t.Run(c.preset+" "+c.names, func(t *testing.T) {
			var ops [8]int
			scriptedGame(t, c.preset, 5, ticks, strings.Fields(c.names), func(g *codecraft.Game, s *codecraft.State, turn *sim.Turn) {
				r := g.Rules()
				for p := range sim.Player(r.Players) {
					checkColonyOrders(t, &r, s, p, turn.Orders(p), &ops)
				}
			})
			for _, op := range []codecraft.Op{codecraft.OpMove, codecraft.OpBuild, codecraft.OpAuto, codecraft.OpRepair} {
				assert.NotZero(t, ops[op], "orders by op %v", ops)
			}
		})
	}
}

// checkColonyOrders checks the orders of one seat, in each of which an entity
// gets a whole action.
func checkColonyOrders(t *testing.T, r *codecraft.Rules, s *codecraft.State, p sim.Player, orders []sim.Order, ops *[8]int) {
	t.Helper()
	named := map[uint32]bool{}
	acts := map[int]codecraft.Action{}
	for k, o := range orders {
		c := codecraft.Decode(o)
		ops[c.Op]++
		i := s.Find(c.ID)
		require.Truef(t, i >= 0 && s.Units[i].Owner == p, "tick %d, seat %d: order %+v for an entity that is not the seat's", s.Tick, p, c)
		require.Truef(t, c.And == named[c.ID] && (!c.And || codecraft.Decode(orders[k-1]).ID == c.ID), "tick %d, seat %d: order %+v is not of one action with those before", s.Tick, p, c)
		named[c.ID] = true
		a := acts[i]
		a.Take(o)
		acts[i] = a
	}
	for i, a := range acts {
		u := &s.Units[i]
		k := &r.Types[u.Type]
		require.Truef(t, a != s.Acts[i], "tick %d, seat %d: %v %d gets an order for its stored action %+v", s.Tick, p, u.Type, u.ID, a)
		require.Truef(t, (a.Parts&codecraft.HasMove == 0 || k.CanMove) && (a.Parts&codecraft.HasRepair == 0 || k.CanRepair) && a.Parts&codecraft.MoveOutside == 0, "tick %d, seat %d: %v %d cannot %+v", s.Tick, p, u.Type, u.ID, a)
		if a.Parts&codecraft.HasBuild == 0 {
			continue
		}
		size := int(r.Types[a.BuildType].Size)
		require.Truef(t, k.Builds.Set().Has(a.BuildType) && int(a.BuildX)+size <= codecraft.Side && int(a.BuildY)+size <= codecraft.Side, "tick %d, seat %d: %v %d cannot build %v at (%d, %d)", s.Tick, p, u.Type, u.ID, a.BuildType, a.BuildX, a.BuildY)
	}
}

// After some ticks each script has the numbers of entities that its parameters ask for.
func TestColonyStyles(t *testing.T) {
	for _, c := range []struct {
		name  string
		ticks int32
		most  [codecraft.Types]int16
		least [codecraft.Types]int16
	}{
		{"quickstart", 150,
			[codecraft.Types]int16{codecraft.BuilderBase: 1, codecraft.BuilderUnit: 5},
			[codecraft.Types]int16{codecraft.BuilderBase: 1, codecraft.BuilderUnit: 3}},
		{"econ", 350,
			[codecraft.Types]int16{codecraft.BuilderBase: 1, codecraft.BuilderUnit: 45, codecraft.RangedBase: 1, codecraft.RangedUnit: 60, codecraft.House: 25},
			[codecraft.Types]int16{codecraft.BuilderBase: 1, codecraft.BuilderUnit: 40, codecraft.RangedBase: 1, codecraft.RangedUnit: 10, codecraft.House: 8}},
		{"squads", 350,
			[codecraft.Types]int16{codecraft.BuilderBase: 1, codecraft.BuilderUnit: 80, codecraft.RangedBase: 2, codecraft.RangedUnit: 110, codecraft.House: 35, codecraft.Turret: 3},
			[codecraft.Types]int16{codecraft.BuilderBase: 1, codecraft.BuilderUnit: 50, codecraft.RangedBase: 1, codecraft.RangedUnit: 20, codecraft.House: 10}},
		{"turtle", 450,
			[codecraft.Types]int16{codecraft.BuilderBase: 1, codecraft.BuilderUnit: 40, codecraft.RangedBase: 1, codecraft.RangedUnit: 40, codecraft.House: 20, codecraft.Turret: 12},
			[codecraft.Types]int16{codecraft.BuilderBase: 1, codecraft.BuilderUnit: 30, codecraft.RangedBase: 1, codecraft.RangedUnit: 10, codecraft.House: 6, codecraft.Turret: 6}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var last codecraft.State
			scriptedGame(t, "finals", 1000, c.ticks, []string{c.name, "quickstart"}, func(_ *codecraft.Game, s *codecraft.State, _ *sim.Turn) {
				last.Clone(s)
			})
			t.Logf("entities %v, score %v", last.Count[0], last.Score)
			for k, n := range last.Count[0] {
				if n < c.least[k] || n > c.most[k] {
					t.Errorf("%d of %v after %d ticks, want %d to %d", n, codecraft.Type(k), c.ticks, c.least[k], c.most[k])
				}
			}
		})
	}
}

// quickAction returns the action of the original's QuickStart player for unit i,
// written after its published source.
func quickAction(r *codecraft.Rules, s *codecraft.State, p sim.Player, i int) (a codecraft.Action) {
	u := &s.Units[i]
	k := &r.Types[u.Type]
	x, y := codecraft.Turn(p, int(u.X), int(u.Y), int(k.Size))
	take := func(o sim.Order) {
		if a.Parts != 0 {
			o = codecraft.And(o)
		}
		a.Take(o)
	}
	if k.CanMove {
		tx, ty := codecraft.TurnBack(p, codecraft.Side-1, codecraft.Side-1, 1)
		take(codecraft.Move(u.ID, tx, ty, true, true))
	} else if k.CanBuild {
		built := k.Builds.T[0]
		units := int32(0)
		for j := range s.Units[:s.N] {
			if s.Units[j].Owner == p && s.Units[j].Type == built {
				units++
			}
		}
		if (units+1)*r.Types[built].PopUse <= k.PopProvide {
			bx, by := codecraft.TurnBack(p, x+int(k.Size), y+int(k.Size)-1, int(r.Types[built].Size))
			take(codecraft.Build(u.ID, built, bx, by))
		}
	}
	valid := codecraft.TypeSet(0)
	if u.Type == codecraft.BuilderUnit {
		valid = 1 << codecraft.Resource
	}
	take(codecraft.Auto(u.ID, int(k.Sight), valid))
	return a
}

// After every tick's orders all entities of quickstart have the actions that
// the original gives them.
func TestQuickstartIsTheOriginal(t *testing.T) {
	for _, preset := range []string{"finals", "round1"} {
		t.Run(preset, func(t *testing.T) {
			actions := 0
			scriptedGame(t, preset, 7, 150, []string{"quickstart"}, func(g *codecraft.Game, s *codecraft.State, turn *sim.Turn) {
				r := g.Rules()
				acts := s.Acts
				for p := range sim.Player(r.Players) {
					for _, o := range turn.Orders(p) {
						acts[s.Find(codecraft.Decode(o).ID)].Take(o)
					}
					for i, got := range acts[:s.N] {
						if s.Units[i].Owner != p {
							continue
						}
						actions++
						if want := quickAction(&r, s, p, i); got != want {
							t.Fatalf("tick %d, seat %d: %+v has action %+v, want %+v", s.Tick, p, s.Units[i], got, want)
						}
					}
				}
			})
			assert.GreaterOrEqual(t, actions, 1000)
		})
	}
}

// blind returns a state that looks the same to player p: the rest of the map is empty, or
// filled with resources.
func blind(t *testing.T, g *codecraft.Game, s *codecraft.State, p sim.Player, filled bool) *codecraft.State {
	t.Helper()
	var sight bitboard.Square
	g.Sight(&sight, s, p)
	r := g.Rules()
	if !r.Fog {
		sight.Flip(&bitboard.Square{})
	}
	var from, to codecraft.Position
	s.Position(&from)
	to = from
	to.Units, to.Acts, to.Veins = nil, nil, nil
	for i, u := range from.Units {
		size := int(r.Types[u.Type].Size)
		switch {
		case u.Owner == p:
			to.Units, to.Acts = append(to.Units, u), append(to.Acts, from.Acts[i])
		case sight.MeetsSquare(int(u.X), int(u.Y), size):
			to.Units, to.Acts = append(to.Units, u), append(to.Acts, codecraft.Action{})
			for k := range size * size {
				sight.Add(int(u.X)+k%size, int(u.Y)+k/size)
			}
		}
	}
	for x := range codecraft.Side {
		for y := range codecraft.Side {
			health := int16(s.Health[codecraft.CellOf(x, y)])
			if !sight.Has(x, y) {
				health = 0
				if filled {
					health = 30
				}
			}
			if health > 0 {
				to.Veins = append(to.Veins, codecraft.Vein{ID: to.NextID, Health: health, X: uint8(x), Y: uint8(y)})
				to.NextID++
			}
		}
	}
	to.Seed = 0
	b := new(codecraft.State)
	require.NoErrorf(t, g.Restore(b, &to), "tick %d, seat %d", s.Tick, p)
	return b
}

// The orders of the scripts do not depend on what their player does not see.
func TestColoniesSeeNoMoreThanTheirPlayer(t *testing.T) {
	ticks := int32(400)
	if long() {
		ticks = 1000
	}
	for _, c := range []struct{ preset, names string }{
		{"finals", "econ turtle"}, {"finals", "econ-near quickstart"}, {"round2", "econ turtle econ-break econ"}, {"round1", "econ quickstart turtle"}, {"round2-3", "squads econ turtle"},
	} {
		t.Run(c.preset+" "+c.names, func(t *testing.T) {
			names := strings.Fields(c.names)
			hidden := 0
			scriptedGame(t, c.preset, 3, ticks, names, func(g *codecraft.Game, s *codecraft.State, turn *sim.Turn) {
				for p := range sim.Player(g.Info().Players) {
					begins := slices.ContainsFunc(turn.Orders(p), func(o sim.Order) bool {
						c := codecraft.Decode(o)
						return c.Op == codecraft.OpBuild && c.Type != codecraft.BuilderUnit && c.Type != codecraft.RangedUnit
					})
					if !begins && s.Tick%17 != int32(p) {
						continue
					}
					script := newScript(t, names[int(p)%len(names)])
					for _, filled := range []bool{false, true} {
						b := blind(t, g, s, p, filled)
						hidden += int(s.N - b.N)
						if got := script.AppendOrders(nil, g, b, p); !slices.Equal(got, turn.Orders(p)) {
							t.Fatalf("tick %d, seat %d: %s gives other orders (%d) in a state without the unseen (filled: %v) than in the whole one (%d)",
								s.Tick, p, script.Name(), len(got), filled, len(turn.Orders(p)))
						}
					}
				}
			})
			fog := c.preset != "round1"
			assert.Equal(t, fog, hidden > 100, "%d units out of sight", hidden)
		})
	}
}

// NewScriptPlayer finds the scripts by their names.
func TestNewCodeCraft(t *testing.T) {
	_, err := scripts.NewScriptPlayer("maze")
	assert.ErrorContains(t, err, `no scripted policy "maze" for codecraft; there are: quickstart, econ`)
	for _, name := range names() {
		c, err := scripts.NewScriptPlayer(name)
		require.NoErrorf(t, err, "%s", name)
		assert.Equal(t, name, c.Name())
	}
}
