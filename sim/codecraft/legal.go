package codecraft

import "moonfarm/sim"

// AppendOrders appends basic orders of seat p: 0, which does nothing, and for each of its
// active units, in the order of ids,
//
//   - stop;
//   - for units that move: a move to each free neighbour cell (+x, −x, +y, −y), and to the
//     corner of the map farthest from the start of the seat: the closest position, without and
//     with breaking through;
//   - for builders: each type among their options that the player's resource, its population
//     and the bound of entities allow now, on every free square that touches the builder
//     (right, left, above, below; along each side by ascending coordinate);
//   - for units that repair: each adjacent damaged own entity of a type that they can repair
//     (in the same order);
//   - for attackers: each enemy and resource in range now (by row, then column of its nearest
//     cell), and auto attacks on resources and on all other types, with the sight range as
//     pathfind range.
//
// There are far more legal orders: a move can have any cell as its target, and an action can
// have several parts. Only orders of other entities can make an order of the list fail; a move
// may find no path. The list depends on the state alone.
func (g *Game) AppendOrders(dst []sim.Order, s *State, p sim.Player) []sim.Order {
	dst = append(dst, Nothing)
	farX, farY := TurnBack(p, Side-1, Side-1, 1)
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		if u.Owner != p || !u.Active {
			continue
		}
		t := &g.rules.Types[u.Type]
		dst = append(dst, Stop(u.ID))
		if t.CanMove {
			x, y := int(u.X), int(u.Y)
			for d := range stepX {
				nx, ny := x+stepX[d], y+stepY[d]
				if uint(nx) < Side && uint(ny) < Side && !s.Occupied.Has(nx, ny) {
					dst = append(dst, Move(u.ID, nx, ny, false, false))
				}
			}
			dst = append(dst, Move(u.ID, farX, farY, true, false), Move(u.ID, farX, farY, true, true))
		}
		if t.CanBuild {
			dst = g.appendBuilds(dst, s, u)
		}
		if t.CanRepair {
			dst = g.appendRepairs(dst, s, u)
		}
		if t.CanAttack {
			dst = g.appendAttacks(dst, s, u)
			dst = append(dst, Auto(u.ID, int(t.Sight), 1<<Resource), Auto(u.ID, int(t.Sight), 0))
		}
	}
	return dst
}

// touching calls visit with the lowest corner of every square of the given size
// that touches the unit and lies on the map.
func (g *Game) touching(u *Unit, size int, visit func(x, y int)) {
	x0, y0 := int(u.X), int(u.Y)
	own := int(g.rules.Types[u.Type].Size)
	for _, x := range [2]int{x0 + own, x0 - size} {
		if uint(x) <= uint(Side-size) {
			for y := max(y0-size+1, 0); y <= min(y0+own-1, Side-size); y++ {
				visit(x, y)
			}
		}
	}
	for _, y := range [2]int{y0 + own, y0 - size} {
		if uint(y) <= uint(Side-size) {
			for x := max(x0-size+1, 0); x <= min(x0+own-1, Side-size); x++ {
				visit(x, y)
			}
		}
	}
}

// appendBuilds appends the builds that a builder can do now.
func (g *Game) appendBuilds(dst []sim.Order, s *State, u *Unit) []sim.Order {
	if s.N == MaxUnits {
		return dst
	}
	for _, k := range g.rules.Types[u.Type].Builds.All() {
		if !g.rules.Affords(s, u.Owner, k) {
			continue
		}
		size := int(g.rules.Types[k].Size)
		g.touching(u, size, func(x, y int) {
			if !s.Occupied.MeetsSquare(x, y, size) {
				dst = append(dst, Build(u.ID, k, x, y))
			}
		})
	}
	return dst
}

// appendRepairs appends the repairs of damaged entities. Another unit covers touching cells on
// one side only, and these follow each other.
func (g *Game) appendRepairs(dst []sim.Order, s *State, u *Unit) []sim.Order {
	targets := g.rules.Types[u.Type].Repairs.Set()
	last := uint16(0)
	g.touching(u, 1, func(x, y int) {
		at := s.At[CellOf(x, y)]
		if at == last || at == 0 {
			last = at
			return
		}
		last = at
		if v := &s.Units[at-1]; g.rules.NeedsRepair(v, u.Owner, targets) {
			dst = append(dst, Repair(u.ID, v.ID))
		}
	})
	return dst
}

// appendAttacks appends the attacks of all enemies and resources in range.
func (g *Game) appendAttacks(dst []sim.Order, s *State, u *Unit) []sim.Order {
	t := &g.rules.Types[u.Type]
	r, size := int(t.Range), int(t.Size)
	x0, y0 := int(u.X), int(u.Y)
	for y := max(y0-r, 0); y <= min(y0+size-1+r, Side-1); y++ {
		reach := r - max(y0-y, y-(y0+size-1), 0)
		for x := max(x0-reach, 0); x <= min(x0+size-1+reach, Side-1); x++ {
			cell := CellOf(x, y)
			if s.Health[cell] != 0 {
				dst = append(dst, Attack(u.ID, s.ResourceID(x, y)))
				continue
			}
			at := s.At[cell]
			if at == 0 || s.Units[at-1].Owner == u.Owner {
				continue
			}
			// A target counts once, at its cell nearest to the attacker's lowest corner.
			v := &s.Units[at-1]
			last := int(g.rules.Types[v.Type].Size) - 1
			nearX, nearY := min(max(x0, int(v.X)), int(v.X)+last), min(max(y0, int(v.Y)), int(v.Y)+last)
			if x == nearX && y == nearY {
				dst = append(dst, Attack(u.ID, v.ID))
			}
		}
	}
	return dst
}
