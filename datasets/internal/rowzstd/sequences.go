package rowzstd

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Modes of the tables of a sequences section.
const (
	modeRLE = 1 // all codes are the same: one byte tells it
	modeFSE = 2 // a table of frequencies
)

// maxSequence is the most bytes of a sequence: twice a state and extra bits.
const maxSequence = (2*maxTableLog + 2*16 + 7) / 8

// code is how a length is written: a symbol and extra bits.
type code struct {
	extra  uint32 // value of the extra bits
	symbol uint8
	bits   uint8
}

// The first length and the number of extra bits of each symbol (RFC 8878,
// section 3.1.1.3.2.1.1).
var (
	literalBase = [...]uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		16, 18, 20, 22, 24, 28, 32, 40, 48, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536}
	literalBits = [...]uint8{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	matchBase = [...]uint32{3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
		19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34,
		35, 37, 39, 41, 43, 47, 51, 59, 67, 83, 99, 131, 259, 515, 1027, 2051, 4099, 8195, 16387, 32771, 65539}
	matchBits = [...]uint8{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	literalSymbol = shortSymbols(literalBase[:])
	matchSymbol   = shortSymbols(matchBase[:])
)

// shortLengths: symbols of lengths below are in a table; above, every power of
// two has its own.
const shortLengths = 131

func shortSymbols(base []uint32) (table [shortLengths]uint8) {
	for n, s := 0, 0; n < shortLengths; n++ {
		for s+1 < len(base) && base[s+1] <= uint32(n) {
			s++
		}
		table[n] = uint8(s)
	}
	return table
}

func literalCode(n uint32) code {
	s := uint8(0)
	if n < shortLengths {
		s = literalSymbol[n]
	} else {
		s = uint8(bits.Len32(n)-1) + 19
	}
	return code{n - literalBase[s], s, literalBits[s]}
}

func matchCode(n uint32) code {
	s := uint8(0)
	if n < shortLengths {
		s = matchSymbol[n]
	} else {
		s = uint8(bits.Len32(n-3)-1) + 36
	}
	return code{n - matchBase[s], s, matchBits[s]}
}

// appendFirst appends the sequences section of a block with at most one match,
// whose distance the decoder does not know yet.
func (e *Encoder) appendFirst(dst []byte, distance int) []byte {
	if len(e.seqs) == 0 {
		return append(dst, 0)
	}
	s := e.seqs[0]
	l, m := literalCode(s.lit), matchCode(s.match)
	offset := uint32(distance) + 3 // 1 … 3 are the repeated ones
	o := uint8(bits.Len32(offset) - 1)
	dst = append(dst, 1, modeRLE<<6|modeRLE<<4|modeRLE<<2, l.symbol, o, m.symbol)
	w := bitWriter{dst: reserve(dst, 16)}
	w.add(uint64(l.extra), l.bits)
	w.flush()
	w.add(uint64(m.extra), m.bits)
	w.flush()
	w.add(uint64(offset-1<<o), o)
	return w.close()
}

// appendSequences appends the sequences section, every match at the distance
// of the one before: offset code 0.
func (e *Encoder) appendSequences(dst []byte) []byte {
	n := len(e.seqs)
	switch {
	case n == 0:
		return append(dst, 0)
	case n < 128:
		dst = append(dst, byte(n))
	case n < 0x7F00:
		dst = append(dst, byte(n>>8)+128, byte(n))
	default:
		dst = append(dst, 255, byte(n-0x7F00), byte((n-0x7F00)>>8))
	}
	lit, match := &e.lens[0], &e.lens[1]
	lit.reset(n)
	match.reset(n)
	for _, s := range e.seqs {
		lit.add(literalCode(s.lit))
		match.add(matchCode(s.match))
	}
	at := len(dst)
	dst = append(dst, 0)
	var litMode, matchMode byte
	dst, litMode = lit.appendTable(dst)
	dst = append(dst, 0) // offsets: symbol 0
	dst, matchMode = match.appendTable(dst)
	dst[at] = litMode<<6 | modeRLE<<4 | matchMode<<2
	// Written from the last to the first, as it is read backwards.
	w := bitWriter{dst: reserve(dst, n*maxSequence+8)}
	for k := n - 1; k >= 0; k-- {
		l, m := lit.codes[k], match.codes[k]
		if k == n-1 {
			match.start(m.symbol)
			lit.start(l.symbol)
		} else {
			match.encode(&w, m.symbol)
			lit.encode(&w, l.symbol)
		}
		w.add(uint64(l.extra), l.bits)
		w.add(uint64(m.extra), m.bits)
		w.flush()
	}
	match.end(&w)
	lit.end(&w)
	return w.close()
}

// bitWriter writes bits to the end of dst, the lowest first. Its room must be
// made before: reserve.
type bitWriter struct {
	dst  []byte
	word uint64
	n    uint8
}

// reserve makes room for n more bytes, and those that flush writes ahead.
func reserve(dst []byte, n int) []byte { return slices.Grow(dst, n+8) }

func (w *bitWriter) add(v uint64, n uint8) {
	w.word |= v << (w.n & 63)
	w.n += n
}

// flush appends whole bytes; at most 7 bits stay, so 57 may be added before
// the next.
func (w *bitWriter) flush() {
	n := len(w.dst)
	binary.LittleEndian.PutUint64(w.dst[n:n+8], w.word)
	w.dst = w.dst[:n+int(w.n>>3)]
	w.word >>= w.n &^ 7 & 63
	w.n &= 7
}

// close appends the bit that marks the end.
func (w *bitWriter) close() []byte {
	w.flush()
	w.add(1, 1)
	return append(w.dst, byte(w.word))
}
