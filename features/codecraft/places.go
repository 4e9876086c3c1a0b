package codecraft

import (
	"cmp"
	"math/bits"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	cc "moonfarm/sim/codecraft"
)

// place is a cell, or the difference of two cells.
type place struct{ x, y int8 }

// squareBeside returns the lowest corner of a square next to an entity, as seen, minus the entity's. d is
// the direction, along the step along the side of the entity.
func squareBeside(own, size, d, along int) (dx, dy int) {
	switch d {
	case 0:
		return own, along
	case 1:
		return -size, along
	case 2:
		return along, own
	}
	return along, -size
}

// beside has the cells next to an entity on the map, minus its lowest corner: by the size of the entity,
// the seat, the direction, and the step along the side.
var beside = func() (t [cc.MaxSize + 1][sim.MaxPlayers][4][cc.MaxSize]place) {
	const x, y = side / 2, side / 2 // the entity, as seen
	for own := range t {
		for p := range t[own] {
			x0, y0 := cc.TurnBack(sim.Player(p), x, y, own)
			for d := range t[own][p] {
				for k := range own {
					dx, dy := squareBeside(own, 1, d, k)
					wx, wy := cc.TurnBack(sim.Player(p), x+dx, y+dy, 1)
					t[own][p][d][k] = place{int8(wx - x0), int8(wy - y0)}
				}
			}
		}
	}
	return t
}()

// spots has the places of a type, as seen by a seat.
type spots struct {
	n     int
	at    [places]place // the world's offset from the lowest corner of the entity
	first [cc.Types]int // of builders: the first place of each option, in the order of the options
	last  [cc.Types]int //
	width int           // of shooters: the side of the table
	table []int8        // … the place of each offset, row by row from (−reach, −reach), −1 if it has none
}

// spotsOf returns the places of a type as seat p sees them.
func (a *Actions) spotsOf(p sim.Player, t cc.Type) (l spots) {
	r := &a.rules.Types[t]
	own := int(r.Size)
	const x, y = side / 2, side / 2 // the entity, as seen
	x0, y0 := cc.TurnBack(p, x, y, own)
	add := func(dx, dy, size int) {
		if l.n < places {
			wx, wy := cc.TurnBack(p, x+dx, y+dy, size)
			l.at[l.n] = place{int8(wx - x0), int8(wy - y0)}
			l.n++
		}
	}
	if r.CanBuild {
		for k, built := range r.Builds.All() {
			size := int(a.rules.Types[built].Size)
			l.first[k] = l.n
			if l.n+4*(own+size-1) <= places {
				for d := range 4 {
					for along := 1 - size; along < own; along++ {
						dx, dy := squareBeside(own, size, d, along)
						add(dx, dy, size)
					}
				}
			}
			l.last[k] = l.n
		}
		return l
	}
	if !a.shoots(t) {
		return l
	}
	for _, c := range around(own, int(r.Range)) {
		add(int(c.x), int(c.y), 1)
	}
	reach := int(r.Range)
	l.width = own + 2*reach
	l.table = slices.Repeat([]int8{-1}, l.width*l.width)
	for i, c := range l.at[:l.n] {
		l.table[(int(c.y)+reach)*l.width+int(c.x)+reach] = int8(i)
	}
	return l
}

