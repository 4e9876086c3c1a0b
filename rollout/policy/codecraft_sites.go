package policy

import (
	"math/bits"

	"moonfarm/sim/bitboard"
	"moonfarm/sim/codecraft"
)

// corner is the lowest corner of unit i, and its size.
func (c *codecraftSeat) corner(i int) (x, y, size int) {
	u := &c.state.Units[i]
	return int(u.X), int(u.Y), int(c.rules.Types[u.Type].Size)
}

// centre is the middle of the own base: of the first that makes builders, else
// of the corner where it would be.
func (c *codecraftSeat) centre() (x, y int) {
	for _, i := range c.fixed.all() {
		if c.state.Units[i].Type == codecraft.BuilderBase {
			x, y, size := c.corner(int(i))
			return x + size/2, y + size/2
		}
	}
	return codecraft.TurnBack(c.player, codecraftHome, codecraftHome, 1)
}

// codecraftHome is where the middle of a builder base is at the start, on both
// axes of the own frame.
const codecraftHome = 7

// middle lies half way between the middle of the own base and where its
// builders are on average.
func (c *codecraftSeat) middle() (x, y int) {
	x, y = c.centre()
	n := max(c.builders.n, 1)
	sumX, sumY := n*x, n*y
	for _, i := range c.builders.all() {
		sumX += int(c.state.Units[i].X)
		sumY += int(c.state.Units[i].Y)
	}
	return sumX / (2 * n), sumY / (2 * n)
}

// stand is the free cell beside a square that is nearest to unit i, or its own
// cell if that lies beside it; nobody else is on the way there. Only cells in
// seen count; nil stands for all of the map, for squares that own entities cover.
func (c *codecraftSeat) stand(i, x, y, size int, seen *bitboard.Square) (sx, sy int, ok bool) {
	ux, uy, _ := c.corner(i)
	if codecraft.Gap(ux, uy, 1, x, y, size) == 1 {
		return ux, uy, true
	}
	least := 0
	for side := range 4 {
		for k := range size {
			fx, fy := beside(x, y, size, side, k)
			if !codecraft.OnMap(fx, fy, 1) || c.state.Occupied.Has(fx, fy) || c.taken.Has(fx, fy) || seen != nil && !seen.Has(fx, fy) {
				continue
			}
			if d := codecraft.Gap(ux, uy, 1, fx, fy, 1); !ok || d < least {
				sx, sy, least, ok = fx, fy, d, true
			}
		}
	}
	return sx, sy, ok
}

// beside is the k-th cell along one side of a square: right, above, left,
// below.
func beside(x, y, size, side, k int) (int, int) {
	switch side {
	case 0:
		return x + size, y + size - 1 - k
	case 1:
		return x + size - 1 - k, y + size
	case 2:
		return x - 1, y + k
	}
	return x + k, y - 1
}

// exit is a free cell beside base i for a unit to be built on: the first in
// the own frame from the upper right corner on, for which the sides are in the
// same order for all players.
func (c *codecraftSeat) exit(i int) (x, y int, ok bool) {
	bx, by, size := c.corner(i)
	bx, by = codecraft.Turn(c.player, bx, by, size)
	for side := range 4 {
		for k := range size {
			x, y = beside(bx, by, size, side, k)
			if !codecraft.OnMap(x, y, 1) {
				continue
			}
			if x, y = codecraft.TurnBack(c.player, x, y, 1); !c.state.Occupied.Has(x, y) {
				return x, y, true
			}
		}
	}
	return 0, 0, false
}

// site finds the place nearest to (ax, ay) for a building of type t: free, in
// sight and with a lane of one cell between it and other buildings.
func (c *codecraftSeat) site(t codecraft.Type, ax, ay int) (x, y int, ok bool) {
	size := int(c.rules.Types[t].Size)
	if size > codecraft.Side {
		return 0, 0, false
	}
	c.game.Sight(&c.sight, c.state, c.player)
	c.open = c.sight
	c.open.AndNot(&c.state.Occupied)
	for _, i := range c.fixed.all() {
		bx, by, s := c.corner(int(i))
		dropAround(&c.open, bx, by, s)
	}
	for range size - 1 {
		c.open.Corners(&c.open)
	}
	return nearest(&c.open, ax-size/2, ay-size/2)
}

// dropAround takes a square and the cells around it, the diagonal ones too,
// off a board.
func dropAround(b *bitboard.Square, x, y, size int) {
	for row := max(y-1, 0); row <= min(y+size, codecraft.Side-1); row++ {
		low, high := b.Row(row)
		for col := max(x-1, 0); col <= min(x+size, codecraft.Side-1); col++ {
			if col < 64 {
				low &^= 1 << col
			} else {
				high &^= 1 << (col - 64)
			}
		}
		b.SetRow(row, low, high)
	}
}

// nearest is the cell of a board nearest to (ax, ay), rows from there on
// upwards and downwards.
func nearest(b *bitboard.Square, ax, ay int) (x, y int, ok bool) {
	best := 2 * codecraft.Side
	for d := 0; d < codecraft.Side && d < best; d++ {
		for _, row := range [2]int{ay - d, ay + d} {
			if row < 0 || row >= codecraft.Side {
				continue
			}
			low, high := b.Row(row)
			if col, there := nearestBit(low, high, ax); there {
				if far := d + max(col-ax, ax-col); far < best {
					x, y, best, ok = col, row, far, true
				}
			}
		}
	}
	return x, y, ok
}

// nearestBit is the bit of a row that is nearest to x, which may lie outside.
func nearestBit(low, high uint64, x int) (int, bool) {
	x = min(max(x, 0), codecraft.Side-1)
	// The bits from x on: shifts of 64 and more leave none.
	onLow, onHigh := ^uint64(0)<<x, ^uint64(0)<<max(x-64, 0)
	const none = 4 * codecraft.Side
	from, before := none, -none
	switch {
	case low&onLow != 0:
		from = bits.TrailingZeros64(low & onLow)
	case high&onHigh != 0:
		from = 64 + bits.TrailingZeros64(high&onHigh)
	}
	switch {
	case high&^onHigh != 0:
		before = 63 + bits.Len64(high&^onHigh)
	case low&^onLow != 0:
		before = bits.Len64(low&^onLow) - 1
	}
	if from-x <= x-before {
		return from, from != none
	}
	return before, true
}
