package rowzstd

import "math/bits"

// differences are bits of the bytes in which two sources differ: bit k%64 of word k/64 for
// byte k. All bits behind the last byte are set.
type differences struct {
	n     int // bytes
	words [blockMax/64 + 2]uint64
}

// compare sets the differences of two sources of the same length, at most blockMax. It returns
// false on a machine without the instructions.
func (d *differences) compare(a, b []byte) bool {
	whole := len(a) &^ 63
	if whole > 0 && !differ(d.words[:whole/64], a[:whole], b[:whole]) {
		return false
	}
	w := ^uint64(0)
	for k := len(a) - 1; k >= whole; k-- {
		w <<= 1
		if a[k] != b[k] {
			w |= 1
		}
	}
	d.n, d.words[whole/64], d.words[whole/64+1] = len(a), w, ^uint64(0)
	return true
}

// run returns the first run of at least minMatch equal bytes from byte i on, and its end; both
// are the end of the source if there is none.
func (d *differences) run(i int) (from, to int) {
	for i+minMatch <= d.n {
		w := d.words[i>>6]>>(i&63) | d.words[i>>6+1]<<(64-i&63) // the next 64 bytes
		// Bit k of same is set if the bits k … k+7 of w are not.
		same := ^w
		same &= same >> 1
		same &= same >> 2
		same &= same >> 4
		if same == 0 {
			i += 64 - minMatch + 1
			continue
		}
		k := bits.TrailingZeros64(same)
		if w >>= k; w != 0 {
			return i + k, i + k + bits.TrailingZeros64(w)
		}
		at := i + 64 // the first byte that w does not have
		j := at >> 6
		w = d.words[j] >> (at & 63) << (at & 63)
		for w == 0 {
			j++
			w = d.words[j]
		}
		return i + k, j<<6 + bits.TrailingZeros64(w)
	}
	return d.n, d.n
}
