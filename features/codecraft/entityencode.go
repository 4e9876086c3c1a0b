package codecraft

import (
	"encoding/binary"
	"math/bits"

	"moonfarm/features"
	"moonfarm/sim"
	cc "moonfarm/sim/codecraft"
)

// The packed form: a word for each slot of own entities, half a word for each slot of the others, four
// bits for each cell of the map, and a byte for each count.
const (
	othersWord  = slots
	mapWord     = othersWord + slots/2
	coarseWord  = mapWord + planeBytes/16
	entityWords = coarseWord + coarsePlanes*coarseCells/8
)

// ownBits and otherBits have the first bit of each field in its packed entry, and its number of bits.
var (
	ownBits = [ownFields]struct{ first, width int }{
		{0, 4}, {4, 7}, {11, 7}, {18, 8}, {26, 1}, {27, 3}, // type, x, y, health, active, action
		{32, 7}, {39, 7}, {46, 4}, {50, 4}, {54, 4}, {58, 3}, // goal, enemies, shooters, resources, nearest enemy
	}
	otherBits = [otherFields]struct{ first, width int }{{0, 4}, {4, 7}, {11, 7}, {18, 8}, {26, 1}, {27, 2}}
)

// entry returns what both lists say of a unit.
func (e *EntityEncoder) entry(u *cc.Unit, at uint16) uint64 {
	w := uint64(u.Type+1) | uint64(at%side)<<4 | uint64(at/side)<<11 | uint64(e.cells.health(u.Type, u.Health))<<18
	if u.Active {
		w |= 1 << 26
	}
	return w
}

// ownEntry returns the packed entry of an own unit.
func (e *EntityEncoder) ownEntry(v *sheet, slot int) uint64 {
	i := int(v.units[slot].unit) & (cc.MaxUnits - 1)
	u, a := &v.s.Units[i], &v.s.Acts[i]
	x, y, size, reach := int(u.X), int(u.Y), e.cells.size[u.Type], e.reach[u.Type]
	w := e.entry(u, v.units[slot].at) | uint64(codeOf(a))<<27
	if a.Parts&cc.HasMove != 0 {
		at := frames[v.p&3].at(int(a.MoveX), int(a.MoveY))
		w |= uint64(1+at%side)<<32 | uint64(1+at/side)<<39
	}
	if e.cells.rules.Types[u.Type].Collects {
		if reach == 1 && size == 1 {
			w |= uint64(bits.OnesCount8(cross(&v.veins, x, y))) << 54
		} else {
			w |= cellsWithin(&v.veins, x, y, size, reach) << 54
		}
	}
	if near := int(v.enemy[slot]); near > 0 {
		if reach > 0 {
			w |= cellsWithin(&v.targets, x, y, size, reach) << 46
		}
		if e.farthest > 0 {
			w |= cellsWithin(&v.armed, x, y, size, e.farthest+1) << 50
		}
		w |= uint64(near) << 58
	}
	return w
}

// otherEntry returns the packed entry of a unit of another player.
func (e *EntityEncoder) otherEntry(v *sheet, slot int) uint64 {
	w := v.foes[slot]
	u := &v.s.Units[w.unit&(cc.MaxUnits-1)]
	return e.entry(u, w.at) | uint64(rivals[v.p&3][u.Owner&3])<<27
}

// Planes writes the uint8 values.
func (e *EntityEncoder) Planes(dst []uint8, s *cc.State, p sim.Player) {
	features.CheckLength("planes", len(dst), entityBytes)
	dst = dst[:entityBytes]
	v := sheet{s: s, p: p, cells: (*[planeBytes]uint8)(dst[mapAt:]), coarse: (*[coarsePlanes * coarseCells]uint8)(dst[coarseAt:])}
	e.look(&v)
	clear(dst[:mapAt])
	for slot := range v.nOwn {
		w := e.ownEntry(&v, slot)
		d := (*[ownFields]uint8)(dst[ownAt+slot*ownFields:])
		d[0], d[1], d[2], d[3], d[4], d[5] = uint8(w&15), uint8(w>>4&127), uint8(w>>11&127), uint8(w>>18), uint8(w>>26&1), uint8(w>>27&7)
		d[6], d[7], d[8], d[9], d[10], d[11] = uint8(w>>32&127), uint8(w>>39&127), uint8(w>>46&15), uint8(w>>50&15), uint8(w>>54&15), uint8(w>>58&7)
	}
	for slot := range v.nOthers {
		w := e.otherEntry(&v, slot)
		d := (*[otherFields]uint8)(dst[othersAt+slot*otherFields:])
		d[0], d[1], d[2], d[3], d[4], d[5] = uint8(w&15), uint8(w>>4&127), uint8(w>>11&127), uint8(w>>18), uint8(w>>26&1), uint8(w>>27&3)
	}
}

// Packed writes the packed entries, the map and the counts.
func (e *EntityEncoder) Packed(dst []uint64, s *cc.State, p sim.Player) {
	features.CheckLength("packed", len(dst), entityWords)
	d := (*[entityWords]uint64)(dst)
	var cells [planeBytes]uint8
	var coarse [coarsePlanes * coarseCells]uint8
	v := sheet{s: s, p: p, cells: &cells, coarse: &coarse}
	e.look(&v)
	clear(d[:mapWord])
	for slot := range v.nOwn {
		d[slot] = e.ownEntry(&v, slot)
	}
	for slot := range v.nOthers {
		d[othersWord+slot/2] |= e.otherEntry(&v, slot) << (slot & 1 * 32)
	}
	for k := range planeBytes / 16 {
		d[mapWord+k] = nibbles(cells[16*k:]) | nibbles(cells[16*k+8:])<<32
	}
	for k := range coarsePlanes * coarseCells / 8 {
		d[coarseWord+k] = binary.LittleEndian.Uint64(coarse[8*k:])
	}
}

// nibbles returns eight values below 16 as four bits each.
func nibbles(b []uint8) uint64 {
	x := binary.LittleEndian.Uint64(b)
	x = (x | x>>4) & 0x00ff00ff00ff00ff
	x = (x | x>>8) & 0x0000ffff0000ffff
	return (x | x>>16) & 0xffffffff
}

// The scalars: those of Encoder, and four more.
const (
	scalarPopLeft     = scalars
	scalarPrices      = scalarPopLeft + 1 // of priced units
	entityScalarCount = scalarPrices + len(priced)
)

// priced are the types whose price grows with their number.
var priced = [...]cc.Type{cc.BuilderUnit, cc.MeleeUnit, cc.RangedUnit}

// Scalars writes the scalars of Encoder, then the population left and the prices of the next units.
func (e *EntityEncoder) Scalars(dst []float32, s *cc.State, p sim.Player) {
	features.CheckLength("scalars", len(dst), entityScalarCount)
	e.cells.Scalars(dst, s, p)
	p &= 3
	dst[scalarPopLeft] = float32(s.PopProvide[p] - s.PopUse[p])
	for k, t := range priced {
		dst[scalarPrices+k] = float32(e.cells.rules.CostOf(t, int32(s.Count[p][t])))
	}
}
