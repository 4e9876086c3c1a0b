package batch

import (
	"moonfarm/sim/prng"
)

// drawRows draws the orders of both players by vector instructions. They try six random cells;
// where none is free the scalar game draws again from the same random word.
func (g *Game) drawRows(o *Orders, b *Block, r *[Games]prng.Rand) {
	before := *r
	games := draw512(b, g.tables, r, o)
	for games = (games | games>>Games) & 0xff; games != 0; games &= games - 1 {
		i := first(games)
		s := &g.aside.states[i]
		b.saveBoards(s, i)
		o[0][i] = g.scalar.Playout(s, 0, &before[i])
		o[1][i] = g.scalar.Playout(s, 1, &before[i])
	}
}
