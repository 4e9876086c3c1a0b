package codecraft_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
)

// Tests of the clauses of RULES.md, section 7.

// crowd returns a state with n units of player 1, from (0, 2) on, row by row.
func crowd(t *testing.T, g *codecraft.Game, n int, kind codecraft.Type) codecraft.State {
	t.Helper()
	p := codecraft.Position{NextID: 10_000}
	for i := range n {
		p.Units = append(p.Units, codecraft.Unit{
			ID: uint32(100 + i), X: uint8(i % codecraft.Side), Y: uint8(2 + i/codecraft.Side), Type: kind, Active: true,
			Health: int16(g.Rules().Types[kind].MaxHealth),
		})
	}
	var s codecraft.State
	require.NoError(t, g.Restore(&s, &p))
	return s
}

func TestClause_7_1_MaxUnits(t *testing.T) {
	g := mustGame(t, "round1", nil)
	for _, n := range []int{codecraft.MaxUnits - 2, codecraft.MaxUnits - 1, codecraft.MaxUnits} {
		s := crowd(t, g, n, codecraft.BuilderUnit)
		s.Resource[0] = 100
		for i := range 3 { // in the lowest row
			s.Acts[2*i].Take(codecraft.Build(s.Units[2*i].ID, codecraft.Wall, 2*i, 1))
		}
		m := resume(t, g, s).tick(1)
		room := min(codecraft.MaxUnits-n, 3)
		assert.Truef(t, int(m.s.N) == n+room && m.s.NextID == 10_003 && m.s.Resource[0] == int32(100-10*room), "with %d entities: %d after three builds, next id %d, resource %d", n, m.s.N, m.s.NextID, m.s.Resource[0])
		for _, o := range g.AppendOrders(nil, &m.s, 0) {
			if codecraft.Decode(o).Op == codecraft.OpBuild && int(m.s.N) == codecraft.MaxUnits {
				t.Fatalf("with %d entities order %#x builds", m.s.N, uint64(o))
			}
		}
	}
	// Removed entities make room; positions with more entities are refused.
	s := crowd(t, g, codecraft.MaxUnits, codecraft.BuilderUnit)
	s.Resource[0] = 100
	s.Acts[0].Take(codecraft.Build(s.Units[0].ID, codecraft.Wall, 0, 1))
	s.Acts[2].Take(codecraft.Attack(s.Units[2].ID, s.Units[3].ID))
	s.Units[3].Health = 1
	resume(t, g, s).tick(1).there(s.Units[3].ID, false).there(10_000, false).tick(1).there(10_001, true)
	p := codecraft.Position{NextID: 1 << 20, Units: make([]codecraft.Unit, codecraft.MaxUnits+1)}
	err := g.Restore(&s, &p)
	assert.ErrorContains(t, err, "2049 entities", "2049 entities")
}

func TestClause_7_2_IDs(t *testing.T) {
	// All 2048 entities take an id in each of the last ticks, from the greatest next id that
	// Restore accepts.
	g := mustGame(t, "round1", nil)
	const ticks = 3
	s := crowd(t, g, codecraft.MaxUnits, codecraft.BuilderUnit)
	s.Tick = g.Rules().MaxTurns - ticks
	s.NextID = codecraft.MaxID - codecraft.MaxUnits*ticks
	for i := range s.Units[:s.N] {
		s.Acts[i].Take(codecraft.Build(s.Units[i].ID, codecraft.House, 255, 255))
	}
	var p codecraft.Position
	s.Position(&p)
	require.NoError(t, g.Restore(&s, &p))
	m := resume(t, g, s).tick(ticks).ended(sim.Over)
	assert.Equal(t, uint32(codecraft.MaxID), m.s.NextID, "the next id")
	p.NextID++
	err := g.Restore(&s, &p)
	assert.ErrorContainsf(t, err, "too great", "next id %d", p.NextID)
	// After a start there is room for the ids of any game.
	most := 4 + 4*7 + codecraft.Cells + 2000*codecraft.MaxUnits
	assert.LessOrEqualf(t, most, codecraft.MaxID, "%d ids", most)
}

