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

// aside holds games whose match is cut off in a round, as they are before the round. Playouts, in which
// no match is cut off, use the states as scratch memory.
type aside struct {
	games  uint8
	states [Games]towerdefence.State
}

// The stages of a round at which step512 begins. It returns stageCommands before the orders are carried
// out, with the games in which Go has to draw or carry out orders, if there are any; Go calls it again
// from there. At the end of a round it returns the games that are over.
const (
	stageBegin = iota
	stageCommands
)

// playRows plays a round by vector instructions.
func (g *Game) playRows(b *Block, o *Orders) (over, cut uint8) {
	b.makeRoom()
	t, log := g.tables, &b.log[b.tick%logSize]
	next, games, _ := step512(b, t, o, log, nil, stageBegin, 1)
	if next == stageCommands {
		g.execute(b, o, games)
		_, games, _ = step512(b, t, &b.orders, log, nil, stageCommands, 1)
	}
	b.tick++
	over, cut = uint8(games), g.aside.games
	if cut != 0 {
		g.restore(b)
	}
	return over &^ cut, cut
}

// execute carries out the orders that the vector instructions cannot, and leaves in b.orders what
// remains to be done: see Game.execute of the scalar game.
func (g *Game) execute(b *Block, o *Orders, games uint64) {
	b.orders = *o
	for ; games != 0; games &= games - 1 {
		i := first(games)
		if (o[0][i]|o[1][i])&towerdefence.Aborted != 0 {
			b.save(&g.aside.states[i], i)
			g.aside.games |= 1 << i
		}
		for p := range b.half {
			if g.command(&b.half[p], i, b.orders[p][i]) {
				b.orders[p][i] = done
			}
		}
	}
}

// command carries out a player's order in game i if the vector instructions cannot, and reports
// whether it has.
func (g *Game) command(h *half, i int, o sim.Order) bool {
	switch op, text := opOf(o), uint64(o>>textShift&3); {
	case op == towerdefence.OpDeconstruct:
		s := &g.half
		h.save(s, i)
		s.Failures = 1
		if g.scalar.Deconstruct(s, 1<<(o&(towerdefence.Cells-1))) {
			s.Failures = 0
		}
		h.load(i, s)
	case op == towerdefence.OpNothing && text != 0:
		h.failures[i] = min(255, h.failures[i]+text)
	default: // failures from reading the text matter only without an op
		return false
	}
	return true
}

func opOf(o sim.Order) towerdefence.Op { return towerdefence.Op(o >> opShift & 7) }

const done = sim.Order(opDone) << opShift

// restore puts the games aside back in their places.
func (g *Game) restore(b *Block) {
	for games := uint64(g.aside.games); games != 0; games &= games - 1 {
		b.load(first(games), &g.aside.states[first(games)])
	}
	g.aside.games = 0
}
