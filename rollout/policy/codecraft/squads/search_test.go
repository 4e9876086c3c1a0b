package squads

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout"
	"moonfarm/rollout/policy/script"
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/prng"
)

// playouts returns a budget of that many playouts.
func playouts(n int) *script.Budget {
	return &script.Budget{All: n, Spent: func(made int) int { return made }}
}

// newGame returns a game of the finals' rules.
func newGame(t testing.TB) *codecraft.Game {
	t.Helper()
	g, err := codecraft.New(codecraft.DefaultRules())
	require.NoError(t, err)
	return g
}

// battle returns two armies of n ranged units with the same formation around (33, 33), seen from
// each corner, with a few resources around them.
func battle(t testing.TB, g *codecraft.Game, seed uint64, n int) *codecraft.State {
	t.Helper()
	r, rules := prng.New(seed), g.Rules()
	p := codecraft.Position{Tick: 300, Seed: seed, NextID: 10}
	taken := map[[2]int]bool{}
	add := func(kind codecraft.Type, x, y int) {
		for q := range sim.Player(2) {
			size := int(rules.Types[kind].Size)
			ux, uy := codecraft.TurnBack(q, x, y, size)
			taken[[2]int{ux, uy}] = true
			p.Units = append(p.Units, codecraft.Unit{ID: p.NextID, Health: int16(rules.Types[kind].MaxHealth), X: uint8(ux), Y: uint8(uy), Type: kind, Owner: q, Active: true})
			p.NextID++
		}
	}
	add(codecraft.BuilderBase, 5, 5)
	for k := 0; k < n; {
		if x, y := 29+r.IntN(8), 29+r.IntN(8); !taken[[2]int{x, y}] {
			add(codecraft.RangedUnit, x, y)
			k++
		}
	}
	for x := 20; x < 60; x++ {
		for y := 20; y < 60; y++ {
			if !taken[[2]int{x, y}] && r.IntN(20) == 0 {
				p.Veins = append(p.Veins, codecraft.Vein{ID: p.NextID, Health: 30, X: uint8(x), Y: uint8(y)})
				p.NextID++
			}
		}
	}
	s := new(codecraft.State)
	require.NoError(t, g.Restore(s, &p))
	return s
}

// searched returns the result of a search with at most n playouts.
func searched(c *Searcher, g *codecraft.Game, s *codecraft.State, p sim.Player, seed uint64, n int) (found rollout.SearchResult, made int) {
	c.adopt(g)
	c.Search(&found, s, p, seed, playouts(n))
	return found, c.made
}

// fightOn plays a battle on for some ticks, with the searcher at one seat and squads at the other,
// and calls each with the state before every tick. It returns the numbers of ranged units at the
// end.
func fightOn(c *Searcher, g *codecraft.Game, s *codecraft.State, p sim.Player, ticks, budget int, each func(found *rollout.SearchResult, made int)) (own, foes int16) {
	other := New(false)
	turn := sim.NewTurn(g.Info().MaxOrders)
	for range ticks {
		found, made := searched(c, g, s, p, uint64(s.Tick), budget)
		each(&found, made)
		turn.Set(p, found.OrdersOf(len(found.Ends)-1))
		turn.Set(1-p, other.AppendOrders(nil, g, s, 1-p))
		if g.Step(s, turn) != sim.Running {
			break
		}
	}
	return s.Count[p][codecraft.RangedUnit], s.Count[1-p][codecraft.RangedUnit]
}

// The search loses fewer fighters than squads in battles of equal armies.
func TestSearchWinsBattles(t *testing.T) {
	g := newGame(t)
	own, foes := 0, 0
	for seed := range uint64(6) {
		c := NewSearcher(4)
		a, b := fightOn(c, g, battle(t, g, seed, 15), sim.Player(seed&1), 60, 200, func(*rollout.SearchResult, int) {})
		own, foes = own+int(a), foes+int(b)
	}
	t.Logf("%d and %d of 90 fighters are left", own, foes)
	assert.Greater(t, own, foes, "fighters of the search that are left")
}

// In the states of a battle: the budget is kept, all orders are for own fighters or the script's,
// and the result is the same again, also by a Searcher with other earlier searches.
func TestSearchKeepsItsPromises(t *testing.T) {
	g := newGame(t)
	s := battle(t, g, 3, 8)
	c, fresh := NewSearcher(4), NewSearcher(4)
	improved, most := 0, 0
	fightOn(c, g, s, 0, 40, 60, func(found *rollout.SearchResult, made int) {
		most = max(most, made)
		require.LessOrEqualf(t, made, 60, "tick %d: playouts", s.Tick)
		again, _ := searched(fresh, g, s, 0, uint64(s.Tick), 60)
		require.Equalf(t, *found, again, "tick %d: the same search", s.Tick)
		require.Truef(t, found.Value > -1 && found.Value < 1, "tick %d: value %v", s.Tick, found.Value)
		require.Len(t, found.Shares, len(found.Ends))
		if len(found.Ends) == 2 {
			improved++
		}
		for _, o := range found.Orders {
			i := s.Find(codecraft.Decode(o).ID)
			require.Truef(t, i >= 0 && s.Units[i].Owner == 0, "tick %d: order %+v", s.Tick, codecraft.Decode(o))
		}
		if s.Tick%8 == 0 {
			searched(fresh, g, s, 1, 5, 30)
		}
	})
	assert.Greater(t, improved, 5, "searches that change orders")
	assert.Greater(t, most, 50, "playouts in a tick")
}