func TestClause_7_3_Health(t *testing.T) {
	// The greatest health and the greatest damage.
	most := func(r *codecraft.Rules) {
		for k := range r.Types {
			if codecraft.Type(k) != codecraft.Resource {
				r.Types[k].MaxHealth = 30_000
			}
		}
		r.Types[codecraft.Resource].MaxHealth = 255
		b := &r.Types[codecraft.BuilderUnit]
		b.Power, b.Damage, b.InitHealth = 30_000, 30_000, 30_000
	}
	m := begin(t, `
		p1 resource 100
		12  . . . .
		11 b1W1b1b2
		10 b1 * . .
		x10
		unit 5 b1 10,11 repair 6
		unit 6 W1 11,11 health 29999
		unit 7 b1 12,11 attack 8
		unit 8 b2 13,11 health 30000
		unit 9 b1 10,10 attack 30
		tick 0 next 40 first 30`, most)
	m.tick(1).want("unit 6 W1 11,11").there(8, false).there(30, false).want("p1 score 355 resource 355")
	m.play(by(1, codecraft.Build(7, codecraft.House, 13, 11))).want("unit 40 H1 13,11\np1 score 405")
	for _, c := range []struct {
		kind  codecraft.Type
		least int32
		most  int32
	}{{codecraft.Wall, 1, 30_000}, {codecraft.BuilderUnit, 1, 30_000}, {codecraft.Resource, 1, 255}} {
		t.Run(c.kind.String(), func(t *testing.T) {
			for _, n := range []int32{c.least - 1, c.most + 1} {
				r := codecraft.DefaultRules()
				r.Types[c.kind].MaxHealth = n
				refused(t, r, fmt.Sprintf("%v.max_health is %d, expected %d to %d", c.kind, n, c.least, c.most))
			}
		})
	}
}

func TestClause_7_4_Points(t *testing.T) {
	// The numbers of the proof in RULES.md.
	var most int64
	for _, name := range codecraft.Presets() {
		r, _ := codecraft.Preset(name)
		all := int64(codecraft.Cells) * int64(r.Types[codecraft.Resource].MaxHealth) * int64(r.Types[codecraft.Resource].Yield)
		start := int64(0)
		for k, p := range r.Types {
			if codecraft.Type(k) == codecraft.Resource {
				continue
			}
			if p.BuildScore > p.Cost || p.DestroyScore > 10*p.Cost || p.Yield != 0 {
				t.Errorf("%s: %v brings %d and %d for %d", name, codecraft.Type(k), p.BuildScore, p.DestroyScore, p.Cost)
			}
			if r.Start.Set().Has(codecraft.Type(k)) {
				start += int64(p.DestroyScore)
			}
		}
		most = max(most, all+all+10*all+3*start)
	}
	assert.Truef(t, most == 2_352_300 && most < 1<<22, "at most %d points", most)
	// Beyond the bound: 40 attacks of 30 million points each, added to 2^30.
	rich := func(r *codecraft.Rules) {
		b := &r.Types[codecraft.BuilderUnit]
		b.Damage, b.Range = 30_000, 20
		r.Types[codecraft.House].MaxHealth, r.Types[codecraft.House].Yield = 30_000, 1000
	}
	g := mustGame(t, "round1", rich)
	s := crowd(t, g, 40, codecraft.BuilderUnit)
	var p codecraft.Position
	s.Position(&p)
	p.Score[0] = 1 << 30
	for i := range 40 {
		id := uint32(5000 + i)
		p.Units = append(p.Units, codecraft.Unit{ID: id, Health: 30_000, X: uint8(3 * (i % 20)), Y: uint8(4 + 3*(i/20)), Type: codecraft.House, Owner: 1, Active: true})
		p.Acts = append(p.Acts, codecraft.Action{})
		p.Acts[i].Take(codecraft.Attack(p.Units[i].ID, 5000+uint32(i)%20))
	}
	for i := range 40 {
		p.Acts[i] = codecraft.Action{}
		p.Acts[i].Take(codecraft.Auto(p.Units[i].ID, 0, 1<<codecraft.House))
	}
	require.NoError(t, g.Restore(&s, &p))
	m := resume(t, g, s)
	for m.s.Score[0] > 0 && m.s.Tick < 20 {
		m.tick(1)
	}
	gained := int64(m.s.Score[0]) + 1<<32 - 1<<30
	assert.Truef(t, m.s.Score[0] < 0 && gained >= 1<<30 && gained%500 == 0, "the score is %d, gained %d", m.s.Score[0], gained)
}

