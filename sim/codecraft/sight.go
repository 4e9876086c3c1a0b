package codecraft

import (
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
)

// sights are the sight ranges of the types, each once, the widest first, and
// which of them each type has.
type sights struct {
	n      int
	ranges [Types]int
	of     [Types]uint8
}

// prepareSight orders the ranges.
func (g *Game) prepareSight() {
	t := &g.sights
	for next := maxSight; next >= 0; next-- {
		for k := range Types {
			if int(g.rules.Types[k].Sight) != next {
				continue
			}
			if t.n == 0 || t.ranges[t.n-1] != next {
				t.ranges[t.n] = next
				t.n++
			}
			t.of[k] = uint8(t.n - 1)
		}
	}
}

// Sight makes dst the cells that are in sight of an entity of player p. It does
// not ask whether there is fog. An entity is seen if one of its cells is.
//
// The ranges nest: what sees farthest is grown until the next range is left,
// joined by what has that, and so on. So it takes as many steps as the widest
// range, however many entities there are.
func (g *Game) Sight(dst *bitboard.Square, s *State, p sim.Player) {
	t := &g.sights
	var has [Types]bitboard.Square
	low, high := Side, -1
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		if u.Owner != p {
			continue
		}
		size := int(g.rules.Types[u.Type].Size)
		has[t.of[u.Type]].AddSquare(int(u.X), int(u.Y), size)
		low, high = min(low, int(u.Y)), max(high, int(u.Y)+size-1)
	}
	*dst = bitboard.Square{}
	for k := range t.n {
		dst.Or(&has[k])
		next := 0
		if k+1 < t.n {
			next = t.ranges[k+1]
		}
		for range t.ranges[k] - next {
			low, high = max(low-1, 0), min(high+1, Side-1)
			dst.GrowRows(low, high)
		}
	}
}
