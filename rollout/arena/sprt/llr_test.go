package sprt

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/prng"
)

// published are LLRs that other programs print; source names the program and the formula.
var published = []struct {
	source     string
	model      Model
	elo0, elo1 float64
	counts     []int
	llr        float64
	within     float64 // half of the last printed digit, and 1e-3
}{
	// A test as fishtest stored it (run 6549951b136acbc573529528, in the examples
	// of github.com/vdbergh/vtjson). Exact GSPRT of normalised Elo.
	{"fishtest, run 6549951b", Normalised, 0, 2, []int{369, 12695, 27124, 12664, 332}, -2.936953911013966, 1e-6},

	// Values printed by fishtest's server/fishtest/stats/LLRcalc.py, LLR_logistic and
	// LLR_normalized (both the exact GSPRT), as recorded in the tests of other programs that use it
	// as their reference. The counts of the first and the third are from fishtest's own
	// stat_util.py.
	{"LLR_logistic", Logistic, -3, 1, []int{10789, 19328, 33806, 19402, 10543}, 2.1310678117855075, 1e-6},
	{"LLR_normalized", Normalised, -3, 1, []int{10789, 19328, 33806, 19402, 10543}, 0.3008697854813657, 1e-6},
	{"LLR_logistic", Logistic, 0.2, 0.9, []int{39, 2226, 31451, 2412, 40}, 2.162542580049078, 1e-6},
	{"LLR_normalized", Normalised, 0.764, 3.439, []int{39, 2226, 31451, 2412, 40}, 2.1629408695845367, 1e-6},
	{"LLR_normalized", Normalised, 0, 5, []int{10789, 19328, 33806, 19402, 10543}, -26.838448639795093, 1e-6},
	{"LLR_normalized", Normalised, -5, 0, []int{1187, 7410, 13475, 7378, 1164}, 4.554450117505817, 1e-6},
	{"LLR_logistic", Logistic, 0, 5, []int{0, 10, 20, 50, 20}, 1.4286861064744187, 1e-6},
	{"LLR_normalized", Normalised, 0, 5, []int{0, 10, 20, 50, 20}, 1.268896403977093, 1e-6},
	{"LLR_logistic", Logistic, 0, 10, []int{3, 20, 45, 25, 7}, 0.6959726064980855, 1e-6},
	{"LLR_normalized", Normalised, 0, 10, []int{3, 20, 45, 25, 7}, 0.4949702786678729, 1e-6},
	{"LLR_logistic", Logistic, 0, 5, []int{0, 0, 50, 0, 0}, -0.7176058361124835, 1e-6},
	{"LLR_normalized", Normalised, 0, 5, []int{0, 0, 50, 0, 0}, -0.01756124857176134, 1e-6},
	{"LLR_normalized", Normalised, 0, 5, []int{0, 0, 40, 10, 0}, 0.31255435949946725, 1e-6},
	{"LLR_normalized", Normalised, 0, 5, []int{5, 5, 5, 5, 5}, -0.005176938008656367, 1e-6},

	// fastchess's app/tests/sprt_test.cpp (exact GSPRT) gives two digits. If all games were won,
	// its search for the likeliest distribution ends early, at steps of 1e-4.
	{"fastchess, normalized pentanomial 1", Normalised, 0, 2, []int{365, 16618, 36229, 16974, 390}, 2.25, 6e-3},
	{"fastchess, normalized pentanomial 2", Normalised, -1.75, 0.25, []int{127, 4883, 10712, 5150, 104}, 3.01, 6e-3},
	{"fastchess, normalized pentanomial 3", Normalised, 0, 5, []int{0, 0, 0, 0, 5550}, 111.82, 0.03},
	{"fastchess, logistic pentanomial 1", Logistic, 0.5, 2.5, []int{223, 9863, 21279, 10037, 246}, -3.07, 6e-3},
	{"fastchess, logistic pentanomial 2", Logistic, 0, 2, []int{871, 26175, 55983, 26678, 821}, -4.98, 6e-3},
}

func TestPublished(t *testing.T) {
	for _, c := range published {
		t.Run(c.source, func(t *testing.T) {
			test := Test{Elo0: c.elo0, Elo1: c.elo1, Model: c.model}
			llr := test.LLR(c.counts)
			assert.Truef(t, math.Abs(llr-c.llr) <= c.within, "%s: %v [%v, %v] %v: LLR %v, want %v", c.source, c.model, c.elo0, c.elo1, c.counts, llr, c.llr)
		})
	}
}

