package rowzstd

import (
	"bytes"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

func decode(t testing.TB, frame []byte) []byte {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	require.NoError(t, err)
	defer d.Close()
	got, err := d.DecodeAll(frame, nil)
	require.NoError(t, err)
	return got
}

func TestRoundTrip(t *testing.T) {
	var e Encoder
	for _, n := range []int{0, 1, 2, 63, 64, 65, 1000, 5000, 130000, 131072, 131073, 400000} {
		for _, changes := range []int{0, 1, 100, 2000, 10000} {
			for _, stride := range []int{0, 1, 7, 8, 64, 2560, 140000, 1 << 20} {
				for _, values := range []int{2, 256} {
					src := noise(uint64(n), n, max(stride, 1), changes, values)
					frame := e.AppendFrame([]byte("x"), src, stride)
					require.Equal(t, byte('x'), frame[0])
					got := decode(t, frame[1:])
					require.True(t, bytes.Equal(src, got), "%d bytes, changes %d, stride %d, values %d", n, changes, stride, values)
				}
			}
		}
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
