package path

import (
	"encoding/binary"
	"math/bits"

	"moonfarm/sim/bitboard"
)

// Terrain has the cells that the units of a player can enter, and their costs. Block and Weigh
// reset it; only SetCost may change it after that.
type Terrain struct {
	Free bitboard.Square // cells that cost 1

	weighted bool             // some cells that are not free can be entered at a higher cost
	cost     [gridSize]uint16 // by cell that is not blocked, if the terrain is weighted
	blocked  grid             // cellBlocked on blocked cells, if the terrain is weighted
	highest  int              // the highest cost

	// Derived from Free at the first use.
	hasMirror bool
	mirror    bitboard.Square
}

// Block sets t to the terrain in which the covered cells are blocked and all others are free.
func (t *Terrain) Block(covered *bitboard.Square) {
	t.Free.Flip(covered)
	t.weighted, t.hasMirror = false, false
}

// Weigh sets t to the terrain of units that break through: it begins as plain, and SetCost adds the
// cells that can be entered at a cost.
func (t *Terrain) Weigh(plain *Terrain) {
	t.Free = plain.Free
	t.weighted, t.hasMirror, t.highest = true, false, 1
	t.cost = ones
	if t.blocked[0] == 0 { // never weighted before: the border is blocked, too
		for c := range t.blocked {
			t.blocked[c] = cellBlocked
		}
	}
	var covered bitboard.Square
	covered.Flip(&t.Free)
	t.blocked.set(&covered, cellBlocked)
}

// ones has the cost of free cells everywhere.
var ones = func() (costs [gridSize]uint16) {
	for c := range costs {
		costs[c] = 1
	}
	return costs
}()

// SetCost sets the cost of entering a cell of a weighted terrain: 1 to 30,000.
func (t *Terrain) SetCost(x, y, cost int) {
	if cost == 1 {
		t.Free.Add(x, y)
	}
	c := gridCell(x, y)
	t.cost[c], t.blocked[c] = uint16(cost), 0
	t.highest = max(t.highest, cost)
}

// mirrored returns the free cells with x as Side−1−x.
func (t *Terrain) mirrored() *bitboard.Square {
	if !t.hasMirror {
		t.hasMirror = true
		for y := range Side {
			low, high := mirrorRow(t.Free.Row(y))
			t.mirror.SetRow(y, low, high)
		}
	}
	return &t.mirror
}

// Searches run on grids: the map with a border of blocked cells. The cells are
// numbered (y+1)<<7 | (x+1), so that neighbours are 1 and 128 apart and x and y need no division.
const (
	gridShift = 7
	gridX     = 1<<gridShift - 1 // the bits of x in the number of a cell
	gridSize  = (Side + 2) << gridShift
)

// gridStep has the steps of the directions on a grid.
var gridStep = [4]int{1, -1, 1 << gridShift, -1 << gridShift}

func gridCell(x, y int) int { return (y+1)<<gridShift | (x + 1) }

// grid has a byte for each cell. The border is cellBlocked for searches on weighted terrain, and 0
// for others.
type grid [gridSize]uint8

// set sets the cells of the board to a value and all others of the map to 0.
func (g *grid) set(b *bitboard.Square, value uint8) {
	v := uint64(value)
	for y := range Side {
		low, high := b.Row(y)
		row := g[gridCell(0, y):][:Side]
		for k := 0; k < 64; k += 8 {
			binary.LittleEndian.PutUint64(row[k:], v*bitboard.Spread(uint8(low>>k)))
		}
		binary.LittleEndian.PutUint64(row[64:], v*bitboard.Spread(uint8(high)))
		binary.LittleEndian.PutUint64(row[72:], v*bitboard.Spread(uint8(high>>8)))
	}
}

// add adds a value to the cells of the board.
func (g *grid) add(b *bitboard.Square, value uint8) {
	for y := range Side {
		low, high := b.Row(y)
		row := g[gridCell(0, y):][:Side]
		for k := 0; low != 0; k, low = k+8, low>>8 {
			addBits(row[k:], uint8(low), value)
		}
		addBits(row[64:], uint8(high), value)
		addBits(row[72:], uint8(high>>8), value)
	}
}

// addBits adds a value to those of eight bytes whose bits in b are set.
func addBits(to []uint8, b, value uint8) {
	binary.LittleEndian.PutUint64(to, binary.LittleEndian.Uint64(to)+uint64(value)*bitboard.Spread(b))
}

// mirrorRow returns a row of a board with x as Side−1−x.
func mirrorRow(low, high uint64) (uint64, uint64) {
	l, h := bits.Reverse64(high), bits.Reverse64(low)
	const rest = 128 - Side
	return l>>rest | h<<(64-rest), h >> rest
}

// rowMask returns the bits of a row from x = from to x = to.
func rowMask(from, to int) (low, high uint64) {
	return bitsFrom(from) &^ bitsFrom(to+1), bitsFrom(from-64) &^ bitsFrom(to-63)
}

// bitsFrom returns the bits from n on, and all bits for n below 0.
func bitsFrom(n int) uint64 { return ^uint64(0) << max(n, 0) }

// bitAt returns bit n, and 0 if n is outside of a word.
func bitAt(n int) uint64 {
	if uint(n) < 64 {
		return 1 << n
	}
	return 0
}
