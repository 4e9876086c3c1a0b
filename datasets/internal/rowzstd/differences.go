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

// fill sets the differences of two sources of the same length, at most blockMax, on any machine.
func (d *differences) fill(a, b []byte) {
	if d.compare(a, b) {
		return
	}
	const high, low = 0x8080808080808080, 0x7f7f7f7f7f7f7f7f
	b = b[:len(a)]
	k, w := 0, uint64(0)
	for ; k+8 <= len(a); k += 8 {
		x := load(a, k) ^ load(b, k)
		x = (x&low + low | x) & high >> 7 // 1 in the bytes that differ
		w |= x * 0x0102040810204080 >> 56 << (k & 63)
		if k&63 == 56 {
			d.words[k>>6], w = w, 0
		}
	}
	w |= ^uint64(0) << (k & 63)
	for ; k < len(a); k++ {
		if a[k] == b[k] {
			w &^= 1 << (k & 63)
		}
	}
	d.n, d.words[len(a)>>6], d.words[len(a)>>6+1] = len(a), w, ^uint64(0)
}

// count returns the number of bytes that differ.
func (d *differences) count() int {
	n := 0
	for _, w := range d.words[:d.n/64+1] {
		n += bits.OnesCount64(w)
	}
	return n - (64 - d.n%64) // the bits behind the last byte
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
