package sprt

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/prng"
)

func TestParse(t *testing.T) {
	usual := Test{Elo0: 0, Elo1: 10, Alpha: 0.05, Beta: 0.05}
	exact := Test{Elo0: -2.5, Elo1: 1, Alpha: 0.01, Beta: 0.1}
	for _, c := range []struct {
		text string
		want Test
		err  string
	}{
		{"0,10", usual, ""},
		{" 0 , 10.0", usual, ""},
		{"-2.5,1,0.01,.1", exact, ""},
		{"", usual, `"" has 1 numbers, expected elo0,elo1 or`},
		{"0,10,0.05", usual, "has 3 numbers"},
		{"0,10,0.05,0.05,1", usual, "has 5 numbers"},
		{"0,ten", usual, `elo1 in "0,ten": "ten" is not a number`},
		{"0,10,0.05,", usual, `beta in "0,10,0.05,": "" is not a number`},
		{"1e999,10", usual, "elo0"},
		{"nan,10", usual, "NaN points of logistic Elo, expected -1000 to 1000"},
		{"0,inf", usual, "+Inf points"},
		{"0,1001", usual, "1001 points"},
		{"10,0", usual, "elo1 is 0, expected more than elo0, 10"},
		{"5,5", usual, "elo1 is 5, expected more than elo0"},
		{"0,10,0,0.05", usual, "an error rate of 0, expected"},
		{"0,10,0.05,1", usual, "an error rate of 1, expected"},
		{"0,10,0.5,0.5", usual, "alpha and beta is 1 or more"},
	} {
		t.Run(fmt.Sprintf("%q", c.text), func(t *testing.T) {
			got, err := Parse(c.text)
			assert.Truef(t, c.err != "" || err == nil && got == c.want, "%q: %+v, error %v", c.text, got, err)
			assert.Truef(t, c.err == "" || err != nil && strings.Contains(err.Error(), c.err), "%q: error %v, want %q", c.text, err, c.err)
		})
	}
	usual.Model = Normalised
	usual.Elo1 = MaxNormalised + 1
	err := usual.Check()
	assert.ErrorContains(t, err, "201 points of normalised Elo, expected -200 to 200")
}

// TestBounds compares Wald's bounds with those that fishtest prints.
func TestBounds(t *testing.T) {
	lower, upper := Test{Alpha: 0.05, Beta: 0.05}.Bounds()
	assert.Truef(t, math.Abs(lower+2.9444389791664403) <= 1e-12 && math.Abs(upper-2.9444389791664403) <= 1e-12, "bounds %v, %v", lower, upper)
	lower, upper = Test{Alpha: 0.05, Beta: 0.1}.Bounds()
	assert.Truef(t, math.Abs(lower+2.2512917986064953) <= 1e-12 && math.Abs(upper-2.890371757896165) <= 1e-12, "bounds %v, %v", lower, upper)
}

// TestOvershoot: fishtest's run of TestPublished stopped before Wald's bound, according to its
// stored sums.
func TestOvershoot(t *testing.T) {
	s, err := New(Test{Elo0: 0, Elo1: 2, Alpha: 0.05, Beta: 0.05, Model: Normalised})
	require.NoError(t, err)
	s.down = jumps{Extreme: -2.936953911013966, Squares: 0.1069762911936328}
	s.up = jumps{Extreme: 0.2331113146809201, Squares: 0.01295330278694318}
	lower, upper := s.Bounds()
	assert.Truef(t, math.Abs(lower+2.92622686307) <= 1e-10 && math.Abs(upper-2.91665546552) <= 1e-10, "bounds %v, %v", lower, upper)
	// The first result makes the first jump: both bounds move by at most half of it.
	s, _ = New(Test{Elo0: 0, Elo1: 100, Alpha: 0.05, Beta: 0.05})
	require.NoError(t, s.Add(4))
	lower, upper = s.Bounds()
	if math.Abs(upper-(2.9444389791664403-s.LLR()/2)) > 1e-12 || math.Abs(lower+2.9444389791664403) > 1e-12 {
		t.Errorf("LLR %v, bounds %v, %v", s.LLR(), lower, upper)
	}
	// The second result jumps from there.
	first := s.LLR()
	require.NoError(t, s.Add(4))
	if want := first*first + (s.LLR()-first)*(s.LLR()-first); s.up.Extreme != s.LLR() || math.Abs(s.up.Squares-want) > 1e-12 || s.down != (jumps{}) {
		t.Errorf("LLR %v after %v: jumps %+v and %+v", s.LLR(), first, s.up, s.down)
	}
	s.up = jumps{Extreme: 2, Squares: 4}
	if _, upper := s.Bounds(); math.Abs(upper-2.9444389791664403*0.9) > 1e-12 {
		t.Errorf("after one jump of 2 the upper bound is %v", upper)
	}
}

