package codecraft

import (
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	cc "moonfarm/sim/codecraft"
)

const (
	regionsAcross = 4  // regions of the map along each axis
	regionSide    = 20 // cells
	regions       = regionsAcross * regionsAcross
	far           = side // pathfind range of gathering and fighting
)

// place is a cell, or the difference of two cells.
type place struct{ x, y int8 }

// ranged has the types with one attack range.
type ranged struct {
	reach int
	types cc.TypeSet
}

// abilities has the abilities of a type by the rules.
type abilities struct {
	size    int
	moves   bool
	builds  bool
	reach   int // attack range, if it attacks
	repairs cc.TypeSet
}

// abilitiesOf returns the abilities of a type, and whether squares next to it, or in its range, may be
// out of its sight.
func abilitiesOf(r *cc.Rules, t cc.Type) (b abilities, spread bool) {
	k := &r.Types[t]
	b = abilities{size: int(k.Size), moves: k.CanMove}
	if k.CanAttack {
		b.reach = int(k.Range)
		spread = k.Range > k.Sight
	}
	if k.CanRepair {
		b.repairs = k.Repairs.Set()
	}
	if k.CanBuild {
		for _, built := range k.Builds.All() {
			b.builds = true
			// The farthest cell of a square lies its size ahead, and its size minus 1
			// aside.
			spread = spread || 2*r.Types[built].Size-1 > k.Sight
		}
	}
	return b, spread
}

// rangesOf returns the attack ranges above 0 with their types.
func rangesOf(r *cc.Rules) (list []ranged) {
	var types [cc.MaxRange + 1]cc.TypeSet
	for t := range r.Types {
		if r.Types[t].CanAttack {
			types[r.Types[t].Range] |= 1 << t
		}
	}
	for n, set := range types {
		if n > 0 && set != 0 {
			list = append(list, ranged{n, set})
		}
	}
	return list
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