// TestAllWon: if one player won all pairs, the likeliest distribution with a mean score s has no other
// results than pairs won and lost.
func TestAllWon(t *testing.T) {
	test := Test{Elo0: 0, Elo1: 200, Model: Logistic}
	want := 10 * math.Log(2/(1+math.Pow(10, -0.5)))
	llr := test.LLR([]int{0, 0, 0, 0, 10})
	assert.LessOrEqualf(t, math.Abs(llr-want), 2e-2, "LLR %v, want %v", llr, want)
}

// TestConstraint: the distributions found satisfy the hypothesis for any results of pairs, and no
// other distribution nearby that satisfies it is likelier.
func TestConstraint(t *testing.T) {
	r := prng.New(2)
	for range 2000 {
		counts := make([]int, 5)
		size := 1 + r.IntN(10_000)
		for i := range counts {
			if r.IntN(4) > 0 {
				counts[i] = r.IntN(size)
			}
		}
		c := newCells(counts)
		model, elo := Model(r.IntN(2)), float64(r.IntN(2*MaxNormalised+1)-MaxNormalised)
		var d [5]float64
		if model == Normalised {
			c.underT(perPair(elo), &d)
		} else {
			c.underMean(scoreOf(elo), &d)
		}
		sum := 0.0
		var p [5]float64
		for i := range p {
			p[i] = c.count[i] / c.total / d[i]
			sum += p[i]
		}
		mean, variance := c.momentsOf(&p, 1)
		got, want := mean, 1/(1+math.Pow(10, -elo/400))
		if model == Normalised {
			got, want = (mean-0.5)/math.Sqrt(2*variance)*800/math.Ln10, elo
		}
		assert.Truef(t, math.Abs(sum-1) <= 1e-6 && math.Abs(got-want) <= 1e-4*(1+math.Abs(want)), "%v, %v %v: sum %v, strength %v", counts, model, elo, sum, got)
	}
}

// TestMirror: exchanging the players negates the LLR.
func TestMirror(t *testing.T) {
	r := prng.New(3)
	for range 500 {
		counts := []int{r.IntN(99), r.IntN(99), r.IntN(99), r.IntN(99), r.IntN(99)}
		mirrored := slices.Clone(counts)
		slices.Reverse(mirrored)
		a := Test{Elo0: -20, Elo1: float64(r.IntN(50)), Model: Model(r.IntN(2))}
		b := a
		b.Elo0, b.Elo1 = -a.Elo1, -a.Elo0
		x, y := a.LLR(counts), b.LLR(mirrored)
		assert.LessOrEqualf(t, math.Abs(x+y), 1e-9*(1+math.Abs(x)), "%+v %v: %v, mirrored %v", a, counts, x, y)
	}
}

// TestFinite: LLRs and estimates are finite for all counts.
func TestFinite(t *testing.T) {
	kinds := []int{0, 1, 2, 1000, 1 << 30}
	for _, model := range []Model{Logistic, Normalised} {
		most := float64(MaxLogistic)
		if model == Normalised {
			most = MaxNormalised
		}
		for _, bounds := range [][2]float64{{0, 5}, {-most, most}, {most - 1, most}, {-most, 0.02 - most}} {
			for n := 0; n < 3125; n += 61 {
				counts := []int{kinds[n%5], kinds[n/5%5], kinds[n/25%5], kinds[n/125%5], kinds[n/625]}
				test := Test{Elo0: bounds[0], Elo1: bounds[1], Alpha: 0.05, Beta: 0.05, Model: model}
				s, err := New(test)
				if err != nil {
					t.Fatal(err)
				}
				s.counts = counts
				s.llr = test.LLR(counts)
				if math.IsNaN(s.llr) || math.IsInf(s.llr, 0) {
					t.Fatalf("%+v %v: LLR %v", test, counts, s.llr)
				}
				checkEstimate(t, s)
			}
		}
	}
}

func checkEstimate(t *testing.T, s *State) {
	t.Helper()
	e := s.Estimate()
	for _, x := range [][3]float64{{e.Low, e.Elo, e.High}, {e.NormalisedLow, e.Normalised, e.NormalisedHigh}} {
		require.Truef(t, -MaxElo <= x[0] && x[0] <= x[1] && x[1] <= x[2] && x[2] <= MaxElo, "%v: estimate %+v", s.counts, e)
	}
	require.Truef(t, e.LOS >= 0 && e.LOS <= 1, "%v: estimate %+v", s.counts, e)
}

// TestScoreOf: EloOf is the inverse of scoreOf.
func TestScoreOf(t *testing.T) {
	for _, elo := range []float64{-1000, -3, 0, 5, 400, 1000} {
		got := EloOf(scoreOf(elo))
		assert.LessOrEqualf(t, math.Abs(got-elo), 1e-9, "Elo %v becomes %v", elo, got)
	}
	s := scoreOf(400)
	assert.LessOrEqualf(t, math.Abs(s-10./11), 1e-15, "400 Elo is a score of %v", s)
}
