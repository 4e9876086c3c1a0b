package network

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/network/onnx"
)

// TestEqualRows: a dense layer over a list computes equal entries once. All entries have the bits of
// a list of that entry alone, wherever the equal ones stand and however many there are; so have
// entries that differ in nothing but the sign of a zero, or in the residual.
func TestEqualRows(t *testing.T) {
	const count, in, out, most = 60, 5, 20, 3
	s := newSketch(13)
	x, plus := s.input(onnx.Float32, count, in), s.input(onnx.Float32, count, out)
	h := s.Op("Add", list(s.Op("MatMul", list(x, s.weights(in, out))), plus))
	s.Output(s.Op("Relu", list(s.Op("MatMul", list(h, s.weights(out, out))))))
	m, err := Read(onnx.Encode(&s.Graph), 0)
	require.NoError(t, err)
	names := m.Inputs
	r, one := m.NewRunner(most), m.NewRunner(1)
	random := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		floats, added := r.Floats(names[0].Name), r.Floats(names[1].Name)
		repeat := []float64{0, 0.5, 0.9, 0.97, 1}[random.IntN(5)]
		for i := range most * count {
			row, sum := floats[i*in:(i+1)*in], added[i*out:(i+1)*out]
			if i > 0 && random.Float64() < repeat {
				copy(row, floats[(i-1)*in:i*in])
				copy(sum, added[(i-1)*out:i*out])
				switch random.IntN(40) {
				case 0:
					row[random.IntN(in)] *= -1
				case 1:
					sum[random.IntN(out)]++
				}
				continue
			}
			for j := range row {
				row[j] = float32(random.IntN(3) - 1)
			}
			for j := range sum {
				sum[j] = float32(random.NormFloat64())
			}
		}
		r.Run(most)
		got := r.Output(m.Outputs[0].Name)
		for i := range most * count {
			// The entry stands in a list of its own, between zeros.
			clear(one.Floats(names[0].Name))
			clear(one.Floats(names[1].Name))
			at := i % count
			copy(one.Floats(names[0].Name)[at*in:], floats[i*in:(i+1)*in])
			copy(one.Floats(names[1].Name)[at*out:], added[i*out:(i+1)*out])
			one.Run(1)
			want := one.Output(m.Outputs[0].Name)[at*out : (at+1)*out]
			for j, x := range want {
				require.Equalf(t, math.Float32bits(x), math.Float32bits(got[i*out+j]), "entry %d, output %d: %g, want %g", i, j, got[i*out+j], x)
			}
		}
		assert.Zero(t, testing.AllocsPerRun(1, func() { r.Run(most) }), "allocations")
	}
}
