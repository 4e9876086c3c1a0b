package codecraft

import "moonfarm/sim"

// Every player sees the world turned so that its own start is at the lower left
// (RULES.md, 2.3). Turn and TurnBack translate the lowest corner of a square of
// the given size from the frame of the recordings to that of player p, and back.

// Turn translates into the frame of player p.
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

// TurnBack translates from the frame of player p.
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
