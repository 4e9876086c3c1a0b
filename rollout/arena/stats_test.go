package arena

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestWilson compares with the R function prop.test(correct = FALSE).
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		p         float64
		n         float64
		low, high float64
	}{
		{0.5, 100, 0.403832, 0.596168},
		{1, 10, 0.722467, 1},
		{0, 10, 0, 0.277533},
		{0.9, 50, 0.786398, 0.956524},
		{0.3, 0, 0, 1},
	} {
		t.Run(fmt.Sprintf("%v of %v", c.p, c.n), func(t *testing.T) {
			low, high := wilson(c.p, c.n)
			assert.Truef(t, math.Abs(low-c.low) <= 1e-5 && math.Abs(high-c.high) <= 1e-5, "wilson(%v, %v) = %.6f … %.6f, want %v … %v", c.p, c.n, low, high, c.low, c.high)
		})
	}
}