func TestClause_7_5_Paths(t *testing.T) {
	// A path to the far corner of a full map: the lower rows have enemy walls of 30,000 health,
	// the others resources. The path with the fewest walls goes straight up.
	deep := func(r *codecraft.Rules) {
		r.MaxNodes = 6400
		r.Types[codecraft.Wall].MaxHealth = 30_000
		r.Types[codecraft.Resource].MaxHealth = 255
		r.Types[codecraft.BuilderUnit].Damage = 1
	}
	g := mustGame(t, "round1", deep)
	p := codecraft.Position{NextID: 20_000, Units: []codecraft.Unit{{ID: 5, Health: 10, Type: codecraft.BuilderUnit, Active: true}}}
	for i := range codecraft.MaxUnits - 1 {
		p.Units = append(p.Units, codecraft.Unit{
			ID: uint32(6 + i), Health: 30_000, X: uint8((i + 1) % codecraft.Side), Y: uint8((i + 1) / codecraft.Side), Type: codecraft.Wall, Owner: 1, Active: true,
		})
	}
	id := uint32(9000)
	for x := range codecraft.Side {
		for y := range codecraft.Side {
			if y*codecraft.Side+x >= codecraft.MaxUnits {
				p.Veins = append(p.Veins, codecraft.Vein{ID: id, Health: 255, X: uint8(x), Y: uint8(y)})
				id++
			}
		}
	}
	p.Acts = make([]codecraft.Action, len(p.Units))
	p.Acts[0].Take(codecraft.Move(5, 79, 79, false, true))
	var s codecraft.State
	require.NoError(t, g.Restore(&s, &p))
	resume(t, g, s).may(5, "+y").tick(1)
	// With the limit of the presets the search fails, and the unit stays.
	g = mustGame(t, "round1", func(r *codecraft.Rules) { deep(r); r.MaxNodes = 1000 })
	resume(t, g, s).may(5, "")
	cost := int64(6400) * (30_000 + 158)
	assert.LessOrEqualf(t, cost, int64(math.MaxInt32), "paths of %d", cost)
	// A labyrinth with one path of 3159 steps.
	labyrinth(t)
}

// labyrinth returns a map with one path to and fro over the whole map.
func labyrinth(t *testing.T) {
	t.Helper()
	var b strings.Builder
	for y := codecraft.Side - 1; y >= 0; y-- {
		row := strings.Repeat(" .", codecraft.Side)
		switch y % 4 {
		case 1:
			row = strings.Repeat(" *", codecraft.Side-1) + " ."
		case 3:
			row = " ." + strings.Repeat(" *", codecraft.Side-1)
		}
		if y == 0 {
			row = "b1" + row[2:]
		}
		fmt.Fprintf(&b, "%d %s\n", y, row)
	}
	b.WriteString("tick 0 first 30\nunit 5 b1 0,0 move 79,78\n")
	nodes := func(n int32) func(r *codecraft.Rules) { return func(r *codecraft.Rules) { r.MaxNodes = n } }
	begin(t, b.String(), nodes(6400)).may(5, "+x").tick(79).want("unit 5 b1 79,0").may(5, "+y")
	// On the last row but one every sum is the sum of the target, 3159, as it is on the last
	// cell of the row before. The cells before have smaller sums: 37 rows with a gap after
	// each, and 79 cells.
	begin(t, b.String(), nodes(37*81+79+1)).may(5, "+x")
	begin(t, b.String(), nodes(37*81+79)).may(5, "")
}

func TestClause_7_6_Population(t *testing.T) {
	g := mustGame(t, "round1", func(r *codecraft.Rules) {
		b := &r.Types[codecraft.BuilderUnit]
		b.PopUse, b.PopProvide, b.Cost = 1000, 1000, 100_000
		b.Builds = codecraft.ListOf(codecraft.BuilderUnit)
	})
	s := crowd(t, g, codecraft.MaxUnits-1, codecraft.BuilderUnit)
	n := int32(codecraft.MaxUnits - 1)
	assert.Truef(t, s.PopUse[0] == 1000*n && s.PopProvide[0] == 1000*n && int32(s.Count[0][codecraft.BuilderUnit]) == n, "population %d of %d, %d builders", s.PopUse[0], s.PopProvide[0], s.Count[0][codecraft.BuilderUnit])
	s.Resource[0] = 102_047
	s.Acts[0].Take(codecraft.Build(s.Units[0].ID, codecraft.BuilderUnit, 0, 1))
	resume(t, g, s).tick(1).there(10_000, false) // no room: those there are use all
	m := resume(t, mustGame(t, "round1", func(r *codecraft.Rules) {
		b := &r.Types[codecraft.BuilderUnit]
		b.PopUse, b.Cost = 0, 100_000
		b.Builds = codecraft.ListOf(codecraft.BuilderUnit)
	}), func() codecraft.State {
		s := s
		s.PopUse, s.PopProvide = [4]int32{}, [4]int32{}
		return s
	}()).tick(1).there(10_000, true)
	assert.Zero(t, m.s.Resource[0], "resource")
}

