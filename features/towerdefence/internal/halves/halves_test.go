package halves

import (
	"os"
	"testing"

	"moonfarm/sim/prng"
)

// random fills the words of a half, each with about the share 2^-thin of its bits.
func random(r *prng.Rand, thin int) (w Words) {
	fill := func(boards []uint64) {
		for i := range boards {
			boards[i] = r.Uint64()
			for range thin {
				boards[i] &= r.Uint64()
			}
			if r.IntN(4) == 0 {
				boards[i] = 0
			}
		}
	}
	for _, boards := range [][]uint64{
		w.Defense[:], w.Attack[:], w.Energy[:], w.Tesla[:], w.Building[:], w.Hits[:], w.Idle[:], w.Owner[:], w.Visitor[:],
	} {
		fill(boards)
	}
	return w
}

// plain writes the planes cell by cell.
func plain(dst *Planes, own, enemy *Words) {
	number := func(boards []uint64, cell int) (n uint8) {
		for i, b := range boards {
			n |= uint8(b>>cell&1) << i
		}
		return n
	}
	for i, of := range []struct{ own, enemy []uint64 }{
		Defense: {own.Defense[:], enemy.Defense[:]}, Attack: {own.Attack[:], enemy.Attack[:]},
		Energy: {own.Energy[:], enemy.Energy[:]}, Tesla: {own.Tesla[:], enemy.Tesla[:]},
		Building: {own.Building[:], enemy.Building[:]}, Hits: {own.Hits[:], enemy.Hits[:]}, Idle: {own.Idle[:], enemy.Idle[:]},
		Own: {own.Owner[:], enemy.Visitor[:]}, Enemy: {own.Visitor[:], enemy.Owner[:]},
	} {
		for cell := range 64 {
			x, y := cell%8, cell/8
			dst[i*Bytes+y*width+x] = number(of.own, cell)
			dst[i*Bytes+y*width+width-1-x] = number(of.enemy, cell)
		}
	}
}

// check compares all ways to write planes, in memory that is not clean.
func check(t *testing.T, a, b *Words) {
	t.Helper()
	var want, got [2]Planes
	plain(&want[0], a, b)
	plain(&want[1], b, a)
	paths(func(name string) {
		for i := range got {
			for k := range got[i] {
				got[i][k] = 0xaa
			}
		}
		Both(&got[0], &got[1], a, b)
		same(t, name, &got, &want)
		clear(got[0][:])
		One(&got[0], a, b)
		same(t, name+" of one viewer", &got, &want)
	})
}

func same(t *testing.T, what string, got, want *[2]Planes) {
	t.Helper()
	for i := range got {
		if got[i] == want[i] {
			continue
		}
		for k := range got[i] {
			if got[i][k] != want[i][k] {
				t.Fatalf("%s: viewer %d, plane %d, cell %d: %d, want %d", what, i, k/Bytes, k%Bytes, got[i][k], want[i][k])
			}
		}
	}
}

// TestPlanes compares the planes of random words with those written cell by cell.
func TestPlanes(t *testing.T) {
	r := prng.New(1)
	n := 20_000
	if os.Getenv("MOONFARM_LONG") != "" {
		n = 1_000_000
	}
	for i := range n {
		a, b := random(&r, i%5), random(&r, i/5%5)
		check(t, &a, &b)
	}
}

// FuzzPlanes does the same for words of the fuzzer's choice.
func FuzzPlanes(f *testing.F) {
	f.Add(uint64(1), uint64(2), uint64(3), uint64(4))
	f.Fuzz(func(t *testing.T, x, y, z, u uint64) {
		a := Words{Number1{x}, Number1{y}, Number1{z}, Number1{u}, Number2{x ^ y, z}, Number3{u, x, y &^ z}, Number2{y, u}, Number3{x, z, u}, Number3{z, y, x}}
		b := Words{Number1{u}, Number1{z}, Number1{y}, Number1{x}, Number2{x, u}, Number3{z, u ^ x, y}, Number2{z, x}, Number3{y, x, z}, Number3{u, x, z}}
		check(t, &a, &b)
	})
}

// TestBounds: nothing is written before and behind the planes.
func TestBounds(t *testing.T) {
	r := prng.New(2)
	a, b := random(&r, 0), random(&r, 0)
	var slab [4 * Count * Bytes]uint8
	for i := range slab {
		slab[i] = 0xaa
	}
	const from = Count*Bytes - 1 // not aligned
	paths(func(name string) {
		Both((*Planes)(slab[from:]), (*Planes)(slab[from+Count*Bytes:]), &a, &b)
		One((*Planes)(slab[from:]), &a, &b)
		for i, v := range slab {
			if inside := i >= from && i < from+2*Count*Bytes; !inside && v != 0xaa {
				t.Fatalf("%s: byte %d is overwritten", name, i)
			}
		}
	})
}

func BenchmarkPlanes(b *testing.B) {
	r := prng.New(3)
	var own, enemy [64]Words
	for i := range own {
		own[i], enemy[i] = random(&r, 3), random(&r, 3)
	}
	var dst [64][2]Planes
	paths(func(name string) {
		b.Run(name, func(b *testing.B) {
			i := 0
			for b.Loop() {
				Both(&dst[i%64][0], &dst[i%64][1], &own[i%64], &enemy[i%64])
				i++
			}
			sum := 0
			for _, both := range dst {
				for _, planes := range both {
					for _, v := range planes {
						sum = sum*31 + int(v)
					}
				}
			}
			b.Logf("two viewers, checksum %016x", uint64(sum))
		})
	})
}
