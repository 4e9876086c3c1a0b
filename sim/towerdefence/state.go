package towerdefence

import (
	"unsafe"

	"moonfarm/sim"
)

// Half is one player's side: its board, its purse, and the missiles it shot.
//
// A board is a uint64 in the coordinates of the half's owner: bit y*8 + x, x =
// 0 at the own base, x = 7 at the front. So "towards the enemy" is a shift left
// on the own half and a shift right on the enemy's half, for both players, and
// no rule is written twice. A missile that leaves the own half at (7, y)
// arrives at the enemy's (7, y), which is the same bit.
//
// Nothing counts down. Where the original keeps counters, a Half keeps the
// round in which something happens: buildings need no visit while they wait.
type Half struct {
	Occupied uint64 // a building stands here, finished or not
	Live     uint64 // the building is finished and has health: it acts and can be hit

	// Extra0, Extra1 hold, as a two-bit number per cell, the hits beyond the
	// first that a finished building still withstands. They are 0 where no
	// building is live.
	Extra0, Extra1 uint64

	// Type2, Type1, Type0 hold the kind of building as a three-bit number:
	//
	//	0 p1 p0   attack that shoots in the rounds r ≡ p (mod 4)
	//	1 0  0    defense
	//	1 0  1    energy
	//	1 1  0    tesla
	//
	// All three are 0 where there is no building.
	Type2, Type1, Type0 uint64

	// Wait0, Wait1 hold the defenses placed in the last round and in the one
	// before: a shift register into Live.
	Wait0, Wait1 uint64

	// Own[i] and Far[i] hold the cells with at least i+1 of this player's
	// missiles, on the own half and on the enemy's half (in the enemy's
	// coordinates). A cell has at most four, see RULES.md, 7.1.
	Own, Far [MaxStack]uint64

	// Ledger holds in its upper 32 bits the points that this player spent and
	// earned by building, in the lower 32 bits what it exposed to the enemy:
	// see Game.Score.
	Ledger int64

	// Base holds the health of the base in its upper 32 bits, negative after
	// more damage than it had, and in the lower 32 bits the number of hits. A
	// hit is one addition; see Health and Hits.
	Base int64

	BornLate uint64 // cells whose building was placed in round 256 or later

	Energy  int32
	Curtain int16 // last round the curtain protects
	Ready   int16 // earliest round in which a tesla may shoot; never without one
	Due     int16 // earliest round at whose end a tesla becomes Live; never without one

	Available bool   // the curtain may be raised
	Failures  uint8  // consecutive commands that could not be read or were refused
	Teslas    uint16 // entries of Tesla in use

	Tesla [MaxTeslas]Tower // the tesla towers, oldest first

	// Born holds the round of placement modulo 256 by cell. Entry 64 takes the
	// placements of nothing, the rest fills the last word.
	Born [Cells + 6]uint8
}

// Tower is a tesla tower.
type Tower struct {
	Ready int16 // round in which its cooldown has run out
	Due   int16 // round at whose end it becomes live; never again afterwards
	Cell  uint16
}

// Wait returns the rounds from the given one on until the tower is finished,
// and the rounds it then idles before its next shot.
func (t *Tower) Wait(round int32) (building, idle int) {
	if t.Due != never {
		return max(0, int(t.Due)+1-int(round)), 0
	}
	return 0, max(0, int(t.Ready)-int(round))
}

// State is a whole game: plain data, so that a clone is an assignment. Make it
// with Game.Reset.
type State struct {
	Half  [2]Half
	Round int32 // the round to be played next, from 0
	Zero  int32 // always 0: the bytes of a state have no gap
}

// MaxStack is the largest number of missiles of one owner on a cell: they come
// from the columns of one parity of one row, one from each (RULES.md, 7.1).
const MaxStack = 4

// never is a round after every match.
const never = 1<<15 - 1

// stateSize is the size of a State in bytes: a clone copies that much.
const stateSize = 520

var _ [stateSize]struct{} = [unsafe.Sizeof(State{})]struct{}{}

// Columns of a half.
const (
	column0   = 0x0101010101010101
	column1   = column0 << 1
	column6   = column0 << 6
	column7   = column0 << 7
	columns01 = column0 | column1
)

// Health returns the health of the base, 0 or more.
func (h *Half) Health() int { return int(max(0, h.Base>>32)) }

