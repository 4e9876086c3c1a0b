package rowzstd

import "math/bits"

const (
	maxSymbols  = 53
	maxTableLog = 8
	minTableLog = 5
)

// lengthCoder codes the lengths of one block with finite state entropy (RFC
// 8878, section 4.1; the encoder's side as in the reference implementation's
// fse_compress.c).
type lengthCoder struct {
	codes  []code
	counts [maxSymbols]uint32
	norm   [maxSymbols]uint16 // frequencies, summing to 1<<log
	log    uint8
	single bool // all symbols are the same: nothing is written
	state  uint32
	next   [1 << maxTableLog]uint16
	delta  [maxSymbols]transition
}

// transition of a symbol: bits to write and where the next states begin.
type transition struct {
	bits uint32 // biased: (state + bits) >> 16 bits are written
	find int32
}

func (c *lengthCoder) reset(n int) {
	if cap(c.codes) < n {
		c.codes = make([]code, 0, 2*n)
	}
	c.codes = c.codes[:0]
	clear(c.counts[:])
}

func (c *lengthCoder) add(x code) {
	c.codes = append(c.codes, x)
	c.counts[x.symbol]++
}

// appendTable builds the table for the counts, appends its description and
// returns its mode.
func (c *lengthCoder) appendTable(dst []byte) ([]byte, byte) {
	first := c.codes[0].symbol
	if c.single = int(c.counts[first]) == len(c.codes); c.single {
		return append(dst, first), modeRLE
	}
	c.normalize()
	c.build()
	return c.appendNorm(dst), modeFSE
}

// normalize scales the counts to the size of the table; who occurs gets at
// least 1, and the most frequent takes what rounding leaves.
func (c *lengthCoder) normalize() {
	total := uint32(len(c.codes))
	used, top := uint32(0), 0
	for s, n := range c.counts {
		if n > 0 {
			used++
		}
		if n > c.counts[top] {
			top = s
		}
	}
	c.log = uint8(min(max(bits.Len32(total)-2, bits.Len32(used)+1, minTableLog), maxTableLog))
	size := uint32(1) << c.log
	left := int32(size)
	for s, n := range c.counts {
		v := uint32(0)
		if n > 0 {
			v = max(uint32(uint64(n)*uint64(size)/uint64(total)), 1)
		}
		c.norm[s] = uint16(v)
		left -= int32(v)
	}
	for left < 0 && int32(c.norm[top])+left < 1 {
		// So many rare symbols that the top one cannot pay for them all:
		// take from all that can give.
		for s := range c.norm {
			if c.norm[s] > 1 && left < 0 {
				c.norm[s]--
				left++
			}
		}
	}
	c.norm[top] = uint16(int32(c.norm[top]) + left)
}

// build fills the state table from the frequencies.
func (c *lengthCoder) build() {
	size := uint32(1) << c.log
	var symbol [1 << maxTableLog]uint8
	var cumul [maxSymbols]uint32
	step, mask := size>>1+size>>3+3, size-1
	pos, sum := uint32(0), uint32(0)
	for s, n := range c.norm {
		cumul[s] = sum
		sum += uint32(n)
		for range n {
			symbol[pos] = uint8(s)
			pos = (pos + step) & mask
		}
	}
	for i, s := range symbol[:size] {
		c.next[cumul[s]] = uint16(size + uint32(i))
		cumul[s]++
	}
	total := int32(0)
	for s, n := range c.norm {
		switch n {
		case 0:
		case 1:
			c.delta[s] = transition{uint32(c.log)<<16 - size, total - 1}
			total++
		default:
			out := uint32(c.log) - uint32(bits.Len16(n-1)-1)
			c.delta[s] = transition{out<<16 - uint32(n)<<out, total - int32(n)}
			total += int32(n)
		}
	}
}

// appendNorm appends the description of the frequencies.
func (c *lengthCoder) appendNorm(dst []byte) []byte {
	w := bitWriter{dst: reserve(dst, 2*maxSymbols)}
	w.add(uint64(c.log-5), 4)
	remaining, threshold, width := int(1)<<c.log+1, int(1)<<c.log, c.log+1
	zero := false // the symbol before has frequency 0
	for s := 0; remaining > 1; {
		if zero {
			from := s
			for c.norm[s] == 0 {
				s++
			}
			for ; s >= from+3; from += 3 {
				w.add(3, 2)
				w.flush()
			}
			w.add(uint64(s-from), 2)
		}
		n := int(c.norm[s])
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
		w.add(uint64(n), bits)
		w.flush()
		for remaining < threshold {
			width--
			threshold >>= 1
		}
	}
	w.flush()
	if w.n > 0 {
		return append(w.dst, byte(w.word))
	}
	return w.dst
}

// start sets the state for the last symbol, which is coded first.
func (c *lengthCoder) start(symbol uint8) {
	if c.single {
		return
	}
	t := c.delta[symbol]
	out := (t.bits + 1<<15) >> 16
	c.state = uint32(c.next[int32((out<<16-t.bits)>>out)+t.find])
}

// encode codes the symbol before.
func (c *lengthCoder) encode(w *bitWriter, symbol uint8) {
	if c.single {
		return
	}
	t := c.delta[symbol]
	out := uint8((c.state + t.bits) >> 16)
	w.add(uint64(c.state)&(1<<out-1), out)
	c.state = uint32(c.next[int32(c.state>>out)+t.find])
}

// end writes the state, with which the reader begins.
func (c *lengthCoder) end(w *bitWriter) {
	if c.single {
		return
	}
	w.add(uint64(c.state)&(1<<c.log-1), c.log)
	w.flush()
}
