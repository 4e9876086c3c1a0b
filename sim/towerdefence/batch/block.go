package batch

import (
	"math/bits"

	"moonfarm/sim/towerdefence"
)

// row holds one word of each game.
type row [Games]uint64

// half holds the words of towerdefence.Half, in rows. The assembly knows the order.
type half struct {
	occupied, live, extra0, extra1, type2, type1, type0, wait0, wait1 row

	own, far [towerdefence.MaxStack]row

	base, ledger, energy, curtain, ready, due row

	available row // all ones or 0
	failures  row
	teslas    row

	towers [towerdefence.MaxTeslas]tower // the oldest first
}

// tower holds the words of towerdefence.Tower, in rows.
type tower struct {
	at         row // the bit of the cell; 0 without a tower
	ready, due row
}

// Block is eight games: plain data. Make it with Game.NewBlock.
type Block struct {
	half  [2]half
	round row

	orders Orders // of a round in which Go has carried out some

	// The log has an entry for each player of each game in the last logSize rounds: the cell of the
	// placement; 64 for a placement of nothing, which the scalar game stores in entry 64 of
	// Half.Born; or notPlaced. born and late have the placements of game i before tick since[i].
	log    [logSize][2][Games]uint8
	tick   uint64 // rounds played by the block
	oldest uint64 // at most the smallest of since
	since  row
	late   [2]row
	born   [2][Games][256]uint8 // longer than Half.Born, so that there is an entry notPlaced

	states [Games]towerdefence.State // without vectors
	parked uint8                     // without vectors: places without a game
}

const (
	logSize   = 256
	notPlaced = 255
	nothing   = 64 // entry of Born for placements of nothing

	untold = 1<<64 - 1 // Block.since of games without born and late
)

// load sets game i to s.
func (b *Block) load(i int, s *towerdefence.State) {
	b.loadBoards(i, s)
	i &= Games - 1
	b.since[i] = b.tick
	for p := range b.half {
		from := &s.Half[p]
		b.late[p][i] = from.BornLate
		copy(b.born[p][i][:], from.Born[:])
	}
}

// loadBoards sets game i to s, except for Born and BornLate.
func (b *Block) loadBoards(i int, s *towerdefence.State) {
	i &= Games - 1
	b.round[i] = uint64(int64(s.Round))
	b.since[i] = untold
	for p := range b.half {
		b.half[p].load(i, &s.Half[p])
	}
}

// park sets game i to a match that never ends: it is far from its last round and nobody hits its
// bases, as nobody has energy.
func (b *Block) park(i int) {
	const far = 1 << 40 // no game has as many rounds, as much energy or as much health
	s := towerdefence.State{}
	for p := range s.Half {
		s.Half[p].Base = far << 20
	}
	b.loadBoards(i, &s)
	i &= Games - 1
	minus := int64(-far)
	b.round[i] = uint64(minus)
	for p := range b.half {
		b.half[p].energy[i] = uint64(minus)
	}
}

// dead returns whose base in game i has no health.
func (b *Block) dead(i int) (dead [2]bool) {
	for p := range b.half {
		dead[p] = int64(b.half[p].base[i&(Games-1)]) < 1<<32
	}
	return dead
}

// unpark sets game i to s, without vectors.
func (b *Block) unpark(i int, s *towerdefence.State) {
	b.states[i] = *s
	b.parked &^= 1 << i
}

// save copies game i to s.
func (b *Block) save(s *towerdefence.State, i int) {
	b.saveBoards(s, i)
	i &= Games - 1
	b.settleBorn(i)
	for p := range b.half {
		s.Half[p].BornLate = b.late[p][i]
		copy(s.Half[p].Born[:], b.born[p][i][:])
	}
}

// saveBoards copies game i to s, except for Born and BornLate.
func (b *Block) saveBoards(s *towerdefence.State, i int) {
	s.Round, s.Zero = int32(b.round[i&(Games-1)]), 0
	for p := range b.half {
		b.half[p].save(&s.Half[p], i)
	}
}

