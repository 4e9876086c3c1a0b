package terminal

import (
	"unsafe"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
)

// Sizes of the arena.
const (
	Side      = bitboard.DiamondSide
	HalfCells = bitboard.DiamondCells / 2 // cells on which a player may build
)

// State is the game between two turns: after the restore, before the orders.
// There are no mobile units then; those of an action phase live in the Game.
//
// Everything is in absolute coordinates: the rules are not quite the same for
// both sides (RULES.md, 2.6), so nothing would be gained by turning the board.
type State struct {
	Health [2]float32 // of the players
	Cores  [2]float32
	Bits   [2]float32
	Time   [2]uint32 // milliseconds thought so far
	NextID uint32    // the id that the next unit gets; the first is 1
	Turn   uint32    // turns played

	// Boards of the structures. Own is by player, the others hold both
	// players' structures; what is on Own but on neither Supports nor Turrets
	// is a wall.
	Own      [2]bitboard.Diamond
	Supports bitboard.Diamond
	Turrets  bitboard.Diamond
	Upgraded bitboard.Diamond
	Marked   bitboard.Diamond // for removal

	// Cells are the structures by cell (bitboard.DiamondCell); zero where there
	// is none.
	Cells [bitboard.DiamondSpan]Cell

	// Ages are the structures of a player and kind, oldest id first.
	Ages [2][Structures]Ages
}

// stateSize is what a clone copies.
const stateSize = 5792

var _ [stateSize]struct{} = [unsafe.Sizeof(State{})]struct{}{}

// Cell is a structure: its health and, packed, all else:
//
//	bits 0–1 kind, bit 2 upgraded, bit 3 player, bits 4–7 turns until it is
//	removed (0: not marked), bits 8–31 id
type Cell struct {
	Health float32
	Mark   uint32
}

const (
	markKind     = 3
	markUpgraded = 1 << 2
	markPlayer   = 1 << 3
	markTurns    = 15 << 4
	markTurn     = 1 << 4
	markIDShift  = 8
)

// MaxID is the greatest id that a Cell can hold. RULES.md, Bounds, shows why
// no game gets there.
const MaxID = 1<<24 - 1

// Kind is the kind of the structure.
func (c Cell) Kind() Kind { return Kind(c.Mark & markKind) }

// Upgraded tells whether it was upgraded.
func (c Cell) Upgraded() bool { return c.Mark&markUpgraded != 0 }

// Player is its owner.
func (c Cell) Player() sim.Player { return sim.Player(c.Mark >> 3 & 1) }

// RemoveIn is the number of restores until it is removed; 0: it is not marked.
func (c Cell) RemoveIn() int { return int(c.Mark >> 4 & 15) }

// ID is its id.
func (c Cell) ID() uint32 { return c.Mark >> markIDShift }

// Ages is a list of up to 210 cells of one player's half, numbered by Local.
type Ages struct {
	Cell [HalfCells + 1]uint8
	N    uint8
}

// Piece is a unit on the board, a structure or a mobile one.
type Piece struct {
	At       Pos
	Kind     Kind
	Player   sim.Player
	Upgraded bool
	RemoveIn uint8 // restores until it is removed; 0: not marked
	ID       uint32
	Health   float32 // of a mobile unit with its shields
}

// Owner is the player on whose half (x, y) lies.
func Owner(y int) sim.Player {
	if y < Side/2 {
		return 0
	}
	return 1
}

// Local numbers the cells of a half from its owner's side, 0 … 209: by rows
// from the owner's end (two cells, then four, … 28), in each row from the left
// as the owner sees it. Player 1 sees the arena turned by 180°.
func Local(x, y int) int {
	if y >= Side/2 {
		x, y = Side-1-x, Side-1-y
	}
	return y*(y+1) + x - (13 - y)
}

// LocalXY is the inverse of Local for the half of player p.
func LocalXY(local int, p sim.Player) (x, y int) {
	for (y+1)*(y+2) <= local {
		y++
	}
	x = local - y*(y+1) + 13 - y
	if p == 1 {
		x, y = Side-1-x, Side-1-y
	}
	return x, y
}

// Inside reports whether (x, y) is a cell of the arena.
func Inside(x, y int) bool {
	_, ok := bitboard.DiamondCell(x, y)
	return ok
}

// At returns the structure on (x, y), if there is one.
func (s *State) At(x, y int) (Piece, bool) {
	cell, ok := bitboard.DiamondCell(x, y)
	if !ok || s.Cells[cell].Mark == 0 {
		return Piece{}, false
	}
	return s.piece(cell), true
}

// piece is the structure on a cell that has one.
func (s *State) piece(cell int) Piece {
	c := s.Cells[cell]
	x, y := bitboard.DiamondXY(cell)
	return Piece{Pos{uint8(x), uint8(y)}, c.Kind(), c.Player(), c.Upgraded(), uint8(c.RemoveIn()), c.ID(), c.Health}
}

// AppendStructures appends the structures of player p, oldest id first.
func (s *State) AppendStructures(dst []Piece, p sim.Player) []Piece {
	s.byAge(p, func(cell int) { dst = append(dst, s.piece(cell)) })
	return dst
}

// byAge visits the structures of player p, oldest id first.
func (s *State) byAge(p sim.Player, visit func(cell int)) {
	var at [Structures]int
	for {
		oldest, next := -1, uint32(MaxID+1)
		for k := range at {
			if list := &s.Ages[p][k]; at[k] < int(list.N) {
				if id := s.Cells[localCell[p][list.Cell[at[k]]]].ID(); id < next {
					oldest, next = k, id
				}
			}
		}
		if oldest < 0 {
			return
		}
		visit(int(localCell[p][s.Ages[p][oldest].Cell[at[oldest]]]))
		at[oldest]++
	}
}

// localCell is the inverse of Local as cells; entry 210 is not used.
var localCell = func() (t [2][HalfCells + 1]uint16) {
	for p := range t {
		for i := range HalfCells {
			cell, _ := bitboard.DiamondCell(LocalXY(i, sim.Player(p)))
			t[p][i] = uint16(cell)
		}
	}
	return t
}()

// positions are the coordinates of the cells.
var positions = func() (t [bitboard.DiamondSpan]Pos) {
	for y := range Side {
		for x := range Side {
			if cell, ok := bitboard.DiamondCell(x, y); ok {
				t[cell] = Pos{uint8(x), uint8(y)}
			}
		}
	}
	return t
}()
