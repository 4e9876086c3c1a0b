// Package towerdefence turns states of Tower Defence into observations and
// choices into orders: 9 planes of 8 × 16 cells, 19 scalars, 322 actions. Both
// seats see their own half on the left.
package towerdefence

import (
	"math/bits"

	"moonfarm/sim"
	td "moonfarm/sim/towerdefence"
)

// The words of one half in the packed form, each a board in the coordinates of
// the half's owner: bit y*8+x, x = 0 at its base, x = 7 at its front.
const (
	wordDefense   = iota                      // a building of this kind, finished or not
	wordAttack                                //
	wordEnergy                                //
	wordTesla                                 //
	wordBuilding0                             // rounds until it is finished, two bits, 3 for 3 and more
	wordBuilding1                             //
	wordExtra0                                // missiles it withstands beyond the first, two bits
	wordExtra1                                //
	wordIdle0                                 // rounds an attack building idles before its next shot, two bits, 3 for 3 and more
	wordIdle1                                 //
	wordOwner                                 // 4 words: at least 1, 2, 3, 4 missiles of the half's owner
	wordVisitor   = wordOwner + td.MaxStack   // 4 words: the same for the other player's missiles
	wordTowers    = wordVisitor + td.MaxStack // the tesla towers in bytes, see towerWord
	wordsPerHalf  = wordTowers + 1
)

// halfWords writes the words of the half of player p.
func (e *Encoder) halfWords(dst *half, s *td.State, p sim.Player) {
	h, other := &s.Half[p], &s.Half[p^1]
	dst[wordAttack], dst[wordTesla] = h.Standing(td.Attack), h.Standing(td.Tesla)
	dst[wordEnergy], dst[wordDefense] = h.Standing(td.Energy), h.Standing(td.Defense)
	dst[wordOwner], dst[wordOwner+1], dst[wordOwner+2], dst[wordOwner+3] = h.Own[0], h.Own[1], h.Own[2], h.Own[3]
	dst[wordVisitor], dst[wordVisitor+1], dst[wordVisitor+2], dst[wordVisitor+3] = other.Far[0], other.Far[1], other.Far[2], other.Far[3]
	dst[wordTowers] = noTowers
	if e.regular {
		waiting := h.Wait0 | h.Wait1
		dst[wordBuilding0], dst[wordBuilding1] = h.Wait1, h.Wait0
		dst[wordExtra0], dst[wordExtra1] = h.Extra0|waiting, h.Extra1|waiting
		dst[wordIdle0], dst[wordIdle1] = h.Idle(s.Round)
	} else {
		e.countedWords(dst, s, p)
	}
	if h.Teslas > 0 {
		e.towerWord(dst, s, p)
	}
}

// countedWords fills in the words of construction, health and idling building
// by building, for rules of any rhythm.
func (e *Encoder) countedWords(dst *half, s *td.State, p sim.Player) {
	var building, extra, idle [2]uint64
	put := func(planes *[2]uint64, bit uint64, n int) {
		n = min(max(n, 0), 3)
		planes[0] |= bit & -uint64(n&1)
		planes[1] |= bit & -uint64(n>>1)
	}
	for cells := s.Half[p].Occupied &^ dst[wordTesla]; cells != 0; cells &= cells - 1 {
		cell, bit := bits.TrailingZeros64(cells), cells&-cells
		kind, _ := s.Half[p].Kind(cell)
		put(&building, bit, e.game.RoundsUntilDone(s, p, cell))
		put(&extra, bit, e.rules.Hits(e.game.HealthOf(s, p, cell))-1)
		if kind == td.Attack {
			put(&idle, bit, e.game.Cooldown(s, p, cell))
		}
	}
	for cells := dst[wordTesla]; cells != 0; cells &= cells - 1 {
		put(&extra, cells&-cells, e.rules.Hits(e.game.HealthOf(s, p, bits.TrailingZeros64(cells)))-1)
	}
	dst[wordBuilding0], dst[wordBuilding1] = building[0], building[1]
	dst[wordExtra0], dst[wordExtra1] = extra[0], extra[1]
	dst[wordIdle0], dst[wordIdle1] = idle[0], idle[1]
}

// noTowers is the word of a half without tesla towers.
const noTowers = 0xffff_ffff_ffff_ffff

// towerWord fills in the word of the tesla towers: the tower that shoots first
// in the low four bytes, the other in the high four. The bytes of a tower are
// its cell, the rounds until it is finished, the rounds it idles before its
// next shot (both at most 254), and 0. Without a tower all of them are 255.
func (e *Encoder) towerWord(dst *half, s *td.State, p sim.Player) {
	h := &s.Half[p]
	w := uint64(noTowers)
	for i := int(h.Teslas) - 1; i >= 0; i-- {
		cell := h.Tesla[i].Cell
		done, idle := h.Tesla[i].Wait(s.Round)
		done, idle = min(254, done), min(254, idle)
		w = w<<32 | uint64(cell) | uint64(done)<<8 | uint64(idle)<<16
		bit := uint64(1) << cell
		dst[wordBuilding0] &^= bit // the tower's word holds the exact number
		dst[wordBuilding1] &^= bit
	}
	dst[wordTowers] = w
}