// TestState adds results until each decision.
func TestState(t *testing.T) {
	for _, test := range []Test{
		{Elo0: 0, Elo1: 60, Alpha: 0.05, Beta: 0.05},
		{Elo0: -10, Elo1: 50, Alpha: 0.1, Beta: 0.05, Model: Normalised},
	} {
		for seed, want := range []Decision{H0, H1} {
			r := prng.New(uint64(seed))
			s, err := New(test)
			require.NoError(t, err)
			for s.Decision() == Continue {
				result := r.IntN(results)
				if r.IntN(3) == 0 {
					result = (results - 1) * int(seed)
				}
				require.NoError(t, s.Add(result))
			}
			before := s.Counts()
			assert.Equalf(t, want, s.Decision(), "%+v: after %v", test, before)
			assert.Errorf(t, s.Add(1), "%+v: a result after the end", test)
			assert.Equal(t, before, s.Counts())
		}
	}
	s, _ := New(Test{Elo0: 0, Elo1: 60, Alpha: 0.05, Beta: 0.05})
	for _, result := range []int{-1, 5} {
		err := s.Add(result)
		assert.ErrorContainsf(t, err, "expected 0 to 4", "result %d", result)
	}
}

// TestJSON: the JSON of a test has its results and the estimate.
func TestJSON(t *testing.T) {
	s, err := New(Test{Elo0: 0, Elo1: 10, Alpha: 0.05, Beta: 0.05})
	require.NoError(t, err)
	for _, k := range []int{0, 1, 2, 3, 4, 4, 2, 2, 3, 1} {
		require.NoError(t, s.Add(k))
	}
	text, err := json.Marshal(s)
	require.NoError(t, err)
	keys := map[string]any{}
	require.NoError(t, json.Unmarshal(text, &keys))
	assert.ElementsMatch(t, strings.Fields(`elo0 elo1 alpha beta model pairs overshoot_correction counts llr lower upper decision elo
		elo_low elo_high normalised_elo normalised_elo_low normalised_elo_high los jumps_down jumps_up`), slices.Collect(maps.Keys(keys)))
	assert.Equal(t, "logistic", keys["model"])
	assert.Equal(t, []any{1., 2., 3., 2., 2.}, keys["counts"])
	assert.Equal(t, s.LLR(), keys["llr"])
}

func FuzzParse(f *testing.F) {
	f.Add("0,10,0.05,0.05")
	f.Fuzz(func(t *testing.T, text string) {
		test, err := Parse(text)
		if err != nil {
			return
		}
		lower, upper := test.Bounds()
		if !(lower < 0 && 0 < upper && upper < 20 && lower > -20) {
			t.Errorf("%q: bounds %v and %v", text, lower, upper)
		}
	})
}

