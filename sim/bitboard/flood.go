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

// floodRows is Flood in portable code. While the frontier stays within 64 columns, it works on copies whose rows are
// single words.
func (s *Square) floodRows(free, watch *Square, most int) (steps int, met bool) {
	f := rowFlood{front: s, free: free, watch: watch}
	f.low, f.high = s.Rows()
	f.first, f.last = watch.Rows()
	for met = f.meets(); !met && f.low <= f.high && steps < most; {
		n := 0
		if f.high-f.low >= manyRows && steps == 0 {
			n, met = f.inRows(min(fewSteps, most-steps))
		} else if x, within := s.stripAround(f.low, f.high); within >= fewSteps {
			n, met = f.inStrip(x, min(within, most-steps))
		} else {
			n, met = f.inRows(min(wideSteps, most-steps))
		}
		steps += n
	}
	return steps, met
}

// A row of 64 columns takes 0.6 ns, a whole row 1.4 ns (measured on an EPYC of family 26). Half to twice of these
// numbers make little difference.
const (
	fewSteps  = 4  // steps for which copies of the rows take longer than they save
	manyRows  = 24 // rows of a first frontier so large that the flood often ends within fewSteps
	wideSteps = 16 // steps after which a frontier may have become narrow enough for 64 columns
)

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

// inRows does up to n steps. It ends when the frontier has a cell in watch or is empty.
func (r *rowFlood) inRows(n int) (steps int, met bool) {
	for ; steps < n && !met && r.low <= r.high; steps++ {
		r.low, r.high = max(r.low-1, 0), min(r.high+1, SquareSide-1)
		r.front.floodStep(r.free, r.low, r.high)
		for r.low <= r.high && r.front[squareRow*(r.low+1)]|r.front[squareRow*(r.low+1)+1] == 0 {
			r.low++
		}
		for r.high > r.low && r.front[squareRow*(r.high+1)]|r.front[squareRow*(r.high+1)+1] == 0 {
			r.high--
		}
		met = r.meets()
	}
	return steps, met
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
