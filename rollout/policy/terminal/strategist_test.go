package terminal

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/prng"
	"moonfarm/sim/terminal"
)

// ordered returns the strategist's orders for seat 0.
func ordered(g *terminal.Game, s *terminal.State) (c *strategist, all []terminal.Command) {
	c = new(strategist)
	c.Look(g, s, 0, make([]sim.Order, 0, g.Info().MaxOrders))
	c.Random = prng.New(1)
	c.decide()
	for _, o := range c.Orders {
		all = append(all, terminal.Decode(o))
	}
	return c, all
}

// foreseen returns the gain of the enemy's worst attack in this turn, which may be a siege, and
// of its worst attack without a siege, after orders of seat 0.
func foreseen(g *terminal.Game, s *terminal.State, orders []sim.Order) (worst, plain float32) {
	c := new(strategist)
	c.Look(g, s, 0, orders[:len(orders):len(orders)])
	c.ready()
	c.findSieges()
	return c.foresee(0).gain, c.best(1, s.Bits[1]).gain
}

// wall is a maze of seat 0 with nothing behind its corners.
const wall = `
13  w . . . . . . . . . . . . . . . . . . . . . . . . . . w
12    w w w w w w w W . W w w w w w w w w w w w w w w w w
11      . . . . . t T . T t . . . . . . . . . . . . . .
9           . . . S . . . S . . . . . . . . . . . .
8             . . S . . . s . . . . . . . . . . .
`

// An enemy without a structure can order the walls of a siege together with its attack. The planner
// does nothing about the corners, after the strategist's orders the sieges gain little.
func TestTerminalStrategistGuardsCorners(t *testing.T) {
	for _, bits := range []float32{12, 18} {
		g, s := position(t, fmt.Sprintf("turn 17 next 300\np1 health 37 cores 14 bits 4 time 0\np2 health 34 cores 40 bits %v time 0", bits)+wall)
		before, plain := foreseen(g, s, nil)
		assert.Greaterf(t, before, plain, "bits %v: sieges gain no more than attacks without walls", bits)
		p, _ := planned(g, s)
		missed, _ := foreseen(g, s, p.Orders)
		c, all := ordered(g, s)
		after, _ := foreseen(g, s, c.Orders)
		t.Logf("bits %v: the enemy gains %v, after the planner's orders %v, after the strategist's %v: %+v", bits, before, missed, after, all)
		assert.Truef(t, missed >= 60 && after <= missed/3, "bits %v: the enemy gains %v after the planner's orders, %v after the strategist's", bits, missed, after)
	}
}

// funnel is the half of an enemy whose walls are down: with the line of a siege its units leave, and
// others enter, between the turrets on the right.
const funnel = `
14 . . . . T . . . . . . . . . . . . . . . . . . . . . W W
15   . . . T T . . . . . . . . . . . . . . . . . . . W W
16     . . T T W W W W W W W W W W . . . . W W W W W W
17       . . T T . . . . . . . . . . . . . . . . . .
18         . . T . . . . . . . . . . . . . . . . .
`

// An attack that the enemy's walls would stop is not worth the bits, if the enemy can pay for the
// walls: the planner attacks on the open board, the strategist waits.
func TestTerminalStrategistExpectsWalls(t *testing.T) {
	text := "turn 17 next 400\np1 health 37 cores 0 bits 8 time 0\np2 health 34 cores %v bits 1 time 0" + wall + funnel
	gains := func(cores int) (replied, open float32) {
		g, s := position(t, fmt.Sprintf(text, cores))
		c := new(strategist)
		c.Look(g, s, 0, nil)
		c.ready()
		c.findSieges()
		return c.bestReplied(c.bits, 0).gain, c.best(0, c.bits).gain
	}
	poor, open := gains(0)
	rich, same := gains(60)
	t.Logf("on the open board %v, against the reply of a poor enemy %v, of a rich one %v", open, poor, rich)
	assert.Truef(t, poor == open && same == open, "gains %v and %v of attacks on the same board", open, same)
	assert.LessOrEqualf(t, rich, open/2, "the attack gains %v with walls, %v without", rich, open)
	g, s := position(t, fmt.Sprintf(text, 60))
	_, hasty := planned(g, s)
	_, patient := ordered(g, s)
	assert.Truef(t, units(hasty, terminal.Scout) > 0 && units(patient, terminal.Scout) == 0, "planner %+v, strategist %+v", hasty, patient)
}

