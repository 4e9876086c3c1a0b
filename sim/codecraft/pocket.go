package codecraft

import "moonfarm/sim/bitboard"

// maxPocket is how many cells a pocket has at most.
const maxPocket = 64

// maxPockets is how many pockets are left out, one after the other. In crowds
// there are few around a target; where all is pockets, each would cost more than
// the searches it saves. Units that are left search among the cells that are
// left: what they find is the same, with any number.
const maxPockets = 4

// nearBy is how near a target is, in cells, that a unit finds without a field
// (measured: from 8 to 20 makes little difference).
const nearBy = 12

// pockets is the scratch of the search for pockets: groups of open cells around
// a target that are cut off from all others, as in a crowd of units that go
// there.
type pockets struct {
	open  bitboard.Square // open cells but for the pockets
	cells bitboard.Square // the last pocket

	// No cell is looked around from, and no row of cells at a distance is gone
	// through, once there are more than maxPocket: at most 4 come after them.
	queue [maxPocket + 4]uint16
}

// walkDark finds the first steps of n units of a group, listed in shadows, that
// no straight way leads from.
//
// If the open cells nearest to the target are a pocket, all those outside of it
// would search in vain until they have closed whatever they can. To them the
// next nearest cells are what the target is when it is covered.
func (g *Game) walkDark(s *State, w *group, n int) {
	t := &g.paths
	f := &t.field
	open, mirror := &g.open[w.player], &t.mirrors.list[w.player]
	for round := 0; round < maxPockets && g.pocket(open); round++ {
		if k := g.inPocket(s, n); k < n {
			g.walkAlone(s, w, t.shadows.units[k:n], open, mirror)
			n = k
		}
		t.pockets.open = *open
		open, mirror = &t.pockets.open, nil
		open.AndNot(&t.pockets.cells)
		if n == 0 || !f.begin(open, int(w.x), int(w.y)) {
			return
		}
		f.draw(open, t.mirrors.of(open, mirror, w.player))
		if n = g.outside(s, n); n == 0 {
			return
		}
	}
	if n == 1 {
		g.walkAlone(s, w, t.shadows.units[:1], open, mirror)
		return
	}
	t.detours.drawn = false
	f.draw(open, t.mirrors.of(open, mirror, w.player))
	g.shadow(s, w, n)
}

// walkAlone lets units search for themselves. Those near to the target do not
// need the field: it is drawn for the others.
func (g *Game) walkAlone(s *State, w *group, units []uint16, open, mirror *bitboard.Square) {
	t := &g.paths
	t.detours.drawn = false
	drawn := false
	for _, i := range units {
		u := &s.Units[i]
		h, closest := t.field.distance(u), s.Acts[i].Parts&FindClosest != 0
		if h <= nearBy {
			g.withoutField(w.player)
			g.steps[i] = g.detour(u, closest, h)
			continue
		}
		if !drawn {
			t.field.draw(open, t.mirrors.of(open, mirror, w.player))
			drawn = true
		}
		g.withField(w.player)
		g.steps[i] = g.detour(u, closest, h)
	}
}

// pocket looks for a pocket: it tells whether the open cells nearest to the
// target, and all that are connected to them, are few.
func (g *Game) pocket(open *bitboard.Square) bool {
	q, f := &g.paths.pockets, &g.paths.field
	q.cells = bitboard.Square{}
	tail := 0
	reach := func(x, y int) {
		if uint(x) < Side && uint(y) < Side && open.Has(x, y) && !q.cells.Has(x, y) {
			q.cells.Add(x, y)
			q.queue[tail] = uint16(CellOf(x, y))
			tail++
		}
	}
	for dy := -f.least; dy <= f.least && tail <= maxPocket; dy++ {
		dx := f.least - max(dy, -dy)
		reach(f.x+dx, f.y+dy)
		reach(f.x-dx, f.y+dy)
	}
	for head := 0; head < tail && tail <= maxPocket; head++ {
		x, y := int(q.queue[head])%Side, int(q.queue[head])/Side
		for d := range gridStep {
			reach(x+stepX[d], y+stepY[d])
		}
	}
	return tail <= maxPocket
}

// inPocket puts those of the n units that are not next to the pocket before the
// others and returns how many they are.
func (g *Game) inPocket(s *State, n int) (out int) {
	list := g.paths.shadows.units[:n]
	for k, i := range list {
		if stepsOn(&g.paths.pockets.cells, &s.Units[i], g.freeSteps(&s.Units[i])) == 0 {
			list[k], list[out] = list[out], i
			out++
		}
	}
	return out
}

// outside finds the first steps of those of n units that can go straight to the
// cells nearest to a target that they cannot reach, or do not move at all, and
// returns how many are left.
func (g *Game) outside(s *State, n int) (left int) {
	f, list := &g.paths.field, g.paths.shadows.units[:n]
	for _, i := range list {
		u := &s.Units[i]
		if s.Acts[i].Parts&FindClosest == 0 || f.distance(u) <= f.least {
			continue
		}
		if g.steps[i] = f.straight(u); g.steps[i] == 0 {
			list[left] = i
			left++
		}
	}
	return left
}
