package squads

import "moonfarm/sim/codecraft"

// The steps of fighters in playouts: each is a move to a neighbour cell.

// sign returns −1, 0 or 1.
func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

// flee moves a fighter one step away from an enemy. It reports false if there is no free cell.
func (k *playout) flee(f, e *fighter) bool {
	dx, dy := int(f.x-e.x), int(f.y-e.y)
	sx, sy := sign(dx), sign(dy)
	if sx == 0 {
		sx = 1 - 2*int(f.y&1)
	}
	if sy == 0 {
		sy = 1 - 2*int(f.x&1)
	}
	x, y := int(f.x), int(f.y)
	if max(dx, -dx) < max(dy, -dy) {
		return k.enter(f, x, y+sy) || k.enter(f, x+sx, y)
	}
	return k.enter(f, x+sx, y) || k.enter(f, x, y+sy)
}

// approach moves a fighter straight towards a cell, first along the axis with the greater
// distance: to a free cell, else to a cell of a unit that may leave it. If neither is possible,
// it goes down the field of its side.
func (k *playout) approach(f *fighter, q *side, tx, ty int) {
	x, y := int(f.x), int(f.y)
	dx, dy := tx-x, ty-y
	ax, ay := x+sign(dx), y
	bx, by := x, y+sign(dy)
	if max(dx, -dx) < max(dy, -dy) {
		ax, ay, bx, by = bx, by, ax, ay
	}
	second := bx != x || by != y
	if k.enter(f, ax, ay) || second && k.enter(f, bx, by) || k.file(f, ax, ay) || second && k.file(f, bx, by) {
		return
	}
	k.descend(f, q)
}

// descend moves a fighter down the field of its side. It shoots a resource in its way.
func (k *playout) descend(f *fighter, q *side) {
	from := cellAt(int(f.x), int(f.y))
	best, least := -1, q.ways.dist[from]
	for _, by := range around {
		to := from + by
		if d := q.ways.dist[to]; d < least && k.state.At[codecraft.CellOf(to%wide-1, to/wide-1)] == 0 {
			best, least = to, d
		}
	}
	if best >= 0 {
		k.state.Acts[f.unit].AddMove(best%wide-1, best/wide-1, 0)
	}
}

// enter moves a fighter to a free cell. It reports false if the cell is not free.
func (k *playout) enter(f *fighter, x, y int) bool {
	if !codecraft.OnMap(x, y, 1) || k.state.Occupied.Has(x, y) {
		return false
	}
	k.state.Acts[f.unit].AddMove(x, y, 0)
	return true
}

// file moves a fighter to the cell of a movable unit of the same player. It reports false if
// there is none.
func (k *playout) file(f *fighter, x, y int) bool {
	if !codecraft.OnMap(x, y, 1) {
		return false
	}
	i := int(k.state.At[codecraft.CellOf(x, y)]) - 1
	if i < 0 || k.state.Units[i].Owner != k.state.Units[f.unit].Owner || !k.rules.Types[k.state.Units[i].Type].CanMove {
		return false
	}
	k.state.Acts[f.unit].AddMove(x, y, 0)
	return true
}
