package bitboard

// Gather is a list of up to 64 cells of a Diamond.
type Gather struct {
	at  [64]uint8 // the byte of the Diamond that has the cell, counted from the lowest
	bit [64]uint8 // the bit of that byte; 0 where the list has no cell
}

// Put makes the cell the i-th of the list.
func (g *Gather) Put(i, cell int) { g.at[i&63], g.bit[i&63] = uint8(cell>>3&63), 1<<(cell&7) }

// GathersFast reports whether Of takes a few instructions. Otherwise it takes hundreds.
func GathersFast() bool { return hasVBMI }

// Of returns which cells of the list are in the set: bit i is the i-th cell.
func (g *Gather) Of(d *Diamond) uint64 {
	if hasVBMI {
		return gather512(g, d)
	}
	return g.portable(d)
}

// portable is Of without assembly, and its twin.
func (g *Gather) portable(d *Diamond) (cells uint64) {
	for i, at := range &g.at {
		if uint8(d[at>>3&7]>>(at&7*8))&g.bit[i] != 0 {
			cells |= 1 << i
		}
	}
	return cells
}
