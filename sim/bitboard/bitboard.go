// Package bitboard has sets of cells as uint64 words, in which bit i is the cell
// with index i: operations on single words, Diamond with Field and Gather for
// the board of Terminal, and Square for the map of CodeCraft. Each operation has
// a plain twin in its test.
//
// For amd64 fields, floods, growth and Gather are written in assembly, which gen
// generates (assembly_amd64.s). Other processors, and builds with the tag
// purego, run the portable functions, to which tests compare the assembly.
package bitboard

import "math/bits"

// Select returns the index of the n-th set bit of x, counted from 0. n must be
// below the number of bits set.
//
// The sums of the bytes' counts come from one multiplication (Vigna:
// "Broadword implementation of rank/select queries", 2008); a table finds the
// bit in its byte.
func Select(x uint64, n int) int {
	const ones = 0x0101010101010101
	c := RowCounts(x)
	sums := c * ones // byte i: bits set in bytes 0 … i
	// bit 7 of byte i is set if sums[i] ≤ n: then the wanted bit is in a later byte
	before := ((uint64(n)*ones | 0x80*ones) - sums) & (0x80 * ones)
	at := bits.OnesCount64(before) * 8
	n -= int(sums << 8 >> at & 0xff)
	return at + int(selectByte[x>>at&0xff][n&7])
}

// selectByte[b][n] is the index of the n-th set bit of b.
var selectByte = func() (t [256][8]uint8) {
	for b := range t {
		n := 0
		for i := range 8 {
			if b>>i&1 != 0 {
				t[b][n] = uint8(i)
				n++
			}
		}
	}
	return t
}()

// spread[b] is the byte string of the bits of b: byte i is bit i.
var spread = func() (t [256]uint64) {
	for b := range t {
		for i := range 8 {
			t[b] |= uint64(b>>i&1) << (8 * i)
		}
	}
	return t
}()

// Spread returns the eight bits of b as eight bytes 0 or 1: byte i, counted
// from the lowest, is bit i.
func Spread(b uint8) uint64 { return spread[b] }

// RowCounts returns the number of bits in each row of eight: byte y of the
// result is the count of row y.
func RowCounts(x uint64) uint64 {
	const ones = 0x0101010101010101
	x -= x >> 1 & (0x55 * ones)
	x = x&(0x33*ones) + x>>2&(0x33*ones)
	return (x + x>>4) & (0x0f * ones)
}
