package stats

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/features"
)

// TestAddCells compares with adding cell by cell.
func TestAddCells(t *testing.T) {
	for _, b := range [][]uint8{
		{}, {0}, {1}, {7}, {1, 1, 1, 1, 1, 1, 1, 1}, {0, 1, 0, 1, 1, 1, 0, 0, 1}, {0, 0, 0, 0, 0, 0, 0, 0},
		{2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 255}, {255, 3, 0, 9, 128, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1},
	} {
		got := Sum[uint64]{Min: math.MaxUint8}
		want := got
		AddCells(&got, b)
		for _, v := range b {
			n := uint64(v)
			want.Add(&Sum[uint64]{n, n * n, n, n, min(n, 1)})
		}
		require.Equal(t, want, got, "%v", b)
	}
}

// TestSampledNumbers: a scalar that is not finite is an error.
func TestSampledNumbers(t *testing.T) {
	s, err := NewSampler(features.Shape{Scalars: 2}, nil, true)
	require.NoError(t, err)
	scalars := []float32{1, 2, 3, float32(math.Inf(1))}
	require.NoError(t, s.Batch(nil, nil, scalars, 0, 2), "row 1 is not in the sample")
	require.ErrorContains(t, s.Batch(nil, nil, scalars, Every-1, 2), "row 127: scalar 1 is +Inf")
	_, err = NewSampler(features.Shape{Planes: 1, Height: 1, Width: 1, Words: 1}, &features.Layout{Cells: [][]features.Run{{}}}, true)
	require.ErrorContains(t, err, "packed layout")
}
