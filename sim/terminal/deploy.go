package terminal

import (
	"math"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
)

// Deploy carries out the orders of both players and opens the action phase.
func (g *Game) Deploy(s *State, t *sim.Turn) {
	g.phase.open()
	var second [2]int // where the orders for the second line begin
	for p := range sim.Player(2) {
		second[p] = g.firstLine(s, p, g.orders(t, p))
	}
	for p := range sim.Player(2) {
		for _, o := range g.orders(t, p)[second[p]:] {
			if line(o) == 1 {
				g.command(s, p, o)
			}
		}
	}
	g.muster(s)
	if invariants {
		g.check(s)
	}
}

// orders are those of seat p that are looked at.
func (g *Game) orders(t *sim.Turn, p sim.Player) []sim.Order {
	all := t.Orders(p)
	return all[:min(len(all), g.maxOrders)]
}

// line is the line of an answer to which an order belongs: 0 or 1 for the
// player's, −1 for the referee's, and for those that do nothing.
func line(o sim.Order) int {
	swap := int(o >> 18 & 1)
	switch Op(o & 15) {
	case OpPlace, OpUpgrade, OpRemove:
		return swap
	case OpSpawn:
		return 1 ^ swap
	}
	return -1
}

// firstLine carries out the referee's orders and the first line, and returns
// the index of the first order for the second.
func (g *Game) firstLine(s *State, p sim.Player, orders []sim.Order) int {
	second := len(orders)
	for i, o := range orders {
		switch line(o) {
		case 0:
			g.command(s, p, o)
		case 1:
			second = min(second, i)
		default:
			g.referee(s, p, o)
		}
	}
	return second
}

// maxPenalty bounds one penalty, so that health stays a number however many
// there are.
const maxPenalty = 1e7

// referee carries out a clock or a penalty.
func (g *Game) referee(s *State, p sim.Player, o sim.Order) {
	switch c := Decode(o); c.Op {
	case OpClock:
		s.Time[p] += min(c.Count, math.MaxUint32-s.Time[p])
	case OpPenalty:
		if health := math.Float32frombits(c.Count); health > 0 && health <= maxPenalty {
			s.Health[p] -= health
		}
	}
}

// command carries out one command of seat p, if the rules accept it.
func (g *Game) command(s *State, p sim.Player, o sim.Order) {
	cell := int(cellAt[o>>orderXShift&1023])
	if cell == 0 || Owner(int(o>>orderYShift&orderCoordinate)) != p {
		return
	}
	k := Kind(o >> orderKindShift & 15)
	switch Op(o & 15) {
	case OpPlace:
		g.place(s, p, k, cell)
	case OpUpgrade:
		g.upgrade(s, p, cell)
	case OpRemove:
		g.mark(s, p, cell)
	case OpSpawn:
		g.spawn(s, p, k, cell, max(1, uint32(o>>orderCountShift)))
	}
}

// place builds a structure (4.4).
func (g *Game) place(s *State, p sim.Player, k Kind, cell int) {
	if k >= Structures || s.Cells[cell].Mark != 0 || g.stands(p, cell) {
		return
	}
	u := &g.rules.Units[k]
	if s.Cores[p] < u.Cores {
		return
	}
	s.Cores[p] = tenths(s.Cores[p] - u.Cores)
	id := s.NextID
	if g.rec != nil {
		g.rec.Spawns = append(g.rec.Spawns, SpawnEvent{positions[cell], k, p, id})
	}
	if g.rules.OldIDs {
		id++
	}
	s.NextID = id + 1
	s.add(cell, p, k, Cell{u.Health, id<<markIDShift | uint32(p)<<3 | uint32(k)})
}

// upgrade upgrades a structure (4.5): it becomes the youngest unit, and keeps
// the health that it lacks. A removal is called off.
func (g *Game) upgrade(s *State, p sim.Player, cell int) {
	c := s.Cells[cell]
	if c.Mark == 0 || c.Upgraded() {
		return
	}
	k := c.Kind()
	if !g.rules.Upgradable[k] || s.Cores[p] < g.rules.Upgraded[k].Cores {
		return
	}
	s.Cores[p] = tenths(s.Cores[p] - g.rules.Upgraded[k].Cores)
	id := s.NextID
	s.NextID++
	s.Marked.Drop(cell)
	s.Upgraded.Add(cell)
	s.Cells[cell] = Cell{c.Health + g.gain[k][0], id<<markIDShift | uint32(p)<<3 | markUpgraded | uint32(k)}
	list := &s.Ages[p][k]
	if last := list.N - 1; list.Cell[last] != localOf[cell] {
		s.forget(cell, c)
		list.Cell[last] = localOf[cell]
		list.N++
	}
	if g.rec != nil {
		g.rec.Spawns = append(g.rec.Spawns, SpawnEvent{positions[cell], Upgrade, p, id})
	}
}

// mark marks a structure for removal (4.6).
func (g *Game) mark(s *State, p sim.Player, cell int) {
	c := s.Cells[cell]
	if c.Mark == 0 || c.RemoveIn() != 0 {
		return
	}
	turns := g.rules.structure(c.Kind(), c.Upgraded()).RemoveTurns
	s.Cells[cell].Mark = c.Mark | uint32(turns)*markTurn
	s.Marked.Add(cell)
	id := c.ID()
	if g.rules.OldIDs {
		id = s.NextID
		s.NextID++
	}
	if g.rec != nil {
		g.rec.Spawns = append(g.rec.Spawns, SpawnEvent{positions[cell], Removal, p, id})
	}
}

// spawn puts up to n mobile units on a cell of the own edges (4.7).
func (g *Game) spawn(s *State, p sim.Player, k Kind, cell int, n uint32) {
	if !k.Mobile() || s.Cells[cell].Mark != 0 || !ownEdges[p].Has(cell) {
		return
	}
	price := g.rules.Units[k].Bits
	n = min(n, uint32(g.room(p)))
	bought := uint32(0)
	bits := s.Bits[p]
	for bought < n && bits >= price {
		bits = tenths(bits - price)
		bought++
	}
	if bought == 0 {
		return
	}
	s.Bits[p] = bits
	if g.rec != nil {
		for i := range bought {
			g.rec.Spawns = append(g.rec.Spawns, SpawnEvent{positions[cell], k, p, s.NextID + i})
		}
	}
	g.enlist(p, k, cell, s.NextID, int32(bought))
	s.NextID += bought
}

// ownEdges are the cells on which a player's mobile units start.
var ownEdges = func() (t [2]bitboard.Diamond) {
	for i := range 14 {
		for p, y := range [2]int{i, Side - 1 - i} {
			for _, x := range [2]int{13 - i, 14 + i} {
				cell, _ := bitboard.DiamondCell(x, y)
				t[p].Add(cell)
			}
		}
	}
	return t
}()
