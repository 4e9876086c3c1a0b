package batch

import (
	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
)

// The parts of an order that need Go: see towerdefence.Failed and Aborted.
const (
	orderUsed = 1<<12 - 1
	orderRare = 0xf00 // set in all orders but cheap placements
	orderText = 0x600 // failures from reading the text
	opShift   = 6
)

// aside holds games that the scalar game plays for a round.
type aside struct {
	games  uint8
	states [Games]towerdefence.State
	status [Games]sim.Status
}

// playRows plays a round by vector instructions, which stop for what Go has to do.
func (g *Game) playRows(b *Block, o *Orders) (over, cut uint8) {
	b.makeRoom()
	t, log := g.tables, &b.log[b.tick%logSize]
	next, games := step512(b, t, o, log, stageBegin)
	if next == stageCommands {
		g.execute(b, o, games)
		next, games = step512(b, t, &b.orders, log, next)
	}
	if next == stageMissiles {
		for ; games != 0; games &= games - 1 {
			g.strike(b, first(games))
		}
		_, games = step512(b, t, o, log, stageMissiles)
	}
	b.tick++
	for review := games >> Games; review != 0; review &= review - 1 {
		g.review(b, first(review))
	}
	over = uint8(games)
	if g.alone.games != 0 {
		return g.rejoin(b, over)
	}
	return over, 0
}

// The stages of step512: it stops before stageCommands for games with orders other than cheap
// placements, and before stageMissiles for games in which a tesla tower shoots. After the last
// stage it returns the games whose match is over and, from bit 8 on, those whose towers have to be
// reviewed.
const (
	stageBegin = iota
	stageCommands
	stageMissiles
)

// execute carries out the orders that are not cheap placements, and leaves in b.orders what
// remains to be done: see Game.execute of the scalar game.
func (g *Game) execute(b *Block, o *Orders, games uint64) {
	b.orders = *o
	for ; games != 0; games &= games - 1 {
		i := first(games)
		if (o[0][i]|o[1][i])&towerdefence.Aborted != 0 || deconstructs(o[0][i]) || deconstructs(o[1][i]) {
			g.separate(b, o, i)
			continue
		}
		for p := range b.half {
			if o[p][i]&orderRare != 0 {
				b.orders[p][i] = g.command(b, p, i, o[p][i]&orderUsed)
			}
		}
	}
}

func opOf(o sim.Order) towerdefence.Op { return towerdefence.Op(o >> opShift & 7) }

func deconstructs(o sim.Order) bool { return opOf(o) == towerdefence.OpDeconstruct }

const done = sim.Order(opDone) << opShift

// command carries out an order of player p in game i as far as the vector instructions cannot,
// and returns the order that they still have to carry out.
func (g *Game) command(b *Block, p, i int, o sim.Order) sim.Order {
	h := &b.half[p]
	worked := false
	switch opOf(o) {
	case towerdefence.OpNothing:
		h.failures[i] = min(255, h.failures[i]+uint64(o>>9&3))
		return done
	case towerdefence.OpTesla:
		if g.addTower(b, p, i, int(o)&(towerdefence.Cells-1)) {
			return o &^ orderText
		}
	case towerdefence.OpCurtain:
		worked = g.raiseCurtain(b, p, i)
	default:
		return o &^ orderText // a cheap placement
	case towerdefence.OpRefused:
	}
	h.failures[i] = 1
	if worked {
		h.failures[i] = 0
	}
	return done
}

// raiseCurtain protects the half: see Game.raiseCurtain of the scalar game.
func (g *Game) raiseCurtain(b *Block, p, i int) bool {
	h, r := &b.half[p], b.round[i]
	price, entry := g.scalar.Purchase(towerdefence.OpCurtain)
	if h.available[i] == 0 || int64(h.energy[i]) < int64(price) || int64(h.curtain[i]) >= int64(r) {
		return false
	}
	h.available[i] = 0
	h.energy[i] -= uint64(price)
	h.ledger[i] += uint64(entry)
	h.curtain[i] = r + g.tables.curtainRounds - 1
	return true
}

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