func TestClause_7_7_Ranges(t *testing.T) {
	refuses := func(why string, change func(r *codecraft.Rules)) {
		t.Helper()
		r := codecraft.DefaultRules()
		change(&r)
		refused(t, r, why)
	}
	refuses("RangedUnit.attack.attack_range is 21, expected 1 to 20", func(r *codecraft.Rules) { r.Types[codecraft.RangedUnit].Range = 21 })
	refuses("Wall.sight_range is 41, expected 0 to 40", func(r *codecraft.Rules) { r.Types[codecraft.Wall].Sight = 41 })
	refuses("Wall.size is 6, expected 1 to 5", func(r *codecraft.Rules) { r.Types[codecraft.Wall].Size = 6 })
	refuses("Turret.size is 3, expected 1 to 2", func(r *codecraft.Rules) { r.Types[codecraft.Turret].Size = 3 })
	refuses("max_tick_count is 2001, expected 1 to 2000", func(r *codecraft.Rules) { r.MaxTurns = 2001 })
	refuses("max_pathfind_nodes is 6401, expected 1 to 6400", func(r *codecraft.Rules) { r.MaxNodes = 6401 })
	// The greatest values of all rules do no harm.
	m := begin(t, `
		tick 1990
		12 W1W1W1W1W1
		11 W1W1W1W1W1
		10 W1W1W1W1W1
		9  W1W1W1W1W1
		8  W1W1W1W1W1r1r2
		x0
		unit 40 r1 5,8 auto 65535 any
		unit 41 r2 6,8 auto 65535 any move 79,79`, func(r *codecraft.Rules) {
		r.Fog, r.MaxTurns, r.MaxNodes = true, 2000, 6400
		r.Types[codecraft.Wall].Size, r.Types[codecraft.Wall].Sight = 5, 40
		r.Types[codecraft.RangedUnit].Range, r.Types[codecraft.RangedUnit].Sight = 20, 40
	})
	m.may(40, "", 41).may(41, "", 5, 40).tick(10).ended(sim.Over)
}

func TestClause_7_8_StartAreas(t *testing.T) {
	cleared := clearedCells(4, 21)
	n := cleared.Count()
	assert.Equalf(t, 4*20*20, n, "four start areas have %d cells", n)
	g := mustGame(t, "round1", func(r *codecraft.Rules) { r.Generator.MinShare, r.Generator.MaxShare = 1000, 1000 })
	var s codecraft.State
	g.Reset(&s, 3)
	n = s.Resources.Count()
	assert.Truef(t, n == codecraft.Cells-1600 && !s.Resources.Has(58, 2) && s.Resources.Has(57, 2) && s.Resources.Has(22, 2), "%d resources on a full map", n)
}

func TestClause_7_9_MaxOrders(t *testing.T) {
	g := mustGame(t, "round1", nil)
	if n := g.Info().MaxOrders; n != 5*codecraft.MaxUnits {
		t.Errorf("at most %d orders", n)
	}
	// An action with all parts takes five orders.
	parts := []sim.Order{
		codecraft.Move(5, 1, 80, true, true), codecraft.And(codecraft.Build(5, codecraft.House, 255, 255)), codecraft.And(codecraft.Attack(5, 1)),
		codecraft.And(codecraft.Auto(5, 65535, codecraft.EveryType)), codecraft.And(codecraft.Repair(5, 1)),
	}
	var a codecraft.Action
	for _, o := range parts {
		a.Take(o)
	}
	back := a.AppendOrders(nil, 5)
	assert.Lenf(t, back, codecraft.PartsOfAction, "%d orders for %+v", len(back), a)
	// A seat that gives more orders.
	m := begin(t, "10 b1 .\nx10\nunit 5 b1 10,10", nil)
	var many []sim.Order
	for i := range g.Info().MaxOrders + 10 {
		many = append(many, codecraft.Move(5, i%80, 3, false, false))
	}
	m.play(by(1, append(many, codecraft.Move(5, 10, 11, false, false))...)).want("unit 5 b1 10,11")
}