// TestEstimate compares estimates with fishtest's for a fixed number of games (stat_util.get_elo,
// as recorded by a program that uses it as its reference): Elo, half of its interval by the normal
// approximation, LOS, normalised Elo. The bounds of these tests are far away.
func TestEstimate(t *testing.T) {
	for _, c := range []struct {
		counts              []int
		elo, half, los, nor float64
	}{
		{[]int{10789, 19328, 33806, 19402, 10543}, -0.7735773359165423, 1.2775798957280218, 0.1176588580327751, -0.9516290044726476},
		{[]int{39, 2226, 31451, 2412, 40}, 0.902981048809024, 0.6625314859816553, 0.9962220973354207, 3.450799606946096},
		{[]int{1187, 7410, 13475, 7378, 1164}, -0.4426077992236841, 1.7298590276177421, 0.3080138791226903, -0.7041412082298373},
		{[]int{50, 400, 1000, 450, 60}, 6.204866471299001, 6.235842323937144, 0.9744626991857153, 10.825692474877238},
	} {
		t.Run(fmt.Sprint(c.counts), func(t *testing.T) {
			s := far(t, c.counts)
			e := s.Estimate()
			assert.Truef(t, math.Abs(e.Elo-c.elo) <= 1e-3 && math.Abs(e.Normalised-c.nor) <= 1e-3 && math.Abs(e.LOS-c.los) <= 3e-4, "%v: %+v, want %+v", c.counts, e, c)
			d := (e.High - e.Low) / 2 / c.half
			assert.Truef(t, d >= 0.995 && d <= 1.005, "%v: %v to %v, want ±%v", c.counts, e.Low, e.High, c.half)
			d = (e.NormalisedHigh - e.NormalisedLow) / 2 / (e.High - e.Low) * 2
			assert.LessOrEqualf(t, math.Abs(d-c.nor/c.elo), 0.01*d, "%v: normalised %v to %v", c.counts, e.NormalisedLow, e.NormalisedHigh)
		})
	}
	for _, c := range []struct {
		counts []int
		want   Estimate
	}{
		{[]int{0, 0, 0, 0, 0}, Estimate{0, -MaxElo, MaxElo, 0, -MaxElo, MaxElo, 0.5}},
	} {
		t.Run(fmt.Sprint(c.counts), func(t *testing.T) {
			e := far(t, c.counts).Estimate()
			assert.Truef(t, e == c.want, "%v: %+v", c.counts, e)
		})
	}
	// Ten pairs won: the likelihood of a score s is s¹⁰, and e^−1.92 at the bound.
	want := math.Exp(-3.841458820694124 / 20)
	want = 400 * math.Log10(want/(1-want))
	e := far(t, []int{0, 0, 0, 0, 10}).Estimate()
	assert.Truef(t, math.Abs(e.Low-want) <= 1.5 && e.High >= e.Elo && e.Elo >= 1000 && e.LOS >= 0.999, "ten wins: %+v, want a low end of %v", e, want)
	e = far(t, []int{0, 0, 10, 0, 0}).Estimate()
	assert.Truef(t, e.Elo == 0 && e.LOS == 0.5 && e.High >= 30 && e.Low == -e.High, "ten draws: %+v", e)
}

// far returns a test with the given results and far bounds.
func far(t *testing.T, counts []int) *State {
	t.Helper()
	s, err := New(Test{Elo0: -0.5, Elo1: 0.5, Alpha: minError, Beta: minError})
	require.NoError(t, err)
	s.counts = counts
	s.llr = s.test.LLR(counts)
	return s
}

// TestPath: for all barriers and drifts, the probabilities of ending at a barrier and at none sum
// to 1; worse falls with the drift and rises with the outcome.
func TestPath(t *testing.T) {
	r := prng.New(1)
	for range 200 {
		scale := math.Exp2(float64(r.IntN(6) - 1))
		p := path{lower: -scale * (r.Float64() + 0.1), upper: scale * (r.Float64() + 0.1)}
		drift := (r.Float64() - 0.5) * 16
		mirrored := path{-p.upper, -p.lower, 0}
		inside := p
		inside.at = p.upper
		all := p.ends(drift) + inside.undecided(drift) + mirrored.ends(-drift)
		require.LessOrEqualf(t, math.Abs(all-1), 1e-9, "%+v, drift %v: all outcomes have the probability %v", p, drift, all)
		last := -1.0
		for k := range 11 {
			p.at = p.lower + float64(k)/10*(p.upper-p.lower)
			w := p.worse(drift)
			if !(w >= last-1e-9 && w <= 1) {
				t.Fatalf("%+v, drift %v: worse is %v, a better outcome has %v", p, drift, last, w)
			}
			if more := p.worse(drift + 0.1); more > w+1e-9 {
				t.Fatalf("%+v, drift %v: worse is %v, with more drift %v", p, drift, w, more)
			}
			last = w
		}
	}
}

