package sprt

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/prng"
)

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
