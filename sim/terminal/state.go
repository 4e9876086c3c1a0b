package terminal

import (
	"bytes"
	"unsafe"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
)

// Sizes of the arena.
const (
	Side      = bitboard.DiamondSide
	HalfCells = bitboard.DiamondCells / 2 // cells on which a player may build
)

// State is the game between two turns: after the restore, before the orders. The board then has
// no mobile units; during an action phase the Game holds them.
//
// Coordinates are absolute. The rules differ slightly between the two sides (RULES.md, 2.6), so
// storing each half from its owner's side would not save any code.
type State struct {
	Health [2]float32 // of the players
	Cores  [2]float32
	Bits   [2]float32
	Time   [2]uint32 // milliseconds thought so far
	NextID uint32    // id of the next unit; the first id is 1
	Turn   uint32    // turns played

	// Boards of the structures. Own is by player; the other boards hold structures of both
	// players. A structure on Own that is on neither Supports nor Turrets is a wall.
	Own      [2]bitboard.Diamond
	Supports bitboard.Diamond
	Turrets  bitboard.Diamond
	Upgraded bitboard.Diamond
	Marked   bitboard.Diamond // for removal

	// Cells holds the structures by cell (bitboard.DiamondCell); zero for an empty cell.
	Cells [bitboard.DiamondSpan]Cell

	// Ages lists the cells of a player's structures of one kind, oldest id first.
	Ages [2][Structures]Ages
}

// stateSize is the number of bytes that a clone copies.
const stateSize = 5792

var _ [stateSize]struct{} = [unsafe.Sizeof(State{})]struct{}{}

// Cell is a structure. Mark packs
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
	markTurn     = 1 << 4 // one restore until it is removed
	markTurns    = 15 * markTurn
	markIDShift  = 8
	markID       = MaxID << markIDShift
)

// newCell packs a structure that is not marked for removal.
func newCell(health float32, k Kind, p sim.Player, id uint32) Cell {
	return Cell{health, id<<markIDShift | uint32(p)*markPlayer | uint32(k)}
}

// MaxID is the greatest id that a Cell can hold. RULES.md, 7.2, shows that no match reaches it.
const MaxID = 1<<24 - 1

// MaxRemoveIn is the greatest number of restores until a removal that a Cell can hold.
const MaxRemoveIn = markTurns / markTurn

// Kind returns the kind of the structure.
func (c Cell) Kind() Kind { return Kind(c.Mark & markKind) }

// Upgraded reports whether the structure is upgraded.
func (c Cell) Upgraded() bool { return c.Mark&markUpgraded != 0 }

// Player returns the owner.
func (c Cell) Player() sim.Player { return sim.Player(c.Mark & markPlayer / markPlayer) }

// RemoveIn returns the number of restores until the structure is removed; 0: it is not marked.
func (c Cell) RemoveIn() int { return int(c.Mark & markTurns / markTurn) }

// ID returns the id.
func (c Cell) ID() uint32 { return c.Mark >> markIDShift }

// form returns the kind, or 3 + kind if the structure is upgraded.
func (c Cell) form() int {
	return int(c.Mark&markKind) + Structures*int(c.Mark&markUpgraded/markUpgraded)
}

// Ages is a list of up to 210 cells of one player's half, numbered by Local.
type Ages struct {
	Cell [HalfCells + 1]uint8
	N    uint8
}

// Piece is a structure or a mobile unit on the board.
type Piece struct {
	At       Pos
	Kind     Kind
	Player   sim.Player
	Upgraded bool
	RemoveIn uint8 // restores until the structure is removed; 0: not marked
	ID       uint32
	Health   float32 // including the shields of a mobile unit
}

// Owner returns the player who owns the half with row y.
func Owner(y int) sim.Player {
	if y < Side/2 {
		return 0
	}
	return 1
}

// Local returns the number of a cell in its half, 0 … 209: by rows from the owner's end (two
// cells, then four, … 28), in each row from the left as the owner sees it. Player 1 sees the
// arena turned by 180°.
func Local(x, y int) int {
	if y >= Side/2 {
		x, y = Side-1-x, Side-1-y
	}
	return y*(y+1) + x - (13 - y)
}

// LocalXY returns the cell of the half of player p with a number of Local.
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

// EdgeCells is the number of cells on which a player's mobile units start.
const EdgeCells = Side

// Edge returns the number of an edge cell in its half, 0 … 27, in the order of Local: two for
// each row from the owner's end, the left one as the owner sees it first. ok is false if (x, y)
// is not on the edges of its half.
func Edge(x, y int) (e int, ok bool) {
	if y >= Side/2 {
		x, y = Side-1-x, Side-1-y
	}
	switch x {
	case 13 - y:
		return 2 * y, y >= 0
	case 14 + y:
		return 2*y + 1, y >= 0
	}
	return 0, false
}

