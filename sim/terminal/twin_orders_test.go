package terminal_test

import (
	"math"

	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/terminal"
)

// A scenario is a way to draw matches.
type scenario struct {
	name     string
	share    int                                       // share of the deployments; 0 counts as 1
	bits     float32                                   // at the start, by the rules, and at most in later turns
	cores    float32                                   // given each turn; 0: cores and bits as the rules give them
	build    func(h *hand)                             // orders the structures of a turn
	army     func(h *hand)                             // orders the mobile units of a turn
	twist    func(h *hand)                             // changes the orders
	rules    func(r *prng.Rand, rules *terminal.Rules) // changes the rules
	mirrored bool                                      // seat 1 gives the orders of seat 0, upside down
}

var scenarios = []scenario{
	{name: "playout", bits: 5, build: (*hand).playout, army: (*hand).nothing},
	{name: "legal", bits: 10, cores: 12, build: (*hand).legal, army: (*hand).nothing},
	{name: "mazes", bits: 30, cores: 300, build: (*hand).maze, army: (*hand).smallArmy},
	{name: "pockets", bits: 20, cores: 200, build: (*hand).pockets, army: (*hand).smallArmy},
	{name: "mirrored", bits: 20, cores: 200, build: (*hand).barrier, army: (*hand).smallArmy, rules: explosive, mirrored: true},
	{name: "crumbling", share: 3, bits: 60, cores: 150, build: (*hand).maze, army: (*hand).spread, rules: brittle},
	{name: "stacks", bits: 250, cores: 60, build: (*hand).scattered, army: (*hand).stacks},
	{name: "interleaved", bits: 60, cores: 60, build: (*hand).scattered, army: (*hand).interleaved},
	{name: "meetings", bits: 40, cores: 5, build: (*hand).scattered, army: (*hand).smallArmy},
	{name: "supports", bits: 40, cores: 120, build: (*hand).supports, army: (*hand).smallArmy},
	{name: "batteries", bits: 60, cores: 2000, build: (*hand).batteries, army: (*hand).smallArmy},
	{name: "swapped", bits: 30, cores: 100, build: (*hand).scattered, army: (*hand).smallArmy, twist: (*hand).swap},
	{name: "garbage", bits: 30, cores: 100, build: (*hand).scattered, army: (*hand).smallArmy, twist: (*hand).garbage},
}

// play plays a match of up to twelve turns.
func (s scenario) play(m *twins, r *prng.Rand) {
	m.t.Helper()
	for turn := 0; turn < 12 && m.status == sim.Running; turn++ {
		if s.cores > 0 {
			m.purse(float32(r.IntN(int(s.cores)+1)), float32(r.IntN(int(s.bits)+1)))
		}
		var orders [2][]sim.Order
		for p := range sim.Player(2) {
			h := hand{r: r, g: m.g, s: &m.s, p: p}
			if turn == 0 || r.IntN(3) > 0 {
				s.build(&h)
			}
			if r.IntN(8) > 0 {
				s.army(&h)
			}
			if s.twist != nil {
				s.twist(&h)
			}
			if r.IntN(4) == 0 {
				h.add(terminal.Clock(uint32(r.IntN(4))))
			}
			orders[p] = h.orders
		}
		if s.mirrored {
			orders[1] = mirrored(orders[0])
		}
		m.play(orders)
	}
}

// mirrored returns orders of seat 0 upside down, for seat 1, so that the units of both end up in the
// same corners.
func mirrored(orders []sim.Order) (all []sim.Order) {
	for _, o := range orders {
		c := terminal.Decode(o)
		x, y := int(c.X), terminal.Side-1-int(c.Y)
		switch c.Op {
		case terminal.OpPlace:
			o = terminal.Place(c.Kind, x, y)
		case terminal.OpUpgrade:
			o = terminal.UpgradeAt(x, y)
		case terminal.OpRemove:
			o = terminal.RemoveAt(x, y)
		case terminal.OpSpawn:
			o = terminal.Spawn(c.Kind, x, y, int(c.Count))
		}
		all = append(all, o)
	}
	return all
}

// A hand holds the orders of one seat for one turn. Its methods take coordinates of player 0; for
// player 1 the board is turned by 180°.
type hand struct {
	r      *prng.Rand
	g      *terminal.Game
	s      *terminal.State
	p      sim.Player
	orders []sim.Order
}

func (h *hand) add(o sim.Order) { h.orders = append(h.orders, o) }

func (h *hand) turned(x, y int) (int, int) {
	if h.p == 1 {
		return terminal.Side - 1 - x, terminal.Side - 1 - y
	}
	return x, y
}

func (h *hand) place(k terminal.Kind, x, y int) {
	if x, y = h.turned(x, y); terminal.Inside(x, y) {
		h.add(terminal.Place(k, x, y))
	}
}

