package rowzstd

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/sim/prng"
)

// observations returns rows of two seats by turns. Each row has planes of 8 × 16 cells:
// buildings that stay, missiles that move by one cell a turn and become more, and
// planes in which all cells are equal.
func observations(seed uint64, rows, planes int) []byte {
	const height, width = 8, 16
	const size = height * width
	r := prng.New(seed)
	b := make([]byte, rows*planes*size)
	for k := range rows {
		row := b[k*planes*size:][:planes*size]
		if k >= 2 {
			copy(row, b[(k-2)*planes*size:])
		}
		for p := range planes {
			cells := row[p*size:][:size]
			switch p % 3 {
			case 0: // buildings
				if r.IntN(8) == 0 {
					cells[r.IntN(size)] = byte(r.IntN(4))
				}
			case 1: // missiles
				copy(cells[1:], cells)
				cells[0] = 0
				for y := range height {
					cells[y*width] = byte(r.IntN(24) / 23)
				}
			case 2: // a number that changes seldom
				if r.IntN(6) == 0 {
					v := byte(r.IntN(100))
					for i := range cells {
						cells[i] = v
					}
				}
			}
		}
	}
	return b
}

// noise returns n bytes. Each is equal to the byte stride bytes before it, or with a
// chance of changes in 10,000 a random byte below values.
func noise(seed uint64, n, stride, changes, values int) []byte {
	r := prng.New(seed)
	b := make([]byte, n)
	for i := range b {
		if i >= stride {
			b[i] = b[i-stride]
		}
		if r.IntN(10000) < changes {
			b[i] = byte(r.IntN(values))
		}
	}
	return b
}

// goldenFrames holds the bytes and the beginning of the SHA-256 of the frames.
var goldenFrames = map[string]string{
	"observations of 1 planes":  "30211 7f7c579e31464450",
	"observations of 9 planes":  "790118 bdb8c1b08e1612b2",
	"observations of 40 planes": "3541043 74ac8948e1e1e2e9",
	"noise of 0 bytes":          "1080 8f9e4ff4e5173ee8",
	"noise of 63 bytes":         "6750 d4441ee8dd72fcfb",
	"noise of 64 bytes":         "3542 ee2b5bfb86de3cf2",
	"noise of 65 bytes":         "3682 227a112b8425a9a8",
	"noise of 1000 bytes":       "18830 9f10bb4880ebf6c1",
	"noise of 5000 bytes":       "83903 c90bcbe2e8f7422a",
	"noise of 131072 bytes":     "2132055 202d5d6a882a0e8e",
	"noise of 131073 bytes":     "2136198 713d2343b91d46a0",
	"noise of 400000 bytes":     "6555817 0731a4441e347e6e",
}

// goldenSum returns the number of bytes and the beginning of their SHA-256.
func goldenSum(frames []byte) string {
	s := sha256.Sum256(frames)
	return fmt.Sprintf("%d %x", len(frames), s[:8])
}

// TestGoldenFrames: the same source always has the same frame, because datasets are
// compared byte for byte.
func TestGoldenFrames(t *testing.T) {
	var e Encoder
	got := map[string]string{}
	for _, planes := range []int{1, 9, 40} {
		src := observations(uint64(planes), 900, planes)
		var frames []byte
		for _, stride := range []int{2, 1, 3} { // in rows
			frames = e.AppendFrame(frames, src, stride*planes*128)
		}
		got[fmt.Sprint("observations of ", planes, " planes")] = goldenSum(frames)
	}
	for _, n := range []int{0, 63, 64, 65, 1000, 5000, 131072, 131073, 400000} {
		var frames []byte
		for _, changes := range []int{0, 1, 100, 2000, 10000} {
			for _, stride := range []int{0, 1, 7, 64, 2560, 140000} {
				for _, values := range []int{2, 20, 256} {
					src := noise(uint64(n+stride+values), n, max(stride, 1), changes, values)
					frames = e.AppendFrame(frames, src, stride)
				}
			}
		}
		got[fmt.Sprint("noise of ", n, " bytes")] = goldenSum(frames)
	}
	require.Equal(t, goldenFrames, got)
}
