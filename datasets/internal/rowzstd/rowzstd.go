// Package rowzstd compresses tables of rows of which each is much like an
// earlier one at a known distance, into ordinary zstd frames (RFC 8878).
//
// A general encoder spends its time looking for matches. Here it is known where
// they are: the observation of a seat differs in a few cells from that of the
// turn before, one stride back. So a frame is made of matches at that one
// distance and of the bytes that differ, found by comparing words:
//
//	row k     0 0 3 0 0 0 0 1 0 0 0 …
//	row k+1   0 0 3 0 0 0 0 0 1 0 0 …
//	          └── match ──┘ 0 1 └── match …
//
// The distance is the same in all sequences but one, and the format has a short
// form for "as before" (repeated offsets), so offsets cost nothing; lengths and
// literals are entropy coded as usual. What comes before the first stride is
// made of matches at distance 1: runs of equal bytes.
//
// On observations this is several times as fast as klauspost's fastest level,
// and about as dense. Frames are a function of source and stride alone.
package rowzstd

import (
	"encoding/binary"
	"math/bits"

	"github.com/klauspost/compress/huff0"
)

const (
	frameMagic   = 0xFD2FB528
	blockMax     = 128 << 10 // bytes of content of a block, by the format
	minMatch     = 8         // shorter ones cost more than their literals
	maxSource    = 1 << 30   // bytes of content of a frame
	minSource    = 64        // below this a frame is one raw block
	headerSize   = 3         // of a block
	blockRaw     = 0
	blockPacked  = 2
	singleFrame  = 1 << 5 // the window is the content: no window descriptor
	contentSize4 = 2 << 6 // four bytes tell the size of the content
)

// Encoder keeps the memory of one encoder. It is not safe for concurrent use.
type Encoder struct {
	huff huff0.Scratch
	lits []byte
	seqs []sequence
	lens [2]lengthCoder // of literals, of matches
}

// sequence is a run of literals and the match after it.
type sequence struct {
	lit, match uint32 // lengths
}

// MaxSource is the most bytes that one frame may hold.
const MaxSource = maxSource

// AppendFrame appends src as one zstd frame to dst. Rows are expected to be
// like those stride bytes before them; any stride is right, a fitting one is
// short. src may have up to MaxSource bytes, more panic.
func (e *Encoder) AppendFrame(dst, src []byte, stride int) []byte {
	if len(src) > maxSource {
		panic("rowzstd: source too long")
	}
	dst = binary.LittleEndian.AppendUint32(dst, frameMagic)
	dst = append(dst, contentSize4|singleFrame)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(src)))
	if len(src) < minSource {
		return appendRaw(dst, src, true)
	}
	if stride < 1 || stride > len(src) {
		stride = len(src)
	}
	// The first byte has nothing before it; its literal precedes the first
	// match in any case.
	at := 0
	for at < stride {
		end := min(at+blockMax, stride)
		dst, _ = e.block(dst, src, at, end, 1, true)
		at = end
	}
	known := stride == 1
	for at < len(src) {
		end := min(at+blockMax, len(src))
		dst, end = e.block(dst, src, at, end, stride, known)
		known = known || len(e.seqs) > 0
		at = end
	}
	return dst
}

// block appends the block src[at:end], matched at the distance. If the decoder
// does not know the distance yet, the block ends with the first match, which
// tells it. It returns where the block ended.
func (e *Encoder) block(dst, src []byte, at, end, distance int, known bool) ([]byte, int) {
	end = e.find(src, at, end, distance, known)
	last := end == len(src)
	start := len(dst)
	dst = append(dst, 0, 0, 0)
	dst = e.appendLiterals(dst)
	if known {
		dst = e.appendSequences(dst)
	} else {
		dst = e.appendFirst(dst, distance)
	}
	size := len(dst) - start - headerSize
	if size >= end-at {
		// The decoder has not seen the sequences.
		e.seqs = e.seqs[:0]
		return appendRaw(dst[:start], src[at:end], last), end
	}
	putHeader(dst[start:], size, blockPacked, last)
	return dst, end
}

