package terminal

import (
	"math"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
)

// Deploy carries out the orders of both players and begins the action phase.
func (g *Game) Deploy(s *State, t *sim.Turn) {
	g.action.open()
	if g.rules.OldIDs && !g.rules.FreePenalties {
		g.payPenalties(s, t)
	}
	var second [2]int // index of the first order for the second line
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
	g.action.begin(s)
	if invariants {
		g.check(s)
	}
}

// orders returns the orders of seat p, up to Info.MaxOrders.
func (g *Game) orders(t *sim.Turn, p sim.Player) []sim.Order {
	all := t.Orders(p)
	return all[:min(len(all), g.info.MaxOrders)]
}

// line returns the line of a player's answer to which an order belongs, 0 or 1. It returns −1 for
// the referee's orders and for orders that do nothing.
func line(o sim.Order) int {
	swap := int(o & orderSwap / orderSwap)
	switch opOf(o) {
	case OpPlace, OpUpgrade, OpRemove:
		return swap
	case OpSpawn:
		return 1 ^ swap
	}
	return -1
}

// firstLine carries out the referee's orders and the first line, and returns the index of the
// first order for the second line.
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

// maxPenalty bounds one penalty, so that any number of penalties leaves health a number.
const maxPenalty = 1e7

// referee carries out a clock or a penalty.
func (g *Game) referee(s *State, p sim.Player, o sim.Order) {
	switch c := Decode(o); c.Op {
	case OpClock:
		s.Time[p] += min(c.Count, math.MaxUint32-s.Time[p])
	case OpPenalty:
		s.Health[p] -= penalty(c)
	}
}

// penalty returns the health that an order takes, 0 if it is not a penalty.
func penalty(c Command) float32 {
	if health := math.Float32frombits(c.Count); c.Op == OpPenalty && health > 0 && health <= maxPenalty {
		return health
	}
	return 0
}

// payPenalties pays the other player for penalties as for breaches, like the engine of 2018
// (5.5). It does so before any command, so that the other player can spend the cores.
func (g *Game) payPenalties(s *State, t *sim.Turn) {
	for p := range sim.Player(2) {
		for _, o := range g.orders(t, p) {
			if penalty(Decode(o)) > 0 {
				s.Cores[p^1] += g.rules.Units[Scout].BreachCores
			}
		}
	}
}