// kind draws a kind of structure with weights.
func (h *hand) kind(walls, supports, turrets int) terminal.Kind {
	switch n := h.r.IntN(walls + supports + turrets); {
	case n < walls:
		return terminal.Wall
	case n < walls+supports:
		return terminal.Support
	}
	return terminal.Turret
}

// cell returns a random cell of the half.
func (h *hand) cell() (x, y int) { return terminal.LocalXY(h.r.IntN(terminal.HalfCells), 0) }

// edge returns a random cell of the own edges.
func (h *hand) edge() (x, y int) {
	i := h.r.IntN(14)
	if h.r.IntN(2) == 0 {
		return 13 - i, i
	}
	return 14 + i, i
}

func (h *hand) nothing() {}

func (h *hand) playout() { h.orders = h.g.Playout(h.orders, h.s, h.p, h.r) }

// legal adds random orders, each of which is legal as the only one.
func (h *hand) legal() {
	all := h.g.AppendOrders(nil, h.s, h.p)
	for range h.r.IntN(30) {
		h.add(all[h.r.IntN(len(all))])
	}
	for range h.r.IntN(6) { // mobile units are the last orders
		h.add(all[len(all)-1-h.r.IntN(min(len(all), 60))])
	}
}

// change upgrades and removes structures, mostly existing ones.
func (h *hand) change(upgrades, removals int) {
	own := h.s.AppendStructures(nil, h.p)
	for range upgrades + removals {
		x, y := h.cell()
		x, y = h.turned(x, y)
		if len(own) > 0 && h.r.IntN(8) > 0 {
			at := own[h.r.IntN(len(own))].At
			x, y = int(at.X), int(at.Y)
		}
		if h.r.IntN(upgrades+removals) < upgrades {
			h.add(terminal.UpgradeAt(x, y))
		} else {
			h.add(terminal.RemoveAt(x, y))
		}
	}
}

// scattered places a few structures on random cells.
func (h *hand) scattered() {
	for range h.r.IntN(25) {
		x, y := h.cell()
		h.place(h.kind(3, 2, 3), x, y)
	}
	h.change(h.r.IntN(8), h.r.IntN(3))
}

// maze places rows and columns with gaps, or many structures on random cells.
func (h *hand) maze() {
	switch h.r.IntN(3) {
	case 0:
		every := 2 + h.r.IntN(2)
		for y := h.r.IntN(every); y < 14; y += every {
			gap := 13 - y + h.r.IntN(2*y+2)
			for x := 13 - y; x <= 14+y; x++ {
				if x != gap && h.r.IntN(30) > 0 {
					h.place(h.kind(12, 1, 1), x, y)
				}
			}
		}
	case 1:
		every := 2 + h.r.IntN(2)
		for x := h.r.IntN(every); x < terminal.Side; x += every {
			gap := h.r.IntN(14)
			for y := range 14 {
				if y != gap {
					h.place(h.kind(12, 1, 1), x, y)
				}
			}
		}
	default:
		for range 20 + h.r.IntN(130) {
			x, y := h.cell()
			h.place(h.kind(12, 1, 1), x, y)
		}
	}
	h.change(h.r.IntN(20), h.r.IntN(10))
}

// pockets closes off parts of the half by rows without a gap, and by structures around cells of the
// edges.
func (h *hand) pockets() {
	if h.r.IntN(2) == 0 {
		h.row(1 + h.r.IntN(13))
	}
	for range h.r.IntN(4) {
		cx, cy := h.edge()
		d := 1 + h.r.IntN(5)
		for x := cx - d; x <= cx+d; x++ {
			for y := cy - d; y <= min(cy+d, 13); y++ {
				if max(x-cx, cx-x)+max(y-cy, cy-y) == d {
					h.place(h.kind(20, 1, 2), x, y)
				}
			}
		}
	}
	h.change(h.r.IntN(10), h.r.IntN(4))
}

// barrier closes off the half near the enemy's half and removes structures behind.
func (h *hand) barrier() {
	h.row(11 + h.r.IntN(3))
	for range h.r.IntN(5) {
		x, y := h.cell()
		h.place(h.kind(1, 1, 2), x, y)
	}
	h.change(h.r.IntN(20), 0)
}

// row places a row without a gap.
func (h *hand) row(y int) {
	for x := 13 - y; x <= 14+y; x++ {
		h.place(h.kind(20, 1, 2), x, y)
	}
}

// brittle makes walls that a few shots from afar destroy, so that paths change in every other frame.
// Only then units have to choose between two opposite directions on the axis of their last move.
func brittle(r *prng.Rand, rules *terminal.Rules) {
	wall := &rules.Units[terminal.Wall]
	wall.Cores, wall.Health = 0.3, float32(1+r.IntN(30))
	if better := &rules.Upgraded[terminal.Wall]; rules.Upgradable[terminal.Wall] {
		better.Health = max(better.Health, wall.Health)
	}
	for k := terminal.Scout; k <= terminal.Interceptor; k++ {
		u := &rules.Units[k]
		u.AttackRange, u.DamageStruct, u.DamageMobile = float32(3+r.IntN(10)), float32(1+r.IntN(4)), 0
	}
}

