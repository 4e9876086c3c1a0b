package bitboard

// Flood does steps of a flood fill, at most the given number, until the frontier b has a cell in watch
// or is empty. A step replaces b by its neighbours in free and removes these from free, which holds the
// cells that may be reached and have not been reached. Flood returns the number of steps, and whether
// the frontier has a cell in watch.
func (b *Square) Flood(free, watch *Square, most int) (steps int, met bool) {
	switch squareVectors {
	case 512:
		return flood512(b, free, watch, most)
	case 256:
		return flood256(b, free, watch, most)
	}
	return b.floodRows(free, watch, most)
}

// floodRows is Flood in portable code. It visits only the rows of the frontier and those next to them.
func (b *Square) floodRows(free, watch *Square, most int) (steps int, met bool) {
	low, high := b.Rows()
	any := uint64(0)
	for k := squareRow * (low + 1); k < squareRow*(high+2); k++ {
		any |= b[k] & watch[k]
	}
	for met = any != 0; !met && low <= high && steps < most; steps++ {
		low, high, met = b.floodStep(free, watch, low, high)
	}
	return steps, met
}

// floodStep does one step of a flood fill. The frontier lies in the rows from low to high, which are
// on the board. The method returns the rows of the new frontier, low above high if it is empty, and
// whether it has a cell in watch.
func (b *Square) floodStep(free, watch *Square, low, high int) (newLow, newHigh int, met bool) {
	from, end := squareRow*max(low, 1), squareRow*(min(high, SquareSide-2)+3)
	above := b[from+squareRow : end+squareRow] // slices of one length: no bounds checks in the loop
	row, f, w := b[from:end][:len(above)], free[from:end][:len(above)], watch[from:end][:len(above)]
	b0, b1 := b[from-squareRow], b[from-squareRow+1] // before the change
	c0, c1 := b[from], b[from+1]
	hit, first, last := uint64(0), -1, -1
	for k := 0; k+1 < len(above); k += squareRow {
		a0, a1 := above[k], above[k+1]
		n0 := (c0<<1 | c0>>1 | c1<<63 | b0 | a0) & f[k]
		n1 := (c1<<1 | c1>>1 | c0>>63 | b1 | a1) & f[k+1]
		hit |= n0&w[k] | n1&w[k+1]
		row[k], row[k+1] = n0, n1
		f[k] ^= n0
		f[k+1] ^= n1
		if n0|n1 != 0 {
			if last = k; first < 0 {
				first = k
			}
		}
		b0, b1, c0, c1 = c0, c1, a0, a1
	}
	if last < 0 {
		return SquareSide, -1, false
	}
	return (from+first)/squareRow - 1, (from+last)/squareRow - 1, hit != 0
}
