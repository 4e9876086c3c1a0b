package rating

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLinear solves small systems, among them some that need pivots or have no solution.
func TestLinear(t *testing.T) {
	for _, c := range []struct {
		rows [][]float64 // each with its right side
		want []float64
	}{
		{[][]float64{{2, 1, 4}, {1, 3, 7}}, []float64{1, 2}},
		{[][]float64{{0, 1, 2}, {1, 0, 1}}, []float64{1, 2}},
		{[][]float64{{1e-20, 1, 2}, {1, 1, 3}}, []float64{1, 2}}, // without a pivot x would be 0
		{[][]float64{{1, 2, 3}, {2, 4, 6}}, nil},
	} {
		require.InDeltaSlice(t, c.want, eliminate(c.rows), 1e-12)
	}
	a := [][]float64{{4, 2, -2}, {0, 5, 1}, {0, 0, 6}} // the lower half is not read
	at := func(i, j int) float64 { return a[i][j] }
	lower := matrix(3, 3)
	require.True(t, factorise(lower, at))
	require.InDeltaSlice(t, []float64{1, 2, 3}, solve(lower, []float64{2, 15, 18}), 1e-12)
	a[2][2] = -1
	require.False(t, factorise(lower, at), "not positive definite")
}
