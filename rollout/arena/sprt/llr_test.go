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
	{"LLR_logistic, games", Logistic, -3, 1, []int{65804, 56553, 65388}, 2.049042617996086, 1e-6},
	{"LLR_normalized, games", Normalised, -3, 1, []int{65804, 56553, 65388}, 0.49171177626817564, 1e-6},

	// fastchess's app/tests/sprt_test.cpp (exact GSPRT) gives two digits. If all games were won,
	// its search for the likeliest distribution ends early, at steps of 1e-4; TestAllWon computes
	// the first of these two in closed form.
	{"fastchess, normalized trinomial 1", Normalised, 0, 2, []int{36027, 68692, 36433}, 0.92, 6e-3},
	{"fastchess, normalized trinomial 2", Normalised, -1.75, 0.25, []int{10650, 20431, 10871}, 2.30, 6e-3},
	{"fastchess, normalized trinomial 3", Normalised, 0, 10, []int{0, 0, 4250}, 120.56, 0.03},
	{"fastchess, logistic trinomial 1", Logistic, 0.5, 2.5, []int{21184, 40708, 21404}, -1.57, 6e-3},
	{"fastchess, logistic trinomial 2", Logistic, 0, 2, []int{57030, 106593, 57433}, -2.59, 6e-3},
	{"fastchess, normalized pentanomial 1", Normalised, 0, 2, []int{365, 16618, 36229, 16974, 390}, 2.25, 6e-3},
	{"fastchess, normalized pentanomial 2", Normalised, -1.75, 0.25, []int{127, 4883, 10712, 5150, 104}, 3.01, 6e-3},
	{"fastchess, normalized pentanomial 3", Normalised, 0, 5, []int{0, 0, 0, 0, 5550}, 111.82, 0.03},
	{"fastchess, logistic pentanomial 1", Logistic, 0.5, 2.5, []int{223, 9863, 21279, 10037, 246}, -3.07, 6e-3},
	{"fastchess, logistic pentanomial 2", Logistic, 0, 2, []int{871, 26175, 55983, 26678, 821}, -4.98, 6e-3},
}

func TestPublished(t *testing.T) {
	for _, c := range published {
		t.Run(c.source, func(t *testing.T) {
			test := Test{Elo0: c.elo0, Elo1: c.elo1, Model: c.model, Pairs: len(c.counts) == 5}
			llr := test.LLR(c.counts)
			assert.Truef(t, math.Abs(llr-c.llr) <= c.within, "%s: %v [%v, %v] %v: LLR %v, want %v", c.source, c.model, c.elo0, c.elo1, c.counts, llr, c.llr)
		})
	}
}

// TestAllWon: if one player won all games, the likeliest distribution with (mean−½)/σ = t has no
// draws. With a share w of wins, mean w and variance w(1−w), that is w = ½ + t/(2·√(1+t²)).
func TestAllWon(t *testing.T) {
	test := Test{Elo0: 0, Elo1: 10, Model: Normalised}
	x := 10 * math.Ln10 / 800
	want := 4250 * math.Log(1+x/math.Sqrt(1+x*x))
	llr := test.LLR([]int{0, 0, 4250})
	assert.LessOrEqualf(t, math.Abs(llr-want), 1e-3, "LLR %v, want %v", llr, want)
	test = Test{Elo0: 0, Elo1: 200, Model: Logistic}
	want = 10 * math.Log(2/(1+math.Pow(10, -0.5)))
	llr = test.LLR([]int{0, 0, 10})
	assert.LessOrEqualf(t, math.Abs(llr-want), 1e-2, "LLR %v, want %v", llr, want)
}

// likeliest returns the greatest log-likelihood of the counts [L, D, W] among all distributions
// under the hypothesis, by a search over the share of draws.
func likeliest(test Test, elo float64, counts []int) float64 {
	c := newCells(counts)
	// of returns the log-likelihood with the given share of draws and the share of wins that the
	// hypothesis requires.
	of := func(draws float64) float64 {
		low, high := 0.0, 1-draws
		for range 60 {
			wins := (low + high) / 2
			mean := wins + draws/2
			sigma := math.Sqrt(wins + draws/4 - mean*mean)
			below := mean < 1/(1+math.Pow(10, -elo/400))
			if test.Model == Normalised {
				below = (mean-0.5)/sigma < elo*math.Ln10/800
			}
			if below {
				low = wins
			} else {
				high = wins
			}
		}
		wins := (low + high) / 2
		return c.count[0]*math.Log(1-draws-wins) + c.count[1]*math.Log(draws) + c.count[2]*math.Log(wins)
	}
	// A coarse search first, then golden section.
	best, at := math.Inf(-1), 0.0
	for i := 1; i < 400; i++ {
		if l := of(float64(i) / 400); l > best {
			best, at = l, float64(i)/400
		}
	}
	low, high := max(1e-12, at-1./400), min(1-1e-12, at+1./400)
	for range 80 {
		a, b := high-(high-low)*0.6180339887498949, low+(high-low)*0.6180339887498949
		if of(a) > of(b) {
			high = b
		} else {
			low = a
		}
	}
	return of((low + high) / 2)
}

// TestExact compares the LLR of games with a search for both likeliest distributions.
func TestExact(t *testing.T) {
	r := prng.New(1)
	for range 30 {
		counts := []int{1 + r.IntN(300), 1 + r.IntN(300), 1 + r.IntN(300)}
		test := Test{Elo0: float64(r.IntN(100) - 50), Model: Model(r.IntN(2))}
		test.Elo1 = test.Elo0 + float64(1+r.IntN(40))
		want := likeliest(test, test.Elo1, counts) - likeliest(test, test.Elo0, counts)
		llr := test.LLR(counts)
		assert.LessOrEqualf(t, math.Abs(llr-want), 1e-5*(1+math.Abs(want)), "%+v %v: LLR %v, want %v", test, counts, llr, want)
	}
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
			c.underT(Test{Pairs: true}.perCell(elo), &d)
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
		if r.IntN(2) == 0 {
			counts = counts[:3]
		}
		mirrored := slices.Clone(counts)
		slices.Reverse(mirrored)
		a := Test{Elo0: -20, Elo1: float64(r.IntN(50)), Model: Model(r.IntN(2)), Pairs: len(counts) == 5}
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
			for n := 0; n < 3125+125; n += 61 {
				var counts []int
				if n < 3125 {
					counts = []int{kinds[n%5], kinds[n/5%5], kinds[n/25%5], kinds[n/125%5], kinds[n/625]}
				} else {
					k := n - 3125
					counts = []int{kinds[k%5], kinds[k/5%5], kinds[k/25]}
				}
				test := Test{Elo0: bounds[0], Elo1: bounds[1], Alpha: 0.05, Beta: 0.05, Model: model, Pairs: len(counts) == 5}
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
