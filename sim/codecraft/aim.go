package codecraft

import (
	"cmp"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
)

// maxAims is the number of target boards that are kept. Units of a player with the same range
// and valid types share a board. If a tick needs more boards, the oldest is overwritten.
const maxAims = 16

// aims has the target boards of one tick.
type aims struct {
	n, next int
	list    [maxAims]aimBoard

	victims [Cells]victim // scratch memory of candidates; each unit and each resource is in it at most once
}

// aimBoard has the cells that units of one player with one range and set of valid types can
// attack.
type aimBoard struct {
	player sim.Player
	reach  int16
	valid  TypeSet

	targets bitboard.Square // cells of the valid targets
	near    bitboard.Square // cells from which a target is in range
	first   int             // the first and the last row of near
	last    int

	chasers uint16 // 1 + the last unit that chases these targets, 0 if no unit does
}

func (a *aims) clear() { a.n, a.next = 0, 0 }

// aimFor returns the target board of player p with this range and these types. It fills the
// board if there is none yet.
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
		// The board may be overwritten, so its chases are answered now. A new board
		// has no chases, because Plan answers all of them.
		g.chaseTargets(s, b)
	}
	b.player, b.valid, b.reach = p, valid, int16(reach)
	g.markTargets(s, b)
	b.near = b.targets
	b.near.GrowBy(reach)
	b.first, b.last = b.near.Rows()
	return b
}

// markTargets sets the targets of the board: the cells of all entities of the valid types that
// the player sees, except its own.
func (g *Game) markTargets(s *State, b *aimBoard) {
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

// takeAim returns the kind of target that a unit attacks by its attack action (RULES.md, 3.13 and 3.14).
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

// autoReach returns the range of an auto attack.
func (g *Game) autoReach(a *Action, t *Properties) int {
	if g.rules.RangeGates {
		return min(int(t.Range), int(a.Range))
	}
	return int(t.Range)
}

// inRange reports whether the entity with that id exists, is not u and is in range.
func (g *Game) inRange(s *State, u *Unit, t *Properties, id uint32) bool {
	if id == u.ID {
		return false
	}
	if i := s.Find(id); i >= 0 {
		v := &s.Units[i]
		return Gap(int(u.X), int(u.Y), int(t.Size), int(v.X), int(v.Y), int(g.rules.Types[v.Type].Size)) <= int(t.Range)
	}
	x, y, ok := s.ResourceAt(id)
	return ok && s.Resources.Has(x, y) && Gap(int(u.X), int(u.Y), int(t.Size), x, y, 1) <= int(t.Range)
}

// victim is a possible target of an auto attack: a unit, or a resource if unit is −1.
type victim struct {
	id   uint32
	unit int16
	cell uint16 // of the resource
	gap  int16
}

// candidates returns the valid targets in range of unit i, ascending by id. The list is valid
// until the next call.
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
				v.id, v.gap = s.ResourceID(x, y), int16(Gap(x0, y0, size, x, y, 1))
				list = append(list, v)
				continue
			}
			w := &s.Units[v.unit]
			side := int(g.rules.Types[w.Type].Size)
			if side > 1 && slices.ContainsFunc(list, func(w victim) bool { return w.unit == v.unit }) {
				continue
			}
			v.id, v.gap = w.ID, int16(Gap(x0, y0, size, int(w.X), int(w.Y), side))
			list = append(list, v)
		}
	}
	if g.rules.NearestVictim {
		least := slices.MinFunc(list, func(a, b victim) int { return int(a.gap) - int(b.gap) }).gap
		list = slices.DeleteFunc(list, func(v victim) bool { return v.gap > least })
	}
	slices.SortFunc(list, func(a, b victim) int { return cmp.Compare(a.id, b.id) })
	return list
}

// chase adds unit i to the units that chase the targets of its auto attack (RULES.md, 3.4).
func (g *Game) chase(s *State, i int, u *Unit, a *Action, t *Properties) {
	if int32(a.Range) <= t.Range {
		return
	}
	b := g.aimFor(s, u.Owner, a.Valid, int(t.Range))
	g.paths.others[i], b.chasers = b.chasers, uint16(i+1)
}

// chaseTargets finds the first steps of the units that chase the targets of the board. They
// head for the nearest cells from which a target is in range.
func (g *Game) chaseTargets(s *State, b *aimBoard) {
	if b.chasers != 0 {
		units := g.listUnits(s, b.chasers)
		g.paths.finder.Chase(&g.paths.terrain[b.player], &b.near, b.first, b.last, units)
		g.storeSteps(b.chasers, units)
		b.chasers = 0
	}
}