// command carries out one command of seat p, if the rules accept it.
func (g *Game) command(s *State, p sim.Player, o sim.Order) {
	cell, k := ownCell(o, p), kindOf(o)
	if cell == 0 {
		return
	}
	switch opOf(o) {
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

// place builds a structure (4.4), unless a mobile unit was placed on the cell in this turn.
func (g *Game) place(s *State, p sim.Player, k Kind, cell int) {
	id := s.NextID
	if !g.action.starts.Has(cell) && g.build(s, p, k, cell) && g.record != nil {
		g.record.Spawns = append(g.record.Spawns, SpawnEvent{positions[cell], k, p, id})
	}
}

// build builds a structure on a cell, and reports whether the cell is empty and the player can pay.
func (g *Game) build(s *State, p sim.Player, k Kind, cell int) bool {
	if k >= Structures || s.Cells[cell].Mark != 0 {
		return false
	}
	u := &g.rules.Units[k]
	if s.Cores[p] < u.Cores {
		return false
	}
	s.Cores[p] = Tenths(s.Cores[p] - u.Cores)
	id := s.NextID
	if g.rules.OldIDs {
		id++
	}
	s.NextID = id + 1
	s.add(cell, p, k, newCell(u.Health, k, p, id))
	return true
}

// upgrade upgrades a structure (4.5). If no health is left, because the upgraded form has less than
// the base form, the structure is dead and is removed in the first frame.
func (g *Game) upgrade(s *State, p sim.Player, cell int) {
	id := s.NextID
	if !g.improve(s, p, cell) {
		return
	}
	c := s.Cells[cell]
	if g.record != nil {
		shown := Upgrade
		if g.rules.UpgradeAsKind {
			shown = c.Kind()
		}
		g.record.Spawns = append(g.record.Spawns, SpawnEvent{positions[cell], shown, p, id})
	}
	if c.Health <= g.rules.DeadAt {
		g.action.fallen = append(g.action.fallen, uint16(cell))
		g.action.recordDeath(positions[cell], c.Kind(), p, id)
	}
}

// improve upgrades the structure on a cell, and reports whether it can be upgraded and the player
// can pay. The structure becomes the youngest unit, still lacks the health that it had lost, and is
// no longer marked for removal.
func (g *Game) improve(s *State, p sim.Player, cell int) bool {
	c := s.Cells[cell]
	if c.Mark == 0 || c.Upgraded() {
		return false
	}
	k := c.Kind()
	if !g.rules.Upgradable[k] || s.Cores[p] < g.rules.Upgraded[k].Cores {
		return false
	}
	s.Cores[p] = Tenths(s.Cores[p] - g.rules.Upgraded[k].Cores)
	id := s.NextID
	s.NextID++
	s.Marked.Drop(cell)
	s.Upgraded.Add(cell)
	health := c.Health + (g.rules.Upgraded[k].Health - g.rules.Units[k].Health)
	s.Cells[cell] = newCell(health, k, p, id)
	s.Cells[cell].Mark |= markUpgraded
	list := &s.Ages[p][k]
	if last := list.N - 1; list.Cell[last] != localOf[cell] {
		s.forget(cell, c)
		list.Cell[last] = localOf[cell]
		list.N++
	}
	return true
}

// mark marks a structure for removal (4.6).
func (g *Game) mark(s *State, p sim.Player, cell int) {
	id, ok := g.condemn(s, cell)
	if ok && g.record != nil {
		g.record.Spawns = append(g.record.Spawns, SpawnEvent{positions[cell], Removal, p, id})
	}
}

// condemn marks the structure on a cell for removal. It returns the id of the event, and false if
// there is no structure without a mark.
func (g *Game) condemn(s *State, cell int) (id uint32, ok bool) {
	c := s.Cells[cell]
	if c.Mark == 0 || c.RemoveIn() != 0 {
		return 0, false
	}
	turns := g.rules.Structure(c.Kind(), c.Upgraded()).RemoveTurns
	s.Cells[cell].Mark = c.Mark | uint32(turns)*markTurn
	s.Marked.Add(cell)
	id = c.ID()
	if g.rules.OldIDs {
		id = s.NextID
		s.NextID++
	}
	return id, true
}

// spawn puts up to n mobile units on a cell of the player's own edges (4.7).
func (g *Game) spawn(s *State, p sim.Player, k Kind, cell int, n uint32) {
	if !k.Mobile() || s.Cells[cell].Mark != 0 || !ownEdges[p].Has(cell) {
		return
	}
	n = min(n, uint32(g.action.room[p]))
	units, left := Buy(s.Bits[p], g.rules.Units[k].Bits, int(n))
	if units == 0 {
		return
	}
	bought := uint32(units)
	s.Bits[p] = left
	if g.record != nil {
		for i := range bought {
			g.record.Spawns = append(g.record.Spawns, SpawnEvent{positions[cell], k, p, s.NextID + i})
		}
	}
	g.action.add(p, k, cell, s.NextID, int32(bought))
	s.NextID += bought
}

// Tenths rounds an amount of cores or bits, which must not be negative, to the nearest tenth,
// halves up. Every operation is rounded to float32. After a purchase, Tenths(amount − price) is
// left (4.3).
func Tenths(v float32) float32 {
	scaled := float32(v * 10)
	up := scaled + 0.5
	if up < 1<<24 { // greater float32 values are whole
		up = float32(int32(up))
	}
	return up / 10
}

// Buy buys up to most units one by one, and returns how many the purse pays for and the amount
// left (4.3, 4.7). The price must be above 0.
func Buy(purse, price float32, most int) (n int, left float32) {
	for n < most && purse >= price {
		purse = Tenths(purse - price)
		n++
		// The purse is now a multiple of 0.1. If the price is one too, a division gives the rest.
		if tenths := uint32(float32(price*10) + 0.5); n == 1 && float32(tenths)/10 == price && purse <= maxPurse {
			have := uint32(float32(purse*10) + 0.5)
			more := min(uint32(most-1), have/tenths)
			return 1 + int(more), float32(have-more*tenths) / 10
		}
	}
	return n, purse
}

// ownEdges holds, by player, the cells on which mobile units start.
var ownEdges = func() (t [2]bitboard.Diamond) {
	t = [2]bitboard.Diamond{edgeCells[bottomLeft], edgeCells[topLeft]}
	t[0].Or(&edgeCells[bottomRight])
	t[1].Or(&edgeCells[topRight])
	return t
}()