// explosive gives explosions a long range and much damage.
func explosive(r *prng.Rand, rules *terminal.Rules) {
	for k := terminal.Scout; k <= terminal.Interceptor; k++ {
		u := &rules.Units[k]
		u.BlastRange, u.BlastSteps = float32(3+r.IntN(6)), int32(5*r.IntN(2))
		draw(r, &u.BlastMobile, 20, 40, 100)
	}
	rules.DoomedExplode, rules.DoomedShielded = r.IntN(2) == 0, r.IntN(2) == 0
}

// supports places many supports with overlapping ranges.
func (h *hand) supports() {
	for range 10 + h.r.IntN(30) {
		x, y := h.cell()
		h.place(h.kind(1, 8, 1), x, y)
	}
	h.change(h.r.IntN(30), h.r.IntN(3))
}

// batteries places more than 64 turrets and supports, with room between them.
func (h *hand) batteries() {
	for local := range terminal.HalfCells {
		if x, y := terminal.LocalXY(local, 0); h.r.IntN(9) > 0 && x%7 != 3 {
			h.place(h.kind(1, 12, 12), x, y)
		}
	}
	h.change(h.r.IntN(80), h.r.IntN(3))
}

func (h *hand) spawn(k terminal.Kind, x, y, n int) {
	x, y = h.turned(x, y)
	h.add(terminal.Spawn(k, x, y, n))
}

func (h *hand) mobile() terminal.Kind { return terminal.Scout + terminal.Kind(h.r.IntN(3)) }

// smallArmy spawns a few stacks of a few units.
func (h *hand) smallArmy() {
	for range 1 + h.r.IntN(6) {
		x, y := h.edge()
		h.spawn(h.mobile(), x, y, 1+h.r.IntN(8))
	}
}

// spread spawns single units on many cells.
func (h *hand) spread() {
	for range 10 + h.r.IntN(30) {
		x, y := h.edge()
		h.spawn(h.mobile(), x, y, 1)
	}
}

// stacks spawns a hundred units and more on a cell.
func (h *hand) stacks() {
	for range 1 + h.r.IntN(3) {
		x, y := h.edge()
		h.spawn(h.mobile(), x, y, 20+h.r.IntN(120))
	}
}

// interleaved spawns many small stacks on few cells, so that stacks on one cell have ids far apart.
func (h *hand) interleaved() {
	var cells [3][2]int
	for i := range cells {
		cells[i][0], cells[i][1] = h.edge()
	}
	for range 10 + h.r.IntN(40) {
		c := cells[h.r.IntN(len(cells))]
		h.spawn(h.mobile(), c[0], c[1], h.r.IntN(3))
	}
}

// swap moves orders to the other line and shuffles them.
func (h *hand) swap() {
	for i := range h.orders {
		j := h.r.IntN(i + 1)
		h.orders[i], h.orders[j] = h.orders[j], h.orders[i]
		if h.r.IntN(3) == 0 {
			h.orders[i] = terminal.Swap(h.orders[i])
		}
	}
}

// garbage adds illegal and invalid orders and orders of the referee.
func (h *hand) garbage() {
	penalties := [...]float32{1, 0.5, 31, 0, -3, float32(math.Inf(1)), float32(math.NaN())}
	for range h.r.IntN(40) {
		x, y := h.r.IntN(32), h.r.IntN(32)
		var o sim.Order
		switch h.r.IntN(8) {
		case 0:
			o = sim.Order(h.r.Uint64())
		case 1:
			o = terminal.Place(terminal.Kind(h.r.IntN(16)), x, y)
		case 2:
			o = terminal.UpgradeAt(x, y)
		case 3:
			o = terminal.RemoveAt(x, y)
		case 4:
			o = terminal.Spawn(terminal.Kind(h.r.IntN(16)), x, y, h.r.IntN(4))
		case 5:
			x, y = h.turned(h.edge())
			o = terminal.Spawn(h.mobile(), x, y, math.MaxInt32)
		case 6:
			o = terminal.Clock(uint32(h.r.Uint64()))
		case 7:
			o = terminal.Penalty(penalties[h.r.IntN(len(penalties))])
		}
		if h.r.IntN(4) == 0 {
			o = terminal.Swap(o)
		}
		i := h.r.IntN(len(h.orders) + 1)
		h.orders = append(h.orders[:i], append([]sim.Order{o}, h.orders[i:]...)...)
	}
	if h.r.IntN(50) == 0 { // more orders than the game reads
		for len(h.orders) < h.g.Info().MaxOrders+10 {
			x, y := h.cell()
			h.add(terminal.RemoveAt(h.turned(x, y)))
		}
	}
}