// TestPathLimits: with far barriers the motion is normal; with near ones it ends by the gambler's
// ruin; with one barrier its end has A. Wald's inverse Gaussian distribution.
func TestPathLimits(t *testing.T) {
	for _, drift := range []float64{-3, -0.4, 0.01, 1, 4} {
		p := path{-50, 60, 0.7}
		if got, want := p.worse(drift), math.Erfc((drift-0.7)/math.Sqrt2)/2; math.Abs(got-want) > 1e-12 {
			t.Errorf("drift %v: far barriers %v, want %v", drift, got, want)
		}
		p = path{-0.1, 0.15, 0}
		if got, want := p.ends(drift), math.Expm1(-2*drift*0.15)/math.Expm1(-2*drift*0.25)*math.Exp(-2*drift*0.1); math.Abs(got-want) > 1e-9 {
			t.Errorf("drift %v: near barriers %v, want %v", drift, got, want)
		}
		p = path{-0.8, 70, -0.8}
		want := (math.Erfc((0.8+drift)/math.Sqrt2) + math.Exp(-2*drift*0.8)*math.Erfc((0.8-drift)/math.Sqrt2)) / 2
		got := p.worse(drift)
		assert.LessOrEqualf(t, math.Abs(got-want), 1e-12, "drift %v: one barrier %v, want %v", drift, got, want)
	}
	for _, p := range []path{{-1e9, 1e9, 3}, {-0.1, 0.001, 0}, {-1e9, 1e-9, 0}, {-3, 1e9, 1e9}} {
		for _, drift := range []float64{-1e6, -50, 0, 50, 1e6} {
			if w := p.worse(drift); !(w >= 0 && w <= 1) {
				t.Errorf("%+v, drift %v: %v", p, drift, w)
			}
		}
	}
	for _, x := range []float64{-4.0001, -5, -8, -12} {
		got, want := expPhi(0, x), math.Erfc(-x/math.Sqrt2)/2
		assert.LessOrEqualf(t, math.Abs(got-want), 1e-12*want, "Phi(%v) is %v, want %v", x, got, want)
	}
}

// TestBarriers: the barriers are at the expected LLR at the end of a test: Wald's bound, as the bounds
// are corrected for overshoot.
func TestBarriers(t *testing.T) {
	s, err := New(Test{Elo0: 0, Elo1: 60, Alpha: 0.05, Beta: 0.1})
	require.NoError(t, err)
	for s.Decision() == Continue {
		require.NoError(t, s.Add(len(s.counts)-1-s.counts[4]%3))
	}
	lower, upper := s.test.Bounds()
	p := s.outcome().path
	sd := upper / p.upper
	if s.Decision() != H1 || s.up.expected() < 0.01 || p.at != p.upper || math.Abs(p.lower*sd-lower) > 1e-9 || !(sd > 0.5 && sd < 5) {
		t.Errorf("%s: %+v, in units of %v, bounds %v and %v, jumps %+v", s.Decision(), p, sd, lower, upper, s.up)
	}
	// With many results, half of each kind, the standard deviation is (s₁−s₀)/σ·√n, as in the
	// normal approximation.
	s = far(t, []int{1000, 0, 0, 0, 1000})
	want := (scoreOf(0.5) - scoreOf(-0.5)) / 0.5 * math.Sqrt(2000)
	_, upper = s.test.Bounds()
	sd = upper / s.outcome().path.upper
	assert.LessOrEqualf(t, math.Abs(sd/want-1), 1e-3, "standard deviation %v, want %v", sd, want)
}

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