func putHeader(b []byte, size, kind int, last bool) {
	h := size<<3 | kind<<1
	if last {
		h |= 1
	}
	b[0], b[1], b[2] = byte(h), byte(h>>8), byte(h>>16)
}

// appendRaw appends a block that is not compressed.
func appendRaw(dst, src []byte, last bool) []byte {
	n := len(dst)
	dst = append(dst, 0, 0, 0)
	putHeader(dst[n:], len(src), blockRaw, last)
	return append(dst, src...)
}

// find splits src[at:end] into literals and matches at the distance. With one
// it stops after the first match. Every match has a literal before it, as a
// repeated offset means another one without.
func (e *Encoder) find(src []byte, at, end, distance int, many bool) int {
	lits, seqs := e.lits[:0], e.seqs[:0]
	from := at // first byte not yet told of
	for i := max(at+1, distance); i+minMatch <= end; {
		if d := load(src, i) ^ load(src, i-distance); d != 0 {
			i += (bits.Len64(d) + 7) / 8 // behind the last byte that differs
			continue
		}
		n := minMatch + matching(src, i+minMatch, end, distance)
		lits = append(lits, src[from:i]...)
		seqs = append(seqs, sequence{uint32(i - from), uint32(n)})
		from = i + n
		if !many {
			end = from
			break
		}
		i = from + 1 // this byte differs
	}
	e.lits, e.seqs = append(lits, src[from:end]...), seqs
	return end
}

func load(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }

// matching is the number of bytes from i on, before end, that are equal to
// those distance before.
func matching(src []byte, i, end, distance int) int {
	a, b := src[i:end], src[i-distance:end-distance]
	n := 0
	for ; len(a) >= 32 && len(b) >= 32; a, b = a[32:], b[32:] {
		d := (load(a, 0) ^ load(b, 0)) | (load(a, 8) ^ load(b, 8)) | (load(a, 16) ^ load(b, 16)) | (load(a, 24) ^ load(b, 24))
		if d != 0 {
			break
		}
		n += 32
	}
	for ; len(a) >= 8 && len(b) >= 8; a, b = a[8:], b[8:] {
		if d := load(a, 0) ^ load(b, 0); d != 0 {
			return n + bits.TrailingZeros64(d)/8
		}
		n += 8
	}
	for k := range a {
		if a[k] != b[k] {
			return n + k
		}
	}
	return n + len(a)
}

// appendLiterals appends the literals section.
func (e *Encoder) appendLiterals(dst []byte) []byte {
	const raw, rle, packed = 0, 1, 2
	n := len(e.lits)
	if n < 64 {
		return append(appendLiteralsHeader(dst, raw, n), e.lits...)
	}
	compress, format := huff0.Compress4X, 1
	if n < 1024 {
		compress, format = huff0.Compress1X, 0
	}
	e.huff.Reuse = huff0.ReusePolicyNone
	out, _, err := compress(e.lits, &e.huff)
	switch {
	case err == huff0.ErrUseRLE:
		return append(appendLiteralsHeader(dst, rle, n), e.lits[0])
	case err != nil || len(out)+5 >= n: // not compressible
		return append(appendLiteralsHeader(dst, raw, n), e.lits...)
	}
	size := max(n, len(out))
	width := 10
	switch {
	case size >= 1<<14:
		width, format = 18, 3
	case size >= 1<<10:
		width, format = 14, 2
	}
	h := uint64(packed) | uint64(format)<<2 | uint64(n)<<4 | uint64(len(out))<<(4+width)
	for range (4 + 2*width) / 8 {
		dst = append(dst, byte(h))
		h >>= 8
	}
	return append(dst, out...)
}

// appendLiteralsHeader appends the header of literals that are raw or all the
// same.
func appendLiteralsHeader(dst []byte, kind, n int) []byte {
	switch {
	case n < 1<<5:
		return append(dst, byte(kind|n<<3))
	case n < 1<<12:
		return append(dst, byte(kind|1<<2|n<<4), byte(n>>4))
	}
	return append(dst, byte(kind|3<<2|n<<4), byte(n>>4), byte(n>>12))
}
