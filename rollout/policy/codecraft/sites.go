package codecraft

import (
	"math/bits"

	"moonfarm/rollout/policy/codecraft/internal/toolbox"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/codecraft"
)

// middle returns the point half way between the middle of the own base and the mean position
// of its builders.
func (c *seat) middle() (x, y int) {
	x, y = c.Home()
	n := max(c.Builders.N, 1)
	sumX, sumY := n*x, n*y
	for _, i := range c.Builders.All() {
		sumX += int(c.State.Units[i].X)
		sumY += int(c.State.Units[i].Y)
	}
	return sumX / (2 * n), sumY / (2 * n)
}

// stand returns the free cell beside a square that is nearest to unit i and not the
// destination of another builder, or the unit's own cell if that lies beside the square. Only
// cells in seen count; nil stands for the whole map, for squares that own entities cover.
func (c *seat) stand(i, x, y, size int, seen *bitboard.Square) (sx, sy int, ok bool) {
	ux, uy, _ := c.Corner(i)
	if codecraft.Gap(ux, uy, 1, x, y, size) == 1 {
		return ux, uy, true
	}
	least := 0
	for side := range 4 {
		for k := range size {
			fx, fy := beside(x, y, size, side, k)
			if !codecraft.OnMap(fx, fy, 1) || c.State.Occupied.Has(fx, fy) || c.taken.Has(fx, fy) || seen != nil && !seen.Has(fx, fy) {
				continue
			}
			if d := codecraft.Gap(ux, uy, 1, fx, fy, 1); !ok || d < least {
				sx, sy, least, ok = fx, fy, d, true
			}
		}
	}
	return sx, sy, ok
}

// beside returns the k-th cell along one side of a square. The sides are right, above, left
// and below, as in toolbox.Beside; on the first two it counts from the upper right corner.
func beside(x, y, size, side, k int) (int, int) {
	if side < 2 {
		k = size - 1 - k
	}
	return toolbox.Beside(x, y, size, side, k)
}

// exit returns a free cell beside base i for a new unit: the first one in the order of
// beside, in the own frame, so that the order is the same for all players.
func (c *seat) exit(i int) (x, y int, ok bool) {
	bx, by, size := c.Corner(i)
	bx, by = codecraft.Turn(c.Player, bx, by, size)
	for side := range 4 {
		for k := range size {
			x, y = beside(bx, by, size, side, k)
			if !codecraft.OnMap(x, y, 1) {
				continue
			}
			if x, y = codecraft.TurnBack(c.Player, x, y, 1); !c.State.Occupied.Has(x, y) {
				return x, y, true
			}
		}
	}
	return 0, 0, false
}

// site finds the nearest site to (ax, ay) for a building of type t: free, in sight and with a
// lane of one cell to other buildings.
func (c *seat) site(t codecraft.Type, ax, ay int) (x, y int, ok bool) {
	size := int(c.Rules.Types[t].Size)
	if size > codecraft.Side {
		return 0, 0, false
	}
	c.Game.Sight(&c.sight, c.State, c.Player)
	c.open = c.sight
	c.open.AndNot(&c.State.Occupied)
	for _, i := range c.Fixed.All() {
		bx, by, s := c.Corner(int(i))
		toolbox.ClearAround(&c.open, bx, by, s, 1)
	}
	for range size - 1 {
		c.open.Corners(&c.open)
	}
	return nearest(&c.open, ax-size/2, ay-size/2)
}

// nearest returns the cell of a board nearest to (ax, ay). It searches the rows from there
// downwards and upwards.
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

// nearestBit returns the set bit of a row that is nearest to x, which may lie outside.
func nearestBit(low, high uint64, x int) (int, bool) {
	x = min(max(x, 0), codecraft.Side-1)
	// The bits from x on; shifts by 64 and more give 0.
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
