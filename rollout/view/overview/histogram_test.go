package overview

import (
	"math"
	"net/url"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHistogram compares the figures with those of a sorted list, and finds every number in its bar.
func TestHistogram(t *testing.T) {
	for _, list := range [][]float64{{}, {4}, {0.5}, {1, 1, 2, 9}, {0, 3, 3, 3, 5, 8, 8, 100}, {-7, -3, 250_000}, {0.25, 0.5, 7}, {-1e30, 1e30}, {1 << 60, -1 << 60}} {
		c := Counts{}
		for _, v := range append(list, math.NaN(), math.Inf(1)) {
			c.Put(v)
		}
		h := c.Histogram()
		require.EqualValues(t, len(list), h.N)
		require.LessOrEqual(t, len(h.Bars), mostBars)
		bars, sum := make([]uint64, len(h.Bars)), 0.0
		for _, v := range list {
			sum += v
			k := min(int((v-h.From)/h.Width), len(bars)-1) // the largest number may close the last bar
			bars[k]++
		}
		require.Equal(t, bars, h.Bars, "%v", list)
		if n := len(list); n > 0 {
			slices.Sort(list)
			require.Equal(t, []float64{list[0], list[n/4], list[n/2], list[(3*n-1)/4], list[n-1]}, []float64{h.Min, h.Quarter, h.Median, h.ThreeQuarters, h.Max})
			require.InDelta(t, sum/float64(n), h.Mean, 1e-9)
		}
	}
	require.Equal(t, []uint64{1, 0, 2}, Counts{3: 1, 5: 2}.Histogram().Bars, "whole numbers that lie close together have a bar each")
	many := Counts{}
	for n := range 25 {
		many.Put(float64(n))
	}
	require.Len(t, many.Histogram().Bars, 13)
	wide := Counts{0: 1, 99: 1}.Histogram()
	require.Equal(t, []float64{0, 5, 20}, []float64{wide.From, wide.Width, float64(len(wide.Bars))})
}

// TestToGames: an address has the names whatever they are.
func TestToGames(t *testing.T) {
	for _, name := range []string{"mix(1*a,2*b)", "a&against=b#c", "50 % + ü", "\u202e<b>"} {
		to, err := url.ParseQuery(ToGames(name, name+"2")[1:])
		require.NoError(t, err)
		require.Equal(t, []string{name, name + "2"}, []string{to.Get("policy"), to.Get("against")})
	}
}
