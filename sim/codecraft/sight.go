package codecraft

import (
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
)

// Sight makes dst the cells that are in sight of an entity of player p. It does
// not ask whether there is fog. An entity is seen if one of its cells is.
func (g *Game) Sight(dst *bitboard.Square, s *State, p sim.Player) {
	*dst = bitboard.Square{}
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		if u.Owner != p {
			continue
		}
		t := &g.rules.Types[u.Type]
		r, size := int(t.Sight), int(t.Size)
		for dy := -r; dy < size+r; dy++ {
			reach := r - max(-dy, dy-size+1, 0)
			y := int(u.Y) + dy
			if y < 0 || y >= Side {
				continue
			}
			for x := max(int(u.X)-reach, 0); x <= min(int(u.X)+size-1+reach, Side-1); x++ {
				dst.Add(x, y)
			}
		}
	}
}
