package derive

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"moonfarm/sim/prng"
)

// TestByDefinition compares every function with its defining sum.
func TestByDefinition(t *testing.T) {
	r := prng.New(3)
	for players := 1; players <= 3; players++ {
		for turns := range 9 {
			rows := turns * players
			reward, value, last := make([]float32, rows), make([]float32, rows), make([]float32, players)
			for _, s := range [][]float32{reward, value, last} {
				for i := range s {
					s[i] = float32(r.Float64() - 0.5)
				}
			}
			dst := make([]float32, rows)
			at := func(s []float32, row int) float64 {
				if row >= rows {
					return float64(last[row-rows])
				}
				return float64(s[row])
			}
			sum := func(row, most int, factor float64, term func(row int) float64) (sum float64) {
				for k := 0; k < most && row+k*players < rows; k++ {
					sum += math.Pow(factor, float64(k)) * term(row+k*players)
				}
				return sum
			}
			for _, n := range []int{1, 2, 3, 100, math.MaxInt} {
				Steps(dst, reward, players, n, 0.9)
				for row := range dst {
					require.InDelta(t, sum(row, n, 0.9, func(k int) float64 { return at(reward, k) }), dst[row], 1e-6)
				}
			}
			for _, n := range []int{1, 3, math.MaxInt} {
				for _, over := range []bool{false, true} {
					weights := make([]float32, rows)
					Discounts(weights, players, n, 0.9, over)
					for row, got := range weights {
						left := turns - row/players
						want := math.Pow(0.9, float64(min(n, left)))
						if over && left <= n {
							want = 0
						}
						require.InDelta(t, want, got, 1e-6)
					}
				}
			}
			all := append([]float32{}, dst...)
			Returns(dst, reward, players, 0.9)
			require.Equal(t, all, dst, "of all turns")
			Advantages(dst, reward, value, last, players, 0.9, 0.8)
			for row := range dst {
				want := sum(row, turns, 0.9*0.8, func(k int) float64 { return at(reward, k) + 0.9*at(value, k+players) - at(value, k) })
				require.InDelta(t, want, dst[row], 1e-5)
			}
			Advantages(dst, reward, value, nil, players, 1, 1) // the return less the value
			Returns(reward, reward, players, 1)
			for row := range dst {
				require.InDelta(t, reward[row]-value[row], dst[row], 1e-5)
			}
		}
	}
}
