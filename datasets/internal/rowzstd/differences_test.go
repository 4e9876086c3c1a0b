package rowzstd

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/sim/prng"
)

// plainRun does the same as run, byte by byte.
func plainRun(a, b []byte, i int) (from, to int) {
	for from = i; from < len(a); from++ {
		to = from
		for to < len(a) && a[to] == b[to] {
			to++
		}
		if to-from >= minMatch {
			return from, to
		}
	}
	return len(a), len(a)
}

// checkRuns compares all runs of two sources that every path finds.
func checkRuns(t *testing.T, d *differences, a, b []byte) {
	t.Helper()
	paths(func(name string) {
		fast := d.compare(a, b)
		if fast == (name == "portable" && len(a) >= 64) {
			t.Fatalf("%s: compare returns %t for %d bytes", name, fast, len(a))
		}
		for i := 0; i < len(a); {
			from, to := plainRun(a, b, i)
			x, y := run(a, b, i)
			if fast {
				x, y = d.run(i)
			}
			if x != from || y != to {
				t.Fatalf("%s: %d bytes, from %d on: %d … %d, want %d … %d", name, len(a), i, x, y, from, to)
			}
			i = to + 1
		}
	})
}

// TestRuns compares the runs of equal bytes in random sources, from rare to frequent
// differences.
func TestRuns(t *testing.T) {
	r := prng.New(1)
	var d differences
	n := 20_000
	if os.Getenv("MOONFARM_LONG") != "" {
		n = 1_000_000
	}
	slab := make([]byte, 2000)
	for range n {
		size, shift := r.IntN(600), r.IntN(70)
		a, b := slab[shift:shift+size], slab[1000:1000+size]
		chance := 1 + r.IntN(60)
		for k := range a {
			a[k], b[k] = 1, 1
			if r.IntN(chance) == 0 {
				b[k] = 2
			}
		}
		checkRuns(t, &d, a, b)
	}
	long := make([]byte, 2*blockMax)
	for _, size := range []int{blockMax - 64, blockMax - 63, blockMax - 1, blockMax} {
		for _, at := range []int{-1, 0, 7, 8, 63, 64, blockMax - 65, size - 9, size - 8, size - 1} {
			clear(long)
			if at >= 0 {
				long[at] = 1
			}
			checkRuns(t, &d, long[:size], long[blockMax:blockMax+size])
		}
	}
}

// FuzzRuns does the same for sources of the fuzzer.
func FuzzRuns(f *testing.F) {
	f.Add(make([]byte, 300))
	f.Add([]byte("a source of which the second half is much like a source of which the second half is much"))
	f.Fuzz(func(t *testing.T, src []byte) {
		half := min(len(src)/2, blockMax)
		checkRuns(t, new(differences), src[:half], src[half:2*half])
	})
}

// TestPaths: frames do not depend on the path.
func TestPaths(t *testing.T) {
	var e Encoder
	r := prng.New(2)
	for i := range 60 {
		stride := 1 + r.IntN(5000)
		src := noise(r.Uint64(), r.IntN(300000), stride, int(1e4*r.Float64()*r.Float64()*r.Float64()), 1+r.IntN(256))
		if i%4 == 0 {
			src = observations(r.Uint64(), 1+r.IntN(200), 9)
			stride = 2 * 9 * 128
		}
		var want []byte
		paths(func(name string) {
			frame := e.AppendFrame(nil, src, stride)
			if want == nil {
				want = frame
			}
			require.Equal(t, want, frame, "%s: %d bytes, stride %d", name, len(src), stride)
		})
	}
}
