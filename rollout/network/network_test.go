package network

import (
	bin "encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// card describes a network of testdata, with its inputs and PyTorch's outputs in
// reference.bin.
type card struct {
	Name            string
	Opset           int
	Inputs, Outputs []array
}

// array is an input or output of all rows.
type array struct {
	Name, Type string
	Shape      []int
	floats     []float32
	bytes      []uint8
}

func testFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return b
}

// references reads the networks of testdata with PyTorch's results.
func references(t testing.TB) []card {
	t.Helper()
	var cards []card
	require.NoError(t, json.Unmarshal(testFile(t, "reference.json"), &cards))
	numbers := testFile(t, "reference.bin")
	for _, c := range cards {
		for _, list := range [][]array{c.Inputs, c.Outputs} {
			for i := range list {
				a := &list[i]
				n := product(a.Shape)
				if a.Type == "uint8" {
					a.bytes, numbers = numbers[:n], numbers[n:]
					continue
				}
				for range n {
					a.floats = append(a.floats, math.Float32frombits(bin.LittleEndian.Uint32(numbers)))
					numbers = numbers[4:]
				}
			}
		}
	}
	require.Emptyf(t, numbers, "reference.bin has %d bytes left", len(numbers))
	return cards
}

func readModel(t testing.TB, name string) *Model {
	t.Helper()
	m, err := Read(testFile(t, name+".onnx"), 0)
	require.NoError(t, err, name)
	return m
}

// fill repeats the inputs of a card over n rows.
func (c *card) fill(r *Runner, n int) {
	for _, a := range c.Inputs {
		rows := a.Shape[0]
		size := product(a.Shape) / rows
		for i := range n {
			from, to := i%rows*size, i*size
			if a.bytes != nil {
				copy(r.Bytes(a.Name)[to:to+size], a.bytes[from:])
			} else {
				copy(r.Floats(a.Name)[to:to+size], a.floats[from:])
			}
		}
	}
}

// difference returns the largest difference of two arrays, relative to the number or, for
// numbers below 1, absolute.
func difference(a, b []float32) float64 {
	most := 0.0
	for i := range a {
		d := math.Abs(float64(a[i])-float64(b[i])) / max(1, math.Abs(float64(b[i])))
		if !(d <= most) {
			most = d
		}
	}
	return most
}

// TestReferences: the results are those of PyTorch, up to rounding.
func TestReferences(t *testing.T) {
	for _, c := range references(t) {
		t.Run(c.Name, func(t *testing.T) {
			m := readModel(t, c.Name)
			rows := c.Inputs[0].Shape[0]
			r := m.NewRunner(rows)
			c.fill(r, rows)
			r.Run(rows)
			for _, want := range c.Outputs {
				got := r.Output(want.Name)
				require.Len(t, got, len(want.floats), "output %s of shape %v", want.Name, want.Shape)
				d := difference(got, want.floats)
				t.Logf("opset %d  %-7s off by %.1e", c.Opset, want.Name, d)
				assert.Truef(t, d <= 2e-6, "output %s is off by %g", want.Name, d)
			}
		})
	}
}
