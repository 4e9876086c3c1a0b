package codecraft

import (
	"math/bits"

	"moonfarm/sim/bitboard"
)

// hunts is the scratch of chases.
type hunts struct {
	before [MaxUnits]uint16 // by unit: 1 + the next hunter of its board
	reach  [MaxUnits]uint16 // by hunter: how far it goes
	far    [MaxUnits]uint16 // by hunter: how far it has to go, 0 while that is not known
	state  grid             // huntOpen and huntUnit; 0 also where the flood has been
	queue  [gridSize]uint16
}

const (
	huntOpen = 1
	huntUnit = 2 // a hunter stands there
)

// chase looks for the first steps of unit i towards the nearest cells from
// which a valid target of its auto attack is in range (RULES.md, 3). If they
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
	b.several = b.hunters != 0
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

// hunt finds the first steps of the hunters of a board: one searches for
// itself, several share a flood that comes from the cells they look for.
func (g *Game) hunt(s *State, b *aimBoard) {
	h := &g.aims.hunts
	if b.several {
		g.flood(s, b)
	}
	for at := b.hunters; at != 0; at = h.before[at-1] {
		i := int(at) - 1
		u, far := &s.Units[i], int(h.far[i])
		switch {
		case !b.several:
			g.steps[i] = g.nearest(b.player, gridCell(int(u.X), int(u.Y)), b, int(h.reach[i]))
		case far == 0 || far > int(h.reach[i]):
			g.steps[i] = 0 // the flood has not come, or from too far away
		case 2*far*(far-1)+1 >= int(g.rules.MaxNodes):
			// More cells than a search may close could be nearer than that.
			g.steps[i] = g.nearest(b.player, gridCell(int(u.X), int(u.Y)), b, int(h.reach[i]))
		}
	}
	b.hunters, b.several = 0, false
}

// flood goes out from the open cells of near, layer by layer, until it has come
// to all hunters or as far as any of them goes. It leaves how far each has to
// go and its first steps.
func (g *Game) flood(s *State, b *aimBoard) {
	h := &g.aims.hunts
	open := &g.open[b.player]
	free := *open
	free.AndNot(&b.near)
	h.state.draw(&free)
	left, reach := 0, 0
	for at := b.hunters; at != 0; at = h.before[at-1] {
		u := &s.Units[at-1]
		h.state[gridCell(int(u.X), int(u.Y))] = huntUnit
		left++
		reach = max(reach, int(h.reach[at-1]))
	}
	goals := b.near
	goals.And(open)
	var first bitboard.Square // layer 1
	first.Grow(&goals)
	first.And(&free)
	tail := 0
	for y := range Side {
		low, high := first.Row(y)
		for row, x := [2]uint64{low, high}, 0; x < 2; x++ {
			for w := row[x]; w != 0; w &= w - 1 {
				c := gridCell(x*64+bits.TrailingZeros64(w), y)
				h.state[c] = 0
				h.queue[tail] = uint16(c)
				tail++
			}
		}
	}
	for head, layer := 0, 1; head < tail && layer < reach && left > 0; layer++ {
		for end := tail; head < end; head++ {
			c := int(h.queue[head])
			for d, step := range gridStep {
				n := c - step // from n, direction d leads to c
				switch h.state[n] {
				case huntOpen:
					h.state[n] = 0
					h.queue[tail] = uint16(n)
					tail++
				case huntUnit:
					left -= g.reached(s, n, d, layer+1)
				}
			}
		}
	}
}

// reached tells a hunter on cell n of the grid that the flood has come to its
// neighbour in a direction. It returns 1 if it is the first to tell.
func (g *Game) reached(s *State, n, direction, far int) int {
	h := &g.aims.hunts
	i := s.At[CellOf(n&gridX-1, n>>gridShift-1)] - 1
	switch int(h.far[i]) {
	case 0:
		h.far[i], g.steps[i] = uint16(far), 1<<direction
		return 1
	case far:
		g.steps[i] |= 1 << direction
	}
	return 0
}