// load sets game i to from, except for Born and BornLate.
func (h *half) load(i int, from *towerdefence.Half) {
	i &= Games - 1
	h.occupied[i], h.live[i] = from.Occupied, from.Live
	h.extra0[i], h.extra1[i] = from.Extra0, from.Extra1
	h.type2[i], h.type1[i], h.type0[i] = from.Type2, from.Type1, from.Type0
	h.wait0[i], h.wait1[i] = from.Wait0, from.Wait1
	for n := range h.own {
		h.own[n][i], h.far[n][i] = from.Own[n], from.Far[n]
	}
	h.base[i], h.ledger[i] = uint64(from.Base), uint64(from.Ledger)
	h.energy[i], h.curtain[i] = uint64(int64(from.Energy)), uint64(int64(from.Curtain))
	h.ready[i], h.due[i] = uint64(int64(from.Ready)), uint64(int64(from.Due))
	h.available[i] = 0
	if from.Available {
		h.available[i] = ^uint64(0)
	}
	h.failures[i], h.teslas[i] = uint64(from.Failures), uint64(from.Teslas)
	for n := range h.towers {
		h.towers[n].load(i, &from.Tesla[n], n < int(from.Teslas))
	}
}

// save copies game i to a half of the scalar game, except for Born and BornLate.
func (h *half) save(to *towerdefence.Half, i int) {
	i &= Games - 1
	to.Occupied, to.Live = h.occupied[i], h.live[i]
	to.Extra0, to.Extra1 = h.extra0[i], h.extra1[i]
	to.Type2, to.Type1, to.Type0 = h.type2[i], h.type1[i], h.type0[i]
	to.Wait0, to.Wait1 = h.wait0[i], h.wait1[i]
	for n := range h.own {
		to.Own[n], to.Far[n] = h.own[n][i], h.far[n][i]
	}
	to.Base, to.Ledger = int64(h.base[i]), int64(h.ledger[i])
	to.Energy, to.Curtain = int32(h.energy[i]), int16(h.curtain[i])
	to.Ready, to.Due = int16(h.ready[i]), int16(h.due[i])
	to.Available = h.available[i] != 0
	to.Failures, to.Teslas = uint8(h.failures[i]), uint16(h.teslas[i])
	for n := range h.towers {
		h.towers[n].save(&to.Tesla[n], i)
	}
}

// load sets the tower of game i to from, if there is one.
func (t *tower) load(i int, from *towerdefence.Tower, listed bool) {
	t.at[i], t.ready[i], t.due[i] = 0, uint64(from.Ready), uint64(from.Due)
	if listed {
		t.at[i] = 1 << (from.Cell & (towerdefence.Cells - 1))
	}
}

// save copies the tower of game i to a tower of the scalar game.
func (t *tower) save(to *towerdefence.Tower, i int) {
	to.Ready, to.Due, to.Cell = int16(t.ready[i]), int16(t.due[i]), 0
	if at := t.at[i]; at != 0 {
		to.Cell = uint16(bits.TrailingZeros64(at))
	}
}

// settleBorn moves the placements of game i from the log to born and late, if it has them.
func (b *Block) settleBorn(i int) {
	from := b.since[i]
	if from == untold {
		return
	}
	b.since[i] = b.tick
	first := b.round[i] - (b.tick - from) // the round of the first entry
	for p := range b.born {
		born, r := &b.born[p][i], first
		for t := from; t != b.tick; t++ {
			born[b.log[t%logSize][p][i]] = uint8(r)
			r++
		}
		for t := from + max(0, 256-min(256, first)); t < b.tick; t++ { // from round 256 on
			b.late[p][i] |= 1 << b.log[t%logSize][p][i] // 0 for nothing and notPlaced
		}
	}
}

// makeRoom settles the placements of all games if the log is full.
func (b *Block) makeRoom() {
	if b.tick-b.oldest < logSize {
		return
	}
	b.oldest = b.tick
	for i, since := range b.since {
		if since != untold && b.tick-since >= logSize/2 {
			b.settleBorn(i)
		}
		b.oldest = min(b.oldest, b.since[i])
	}
}
