package network

import (
	bin "encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/network/internal/kernel"
)

// answers runs a card's rows, repeated to n, in batches of at most batch, and returns
// the bits of all outputs, row by row.
func (c *card) answers(m *Model, n, batch int) []uint32 {
	r, source := m.NewRunner(batch), m.NewRunner(n)
	c.fill(source, n)
	var bits []uint32
	for first := 0; first < n; first += batch {
		rows := min(batch, n-first)
		for i, v := range m.Inputs {
			if source.floats[i] != nil {
				copy(r.floats[i], source.floats[i][first*v.Len():(first+rows)*v.Len()])
			} else {
				copy(r.bytes[i], source.bytes[i][first*v.Len():(first+rows)*v.Len()])
			}
		}
		r.Run(rows)
		for row := range rows {
			for _, v := range m.Outputs {
				for _, x := range r.Output(v.Name)[row*v.Len() : (row+1)*v.Len()] {
					bits = append(bits, math.Float32bits(x))
				}
			}
		}
	}
	return bits
}

// allPaths calls f once for each arithmetic path of this machine.
func allPaths(t *testing.T, f func(path string)) {
	ran := 0
	for _, name := range []string{"avx512", "avx2", "neon", "portable"} {
		restore, err := kernel.Use(name)
		if err != nil {
			continue
		}
		f(name)
		restore()
		ran++
	}
	assert.NotEqual(t, 0, ran, "no path ran")
}

// TestSameBits: the results of a row depend neither on the batch nor on the block nor
// on the arithmetic path.
func TestSameBits(t *testing.T) {
	n := 256
	if testing.Short() {
		n = 40
	}
	for _, c := range references(t) {
		t.Run(c.Name, func(t *testing.T) {
			m := readModel(t, c.Name)
			want := c.answers(m, n, n)
			size := len(want) / n
			rows := c.Inputs[0].Shape[0]
			for i := range want {
				require.Equalf(t, want[i%(rows*size)], want[i], "%s: number %d of row %d differs from that of the equal row %d", c.Name, i%size, i/size, i/size%rows)
			}
			allPaths(t, func(path string) {
				for _, batch := range []int{1, 3, 7, 32, 256} {
					all := n
					if path == "portable" {
						all = min(batch+1, 40, n) // this path is slow
					}
					assert.Truef(t, slices.Equal(c.answers(m, all, min(all, batch)), want[:all*size]), "%s: other bits in batches of %d on %s", c.Name, batch, path)
				}
			})
			block := m.block
			for _, m.block = range []int{1, 5} {
				assert.Truef(t, slices.Equal(c.answers(m, 33, 32), want[:33*size]), "%s: other bits in blocks of %d", c.Name, m.block)
			}
			m.block = block
		})
	}
}

// TestGoroutines: runners that share a model do not disturb each other.
func TestGoroutines(t *testing.T) {
	for _, c := range references(t) {
		t.Run(c.Name, func(t *testing.T) {
			m := readModel(t, c.Name)
			want := c.answers(m, 24, 24)
			for _, many := range []int{1, 2, 8} {
				var wait sync.WaitGroup
				for i := range many {
					wait.Go(func() {
						if got := c.answers(m, 24, 1+5*i); !slices.Equal(got, want) {
							t.Errorf("%s: other bits with %d goroutines", c.Name, many)
						}
					})
				}
				wait.Wait()
			}
		})
	}
}

// TestNoAllocations: Run allocates nothing.
func TestNoAllocations(t *testing.T) {
	for _, c := range references(t) {
		t.Run(c.Name, func(t *testing.T) {
			m := readModel(t, c.Name)
			r := m.NewRunner(12)
			c.fill(r, 12)
			n := testing.AllocsPerRun(5, func() { r.Run(11); r.Run(1); r.Run(0) })
			assert.Zerof(t, n, "%s: %g allocations a call", c.Name, n)
		})
	}
}

// TestGoldenBits: this machine computes the same bits as another one did.
func TestGoldenBits(t *testing.T) {
	var lines []string
	for _, c := range references(t) {
		m := readModel(t, c.Name)
		sum := fnv.New64a()
		for _, x := range c.answers(m, 5, 5) {
			sum.Write(bin.LittleEndian.AppendUint32(nil, x))
		}
		lines = append(lines, fmt.Sprintf("%s %016x", c.Name, sum.Sum64()))
	}
	got := strings.Join(lines, "\n") + "\n"
	want := string(testFile(t, "bits.txt"))
	assert.Equalf(t, want, got, "checksums of the outputs:\n%swant those of bits.txt:\n%s", got, want)
}
