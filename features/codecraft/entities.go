package codecraft

import (
	"encoding/binary"
	"math/bits"

	"moonfarm/features"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	cc "moonfarm/sim/codecraft"
)

// EntitiesForm is the name of the form that lists the entities.
const EntitiesForm = "entities"

// The uint8 values of an observation of the form: the own entities, the entities of the other players,
// the map, and counts by regions of 8 × 8 cells.
const (
	ownFields    = 12
	otherFields  = 6
	coarseSide   = side / 8
	coarseCells  = coarseSide * coarseSide
	ownAt        = 0
	othersAt     = ownAt + slots*ownFields
	mapAt        = othersAt + slots*otherFields
	coarseAt     = mapAt + planeBytes
	coarsePlanes = 8
	entityBytes  = coarseAt + coarsePlanes*coarseCells
)

// Codes of the cells of the map. Those of an entity's type are codesOwn and codesOther plus its group.
const (
	mapSeen       = 1 // in sight, without entity
	mapResource   = 2
	mapOwn        = 3
	mapOther      = mapOwn + typeGroups
	mapUnfinished = mapOther + typeGroups // own, not active
	typeGroups    = 6
)

// groupOf has the group of each type: builder unit, melee unit, ranged unit, turret, base, house or
// wall.
var groupOf = [cc.Types]uint8{
	cc.BuilderUnit: 0, cc.MeleeUnit: 1, cc.RangedUnit: 2, cc.Turret: 3,
	cc.BuilderBase: 4, cc.MeleeBase: 4, cc.RangedBase: 4, cc.House: 5, cc.Wall: 5,
}

// The planes of counts by region.
const (
	coarseSeen = iota
	coarseResource
	coarseOwn                   // workers, fighters, buildings
	coarseOther = coarseOwn + 3 // likewise
)

// Limits of the values of an own entity.
const (
	enemyReach = 8  // an enemy is near below this distance
	mostNear   = 15 // limit of counted cells
)

// EntityEncoder implements features.Encoder for the form "entities": lists of the entities in sight
// instead of planes. It sees what Encoder sees.
type EntityEncoder struct {
	cells    *Encoder
	reach    [cc.Types]int   // attack range, 0 for types that do not attack
	kind     [cc.Types]uint8 // 0 worker, 1 fighter, 2 building
	shooters cc.TypeSet      // types with an attack range above 1
	farthest int             // the greatest of these ranges
}

// NewEntityEncoder returns the encoder of the form for the rules of g.
func NewEntityEncoder(g *cc.Game) *EntityEncoder {
	e := &EntityEncoder{cells: NewEncoder(g)}
	for t := range e.reach {
		r := &e.cells.rules.Types[t]
		switch {
		case !r.CanMove:
			e.kind[t] = 2
		case !r.Collects:
			e.kind[t] = 1
		}
		if !r.CanAttack {
			continue
		}
		if e.reach[t] = int(r.Range); e.reach[t] > 1 {
			e.shooters |= 1 << t
			e.farthest = max(e.farthest, e.reach[t])
		}
	}
	return e
}

// Shape returns the sizes: one plane of one row of 11808 values, 27 scalars, 884 packed words.
func (e *EntityEncoder) Shape() features.Shape {
	return features.Shape{Planes: 1, Height: 1, Width: entityBytes, Scalars: entityScalarCount, Words: entityWords}
}

// sheet has what an observation shows.
type sheet struct {
	s       *cc.State
	p       sim.Player
	cells   *[planeBytes]uint8
	coarse  *[coarsePlanes * coarseCells]uint8
	seen    bitboard.Square
	own     ranks
	others  ranks           // of the entities of other players that are in the list
	targets bitboard.Square // cells of the entities of other players in sight
	armed   bitboard.Square // those of active shooters

	veins bitboard.Square // resources in sight

	nOwn, nOthers int
	units, foes   [slots]seenUnit
	enemy         [slots]uint8 // of own units: enemyReach minus the distance of an enemy, if that is above 0
}

// seenUnit is the index of a unit, and the cell that is its lowest corner as seen.
type seenUnit struct{ unit, at uint16 }

// look fills in the map, the counts and the lists.
func (e *EntityEncoder) look(v *sheet) {
	s, p := v.s, v.p
	e.cells.sight(&v.seen, s, p)
	f := &frames[p&3]
	v.veins = s.Resources
	v.veins.And(&v.seen)
	ground(v.cells, v.coarse, &v.seen, &v.veins, p)
	var all [cc.MaxUnits]seenUnit
	n := 0
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		x, y, size := int(u.X), int(u.Y), e.cells.size[u.Type]
		code, plane := mapOwn+groupOf[u.Type], coarseOwn+int(e.kind[u.Type])
		first := f.at(x, y)
		at := first + f.corner*(size-1)
		if u.Owner == p {
			v.own.add(at)
			if !u.Active {
				code = mapUnfinished
			}
		} else {
			if !v.seen.MeetsSquare(x, y, size) {
				continue
			}
			v.others.add(at)
			code, plane = code+typeGroups, plane+coarseOther-coarseOwn
			v.targets.AddSquare(x, y, size)
			if u.Active && e.shooters.Has(u.Type) {
				v.armed.AddSquare(x, y, size)
			}
		}
		all[n] = seenUnit{uint16(i), uint16(at)}
		n++
		paint(v.cells, first, size, f, code)
		v.coarse[plane*coarseCells+at/side/8*coarseSide+at%side/8]++
	}
	v.nOwn = min(v.own.count(), slots)
	if v.nOthers = v.others.count(); v.nOthers > slots {
		e.keepNearest(v)
	}
	v.list(all[:n])
	if v.nOthers > 0 {
		v.distances()
	}
}

