package policy

import (
	"encoding/binary"
	"math/bits"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/prng"
)

// plainRandom chooses as random does, head by head and without lists.
func plainRandom(heads []int, mask []uint64, seed uint64) (action []int32) {
	g, at := draws{Rand: prng.New(seed)}, 0
	for _, size := range heads {
		h := head{at / 64, at % 64, size}
		at += size
		if size > 64 {
			action = append(action, h.pick(mask, &g.Rand))
			continue
		}
		c := int32(-1)
		switch chunk := h.chunk(mask, 0); chunk {
		case 0:
		case 1:
			c = 0
		default:
			c = int32(bitboard.Select(chunk, g.below(bits.OnesCount64(chunk))))
		}
		action = append(action, c)
	}
	return action
}

// randomHeads are heads in runs of several kinds.
var randomHeads = [][]int{
	{64, 64, 64}, {32, 32, 32, 16, 16, 16, 16, 16}, {3, 4, 4, 5, 16, 16, 8, 8, 8, 64, 64}, {16, 48, 32, 32, 130, 62, 2, 2, 1, 1, 2}, {2, 2, 2, 2, 70, 64},
	append(slices.Repeat([]int{32}, 9), slices.Repeat([]int{16}, 21)...), append([]int{8}, slices.Repeat([]int{8, 8}, 20)...), slices.Repeat([]int{1, 2, 1, 1}, 70),
}

// randomOf returns random for some heads, and a Batch of 4 rows.
func randomOf(heads []int) (*random, *env.Batch) {
	var s env.Spec
	s.Info.Players, s.Info.MaxOrders = 1, 1
	s.Heads, s.MaskWords = heads, features.MaskWords(heads)
	p := newRandomIn(s)
	return p, env.NewBatch(s, 4, p.Wants())
}

// FuzzRandom does the same as TestRandomRuns with the masks of the fuzzer.
func FuzzRandom(f *testing.F) {
	f.Add([]byte{1, 0, 1, 0, 1, 0, 1, 0, 7}, uint64(1))
	f.Add([]byte{}, uint64(2))
	f.Fuzz(func(t *testing.T, bytes []byte, seed uint64) {
		heads := randomHeads[seed%uint64(len(randomHeads))]
		p, b := randomOf(heads)
		for i := range b.Mask {
			b.Mask[i] = 0x0001000100010001
			if 8*i+8 <= len(bytes) {
				b.Mask[i] = binary.LittleEndian.Uint64(bytes[8*i:])
			}
		}
		for row := range b.RowSeed {
			b.RowSeed[row] = seed + uint64(row)
		}
		p.Act(nil, b, []int32{0, 1, 2, 3})
		for row, seed := range b.RowSeed {
			require.Equal(t, plainRandom(heads, b.Mask[row*p.words:][:p.words], seed), b.Action[row*len(heads):][:len(heads)])
		}
	})
}

// TestRandomRuns compares the choices of random with those of plainRandom, with few and with many
// different sets of legal choices.
func TestRandomRuns(t *testing.T) {
	n := 20_000
	if os.Getenv("MOONFARM_LONG") != "" {
		n = 1_000_000
	}
	r := prng.New(1)
	for _, heads := range randomHeads {
		p, b := randomOf(heads)
		few := [3]uint64{r.Uint64(), r.Uint64(), 0x0001000100010001}
		few[1] &= r.Uint64() // a quarter of the bits
		for range n / 20 {
			for i := range b.Mask {
				if b.Mask[i] = r.Uint64(); r.IntN(4) > 0 {
					b.Mask[i] = few[r.IntN(3)]
				}
			}
			for row := range b.RowSeed {
				b.RowSeed[row] = r.Uint64()
			}
			p.Act(nil, b, []int32{0, 1, 2, 3})
			for row, seed := range b.RowSeed {
				mask := b.Mask[row*p.words:][:p.words]
				require.Equalf(t, plainRandom(heads, mask, seed), b.Action[row*len(heads):][:len(heads)], "heads %v, mask %x, seed %x", heads, mask, seed)
			}
		}
	}
}
