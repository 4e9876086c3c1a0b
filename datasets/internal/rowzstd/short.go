package rowzstd

import (
	"encoding/binary"
	"math/bits"
)

const (
	// ShortRow is the most bytes of a row for AppendRows. Longer rows have longer runs of
	// equal bytes, between which short matches cost more than their literals.
	ShortRow = 512

	shortMatch = 3        // the shortest match of the format
	shortBlock = 48 << 10 // bytes of content of a block: its sequences fit into Encoder.seqs
	firstBlock = 1 << 6   // of the block that tells the distance, behind the first row; so few literals need no table
	sampleSize = 64 << 10 // bytes at the beginning by which AppendRows chooses
)

// AppendRows appends src as one zstd frame to dst, as AppendFrame does, for rows of width bytes,
// at most ShortRow. Each is like the row before it or the one stride rows before it: the nearer
// the fewer bytes differ in the first 64 KiB. Matches have 3 bytes and more, so that the high
// bytes of numbers are matches. AppendRows returns false if too many bytes differ, or there
// are too few: a general encoder then makes shorter frames.
func (e *Encoder) AppendRows(dst, src []byte, width, stride int) ([]byte, bool) {
	distance, differ := e.nearest(src, width, width*stride)
	if distance == 0 || differ > mostDiffer(min(len(src), sampleSize), width) {
		return dst, false
	}
	dst = appendFrameHeader(dst, len(src))
	known, most := false, distance+firstBlock
	for at := 0; at < len(src); most = min(2*most, shortBlock) {
		if known {
			most = shortBlock
		}
		end := min(at+most, len(src))
		e.findShort(src, at, end, distance)
		start := len(dst)
		dst = append(dst, 0, 0, 0)
		dst = e.appendLiterals(dst)
		dst = e.appendSequences(dst, offsetOf(distance, known))
		if size := len(dst) - start - headerSize; size < end-at {
			putHeader(dst[start:], size, blockPacked, end == len(src))
			known = known || e.nSeqs > 0
		} else {
			dst = appendRaw(dst[:start], src[at:end], end == len(src))
		}
		at = end
	}
	return dst, true
}

// mostDiffer returns how many of n bytes of rows may differ for AppendRows. A number of 8 bytes
// of which more differ, such as an order of CodeCraft, is rather equal to one further back.
func mostDiffer(n, width int) int {
	if width < 8 {
		return n * 2 / 5
	}
	return n / 4
}

// nearest returns that of two distances at which fewer bytes of the beginning of src differ, and
// their number; 0 if src is too short.
func (e *Encoder) nearest(src []byte, one, other int) (distance, differ int) {
	src = src[:min(len(src), sampleSize)]
	if len(src) < minSource || one < 1 {
		return 0, 0
	}
	for _, d := range [2]int{one, other} {
		if len(src) <= d || d == distance {
			continue
		}
		e.diff.fill(src[d:], src[:len(src)-d])
		if n := e.diff.count() + d; distance == 0 || n < differ {
			distance, differ = d, n
		}
	}
	return distance, differ
}

// findShort is find for matches of shortMatch bytes and more.
func (e *Encoder) findShort(src []byte, at, end, distance int) {
	e.lit.counts, e.match.counts = counts{}, counts{}
	first := max(at+1, distance) // the first byte of the block that can be in a match
	e.diff.fill(src[first:end], src[first-distance:end-distance])
	nLits, nSeqs := 0, 0
	from, open := at, -1 // first byte that is in no sequence yet; start of a match without an end
	same := ^e.diff.words[0]
	runs, inside := uint64(0), uint64(0) // of the word before
	for j := range (end-first)/64 + 1 {
		next := ^e.diff.words[j+1]
		// Bits of the bytes with which runs of shortMatch equal bytes begin, of all bytes in
		// such runs, and of bytes where matches begin or end, which take turns.
		r := same & (same>>1 | next<<63) & (same>>2 | next<<62)
		in := r | r<<1 | r<<2 | runs>>63 | runs>>62
		edges := in ^ (in<<1 | inside>>63)
		same, runs, inside = next, r, in
		for ; edges != 0; edges &= edges - 1 {
			k := first + j*64 + bits.TrailingZeros64(edges)
			if open < 0 {
				open = k
				continue
			}
			n := open - from
			s := sequence{literalCodes.code(uint32(n)), matchCodes.code(uint32(k - open))}
			e.lit.counts[s.lit.symbol()]++
			e.match.counts[s.match.symbol()]++
			e.seqs[nSeqs] = s
			nSeqs++
			if n <= 8 && from+8 <= len(src) { // copy one word, as find does
				binary.LittleEndian.PutUint64(e.lits[nLits:nLits+8:nLits+8], load(src, from))
			} else {
				copy(e.lits[nLits:], src[from:open])
			}
			nLits += n
			from, open = k, -1
		}
	}
	e.nLits = nLits + copy(e.lits[nLits:], src[from:end])
	e.nSeqs = nSeqs
}
