package codecraft

import (
	"moonfarm/sim"
)

// startCorner is where a start entity stands in its owner's frame: its lowest
// corner, and its largest size. Types without a size are no start entities.
var startCorner = [Types]struct{ x, y, size uint8 }{
	BuilderBase: {5, 5, 5},
	BuilderUnit: {4, 4, 1},
	MeleeBase:   {5, 15, 5},
	MeleeUnit:   {4, 14, 1},
	RangedBase:  {15, 5, 5},
	RangedUnit:  {14, 4, 1},
	Turret:      {15, 15, 2},
}

// Reset makes s the start of the game with that seed: the map and the start
// entities (RULES.md, 2.5–2.8).
func (g *Game) Reset(s *State, seed uint64) {
	*s = State{Seed: seed, NextID: 1 + uint32(g.rules.Players)}
	for p := range sim.Player(g.rules.Players) {
		for _, t := range g.rules.Start.All() {
			c := startCorner[t]
			x, y := TurnBack(p, int(c.x), int(c.y), int(g.rules.Types[t].Size))
			g.add(s, Unit{
				ID: s.NextID, Health: int16(g.rules.Types[t].MaxHealth),
				X: uint8(x), Y: uint8(y), Type: t, Owner: p, Active: true,
			})
			s.NextID++
		}
	}
	g.generate(s)
	s.FirstID = s.NextID
	s.SetVeins()
	s.NextID += uint32(s.Resources.Count())
}

// vein puts a resource on a free cell.
func (g *Game) vein(s *State, x, y int) {
	s.Occupied.Add(x, y)
	s.Resources.Add(x, y)
	s.Health[CellOf(x, y)] = uint8(g.rules.Types[Resource].MaxHealth)
}
