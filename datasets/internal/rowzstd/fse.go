package rowzstd

import "math/bits"

const (
	maxSymbols  = 64 // at most 53 are used; a power of two saves bounds checks
	maxTableLog = 8
	minTableLog = 5
)

// counts holds the frequency of each symbol.
type counts [maxSymbols]uint32

// lengthCoder codes the symbols of the lengths of one block with finite state
// entropy (RFC 8878, section 4.1; the encoder's side as in the reference
// implementation's fse_compress.c).
type lengthCoder struct {
	counts counts
	norm   [maxSymbols]uint16 // frequencies, summing to 1<<log
	log    uint8              // 0: all symbols are the same, and nothing is written
	least  uint8              // the table has at least 1<<least entries
	next   [1 << maxTableLog]uint16
	delta  [maxSymbols]transition
}

// transition of a symbol: bits to write and where the next states begin.
type transition struct {
	bits uint32 // biased: (state + bits) >> 16 bits are written
	find int32
}

// appendTable builds the table for the counts of n symbols, of which some is
// one, appends its description and returns its mode.
func (l *lengthCoder) appendTable(dst []byte, n int, some uint8) ([]byte, byte) {
	if int(l.counts[some]) == n {
		l.log, l.next[0], l.delta[some] = 0, 0, transition{}
		return append(dst, some), modeRLE
	}
	l.normalize(uint32(n))
	l.build()
	return l.appendNorm(dst), modeFSE
}

// normalize scales the counts to the size of the table. Each symbol that occurs gets at
// least 1, and the most frequent gets what rounding leaves.
func (l *lengthCoder) normalize(total uint32) {
	used, top := uint32(0), 0
	for s, n := range l.counts {
		if n > 0 {
			used++
		}
		if n > l.counts[top] {
			top = s
		}
	}
	l.log = uint8(min(max(bits.Len32(total)-2, bits.Len32(used)+1, minTableLog, int(l.least)), maxTableLog))
	size := uint32(1) << l.log
	left := int32(size)
	for s, n := range l.counts {
		v := uint32(0)
		if n > 0 {
			v = max(uint32(uint64(n)*uint64(size)/uint64(total)), 1)
		}
		l.norm[s] = uint16(v)
		left -= int32(v)
	}
	for left < 0 && int32(l.norm[top])+left < 1 {
		// The rare symbols take more than the most frequent has: take from all that
		// have more than 1.
		for s := range l.norm {
			if l.norm[s] > 1 && left < 0 {
				l.norm[s]--
				left++
			}
		}
	}
	l.norm[top] = uint16(int32(l.norm[top]) + left)
}

// build fills the state table from the frequencies.
func (l *lengthCoder) build() {
	size := uint32(1) << l.log
	var symbol [1 << maxTableLog]uint8
	var cumul [maxSymbols]uint32
	step, mask := size>>1+size>>3+3, size-1
	pos, sum := uint32(0), uint32(0)
	for s, n := range l.norm {
		cumul[s] = sum
		sum += uint32(n)
		for range n {
			symbol[pos] = uint8(s)
			pos = (pos + step) & mask
		}
	}
	for i, s := range symbol[:size] {
		l.next[cumul[s]] = uint16(size + uint32(i))
		cumul[s]++
	}
	total := int32(0)
	for s, n := range l.norm {
		switch n {
		case 0:
		case 1:
			l.delta[s] = transition{uint32(l.log)<<16 - size, total - 1}
			total++
		default:
			out := uint32(l.log) - uint32(bits.Len16(n-1)-1)
			l.delta[s] = transition{out<<16 - uint32(n)<<out, total - int32(n)}
			total += int32(n)
		}
	}
}

// appendNorm appends the description of the frequencies.
func (l *lengthCoder) appendNorm(dst []byte) []byte {
	w, buf := writeBits(dst, 2*maxSymbols)
	w = w.add(uint64(l.log-5), 4)
	remaining, threshold, width := int(1)<<l.log+1, int(1)<<l.log, l.log+1
	zero := false // the symbol before has frequency 0
	for s := 0; remaining > 1; {
		if zero {
			from := s
			for l.norm[s] == 0 {
				s++
			}
			for ; s >= from+3; from += 3 {
				w = w.add(3, 2).flush(buf)
			}
			w = w.add(uint64(s-from), 2)
		}
		n := int(l.norm[s])
		s++
		most := 2*threshold - 1 - remaining
		remaining -= n
		zero = n == 0
		n++
		if n >= threshold {
			n += most
		}
		bits := width
		if n < most {
			bits--
		}
		w = w.add(uint64(n), bits).flush(buf)
		for remaining < threshold {
			width--
			threshold >>= 1
		}
	}
	return w.end(buf)
}

// start returns the state of the last symbol, which is coded first.
func (l *lengthCoder) start(symbol uint8) uint32 {
	t := l.delta[symbol]
	out := (t.bits + 1<<15) >> 16
	return l.state((out<<16-t.bits)>>out, t)
}

// encode codes the symbol before: it writes the bits that lead from its state to
// the given one, and returns its state.
func (l *lengthCoder) encode(w bitWriter, state uint32, symbol uint8) (bitWriter, uint32) {
	t := l.delta[symbol]
	out := (state + t.bits) >> 16 & 31
	return w.add(uint64(state&(1<<out-1)), uint8(out)), l.state(state>>out, t)
}

// end writes the state of the first symbol, with which the reader begins.
func (l *lengthCoder) end(w bitWriter, state uint32) bitWriter {
	return w.add(uint64(state)&(1<<l.log-1), l.log)
}

func (l *lengthCoder) state(n uint32, t transition) uint32 {
	return uint32(l.next[uint8(int32(n)+t.find)])
}
