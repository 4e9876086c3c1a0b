package bitboard

import (
	"bytes"
	"encoding/binary"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/sim/prng"
)

// TestFieldAssembly compares Fill with its portable twin: whole sides, single cells and any cells as
// goals, on empty boards, mazes and almost full boards, with all cells or a few as the wanted ones.
// With MOONFARM_LONG=1 it fills a million fields.
func TestFieldAssembly(t *testing.T) {
	if !has512 {
		t.Skip("no assembly on this machine")
	}
	fields := 30_000
	if os.Getenv("MOONFARM_LONG") == "1" {
		fields = 1_000_000
	}
	random := prng.New(9)
	var free Diamond
	for i := range fields {
		if i%8 == 0 {
			free = randomFree(&random, random.IntN(70))
		}
		goals, goal := edge(i % 4)
		switch i % 3 {
		case 0:
			goals = Diamond{}
			goals.Add(random.IntN(DiamondSpan))
			goal = random.IntN(2)
		case 1:
			goals = randomFree(&random, 90)
		}
		wanted := Everywhere
		if i%5 < 3 {
			wanted = Diamond{}
			for range i % 4 {
				wanted.Add(random.IntN(DiamondSpan))
			}
		}
		requireTwinFields(t, &free, &goals, goal, &wanted)
	}
}

// requireTwinFields fills a field by both functions.
func requireTwinFields(t *testing.T, free, goals *Diamond, goal int, wanted *Diamond) {
	t.Helper()
	fast, twin := Field{Step: [2]Diamond{*wanted, *goals}}, Field{} // what was in a field before has no effect
	fast.Fill(free, goals, goal, wanted)
	twin.fillPortable(free, goals, goal, wanted)
	require.Equalf(t, twin, fast, "free %x, goals %x of colour %d, wanted %x", *free, *goals, goal, *wanted)
}

// FuzzField compares Fill with its portable twin.
func FuzzField(f *testing.F) {
	f.Add(make([]byte, 192), false)
	f.Add(bytes.Repeat([]byte{255}, 192), true)
	f.Fuzz(func(t *testing.T, data []byte, other bool) {
		var boards [3]Diamond
		data = append(data, make([]byte, 192)...)
		for i := range boards {
			for w := range boards[i] {
				boards[i][w] = binary.LittleEndian.Uint64(data[64*i+8*w:])
			}
		}
		boards[0].And(&DiamondBoard) // other bits are never free
		goal := 0
		if other {
			goal = 1
		}
		requireTwinFields(t, &boards[0], &boards[1], goal, &boards[2])
	})
}
