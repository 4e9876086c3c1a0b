package codecraft

import "moonfarm/sim"

// Every player sees the world rotated so that its own start is at the lower left
// (RULES.md, 2.3). Turn and TurnBack convert the lowest corner of a square of
// the given size from the frame of the recordings to the frame of player p, and back.

// Turn converts to the frame of player p.
func Turn(p sim.Player, x, y, size int) (int, int) {
	last := Side - size
	switch p {
	case 1:
		return last - x, last - y
	case 2:
		return y, last - x
	case 3:
		return last - y, x
	}
	return x, y
}

// TurnBack converts from the frame of player p.
func TurnBack(p sim.Player, x, y, size int) (int, int) {
	last := Side - size
	switch p {
	case 1:
		return last - x, last - y
	case 2:
		return last - y, x
	case 3:
		return y, last - x
	}
	return x, y
}

// OnMap reports whether all cells of a square of the given size with its lowest corner on
// (x, y) lie on the map.
func OnMap(x, y, size int) bool {
	return x >= 0 && y >= 0 && x+size <= Side && y+size <= Side
}

// Gap returns the distance between two squares, given by their lowest corners and
// sizes (RULES.md, 2.2): 1 if they are adjacent.
func Gap(ax, ay, asize, bx, by, bsize int) int {
	return max(bx-(ax+asize-1), ax-(bx+bsize-1), 0) + max(by-(ay+asize-1), ay-(by+bsize-1), 0)
}