// around returns the cells within reach of a square with its lowest corner on (0, 0), the nearest
// first, equally near ones row by row.
func around(own, reach int) (list []place) {
	gap := func(c place) int { return cc.Gap(0, 0, own, int(c.x), int(c.y), 1) }
	for y := -reach; y < own+reach; y++ {
		for x := -reach; x < own+reach; x++ {
			if c := (place{int8(x), int8(y)}); gap(c) > 0 && gap(c) <= reach {
				list = append(list, c)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b place) int { return cmp.Compare(gap(a), gap(b)) })
	return list
}

// builds adds the squares on which a unit can build.
func (a *Actions) builds(v *roster, u *cc.Unit, legal *[maskWords]uint64) {
	r := &a.rules
	l := &a.spots[v.p][u.Type]
	x, y := int(u.X), int(u.Y)
	for k, built := range r.Types[u.Type].Builds.All() {
		if !v.payable.Has(built) {
			continue
		}
		size := int(r.Types[built].Size)
		fits, set := &v.fits[size-1], uint64(0)
		for i, c := range l.at[l.first[k]:l.last[k]] {
			if y < size && y+int(c.y) < 0 {
				continue
			}
			set |= fits.Bit(x+int(c.x), y+int(c.y)) << i
		}
		at := choicePlace + l.first[k]
		legal[at>>6] |= set << (at & 63)
		if at < 64 {
			legal[1] |= set >> (64 - at)
		}
	}
}

// aim makes the targets in range legal, and focus for the entities that have one.
func (a *Actions) aim(m *masks, v *roster) {
	foes := v.enemies()
	reached, own, last := foes, &v.s.Own[v.p], 0
	low, high := foes.Rows()
	if low > high {
		return
	}
	for _, r := range a.ranges {
		for ; last < r.reach; last++ {
			low, high = max(low-1, 0), min(high+1, side-1)
			reached.GrowRows(low, high)
		}
		if !meet(&reached, own) {
			continue
		}
		for slot, i := range v.units[:v.n] {
			u := &v.s.Units[i&(cc.MaxUnits-1)]
			if !u.Active || !r.types.Has(u.Type) || !reached.MeetsSquare(int(u.X), int(u.Y), a.types[u.Type].size) {
				continue
			}
			legal := m.of(slot)
			legal[0] |= 1 << choiceFocus
			if a.shoots(u.Type) {
				a.targets(v, &foes, u, legal)
			}
		}
	}
}

// targets adds the places of the entities of other players in range of a unit.
func (a *Actions) targets(v *roster, foes *bitboard.Square, u *cc.Unit, legal *[maskWords]uint64) {
	l := &a.spots[v.p][u.Type]
	t := &a.types[u.Type]
	x0, y0 := int(u.X), int(u.Y)
	for y := max(y0-t.reach, 0); y <= min(y0+t.size-1+t.reach, side-1); y++ {
		low, high := foes.Row(y)
		for k, w := range [2]uint64{low, high} {
			for ; w != 0; w &= w - 1 {
				x := 64*k + bits.TrailingZeros64(w)
				if dx := x - x0 + t.reach; uint(dx) >= uint(l.width) {
					continue
				}
				w := &v.s.Units[(v.s.At[cc.CellOf(x, y)]-1)%cc.MaxUnits]
				if i := a.placeOf(v, u, w); i >= 0 {
					legal[(choicePlace+i)>>6] |= 1 << ((choicePlace + i) & 63)
				}
			}
		}
	}
}

// placeOf returns the place of a target: its cell nearest to the unit, and of equally near ones the
// first as seen. It is −1 if the target has none.
func (a *Actions) placeOf(v *roster, u, w *cc.Unit) int {
	own, size := a.types[u.Type].size, a.types[w.Type].size
	x, y := int(w.X), int(w.Y)
	if size > 1 || own > 1 {
		ux, uy := cc.Turn(v.p, int(u.X), int(u.Y), own)
		wx, wy := cc.Turn(v.p, x, y, size)
		x, y = cc.TurnBack(v.p, min(max(ux, wx), wx+size-1), min(max(uy, wy), wy+size-1), 1)
	}
	l, reach := &a.spots[v.p][u.Type], a.types[u.Type].reach
	dx, dy := x-int(u.X)+reach, y-int(u.Y)+reach
	if uint(dx) >= uint(l.width) || uint(dy) >= uint(l.width) {
		return -1
	}
	return int(l.table[dy*l.width+dx])
}

// meet reports whether two sets have a cell in common.
func meet(a, b *bitboard.Square) bool {
	for i := range a {
		if a[i]&b[i] != 0 {
			return true
		}
	}
	return false
}
