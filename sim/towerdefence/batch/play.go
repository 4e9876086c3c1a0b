package batch

import (
	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
)

// The parts of an order that Go reads.
const (
	opShift   = 6
	textShift = 9 // failures from reading the text, in two bits
)

// aside holds games that the scalar game plays for a round.
type aside struct {
	games  uint8
	states [Games]towerdefence.State
	status [Games]sim.Status
}

// The stages of step512: before orders that only Go carries out, after them, and the end.
const (
	stageBegin = iota
	stageCommands
	stageEnd
)

// playRows plays a round by vector instructions.
func (g *Game) playRows(b *Block, o *Orders) (over, cut uint8) {
	b.makeRoom()
	t, log := g.tables, &b.log[b.tick%logSize]
	next, games := step512(b, t, o, log, stageBegin)
	if next == stageCommands {
		g.execute(b, o, games)
		_, games = step512(b, t, &b.orders, log, stageCommands)
	}
	b.tick++
	if over = uint8(games); g.alone.games != 0 {
		return g.rejoin(b, over)
	}
	return over, 0
}

// execute carries out the orders that the vector instructions cannot, and leaves in b.orders what
// remains to be done: see Game.execute of the scalar game.
func (g *Game) execute(b *Block, o *Orders, games uint64) {
	b.orders = *o
	for ; games != 0; games &= games - 1 {
		i := first(games)
		if (o[0][i]|o[1][i])&towerdefence.Aborted != 0 || opOf(o[0][i]) == towerdefence.OpDeconstruct || opOf(o[1][i]) == towerdefence.OpDeconstruct {
			g.separate(b, o, i)
			continue
		}
		for p := range b.half {
			order, failures := &b.orders[p][i], &b.half[p].failures[i]
			if failed := uint64(*order >> textShift & 3); failed != 0 && opOf(*order) == towerdefence.OpNothing {
				*failures = min(255, *failures+failed)
				*order = done
			} // any other op sets the count of failures
		}
	}
}

func opOf(o sim.Order) towerdefence.Op { return towerdefence.Op(o >> opShift & 7) }

const done = sim.Order(opDone) << opShift

// separate lets the scalar game play the round of game i.
func (g *Game) separate(b *Block, o *Orders, i int) {
	s := &g.alone.states[i]
	b.save(s, i)
	g.alone.status[i] = g.scalar.Play(s, o[0][i], o[1][i])
	g.alone.games |= 1 << i
	b.orders[0][i], b.orders[1][i] = done, done
}

// rejoin puts the games that the scalar game has played back in their places. It returns the
// games that are over, of which all others are given, and those cut off.
func (g *Game) rejoin(b *Block, others uint8) (over, cut uint8) {
	over = others &^ g.alone.games
	for games := uint64(g.alone.games); games != 0; games &= games - 1 {
		i := first(games)
		b.load(i, &g.alone.states[i])
		switch g.alone.status[i] {
		case sim.Over:
			over |= 1 << i
		case sim.Cut:
			cut |= 1 << i
		}
	}
	g.alone.games = 0
	return over, cut
}
