package codecraft

import (
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
)

// maxAims is how many boards of targets are kept. Units of a player that attack
// alike share one; with more kinds of them the oldest is drawn again.
const maxAims = 16

// aims are the boards of targets of one tick.
type aims struct {
	n, next int
	list    [maxAims]aimBoard

	victims [Cells]victim // scratch of candidates: a unit is there once, a resource by its cell
	hunts   hunts
}

// aimBoard is what units of one player, range and set of valid types can attack.
type aimBoard struct {
	player sim.Player
	reach  int16
	valid  TypeSet

	targets bitboard.Square // cells of the valid targets
	near    bitboard.Square // cells from which one is in range
	first   int             // rows of near
	last    int

	hunters uint16 // 1 + the last unit that chases; 0: none
}

func (a *aims) clear() { a.n, a.next = 0, 0 }

// aimFor returns the board, drawn if need be.
func (g *Game) aimFor(s *State, p sim.Player, valid TypeSet, reach int) *aimBoard {
	a := &g.aims
	for i := range a.list[:a.n] {
		if b := &a.list[i]; b.player == p && b.valid == valid && int(b.reach) == reach {
			return b
		}
	}
	if a.n < maxAims {
		a.n++
	}
	b := &a.list[a.next]
	a.next = (a.next + 1) % maxAims
	if a.n == maxAims {
		// The board that is drawn over: its hunters go now. One that is new has
		// none, since Plan ends with all hunts and hunt leaves no hunter.
		g.hunt(s, b)
	}
	b.hunters = 0
	b.player, b.valid, b.reach = p, valid, int16(reach)
	g.drawTargets(s, b)
	b.near = b.targets
	b.first, b.last = b.near.Rows()
	for range reach {
		b.first, b.last = max(b.first-1, 0), min(b.last+1, Side-1)
		b.near.GrowRows(b.first, b.last)
	}
	return b
}

// drawTargets draws the cells of the valid targets: all of what a player sees,
// but its own.
func (g *Game) drawTargets(s *State, b *aimBoard) {
	b.targets = bitboard.Square{}
	if b.valid.Has(Resource) {
		b.targets = s.Resources
		if g.rules.Fog && !g.rules.ChaseUnseen {
			b.targets.And(&g.sight[b.player])
		}
	}
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		if u.Owner != b.player && b.valid.Has(u.Type) && g.sees(b.player, u) {
			b.targets.AddSquare(int(u.X), int(u.Y), int(g.rules.Types[u.Type].Size))
		}
	}
}

// takeAim tells whom a unit attacks by its attack action (RULES.md, 3.13 and 3.14).
func (g *Game) takeAim(s *State, u *Unit, a *Action, t *Properties) aim {
	if a.Parts&HasTarget != 0 && g.inRange(s, u, t, a.Target) {
		return aimTarget
	}
	if a.Parts&HasAuto == 0 {
		return aimNone
	}
	b := g.aimFor(s, u.Owner, a.Valid, g.autoReach(a, t))
	if b.near.MeetsSquare(int(u.X), int(u.Y), int(t.Size)) {
		return aimAuto
	}
	return aimNone
}

// autoReach is how far auto attack hits.
func (g *Game) autoReach(a *Action, t *Properties) int {
	if g.rules.RangeGates {
		return min(int(t.Range), int(a.Range))
	}
	return int(t.Range)
}

// inRange tells whether the entity with that id exists, is another than u and
// in range.
func (g *Game) inRange(s *State, u *Unit, t *Properties, id uint32) bool {
	if id == u.ID {
		return false
	}
	if i := s.Find(id); i >= 0 {
		v := &s.Units[i]
		return gap(int(u.X), int(u.Y), int(t.Size), int(v.X), int(v.Y), int(g.rules.Types[v.Type].Size)) <= int(t.Range)
	}
	x, y, ok := s.ResourceAt(id)
	return ok && s.Resources.Has(x, y) && gap(int(u.X), int(u.Y), int(t.Size), x, y, 1) <= int(t.Range)
}

// victim is a candidate of an auto attack: a unit, or with unit −1 a resource.
type victim struct {
	id   uint32
	unit int16
	cell uint16 // of the resource
	gap  int16
}

// candidates are the valid targets in range of unit i, in ascending order of
// their ids. They stay until the next call.
func (g *Game) candidates(s *State, i int) []victim {
	u, a := &s.Units[i], &s.Acts[i]
	t := &g.rules.Types[u.Type]
	size, reach := int(t.Size), g.autoReach(a, t)
	b := g.aimFor(s, u.Owner, a.Valid, reach)
	list := g.aims.victims[:0]
	x0, y0 := int(u.X), int(u.Y)
	for y := max(y0-reach, 0); y <= min(y0+size-1+reach, Side-1); y++ {
		wide := reach - max(y0-y, y-(y0+size-1), 0)
		from, to := max(x0-wide, 0), min(x0+size-1+wide, Side-1)
		row := [2]uint64{}
		row[0], row[1] = b.targets.Row(y)
		for x := from; x <= to; x++ {
			if row[x>>6]>>(x&63)&1 == 0 {
				continue
			}
			v := victim{unit: int16(s.At[CellOf(x, y)]) - 1, cell: uint16(CellOf(x, y))}
			if v.unit < 0 {
				v.id, v.gap = s.ResourceID(x, y), int16(gap(x0, y0, size, x, y, 1))
				list = append(list, v)
				continue
			}
			w := &s.Units[v.unit]
			side := int(g.rules.Types[w.Type].Size)
			if side > 1 && listed(list, v.unit) {
				continue
			}
			v.id, v.gap = w.ID, int16(gap(x0, y0, size, int(w.X), int(w.Y), side))
			list = append(list, v)
		}
	}
	if g.rules.NearestVictim {
		list = nearest(list)
	}
	for k := 1; k < len(list); k++ { // they are few
		v, at := list[k], k
		for ; at > 0 && list[at-1].id > v.id; at-- {
			list[at] = list[at-1]
		}
		list[at] = v
	}
	return list
}

func listed(list []victim, unit int16) bool {
	for k := range list {
		if list[k].unit == unit {
			return true
		}
	}
	return false
}

// nearest keeps those at the least distance.
func nearest(list []victim) []victim {
	least := int16(1<<15 - 1)
	for k := range list {
		least = min(least, list[k].gap)
	}
	kept := list[:0]
	for _, v := range list {
		if v.gap == least {
			kept = append(kept, v)
		}
	}
	return kept
}
