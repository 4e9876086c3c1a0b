package rating

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/prng"
)

// TestExact compares exp and log with package math.
func TestExact(t *testing.T) {
	r := prng.New(1)
	for k := range 20000 {
		x := 1400*r.Float64() - 700
		if k%2 == 0 {
			x = 4*r.Float64() - 2
		}
		got, want := exp(x), math.Exp(x)
		require.LessOrEqualf(t, math.Abs(got/want-1), 1e-15, "exp(%v) = %v, want %v", x, got, want)
		y := math.Exp(x)
		got, want = log(y), math.Log(y)
		require.LessOrEqualf(t, math.Abs(got-want), 4e-16*max(1, math.Abs(want)), "log(%v) = %v, want %v", y, got, want)
	}
	for _, c := range []struct{ x, want float64 }{
		{0, 1}, {-701, 0}, {math.Inf(-1), 0}, {1000, math.Exp(700)}, {math.Inf(1), math.Exp(700)},
	} {
		t.Run(fmt.Sprint(c.x), func(t *testing.T) {
			got := exp(c.x)
			assert.LessOrEqualf(t, math.Abs(got-c.want), 1e-14*c.want, "exp(%v) = %v, want %v", c.x, got, c.want)
		})
	}
	if !math.IsNaN(exp(math.NaN())) || log(1) != 0 {
		t.Errorf("exp(NaN) = %v, log(1) = %v", exp(math.NaN()), log(1))
	}
}
