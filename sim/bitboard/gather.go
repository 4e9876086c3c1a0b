package bitboard

// Around is a list of up to 64 offsets to cells around any cell of a Diamond, by number. It is small enough for
// the first cache: offsets of cells with the same colour and the same lowest three bits lead to the same bits of the
// 64 bytes around the byte of the cell.
type Around struct {
	windows [16]window
	inside  [DiamondSpan]uint64 // by cell: the numbers that lead to cells of the board
}

// window says where the cells of the offsets are, counted from the first byte of the window.
type window struct {
	at  [64]uint8 // the byte, from the lowest
	bit [64]uint8 // the bit of that byte; 0 for no offset
}

// Padded is a board with space on both sides, so that the 64 bytes around a cell can be read. Whatever the space
// holds, no offset that stays on the board leads there.
type Padded struct {
	_     [8]uint64
	Board Diamond
	_     [8]uint64
}

// Bytes of a Padded before a window: from the first byte to that of cell 0, less those of the window before the cell. Cells
// of colour A have their neighbours of colour B 256 bits behind, and those of B theirs of A 256 before.
const (
	firstA = 64 - 11
	firstB = 64 - 43
)

// windowOf returns the number of the windows of a cell, and the first byte of its window.
func windowOf(cell int) (number, first int) {
	colour := cell >> 8 & 1
	return colour<<3 | cell&7, firstA + (firstB-firstA)*colour + cell>>3
}

// Put makes the step from a cell to another the i-th offset from cells of its colour, and notes that the step
// from this cell stays on the board. It reports whether the other cell is in the window.
func (a *Around) Put(i, cell, other int) (ok bool) {
	i, cell, other = i&63, cell&(DiamondSpan-1), other&(DiamondSpan-1)
	a.inside[cell] |= 1 << i
	for low := range 8 {
		number, first := windowOf(cell&^7 | low)
		bit := 512 + (cell&^7 | low) + other - cell - 8*first
		if bit < 0 || bit >= 512 {
			return false
		}
		w := &a.windows[number]
		w.at[i], w.bit[i] = uint8(bit>>3), 1<<(bit&7)
	}
	return true
}

// GathersFast reports whether Of takes a few instructions. Otherwise it takes hundreds.
func GathersFast() bool { return hasVBMI }

// Of returns which cells around a cell are on the board: bit i is that of the i-th offset.
func (a *Around) Of(p *Padded, cell int) uint64 {
	cell &= DiamondSpan - 1
	if hasVBMI {
		return around512(a, p, cell)
	}
	return a.portable(p, cell)
}

// portable is Of without assembly, and its twin.
func (a *Around) portable(p *Padded, cell int) (cells uint64) {
	number, first := windowOf(cell)
	w := &a.windows[number]
	for i, at := range &w.at {
		at := first + int(at) - 64 // from the first byte of Board
		if at >= 0 && at < 64 && uint8(p.Board[at>>3]>>(at&7*8))&w.bit[i] != 0 {
			cells |= 1 << i
		}
	}
	return cells & a.inside[cell]
}
