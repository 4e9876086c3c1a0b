package batch

import "moonfarm/sim/prng"

// playoutRows plays rounds by vector instructions, as many as possible in one call.
func (g *Game) playoutRows(b *Block, r *[Games]prng.Rand, rounds int) (played int, over uint8) {
	stage := uint64(stageBegin)
	for played < rounds && over == 0 {
		b.makeRoom()
		at := b.tick % logSize
		n := min(uint64(rounds-played), logSize-at, logSize-(b.tick-b.oldest))
		next, games, left := step512(b, g.tables, &b.orders, &b.log[at], r, stage, n)
		b.tick += n - left
		played += int(n - left)
		if stage = next; next == stageCommands {
			g.redraw(b, r, games)
			continue
		}
		stage, over = stageBegin, uint8(games)
	}
	return played, over
}

// redraw draws again, by the scalar game, the orders of games in which none of the six random cells
// is free that the vector instructions try. It moves all generators on.
func (g *Game) redraw(b *Block, r *[Games]prng.Rand, games uint64) {
	for i := range r {
		if games>>i&1 == 0 {
			r[i].Uint64()
			r[i].Uint64()
			continue
		}
		s := &g.aside.states[i]
		b.saveBoards(s, i)
		b.orders[0][i] = g.scalar.Playout(s, 0, &r[i])
		b.orders[1][i] = g.scalar.Playout(s, 1, &r[i])
	}
}