// dead reports whether the base has no health.
func (h *Half) dead() bool { return h.Base < 1<<32 }

// Hits returns how often the base was hit, including hits at health 0.
func (h *Half) Hits() int { return int(uint32(h.Base)) }

// hitBase takes n blows of damage each from the base.
func (h *Half) hitBase(n, damage int) { h.Base += int64(n) * Blow(damage) }

// Blow returns the amount that one hit of the base adds to Base.
func Blow(damage int) int64 { return 1 - int64(damage)<<32 }

// Kind returns the kind of the building on the own cell y*8+x, and whether
// there is one.
func (h *Half) Kind(cell int) (Kind, bool) {
	bit := uint64(1) << (cell & 63)
	if h.Occupied&bit == 0 {
		return 0, false
	}
	switch {
	case h.Type2&bit == 0:
		return Attack, true
	case h.Type1&bit != 0:
		return Tesla, true
	case h.Type0&bit != 0:
		return Energy, true
	}
	return Defense, true
}

// Standing returns the cells with buildings of kind k, finished or not.
func (h *Half) Standing(k Kind) uint64 {
	switch k {
	case Attack:
		return h.Occupied &^ h.Type2
	case Tesla:
		return h.Type2 & h.Type1
	case Energy:
		return h.Type2 & h.Type0
	case Defense:
		return h.Type2 &^ (h.Type1 | h.Type0)
	}
	return 0
}

// PlacedIn returns the round in which the building on the cell was placed.
func (h *Half) PlacedIn(cell int) int {
	return int(h.Born[cell&63]) | int(h.BornLate>>(cell&63)&1)<<8
}

// MissilesOwn returns the number of the player's missiles on the own cell.
func (h *Half) MissilesOwn(cell int) int { return stack(&h.Own, cell) }

// MissilesFar returns the number of the player's missiles on the enemy's cell,
// given in the enemy's coordinates.
func (h *Half) MissilesFar(cell int) int { return stack(&h.Far, cell) }

func stack(m *[MaxStack]uint64, cell int) int {
	n := uint64(0)
	for _, plane := range m {
		n += plane >> (cell & 63) & 1
	}
	return int(n)
}

// BuildTime returns the original's constructionTimeLeft of the building on the
// cell: it falls by one each round and is below 0 once the building is
// finished.
func (g *Game) BuildTime(s *State, p sim.Player, cell int) int {
	k, _ := s.Half[p].Kind(cell)
	return s.Half[p].PlacedIn(cell) + g.rules.Buildings[k].ConstructionTime - int(s.Round)
}

// RoundsUntilDone returns the number of rounds before the building on the cell
// acts and can be hit: 0 once it is finished.
func (g *Game) RoundsUntilDone(s *State, p sim.Player, cell int) int {
	return max(0, g.BuildTime(s, p, cell))
}

// Cooldown returns the original's weaponCooldownTimeLeft of the building on the
// cell: the rounds it idles before its next shot.
func (g *Game) Cooldown(s *State, p sim.Player, cell int) int {
	h := &s.Half[p]
	k, ok := h.Kind(cell)
	if !ok || g.BuildTime(s, p, cell) >= 0 {
		return 0
	}
	switch k {
	case Attack:
		b := g.rules.Buildings[Attack]
		age := int(s.Round) - h.PlacedIn(cell) - b.ConstructionTime // rounds since it was finished
		period := b.Cooldown + 1
		return (period - age%period) % period
	case Tesla:
		for _, t := range h.Tesla[:h.Teslas] {
			if int(t.Cell) == cell {
				return max(0, int(t.Ready)-int(s.Round))
			}
		}
	}
	return 0
}

// HealthOf returns the health of the building on the cell, or 0 without one.
func (g *Game) HealthOf(s *State, p sim.Player, cell int) int {
	h := &s.Half[p]
	k, ok := h.Kind(cell)
	if !ok {
		return 0
	}
	return g.health(h, k, 1<<(cell&63))
}

// health returns the health of the building of kind k at the bit.
func (g *Game) health(h *Half, k Kind, bit uint64) int {
	taken := 0
	if h.Live&bit != 0 {
		taken = g.extraHits[k]
	}
	if h.Extra0&bit != 0 {
		taken--
	}
	if h.Extra1&bit != 0 {
		taken -= 2
	}
	return g.rules.Buildings[k].Health - taken*g.damage
}
