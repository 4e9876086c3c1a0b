// Package batch plays eight games of Tower Defence at once, by the same rules as the scalar game
// of package towerdefence and to the same bits of every state: tests compare the two after every
// round.
//
// # Layout
//
// A Block holds the games as a structure of arrays. Each word of towerdefence.Half is a row of
// eight 64-bit words, one for each game: a vector register of AVX-512. The game of place i is
// word i of every row, its lane. Numbers of fewer bits have a whole word, too, so that all rows
// have the same lanes. A round loads and stores each row once or twice; a block's rows are 4 KB
// and stay in the first-level cache.
//
//	row         game 0   game 1   …   game 7
//	occupied    board    board        board      of A, then the same rows of B
//	live        board    board        board
//	…
//	energy      number   number       number
//	round       number   number       number     rounds of different games may differ
//
// The vector instructions carry out whole rounds: orders by tables over the op, curtains that
// become available, shots, missiles, removal, construction and income, without a branch that
// depends on a single game. Events that are rare even in eight games have code of their own, which
// one branch for all games skips: new tesla towers, lightning, towers that are finished or
// destroyed, stacks of more than two missiles. Only deconstruction, failures from unreadable texts
// and aborted matches, which playouts lack, are left to Go, game by game.
//
// The rounds in which buildings were placed (Half.Born) are not needed to play. A block writes
// each round's placements to a log, eight bytes for each player, from which Save derives them.
//
// # Uses
//
// The rollouts of searches are played in blocks. Measured (Zen 5, in processor time): a round in a block takes 9 ns a game in place
// of 29, but Save and Load take 150 ns, which a learner's vector would pay each turn for its planes; of a row of a dataset, written
// or read by playing it again, the 20 ns are 1 to 3 %.
//
// # Without AVX-512
//
// Other processors, builds with the tag purego, and rules of another rhythm than release 3.0.2
// (towerdefence.Game.Regular) play the eight games one after the other with the scalar game.
package batch

import (
	"moonfarm/sim"
	"moonfarm/sim/prng"
	"moonfarm/sim/towerdefence"
)

// Games is the number of games of a block.
const Games = 8

// Orders are the orders of one round: of A and B in each game.
type Orders [2][Games]sim.Order

// Game plays blocks by the rules of one scalar game. Each goroutine should have its own.
type Game struct {
	scalar *towerdefence.Game
	tables *tables // apart, so that its rows are aligned
	vector bool    // rounds are played by vector instructions

	start towerdefence.State // of a match

	half  towerdefence.Half // of an order in Go
	aside aside             // of the current round
}

// New returns the game of blocks with the rules of g.
func New(g *towerdefence.Game) *Game {
	own := &Game{scalar: g, tables: newTables(g), vector: hasVectors && g.Regular()}
	g.Reset(&own.start, 0)
	return own
}

// Vectors reports whether the processor has the vector instructions.
func Vectors() bool { return hasVectors }

// Vector reports whether rounds are played by vector instructions. If not, a block is as fast as
// eight scalar games.
func (g *Game) Vector() bool { return g.vector }

// NewBlock returns a block of eight matches at their start.
func (g *Game) NewBlock() *Block {
	b := new(Block)
	for i := range Games {
		g.Reset(b, i)
	}
	return b
}

// Reset sets game i (0 … 7) to the start of a match.
func (g *Game) Reset(b *Block, i int) {
	g.Load(b, i, &g.start)
}

// Load sets game i (0 … 7) to the state s, in which a match goes on.
func (g *Game) Load(b *Block, i int, s *towerdefence.State) {
	if g.vector {
		b.load(i&7, s)
	} else {
		b.unpark(i&7, s)
	}
}

// LoadBoards does the same but for the ages of buildings (Born and BornLate), which the game then
// lacks: SaveBoards may copy it. That is faster.
func (g *Game) LoadBoards(b *Block, i int, s *towerdefence.State) {
	if g.vector {
		b.loadBoards(i&7, s)
	} else {
		b.unpark(i&7, s)
	}
}

// Park leaves the place of game i (0 … 7) without a game until the next Load, for fewer than eight
// games: it is never over. A match there would stop Playouts at its end, and its rare events would
// take time.
func (g *Game) Park(b *Block, i int) {
	if g.vector {
		b.park(i & 7)
	} else {
		b.parked |= 1 << (i & 7)
	}
}

// Save copies game i (0 … 7) to s.
func (g *Game) Save(s *towerdefence.State, b *Block, i int) {
	if g.vector {
		b.save(s, i&7)
	} else {
		*s = b.states[i&7]
	}
}

// SaveBoards does the same but for the ages of buildings (Born and BornLate), which nothing but
// displays and other rhythms need. That is faster.
func (g *Game) SaveBoards(s *towerdefence.State, b *Block, i int) {
	if g.vector {
		b.saveBoards(s, i&7)
	} else {
		*s = b.states[i&7]
	}
}

// Result returns the result for A of game i (0 … 7), whose match is over: see
// towerdefence.Game.Outcome.
func (g *Game) Result(b *Block, i int) float32 {
	if g.vector {
		switch dead := b.dead(i & 7); { // which decides most matches; the score takes longer
		case dead[1] && !dead[0]:
			return 1
		case dead[0] && !dead[1]:
			return -1
		}
	}
	s := &g.aside.states[i&7]
	g.SaveBoards(s, b, i)
	return g.scalar.Outcome(s, 0).Result
}

// Play plays one round of all games. It returns, as one bit for each game, those whose match is
// over after the round, and those whose match was cut off, which keep their state. Rounds after
// the end of a match have no meaning, as in the scalar game.
func (g *Game) Play(b *Block, o *Orders) (over, cut uint8) {
	if g.vector {
		return g.playRows(b, o)
	}
	for i := range b.states {
		if b.parked>>i&1 != 0 {
			continue
		}
		switch g.scalar.Play(&b.states[i], o[0][i], o[1][i]) {
		case sim.Over:
			over |= 1 << i
		case sim.Cut:
			cut |= 1 << i
		}
	}
	return over, cut
}

// Playouts plays rounds by orders that are drawn as towerdefence.Game.Playout draws them: in each
// game the order of A and then the order of B, from the generator of the game. It stops after a round in which a
// match ends, or after the given number, at least 1. It returns the number of rounds played, and
// the matches that are over, as Play does. The generators of places without a game may move on.
func (g *Game) Playouts(b *Block, r *[Games]prng.Rand, rounds int) (played int, over uint8) {
	if g.vector {
		return g.playoutRows(b, r, rounds)
	}
	for ; played < rounds && over == 0; played++ {
		for i := range b.states {
			s := &b.states[i]
			if b.parked>>i&1 == 0 && g.scalar.Play(s, g.scalar.Playout(s, 0, &r[i]), g.scalar.Playout(s, 1, &r[i])) != sim.Running {
				over |= 1 << i
			}
		}
	}
	return played, over
}
