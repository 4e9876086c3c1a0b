package rowzstd

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

// rows returns rows of a width that differ from those stride before in some
// bytes.
func rows(r *rand.Rand, n, width, stride int, changes float64, values int) []byte {
	b := make([]byte, n*width)
	for i := range b {
		if i >= stride {
			b[i] = b[i-stride]
		}
		if r.Float64() < changes {
			b[i] = byte(r.IntN(values))
		}
	}
	return b
}

func decode(t testing.TB, frame []byte) []byte {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	require.NoError(t, err)
	defer d.Close()
	got, err := d.DecodeAll(frame, nil)
	require.NoError(t, err)
	return got
}

func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var e Encoder
	for _, n := range []int{0, 1, 2, 63, 64, 65, 1000, 5000, 130000, 131072, 131073, 400000} {
		for _, changes := range []float64{0, 0.0001, 0.01, 0.2, 1} {
			for _, stride := range []int{0, 1, 7, 8, 64, 2560, 140000, 1 << 20} {
				for _, values := range []int{2, 256} {
					src := rows(r, n, 1, max(stride, 1), changes, values)
					frame := e.AppendFrame([]byte("x"), src, stride)
					require.Equal(t, byte('x'), frame[0])
					got := decode(t, frame[1:])
					require.True(t, bytes.Equal(src, got), "%d bytes, changes %g, stride %d, values %d", n, changes, stride, values)
				}
			}
		}
	}
}

// TestCommand decodes with the reference implementation, if it is there.
func TestCommand(t *testing.T) {
	zstdCommand, err := exec.LookPath("zstd")
	if err != nil {
		t.Skip("no zstd command")
	}
	r := rand.New(rand.NewPCG(5, 6))
	var e Encoder
	for i := range 40 {
		stride := 1 + r.IntN(5000)
		src := rows(r, r.IntN(600000), 1, stride, r.Float64()*r.Float64()*r.Float64(), 1+r.IntN(256))
		cmd := exec.Command(zstdCommand, "-dc")
		cmd.Stdin = bytes.NewReader(e.AppendFrame(nil, src, stride))
		got, err := cmd.Output()
		require.NoError(t, err, "%d", i)
		require.True(t, bytes.Equal(src, got), "%d", i)
	}
}

func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"), 3, 1)
	f.Add(make([]byte, 1000), 100, 300)
	f.Fuzz(func(t *testing.T, src []byte, stride, repeat int) {
		var e Encoder
		src = bytes.Repeat(src, min(max(repeat, 1), 1000000/(len(src)+1)+1))
		require.True(t, bytes.Equal(src, decode(t, e.AppendFrame(nil, src, stride))))
	})
}

func BenchmarkAppendFrame(b *testing.B) {
	for _, changes := range []float64{0.002, 0.01} {
		src := rows(rand.New(rand.NewPCG(1, 2)), 1600, 2560, 5120, changes, 3)
		b.Run(fmt.Sprintf("rows/%g", changes), func(b *testing.B) {
			var e Encoder
			var dst []byte
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				dst = e.AppendFrame(dst[:0], src, 5120)
			}
			b.ReportMetric(float64(len(dst))/1600, "B/row")
		})
		b.Run(fmt.Sprintf("klauspost/%g", changes), func(b *testing.B) {
			e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
			require.NoError(b, err)
			var dst []byte
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				dst = e.EncodeAll(src, dst[:0])
			}
			b.ReportMetric(float64(len(dst))/1600, "B/row")
		})
	}
}
