// Package halves writes planes of boards of Tower Defence from words. The words of a half
// are boards in the coordinates of its owner; in the planes a viewer sees the own half on
// the left and the enemy's half, mirrored, on the right.
//
// The assembly for AVX-512 expands a word into 64 bytes by a masked move, and interleaves the
// rows of two halves. Both viewers need the same bytes, so their planes are written together.
// For AVX2 it compares the bits of a row with a mask. gen generates it; plain Go is the
// fallback. Planes of both viewers take 18 ns, 50 ns and 190 ns (BenchmarkPlanes, Zen 5).
package halves

import (
	"encoding/binary"
	"math/bits"

	"moonfarm/sim/bitboard"
)

// The planes. The last two change places for the other viewer: own and enemy's missiles.
const (
	Defense = iota
	Attack
	Energy
	Tesla
	Building
	Hits
	Idle
	Own
	Enemy
	Count
)

// Sizes of a plane: rows of 8 cells of each half, one byte a cell.
const (
	height = 8
	width  = 16
	Bytes  = height * width // of a plane
)

// Planes are all planes of a viewer.
type Planes = [Count * Bytes]uint8

// Number is a number for each cell of a half, in up to three boards with bit y*8+x for each
// cell, x = 0 at the owner's base. Board i has bit i of the numbers.
type (
	Number1 = [1]uint64
	Number2 = [2]uint64
	Number3 = [3]uint64
)

// Words has the numbers of a half: buildings, and the missiles of the owner of the half and of
// the other player, its visitor. The assembly depends on the order of the words.
type Words struct {
	Defense, Attack, Energy, Tesla Number1
	Building                       Number2
	Hits                           Number3
	Idle                           Number2
	Owner, Visitor                 Number3
}

// Both writes the planes of the viewer who owns half a to first, and of the owner of half b to
// second.
func Both(first, second *Planes, a, b *Words) {
	if !assembled(first, second, a, b) {
		portable(first, a, b)
		portable(second, b, a)
	}
}

// One writes the planes of the viewer who owns half a.
func One(dst *Planes, a, b *Words) {
	if !assembled(dst, nil, a, b) {
		portable(dst, a, b)
	}
}

// portable is One in plain Go.
func portable(dst *Planes, own, enemy *Words) {
	flags(plane(dst, Defense), own.Defense[0], enemy.Defense[0])
	flags(plane(dst, Attack), own.Attack[0], enemy.Attack[0])
	flags(plane(dst, Energy), own.Energy[0], enemy.Energy[0])
	flags(plane(dst, Tesla), own.Tesla[0], enemy.Tesla[0])
	pairs(plane(dst, Building), &own.Building, &enemy.Building)
	triples(plane(dst, Hits), &own.Hits, &enemy.Hits)
	pairs(plane(dst, Idle), &own.Idle, &enemy.Idle)
	triples(plane(dst, Own), &own.Owner, &enemy.Visitor)
	triples(plane(dst, Enemy), &own.Visitor, &enemy.Owner)
}

// plane returns plane i.
func plane(dst *Planes, i int) *[Bytes]uint8 { return (*[Bytes]uint8)(dst[i*Bytes : (i+1)*Bytes]) }

// The writers of planes go row by row: eight bytes of the own half, then eight of the
// enemy's half, mirrored, so that the two fronts touch. Unrolled loops halve the time. Most
// planes of most positions are sparse: an empty plane is only cleared, and the empty boards of
// numbers are left out.

// put writes row y. With constant y it compiles to four instructions.
func put(dst *[Bytes]uint8, y int, own, enemy uint64) {
	binary.LittleEndian.PutUint64(dst[y*width:y*width+8], own)
	binary.LittleEndian.PutUint64(dst[y*width+8:y*width+16], bits.ReverseBytes64(enemy))
}

// flags writes 1 where a bit is set.
func flags(dst *[Bytes]uint8, own, enemy uint64) {
	if own|enemy == 0 {
		clear(dst[:])
		return
	}
	put(dst, 0, bitboard.Spread(uint8(own>>0)), bitboard.Spread(uint8(enemy>>0)))
	put(dst, 1, bitboard.Spread(uint8(own>>8)), bitboard.Spread(uint8(enemy>>8)))
	put(dst, 2, bitboard.Spread(uint8(own>>16)), bitboard.Spread(uint8(enemy>>16)))
	put(dst, 3, bitboard.Spread(uint8(own>>24)), bitboard.Spread(uint8(enemy>>24)))
	put(dst, 4, bitboard.Spread(uint8(own>>32)), bitboard.Spread(uint8(enemy>>32)))
	put(dst, 5, bitboard.Spread(uint8(own>>40)), bitboard.Spread(uint8(enemy>>40)))
	put(dst, 6, bitboard.Spread(uint8(own>>48)), bitboard.Spread(uint8(enemy>>48)))
	put(dst, 7, bitboard.Spread(uint8(own>>56)), bitboard.Spread(uint8(enemy>>56)))
}

// pair returns the numbers of the eight cells from bit n on as bytes.
func pair(b *Number2, n int) uint64 {
	return bitboard.Spread(uint8(b[0]>>n)) + 2*bitboard.Spread(uint8(b[1]>>n))
}

// pairs writes numbers of two bits.
func pairs(dst *[Bytes]uint8, own, enemy *Number2) {
	if own[1]|enemy[1] == 0 {
		flags(dst, own[0], enemy[0])
		return
	}
	put(dst, 0, pair(own, 0), pair(enemy, 0))
	put(dst, 1, pair(own, 8), pair(enemy, 8))
	put(dst, 2, pair(own, 16), pair(enemy, 16))
	put(dst, 3, pair(own, 24), pair(enemy, 24))
	put(dst, 4, pair(own, 32), pair(enemy, 32))
	put(dst, 5, pair(own, 40), pair(enemy, 40))
	put(dst, 6, pair(own, 48), pair(enemy, 48))
	put(dst, 7, pair(own, 56), pair(enemy, 56))
}

// triple returns the numbers of the eight cells from bit n on as bytes.
func triple(b *Number3, n int) uint64 {
	return bitboard.Spread(uint8(b[0]>>n)) + 2*bitboard.Spread(uint8(b[1]>>n)) + 4*bitboard.Spread(uint8(b[2]>>n))
}

// triples writes numbers of three bits.
func triples(dst *[Bytes]uint8, own, enemy *Number3) {
	if own[2]|enemy[2] == 0 {
		pairs(dst, (*Number2)(own[:]), (*Number2)(enemy[:]))
		return
	}
	put(dst, 0, triple(own, 0), triple(enemy, 0))
	put(dst, 1, triple(own, 8), triple(enemy, 8))
	put(dst, 2, triple(own, 16), triple(enemy, 16))
	put(dst, 3, triple(own, 24), triple(enemy, 24))
	put(dst, 4, triple(own, 32), triple(enemy, 32))
	put(dst, 5, triple(own, 40), triple(enemy, 40))
	put(dst, 6, triple(own, 48), triple(enemy, 48))
	put(dst, 7, triple(own, 56), triple(enemy, 56))
}
