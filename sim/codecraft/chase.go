package codecraft

import (
	"math/bits"

	"moonfarm/sim/bitboard"
)

// hunts is the scratch of chases. A unit chases once a tick, so it is in the list
// of one board at most. Ranges of chases are at most Cells: 16 bits.
type hunts struct {
	before [MaxUnits]uint16 // by unit: 1 + the next hunter of its board
	reach  [MaxUnits]uint16 // by hunter: how far it goes
	far    [MaxUnits]uint16 // by hunter: how far it has to go, 0 while that is not known

	hunters bitboard.Square // to whom the flood has not come
	front   bitboard.Square // the layer of the flood
	free    bitboard.Square // open cells where it has not been
}

// chase looks for the first steps of unit i towards the nearest cells from
// which a valid target of its auto attack is in range (RULES.md, 3.4). If they
// are not next to it, it becomes a hunter of the board.
func (g *Game) chase(s *State, i int, u *Unit, a *Action, t *Properties) {
	reach := min(int(a.Range)-int(t.Range), Cells)
	if reach < 1 || g.rules.MaxNodes == 1 { // a search that may close nothing but its start
		return
	}
	b := g.aimFor(s, u.Owner, a.Valid, int(t.Range))
	if set := g.freeSteps(u); set == 0 {
		return
	} else if set = stepsOn(&b.near, u, set); set != 0 {
		g.steps[i] = set
		return
	}
	if !g.within(b, u, reach) {
		return
	}
	h := &g.aims.hunts
	h.before[i], h.reach[i], h.far[i] = b.hunters, uint16(reach), 0
	b.hunters = uint16(i + 1)
}

// stepsOn are the steps of the set that lead to cells of the board.
func stepsOn(b *bitboard.Square, u *Unit, set Steps) (on Steps) {
	for left := set; left != 0; left &= left - 1 {
		d := bits.TrailingZeros8(uint8(left))
		if b.Has(int(u.X)+stepX[d], int(u.Y)+stepY[d]) {
			on |= 1 << d
		}
	}
	return on
}

// within tells whether a cell of near is so near along both axes: if not, no
// path that is short enough leads to one.
func (g *Game) within(b *aimBoard, u *Unit, reach int) bool {
	x, y := int(u.X), int(u.Y)
	low, high := rowMask(max(x-reach, 0), min(x+reach, Side-1))
	first, last := max(y-reach, b.first), min(y+reach, b.last)
	if first > last {
		return false
	}
	any := uint64(0)
	for rows := b.near.Words(first, last); len(rows) >= 2; rows = rows[2:] {
		any |= rows[0]&low | rows[1]&high
	}
	return any != 0
}

// hunt finds the first steps of the hunters of a board. They share a flood that
// comes from the cells they look for.
func (g *Game) hunt(s *State, b *aimBoard) {
	h := &g.aims.hunts
	if b.hunters == 0 {
		return
	}
	g.flood(s, b)
	for at := b.hunters; at != 0; at = h.before[at-1] {
		i := int(at) - 1
		far := int(h.far[i])
		if far > int(h.reach[i]) || far != 0 && !g.closeEnough(&s.Units[i], far) {
			g.steps[i] = 0
		}
	}
	b.hunters = 0
}

// closeEnough tells whether fewer cells than a search may close are nearer to
// the unit than its path is long.
func (g *Game) closeEnough(u *Unit, far int) bool {
	most := int(g.rules.MaxNodes)
	if 2*far*(far-1)+1 < most {
		return true // all that the distance allows
	}
	open, x, y, n := &g.open[u.Owner], int(u.X), int(u.Y), 1
	low, high := max(y-far+1, 0), min(y+far-1, Side-1)
	for row := low; row <= high; row++ {
		wide := far - 1 - max(row-y, y-row)
		m0, m1 := rowMask(max(x-wide, 0), min(x+wide, Side-1))
		o0, o1 := open.Row(row)
		n += bits.OnesCount64(o0&m0) + bits.OnesCount64(o1&m1)
	}
	if n < most {
		return true // all of them that are open
	}
	return g.countNearer(u, far) < most
}

// countNearer counts the cells to which the unit has a path shorter than far,
// its own among them.
func (g *Game) countNearer(u *Unit, far int) int {
	h := &g.aims.hunts
	h.free, h.front = g.open[u.Owner], bitboard.Square{}
	h.front.Add(int(u.X), int(u.Y))
	none := bitboard.Square{}
	n, low, high := 1, int(u.Y), int(u.Y)
	for layer := 1; layer < far && low <= high; layer++ {
		low, high, _ = h.front.Flood(&h.free, &none, low, high)
		for y := low; y <= high; y++ {
			f0, f1 := h.front.Row(y)
			n += bits.OnesCount64(f0) + bits.OnesCount64(f1)
		}
	}
	return n
}

// flood goes out from the open cells of near, layer by layer, until it has come
// to all hunters or as far as any of them goes. It leaves how far each has to
// go and its first steps. Layers are wide, since targets are many: whole boards
// go faster than queues of cells (a fifth of the instructions).
func (g *Game) flood(s *State, b *aimBoard) {
	h := &g.aims.hunts
	h.hunters = bitboard.Square{}
	left, reach, first, last := 0, 0, Side, 0
	for at := b.hunters; at != 0; at = h.before[at-1] {
		u := &s.Units[at-1]
		h.hunters.Add(int(u.X), int(u.Y))
		first, last = min(first, int(u.Y)), max(last, int(u.Y))
		left++
		reach = max(reach, int(h.reach[at-1]))
	}
	h.front, h.free = g.open[b.player], g.open[b.player]
	h.front.And(&b.near)
	h.free.AndNot(&b.near)
	low, high := h.front.Rows()
	for layer := 1; layer <= reach && low <= high; layer++ {
		// What is farther from all hunters than the flood goes on is left out, at
		// each layer one row more: that is what Flood needs of rows left behind.
		// They are at least two rows away from those next to hunters, so was, which
		// has them too, misleads nobody.
		low, high = max(low, first-(reach-layer)-1), min(high, last+(reach-layer)+1)
		if low > high {
			return
		}
		was, touched := h.front, false
		if low, high, touched = h.front.Flood(&h.free, &h.hunters, low, high); !touched {
			continue
		}
		for at := b.hunters; at != 0; at = h.before[at-1] {
			i := int(at) - 1
			if h.far[i] != 0 {
				continue
			}
			u := &s.Units[i]
			if set := stepsOn(&was, u, g.freeSteps(u)); set != 0 {
				h.far[i], g.steps[i] = uint16(layer), set
				h.hunters.Drop(int(u.X), int(u.Y))
				left--
			}
		}
		if left == 0 {
			return
		}
	}
}
