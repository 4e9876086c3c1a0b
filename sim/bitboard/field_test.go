package bitboard

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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

// TestGenerated: the assembly equals the output of gen. The first run builds avo, which takes half
// a minute.
func TestGenerated(t *testing.T) {
	if os.Getenv("MOONFARM_LONG") == "" || runtime.GOARCH != "amd64" {
		t.Skip("set MOONFARM_LONG=1 on amd64 to generate the assembly again")
	}
	if out, err := exec.Command("go", "mod", "download", "-C", "gen").CombinedOutput(); err != nil {
		t.Skipf("avo cannot be had: %v: %.200s", err, out)
	}
	name := filepath.Join(t.TempDir(), "assembly_amd64.s")
	out, err := exec.Command("go", "run", "-C", "gen", ".", "-out", name).CombinedOutput()
	require.NoErrorf(t, err, "go run -C gen: %s", out)
	require.Equal(t, body(t, "assembly_amd64.s"), body(t, name), "run go generate")
}

// body returns a generated file without its first line, which has the command.
func body(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	_, rest, _ := bytes.Cut(text, []byte("\n"))
	return string(rest)
}
