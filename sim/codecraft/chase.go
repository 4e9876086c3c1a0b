package codecraft

// chase returns the first steps of a unit towards the nearest cells from which
// a valid target of its auto attack is in range (RULES.md, 3).
func (g *Game) chase(s *State, u *Unit, a *Action, t *Properties) Steps {
	reach := int(a.Range) - int(t.Range)
	if reach < 1 {
		return 0
	}
	reach = min(reach, Cells)
	b := g.aimFor(s, u.Owner, a.Valid, int(t.Range))
	if !g.within(b, u, reach) {
		return 0
	}
	return g.nearest(u.Owner, gridCell(int(u.X), int(u.Y)), b, reach)
}

// within tells whether a cell of near that is open lies within the Manhattan
// distance: if not, no path that is short enough leads to one.
func (g *Game) within(b *aimBoard, u *Unit, reach int) bool {
	x, y := int(u.X), int(u.Y)
	open := &g.open[u.Owner]
	for row := max(y-reach, 0); row <= min(y+reach, Side-1); row++ {
		wide := reach - max(row-y, y-row)
		low, high := rowMask(max(x-wide, 0), min(x+wide, Side-1))
		n0, n1 := b.near.Row(row)
		o0, o1 := open.Row(row)
		if n0&o0&low|n1&o1&high != 0 {
			return true
		}
	}
	return false
}

// rowMask are the bits of a row from x = from to x = to.
func rowMask(from, to int) (low, high uint64) {
	return ^uint64(0) << from &^ (^uint64(0) << (to + 1)), bitsFrom(from-64) &^ bitsFrom(to-63)
}

// bitsFrom are the bits from n on; all for n below 0.
func bitsFrom(n int) uint64 { return ^uint64(0) << max(n, 0) }