// Without a budget the orders are those of the script.
func TestSearchWithoutBudget(t *testing.T) {
	g := newGame(t)
	s := battle(t, g, 1, 8)
	for p := range sim.Player(2) {
		found, made := searched(NewSearcher(4), g, s, p, 1, 0)
		assert.Zero(t, made)
		assert.Equal(t, New(true).AppendOrders(nil, g, s, p), found.Orders)
	}
}

// What the seat does not see changes nothing: the random seed of the game, actions of enemies, and
// entities out of sight.
func TestSearchSeesWhatItsPlayerSees(t *testing.T) {
	g := newGame(t)
	s := battle(t, g, 2, 8)
	c := NewSearcher(4)
	unseen := 0
	fightOn(NewSearcher(4), g, s, 0, 25, 60, func(found *rollout.SearchResult, _ int) {
		var p codecraft.Position
		s.Position(&p)
		p.Seed ^= 0x5555
		p.Units, p.Acts = p.Units[:0], p.Acts[:0]
		for i, u := range s.Units[:s.N] {
			act := s.Acts[i]
			if u.Owner != 0 {
				act = codecraft.Action{Parts: codecraft.Given | codecraft.HasAuto, Range: 9, Valid: codecraft.AllButResource}
			}
			if u.Owner == 0 || sees(g, s, &u) {
				p.Units, p.Acts = append(p.Units, u), append(p.Acts, act)
			} else {
				unseen++
			}
		}
		other := new(codecraft.State)
		require.NoError(t, g.Restore(other, &p))
		seen, _ := searched(c, g, other, 0, uint64(s.Tick), 60)
		require.Equalf(t, *found, seen, "tick %d: without what the player does not see", s.Tick)
	})
	assert.Positive(t, unseen, "entities out of sight")
}

// sees reports whether player 0 sees a unit.
func sees(g *codecraft.Game, s *codecraft.State, u *codecraft.Unit) bool {
	t := g.Rules().Types
	for i := range s.Units[:s.N] {
		v := &s.Units[i]
		if v.Owner == 0 && codecraft.Gap(int(u.X), int(u.Y), int(t[u.Type].Size), int(v.X), int(v.Y), int(t[v.Type].Size)) <= int(t[v.Type].Sight) {
			return true
		}
	}
	return false
}

// The root of the playouts is the state that the position of its entities restores.
func TestSceneIsAState(t *testing.T) {
	g := newGame(t)
	s := battle(t, g, 4, 8)
	c := NewSearcher(4)
	scenes := 0
	fightOn(c, g, s, 0, 25, 30, func(*rollout.SearchResult, int) {
		if c.fights.n == 0 {
			return
		}
		root := &c.play.root
		p := codecraft.Position{Seed: root.Seed, Tick: root.Tick, NextID: root.NextID, Units: root.Units[:root.N], Acts: root.Acts[:root.N]}
		eachCell(&root.Resources, func(x, y int) {
			p.Veins = append(p.Veins, codecraft.Vein{ID: root.ResourceID(x, y), X: uint8(x), Y: uint8(y), Health: int16(root.Health[codecraft.CellOf(x, y)])})
		})
		slices.SortFunc(p.Veins, func(a, b codecraft.Vein) int { return int(a.ID) - int(b.ID) })
		want := new(codecraft.State)
		require.NoError(t, c.play.game.Restore(want, &p))
		want.FirstID, want.Veins, want.Before = root.FirstID, root.Veins, root.Before // also of used up resources
		require.Equalf(t, *want, *root, "tick %d", s.Tick)
		scenes++
	})
	assert.Greater(t, scenes, 10)
}

// The options of units that are left follow them when others die.
func TestOptionsFollowUnits(t *testing.T) {
	var k playout
	for i, id := range []uint32{3, 4, 8, 9} {
		k.ids[i], k.choice[i] = id, option(i)
	}
	k.state.N = 2
	k.state.Units[0].ID, k.state.Units[1].ID = 4, 9
	k.follow()
	assert.Equal(t, []option{1, 3}, k.choice[:2])
}

// A search allocates nothing once its result has the room.
func TestSearchAllocatesNothing(t *testing.T) {
	g := newGame(t)
	s := battle(t, g, 5, 8)
	c := NewSearcher(4)
	found := rollout.SearchResult{Shares: make([]float32, 0, 2), Ends: make([]int32, 0, 2), Orders: make([]sim.Order, 0, 2*g.Info().MaxOrders)}
	b := playouts(40)
	c.adopt(g)
	for range 12 {
		assert.Zero(t, testing.AllocsPerRun(2, func() { c.Search(&found, s, 1, 7, b) }))
		fightOn(c, g, s, 0, 1, 0, func(*rollout.SearchResult, int) {})
	}
}

// Builders of the vanguard leave for the middle of the map before the ranged base is begun.
func TestVanguardLeaves(t *testing.T) {
	g := newGame(t)
	s := new(codecraft.State)
	turn := sim.NewTurn(g.Info().MaxOrders)
	g.Reset(s, 3)
	players := [2]*Commander{New(true), New(true)}
	for s.Count[0][codecraft.RangedBase] == 0 && s.Tick < 300 {
		for p := range sim.Player(2) {
			turn.Set(p, players[p].AppendOrders(nil, g, s, p))
		}
		g.Step(s, turn)
	}
	i := slices.IndexFunc(s.Units[:s.N], func(u codecraft.Unit) bool { return u.Owner == 0 && u.Type == codecraft.RangedBase })
	require.GreaterOrEqual(t, i, 0, "a ranged base")
	u := s.Units[i]
	t.Logf("tick %d: a ranged base at (%d, %d)", s.Tick, u.X, u.Y)
	assert.GreaterOrEqual(t, u.X+u.Y, uint8(40), "its distance from the corner")
}
