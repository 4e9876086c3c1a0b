package bitboard

// Flood does steps of a flood fill, at most the given number, until the frontier s has a cell in watch
// or is empty. A step replaces s by its neighbours in free and removes these from free, which holds the
// cells that may be reached and have not been reached. Flood returns the number of steps, and whether
// the frontier has a cell in watch.
func (s *Square) Flood(free, watch *Square, most int) (steps int, met bool) {
	switch squareVectors {
	case 512:
		return flood512(s, free, watch, most)
	case 256:
		return flood256(s, free, watch, most)
	}
	return s.floodRows(free, watch, most)
}

// FloodsFast reports whether Flood uses vectors. Then a step of a flood takes a tenth of the time.
func FloodsFast() bool { return squareVectors != 0 }

// floodRows is Flood in portable code. Rows of single words, while the frontier is within 64 columns, made whole
// games of CodeCraft 2 to 6 % faster, too little for a second form of the rows.
func (s *Square) floodRows(free, watch *Square, most int) (steps int, met bool) {
	f := rowFlood{front: s, free: free, watch: watch}
	f.low, f.high = s.Rows()
	f.first, f.last = watch.Rows()
	for met = f.meets(); steps < most && !met && f.low <= f.high; steps++ {
		met = f.step()
	}
	return steps, met
}

// rowFlood is a flood fill in portable code. It visits only the rows of the frontier and those next to them.
type rowFlood struct {
	front, free, watch *Square
	low, high          int // the first and the last row of the frontier; low above high if it is empty
	first, last        int // the first and the last row of watch
}

// meets reports whether the frontier has a cell in watch.
func (r *rowFlood) meets() bool {
	any := uint64(0)
	for k := squareRow * (max(r.low, r.first) + 1); k < squareRow*(min(r.high, r.last)+2); k++ {
		any |= r.front[k] & r.watch[k]
	}
	return any != 0
}

// step does a step, and reports whether the frontier has a cell in watch.
func (r *rowFlood) step() bool {
	r.low, r.high = max(r.low-1, 0), min(r.high+1, SquareSide-1)
	r.front.floodStep(r.free, r.low, r.high)
	for r.low <= r.high && r.front[squareRow*(r.low+1)]|r.front[squareRow*(r.low+1)+1] == 0 {
		r.low++
	}
	for r.high > r.low && r.front[squareRow*(r.high+1)]|r.front[squareRow*(r.high+1)+1] == 0 {
		r.high--
	}
	return r.meets()
}

// floodStep does one step of a flood fill in the rows from low to high. It is a function of its own with one loop,
// so that the compiler keeps nearly all values in registers.
//
//go:noinline
func (s *Square) floodStep(free *Square, low, high int) {
	from, end := squareRow*(low+1), squareRow*(high+2)
	above := s[from+squareRow : end+squareRow] // slices of one length: no bounds checks in the loop
	row, f := s[from:end][:len(above)], free[from:end][:len(above)]
	b0, b1 := s[from-squareRow], s[from-squareRow+1] // before the change
	c0, c1 := s[from], s[from+1]
	for k := 0; k < len(above)-1; k += squareRow {
		a0 := above[k]
		b0 |= c0<<1 | c0>>1 | c1<<63 | a0
		b0 &= f[k]
		row[k] = b0
		f[k] ^= b0
		a1 := above[k+1]
		b1 |= c1<<1 | c1>>1 | c0>>63 | a1
		b1 &= f[k+1]
		row[k+1] = b1
		f[k+1] ^= b1
		b0, b1, c0, c1 = c0, c1, a0, a1
	}
}