// list writes the units into the slots.
func (s *sheet) list(all []seenUnit) {
	for _, w := range all {
		at := int(w.at)
		if s.own.has(at) {
			if slot, ok := s.own.slot(at); ok {
				s.units[slot] = w
			}
		} else if s.others.has(at) {
			slot, _ := s.others.slot(at)
			s.foes[slot&(slots-1)] = w
		}
	}
}

// distances writes enemyReach minus the distance of each own unit's lowest corner from the enemies, 0
// from enemyReach on.
func (s *sheet) distances() {
	var left [slots]struct{ slot, x, y uint8 }
	n := s.nOwn
	for slot, w := range s.units[:n] {
		x, y := cc.TurnBack(s.p, int(w.at)%side, int(w.at)/side, 1)
		left[slot].slot, left[slot].x, left[slot].y = uint8(slot), uint8(x), uint8(y)
	}
	ring := s.targets
	low, high := ring.Rows()
	for d := 1; d < enemyReach && n > 0; d++ {
		low, high = max(low-1, 0), min(high+1, side-1)
		ring.GrowRows(low, high)
		k := 0
		for _, c := range left[:n] {
			if ring.Has(int(c.x), int(c.y)) {
				s.enemy[c.slot] = uint8(enemyReach - d)
			} else {
				left[k] = c
				k++
			}
		}
		n = k
	}
}

// paint writes a code on all cells of an entity whose first cell has index at.
func paint(dst *[planeBytes]uint8, at, size int, f *frame, code uint8) {
	if size == 1 {
		dst[at] = code
		return
	}
	for range size {
		for k := range size {
			dst[at+k*f.x] = code
		}
		at += f.y
	}
}

// ground writes the sight and the resources: the codes of cells, and the counts of both.
func ground(cells *[planeBytes]uint8, coarse *[coarsePlanes * coarseCells]uint8, seen, veins *bitboard.Square, p sim.Player) {
	var s, r grid
	s.turn(seen, p)
	r.turn(veins, p)
	for i, b := range s {
		binary.LittleEndian.PutUint64(cells[8*i:], bitboard.Spread(b)+bitboard.Spread(r[i]))
	}
	clear(coarse[coarseOwn*coarseCells:])
	for band := range coarseSide {
		at := band * coarseSide
		s.countBand(coarse[coarseSeen*coarseCells+at:][:coarseSide], band)
		r.countBand(coarse[coarseResource*coarseCells+at:][:coarseSide], band)
	}
}

// countBand counts the cells of each square of 8 × 8 cells in a band of eight rows. The sums of two
// rows fit in four bits, the sums of eight in eight.
func (g *grid) countBand(dst []uint8, band int) {
	const fours, eights = 0x3333333333333333, 0x0f0f0f0f0f0f0f0f
	four := func(x uint64) uint64 {
		x -= x >> 1 & 0x5555555555555555
		return x&fours + x>>2&fours
	}
	rows := g[10*8*band:][:10*8]
	low, high := uint64(0), uint64(0)
	for k := 0; k < 8; k += 2 {
		a, b := rows[10*k:][:10], rows[10*k+10:][:10]
		x := four(binary.LittleEndian.Uint64(a)) + four(binary.LittleEndian.Uint64(b))
		low += x&eights + x>>4&eights
		pair := uint64(binary.LittleEndian.Uint16(a[8:])) | uint64(binary.LittleEndian.Uint16(b[8:]))<<16
		y := four(pair)
		y = y&eights + y>>4&eights
		high += y&0xffff + y>>16
	}
	binary.LittleEndian.PutUint64(dst, low)
	binary.LittleEndian.PutUint16(dst[8:], uint16(high))
}

// keepNearest leaves as many corners of the other players' entities as the list has room for: those
// nearest to own entities, and among equally near ones the first in the order of the cells.
func (e *EntityEncoder) keepNearest(v *sheet) {
	f := &frames[v.p&3]
	var kept, ring ranks
	area, n := v.s.Own[v.p], 0
	for n < slots {
		area.GrowRows(0, side-1)
		ring.corner = [cornerWords]uint64{}
		for i := range v.s.Units[:v.s.N] {
			u := &v.s.Units[i]
			x, y, size := int(u.X), int(u.Y), e.cells.size[u.Type]
			if at := f.cornerAt(x, y, size); v.others.has(at) && u.Owner != v.p && !kept.has(at) && area.MeetsSquare(x, y, size) {
				ring.add(at)
			}
		}
		for w := range ring.corner {
			for set := ring.corner[w]; set != 0 && n < slots; set &= set - 1 {
				kept.corner[w] |= set & -set
				n++
			}
		}
	}
	v.others, v.nOthers = kept, kept.count()
}

// cellsWithin counts the cells of a set within some distance of a square, up to mostNear.
func cellsWithin(b *bitboard.Square, x, y, size, reach int) uint64 {
	n := 0
	for row := max(y-reach, 0); row <= min(y+size-1+reach, side-1); row++ {
		wide := reach - max(y-row, row-(y+size-1), 0)
		from, to := max(x-wide, 0), min(x+size-1+wide, side-1)
		low, high := b.Row(row)
		if low|high == 0 {
			continue
		}
		low &= ^uint64(0) << from // 0 from 64 on
		if to < 63 {
			low &= 1<<(to+1) - 1
		}
		if to < 64 {
			high = 0
		} else {
			high &= 1<<(to-63) - 1
			high &= ^uint64(0) << max(from-64, 0)
		}
		n += bits.OnesCount64(low) + bits.OnesCount64(high)
	}
	return uint64(min(n, mostNear))
}