// EdgeXY returns the edge cell of the half of player p with a number of Edge.
func EdgeXY(e int, p sim.Player) (x, y int) {
	x, y = 13-e/2, e/2
	if e&1 != 0 {
		x = 14 + e/2
	}
	if p == 1 {
		x, y = Side-1-x, Side-1-y
	}
	return x, y
}

// edgeLocal returns the number in Local of edge cell e: the first or the last cell of its row.
func edgeLocal(e int) int {
	row := e / 2
	return row*(row+1) + e%2*(2*row+1)
}

// Inside reports whether (x, y) is a cell of the arena.
func Inside(x, y int) bool {
	_, ok := bitboard.DiamondCell(x, y)
	return ok
}

// At returns the structure on (x, y), or false if the cell has no structure.
func (s *State) At(x, y int) (Piece, bool) {
	cell, ok := bitboard.DiamondCell(x, y)
	if !ok || s.Cells[cell].Mark == 0 {
		return Piece{}, false
	}
	return s.piece(cell), true
}

// piece returns the structure on a cell that is not empty.
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

// byAge calls visit for the structures of player p, oldest id first.
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

// add puts a structure of player p, the youngest of its kind, on a free cell.
func (s *State) add(cell int, p sim.Player, k Kind, c Cell) {
	s.Cells[cell] = c
	s.Own[p].Add(cell)
	switch k {
	case Support:
		s.Supports.Add(cell)
	case Turret:
		s.Turrets.Add(cell)
	}
	list := &s.Ages[p][k]
	list.Cell[list.N] = localOf[cell]
	list.N++
}

// Put puts a structure on a free cell of its owner's half. It must be younger than the owner's
// other structures of its kind, and have the Kind, Health and ID of a structure. Put does not
// change NextID.
func (s *State) Put(c Piece) {
	cell, _ := bitboard.DiamondCell(int(c.At.X), int(c.At.Y))
	packed := newCell(c.Health, c.Kind, c.Player, c.ID)
	if packed.Mark |= uint32(c.RemoveIn) * markTurn; c.RemoveIn > 0 {
		s.Marked.Add(cell)
	}
	if c.Upgraded {
		packed.Mark |= markUpgraded
		s.Upgraded.Add(cell)
	}
	s.add(cell, c.Player, c.Kind, packed)
}

// drop removes the structure on a cell.
func (s *State) drop(cell int) {
	c := s.Cells[cell]
	s.forget(cell, c)
	s.Cells[cell] = Cell{}
	s.Own[c.Player()].Drop(cell)
	s.Supports.Drop(cell)
	s.Turrets.Drop(cell)
	s.Upgraded.Drop(cell)
	s.Marked.Drop(cell)
}

// forget removes a structure from the list of its kind.
func (s *State) forget(cell int, c Cell) {
	list := &s.Ages[c.Player()][c.Kind()]
	i := bytes.IndexByte(list.Cell[:list.N], localOf[cell])
	list.N--
	copy(list.Cell[i:list.N], list.Cell[i+1:])
	list.Cell[list.N] = 0 // so that equal positions are equal states
}

// form returns the board of the structures of seat p that have form f.
func (s *State) form(p sim.Player, f int) (board bitboard.Diamond) {
	board = s.Own[p]
	switch Kind(f % Structures) {
	case Wall:
		board.AndNot(&s.Supports)
		board.AndNot(&s.Turrets)
	case Support:
		board.And(&s.Supports)
	case Turret:
		board.And(&s.Turrets)
	}
	if f >= Structures {
		board.And(&s.Upgraded)
	} else {
		board.AndNot(&s.Upgraded)
	}
	return board
}

// Built returns the cells with a structure of either player.
func (s *State) Built() bitboard.Diamond {
	board := s.Own[0]
	board.Or(&s.Own[1])
	return board
}

// localCell holds the cell by player and number of Local. The entries from 210 on are not used: with them an
// index of eight bits needs no check.
var localCell = func() (t [2][256]uint16) {
	for p := range t {
		for i := range HalfCells {
			cell, _ := bitboard.DiamondCell(LocalXY(i, sim.Player(p)))
			t[p][i] = uint16(cell)
		}
	}
	return t
}()

// positions holds the coordinates by cell.
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

// localOf holds the number of Local by cell.
var localOf = func() (t [bitboard.DiamondSpan]uint8) {
	for y := range Side {
		for x := range Side {
			if cell, ok := bitboard.DiamondCell(x, y); ok {
				t[cell] = uint8(Local(x, y))
			}
		}
	}
	return t
}()

// cellAt holds bitboard.DiamondCell by y<<5 | x, which are bits 8–17 of an order.
var cellAt = func() (t [1024]uint16) {
	for y := range Side {
		for x := range Side {
			cell, _ := bitboard.DiamondCell(x, y)
			t[y<<5|x] = uint16(cell)
		}
	}
	return t
}()