// A turret before the opening of the own maze shuts the own units in. The planner's closeGap may
// order one; the strategist orders none, and removes one.
func TestTerminalStrategistLeaves(t *testing.T) {
	g, s := position(t, "turn 30 next 300\np1 health 37 cores 60 bits 30 time 0\np2 health 34 cores 4 bits 25 time 0"+mazes)
	c, all := ordered(g, s)
	c.prepare()
	for _, o := range all {
		if o.Op == terminal.OpPlace {
			cell, _ := bitboard.DiamondCell(int(o.X), int(o.Y))
			c.blocked.Add(cell)
		}
	}
	assert.Truef(t, c.leaves(), "no way out after %+v", all)
	cell, _ := bitboard.DiamondCell(9, 13)
	c.blocked.Add(cell)
	require.False(t, c.leaves(), "a way through a turret")
	s.Put(terminal.Piece{At: terminal.Pos{X: 9, Y: 13}, Kind: terminal.Turret, ID: 200, Health: 60})
	_, all = ordered(g, s)
	assert.Contains(t, all, terminal.Decode(terminal.RemoveAt(9, 13)), "the turret stays in the way")
}

// With keepOutlet the line of a siege leaves a way out near its corner, whatever stands in the
// attacker's half.
func TestTerminalOutlet(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	found := 0
	for range 400 {
		p, corner := sim.Player(r.IntN(2)), r.IntN(2)
		g, s := searchSeat(t, p, nil, nil)
		c := g.sit(s, p)
		for n := r.IntN(60); n > 0; n-- {
			y := r.IntN(14)
			c.blocked.Add(c.cell(13-y+r.IntN(2*y+2), y))
		}
		ok := c.keepOutlet(p, corner)
		kept := c.front.kept
		ok = ok && c.besiege(&c.line, p, corner)
		c.front.kept = bitboard.Diamond{}
		if !ok {
			continue
		}
		found++
		for _, cell := range c.line.cells[:c.line.n] {
			if kept.Has(int(cell)) {
				t.Fatalf("the line passes through its way out at %v", cell)
			}
			c.blocked.Add(int(cell))
		}
		start, _ := c.siegeStart(p, corner)
		c.paths.Reset(&c.blocked)
		way, _ := c.paths.Walk(nil, start, p)
		left := false
		for _, at := range way {
			if _, y := c.coordinates(int(at)); y >= terminal.Side/2 {
				left = true
			}
		}
		if !left {
			t.Fatalf("no way out of the siege of corner %d by %d: %v", corner, p, way)
		}
	}
	assert.GreaterOrEqual(t, found, 100, "sieges")
}

// guardSites are the cells where a turret shoots most, in order; shoots is 0 without the cores.
func TestTerminalGuardSites(t *testing.T) {
	g, s := position(t, "turn 17 next 300\np1 health 37 cores 14 bits 4 time 0\np2 health 34 cores 40 bits 18 time 0"+wall)
	c := new(strategist)
	c.Look(g, s, 0, make([]sim.Order, 0, 100))
	c.ready()
	c.findSieges()
	worst := c.foresee(0)
	start := c.draft()
	sites := c.guardSites(&worst, &start)
	require.Len(t, sites, planSites)
	last := c.shoots(int(sites[0]))
	for _, cell := range sites {
		n := c.shoots(int(cell))
		assert.Truef(t, n > 0 && n <= last, "a site shoots %v, the one before %v", n, last)
		last = n
	}
	better := 0
	for _, cell := range cells[0] {
		if _, y := c.coordinates(int(cell)); y >= mazeLine-1 && c.shoots(int(cell)) > last {
			better++
		}
	}
	assert.Less(t, better, planSites, "cells that shoot more than the last site")
	c.cores = 1
	assert.Zero(t, c.shoots(int(sites[0])), "a turret for one core")
}
