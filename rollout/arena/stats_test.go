package arena

import (
	"math"
	"testing"
)

// Values of Wilson's interval as the R function prop.test(correct = FALSE)
// gives them.
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		p         float64
		n         int
		low, high float64
	}{
		{0.5, 100, 0.403832, 0.596168},
		{1, 10, 0.722467, 1},
		{0, 10, 0, 0.277533},
		{0.9, 50, 0.786398, 0.956524},
		{0.3, 0, 0, 1},
	} {
		low, high := wilson(c.p, c.n)
		if math.Abs(low-c.low) > 1e-5 || math.Abs(high-c.high) > 1e-5 {
			t.Errorf("wilson(%v, %d) = %.6f … %.6f, want %v … %v", c.p, c.n, low, high, c.low, c.high)
		}
	}
}

// Three wins to one are a difference of 400·lg 3 points, apart from the draw
// that is added.
func TestRatings(t *testing.T) {
	table := make([]counts, 4)
	table[1] = counts{wins: 30000, losses: 10000}
	table[2] = counts{wins: 10000, losses: 30000}
	r := ratings(table, 2)
	if want := 400 * math.Log10(3); math.Abs(r[0]-r[1]-want) > 0.1 || math.Abs(r[0]+r[1]) > 1e-9 {
		t.Errorf("ratings %v, want a difference of %v", r, want)
	}
	table[1], table[2] = counts{wins: 10}, counts{losses: 10}
	if r := ratings(table, 2); math.IsInf(r[0], 0) || math.IsNaN(r[0]) || r[0] < 200 {
		t.Errorf("ratings %v after ten wins", r)
	}
}
