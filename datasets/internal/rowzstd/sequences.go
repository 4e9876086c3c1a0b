package rowzstd

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Modes of the tables of a sequences section.
const (
	modeRLE = 1 // all codes are equal: one byte holds the code
	modeFSE = 2 // a table of frequencies
)

// maxSequence is the most bytes of a sequence: two states and two lengths.
const maxSequence = (2*maxTableLog + 2*16 + 7) / 8

// code is how a length is written: a symbol (8 bits), the number of extra bits
// (8 bits) and the extra bits (16 bits).
type code uint32

func newCode(symbol, width, extra uint32) code { return code(symbol<<24 | width<<16 | extra) }

func (c code) symbol() uint8 { return uint8(c>>24) % maxSymbols }
func (c code) width() uint8  { return uint8(c >> 16) }
func (c code) extra() uint64 { return uint64(c & 0xFFFF) }

// lengthCodes are the codes of one kind of lengths (RFC 8878, section 3.1.1.3.2.1.1). A
// symbol stands for a range of 1<<width lengths, which follows the range of the symbol
// before.
type lengthCodes struct {
	least uint32 // the length of symbol 0
	short [shortLengths]code
	power uint32 // from least+shortLengths on, the range of width w has symbol power+w
}

// shortLengths is the number of lengths whose codes are in a table.
const shortLengths = 128

var (
	literalCodes = newLengthCodes(0, 16, []uint32{1, 1, 1, 1, 2, 2, 3, 3, 4, 6})
	matchCodes   = newLengthCodes(3, 32, []uint32{1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5})
)

// newLengthCodes returns codes whose first symbols stand for single lengths, and the
// others for ranges with the given widths.
func newLengthCodes(least, single uint32, widths []uint32) lengthCodes {
	c := lengthCodes{least: least, power: single + uint32(len(widths)) - 7}
	for n := range single {
		c.short[n] = newCode(n, 0, 0)
	}
	n := single
	for i, w := range widths {
		for extra := range uint32(1) << w {
			c.short[n] = newCode(single+uint32(i), w, extra)
			n++
		}
	}
	return c
}

func (l *lengthCodes) code(n uint32) code {
	n -= l.least
	if n < shortLengths {
		return l.short[n]
	}
	w := uint32(bits.Len32(n) - 1)
	return newCode(l.power+w, w, n-1<<w)
}

// appendCount appends the number of sequences of a block.
func appendCount(dst []byte, n int) []byte {
	if n < 128 {
		return append(dst, byte(n))
	}
	return append(dst, byte(n>>8)+128, byte(n)) // maxSequences needs no third form
}

// appendSequences appends the sequences section. offset is the offset value of the format of the first
// sequence: 1 for the distance of the sequence before, and the distance + 3 for a new one. All others are
// for the same distance.
//
// From the beginning of a table of frequencies to the end of the section klauspost's decoder wants
// leastTable bytes, which the format does not ask for. Few sequences that are nearly equal may take less.
// Tables of the largest size are long enough: at least 13 bits, and states of 8 bits with the bit that
// marks the end.
func (e *Encoder) appendSequences(dst []byte, offset uint32) []byte {
	out, table := e.appendSection(dst, offset)
	if table > 0 && len(out)-table < leastTable {
		e.lit.least, e.far.least, e.match.least = maxTableLog, maxTableLog, maxTableLog
		out, _ = e.appendSection(dst, offset)
		e.lit.least, e.far.least, e.match.least = 0, 0, 0
	}
	return out
}

// extras writes the extra bits of both lengths.
func (s sequence) extras(w bitWriter) bitWriter {
	return w.add(s.lit.extra(), s.lit.width()).add(s.match.extra(), s.match.width())
}

// leastTable is explained at appendSequences.
const leastTable = 4

// appendSection appends a sequences section. It returns where its last table of frequencies begins, 0
// without one.
func (e *Encoder) appendSection(dst []byte, offset uint32) (out []byte, table int) {
	n := e.nSeqs
	dst = appendCount(dst, n)
	if n == 0 {
		return dst, 0
	}
	s := e.seqs[n-1]
	width := uint8(bits.Len32(offset) - 1) // and the symbol of the first offset; those of the others are 0
	e.far.counts = counts{}
	e.far.counts[0], e.far.counts[width] = uint32(n-1), 1
	if width == 0 {
		e.far.counts[0] = uint32(n)
	}
	far := func(k int) uint8 {
		if k == 0 {
			return width
		}
		return 0
	}
	modes := len(dst)
	dst = append(dst, 0)
	add := func(l *lengthCoder, some uint8) (mode byte) {
		at := len(dst)
		if dst, mode = l.appendTable(dst, n, some); mode == modeFSE {
			table = at
		}
		return mode
	}
	litMode, farMode, matchMode := add(&e.lit, s.lit.symbol()), add(&e.far, far(n-1)), add(&e.match, s.match.symbol())
	dst[modes] = litMode<<6 | farMode<<4 | matchMode<<2
	if table == 0 && offset == 1 && s.lit.width()+s.match.width() == 0 {
		return append(dst, 1), 0 // all sequences are equal and have no bits
	}
	// Sequences are written from the last to the first, because decoders read
	// backwards.
	w, buf := writeBits(dst, n*maxSequence+8)
	lit, off, match := e.lit.start(s.lit.symbol()), e.far.start(far(n-1)), e.match.start(s.match.symbol())
	w = s.extras(w).flush(buf)
	for k := n - 2; k >= 0 && farMode == modeFSE; k-- { // of the first block only
		s = e.seqs[k]
		w, off = e.far.encode(w, off, far(k))
		w, match = e.match.encode(w, match, s.match.symbol())
		w, lit = e.lit.encode(w, lit, s.lit.symbol())
		w = s.extras(w).flush(buf)
	}
	for k := n - 2; k >= 0 && farMode != modeFSE; k-- {
		s = e.seqs[k]
		w, match = e.match.encode(w, match, s.match.symbol())
		w, lit = e.lit.encode(w, lit, s.lit.symbol())
		w = s.extras(w).flush(buf)
	}
	w = w.add(uint64(offset-1<<width), width).flush(buf)
	w = e.lit.end(e.far.end(e.match.end(w, match), off), lit)
	return w.add(1, 1).end(buf), table // the bit that marks the end
}

// bitWriter writes bits to a buffer, the lowest first. Its methods return the changed
// bitWriter, so that it stays in registers.
type bitWriter struct {
	word uint64
	n    uint // bits in word, at most 64
	pos  int  // offset of word in the buffer
}

// writeBits returns a bitWriter behind dst and its buffer, with room for n bytes.
func writeBits(dst []byte, n int) (bitWriter, []byte) {
	buf := slices.Grow(dst, n+8) // flush writes a whole word
	return bitWriter{pos: len(dst)}, buf[:cap(buf)]
}

func (b bitWriter) add(v uint64, n uint8) bitWriter {
	b.word |= v << (b.n & 63)
	b.n += uint(n)
	return b
}

// flush writes the whole bytes; at most 7 bits stay, so 57 may be added before
// the next.
func (b bitWriter) flush(buf []byte) bitWriter {
	binary.LittleEndian.PutUint64(buf[b.pos:b.pos+8:b.pos+8], b.word)
	b.pos += int(b.n / 8)
	b.word >>= b.n &^ 7 & 63
	b.n %= 8
	return b
}

// end writes all bits, padded to a byte, and returns the written bytes.
func (b bitWriter) end(buf []byte) []byte {
	b.n += 7
	return buf[:b.flush(buf).pos]
}
