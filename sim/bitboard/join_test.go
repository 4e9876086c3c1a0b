package bitboard

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/sim/prng"
)

// TestJoin compares Join and its portable twin with sets made cell by cell. With MOONFARM_LONG=1 it compares
// the two a million times.
func TestJoin(t *testing.T) {
	random := prng.New(12)
	rounds := 2_000
	if os.Getenv("MOONFARM_LONG") == "1" {
		rounds = 1_000_000
	}
	table := make([]Diamond, 70)
	list := make([]uint16, 0, 8)
	for range rounds {
		for w := range table[0] {
			table[random.IntN(len(table))][w] = random.Uint64() & (1<<random.IntN(64) - 1)
		}
		list = list[:0]
		for range random.IntN(cap(list) + 1) {
			list = append(list, uint16(random.IntN(len(table))))
		}
		start := table[random.IntN(len(table))]
		got, twin := start, start
		got.Join(table, list)
		twin.joinPortable(table, list)
		require.Equal(t, twin, got)
		for cell := range DiamondSpan {
			want := start.Has(cell)
			for _, i := range list {
				want = want || table[i].Has(cell)
			}
			if want != got.Has(cell) {
				require.Equalf(t, want, got.Has(cell), "cell %d", cell)
			}
		}
	}
	var d Diamond
	d.Join(nil, nil)
	require.Equal(t, Diamond{}, d)
	require.Panics(t, func() { d.Join(table, []uint16{1, 70}) })
	require.Panics(t, func() { d.Join(nil, []uint16{0}) })
}

// FuzzJoin compares Join and its twin for any table of boards and any list.
func FuzzJoin(f *testing.F) {
	f.Add([]byte{1, 2, 3, 255}, []byte{0, 3, 3})
	f.Fuzz(func(t *testing.T, boards, entries []byte) {
		table := make([]Diamond, 1+len(boards)/8)
		for i, b := range boards {
			table[i/8][i%8] = uint64(b) * 0x0101010101010101 << (i % 5)
		}
		list := make([]uint16, len(entries))
		for i, e := range entries {
			list[i] = uint16(int(e) % len(table))
		}
		var got, twin Diamond
		got.Join(table, list)
		twin.joinPortable(table, list)
		require.Equal(t, twin, got)
	})
}
