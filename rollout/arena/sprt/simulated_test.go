package sprt

import (
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/sim/prng"
)

// world models a game between two players of different strength.
type world struct {
	draw float64 // lead in Elo that a win takes
	seat float64 // Elo that a seed gives a seat: the results of a pair's games become opposite
	seed float64 // Elo that a seed gives a player: the results of a pair's games become alike
}

// results returns the probability of each result.
func (w world) results(elo float64) []float64 {
	chance := func(x float64) float64 { return 1 / (1 + math.Pow(10, -x/400)) }
	game := func(x float64) [3]float64 {
		win, loss := chance(x-w.draw), chance(-x-w.draw)
		return [3]float64{loss, 1 - win - loss, win}
	}
	p := make([]float64, results)
	for _, seat := range []float64{-w.seat, w.seat} {
		for _, seed := range []float64{-w.seed, w.seed} {
			first, second := game(elo+seed+seat), game(elo+seed-seat)
			for i, x := range first {
				for j, y := range second {
					p[i+j] += x * y / 4
				}
			}
		}
	}
	return p
}

// at returns the probabilities of results at which the strength, as the test measures it, is elo.
func (w world) at(t Test, elo float64) []float64 {
	low, high := -2000.0, 2000.0
	for range 100 {
		middle := (low + high) / 2
		p := w.results(middle)
		mean, variance := 0.0, 0.0
		for i, x := range p {
			mean += x * float64(i) / float64(len(p)-1)
		}
		for i, x := range p {
			d := float64(i)/float64(len(p)-1) - mean
			variance += x * d * d
		}
		strength := 400 * math.Log10(mean/(1-mean))
		if t.Model == Normalised {
			strength = (mean - 0.5) / math.Sqrt(2*variance) * 800 / math.Ln10
		}
		if strength < elo {
			low = middle
		} else {
			high = middle
		}
	}
	return w.results(low)
}

// draw draws a random result.
func draw(r *prng.Rand, p []float64) int {
	x := r.Float64()
	for k := range len(p) - 1 {
		if x < p[k] {
			return k
		}
		x -= p[k]
	}
	return len(p) - 1
}

// simulate returns the share of simulated matches that end in d, and the mean length of all.
func simulate(test Test, p []float64, matches int, d Decision) (rate, length float64) {
	ended, results := 0, 0
	for m := range matches {
		s := stopped(test, p, uint64(m))
		for _, n := range s.counts {
			results += n
		}
		if s.Decision() == d {
			ended++
		}
	}
	return float64(ended) / float64(matches), float64(results) / float64(matches)
}

// settings of TestErrorRates: pairs of games with opposite luck, and pairs with mostly common luck.
var settings = []struct {
	name  string
	test  Test
	world world
}{
	{"logistic, pairs", Test{Elo0: 0, Elo1: 30, Alpha: 0.05, Beta: 0.05}, world{100, 150, 0}},
	{"normalised, pairs", Test{Elo0: -10, Elo1: 25, Alpha: 0.05, Beta: 0.1, Model: Normalised}, world{20, 80, 150}},
}

// TestErrorRates: the error rates at Elo0 and Elo1 are within 10 % of the nominal ones. With 20,000
// matches a rate of 0.05 has a standard error of 3 %.
func TestErrorRates(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates many matches")
	}
	matches, within := 300, 0.7
	if os.Getenv("MOONFARM_LONG") != "" {
		matches, within = 20_000, 0.1
	}
	for _, c := range settings {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, side := range []struct {
				elo, nominal float64
				wrong        Decision
			}{{c.test.Elo0, c.test.Alpha, H1}, {c.test.Elo1, c.test.Beta, H0}} {
				p := c.world.at(c.test, side.elo)
				rate, length := simulate(c.test, p, matches, side.wrong)
				t.Logf("at %v: %s in %.4f of matches, nominal %v, after %.1f results of %.3f", side.elo, side.wrong, rate, side.nominal, length, p)
				assert.LessOrEqualf(t, math.Abs(rate/side.nominal-1), within, "at %v Elo %s is accepted in %v of matches, want %v", side.elo, side.wrong, rate, side.nominal)
			}
		})
	}
}

// TestCoverage: the interval of a test that stopped itself contains the strength in about 95 % of
// cases, whatever the strength is, and the estimate is too large as often as too small. The
// approximation by Brownian motion costs 1 %.
func TestCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates many matches")
	}
	matches, within := 100, 0.08
	if os.Getenv("MOONFARM_LONG") != "" {
		matches, within = 2000, 0.02
	}
	for _, c := range settings {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, elo := range []float64{-40, 0, 15, 30, 60} {
				p := c.world.at(c.test, elo)
				in, above := 0, 0
				for m := range matches {
					e := stopped(c.test, p, uint64(m)).Estimate()
					low, middle, high := e.Low, e.Elo, e.High
					if c.test.Model == Normalised {
						low, middle, high = e.NormalisedLow, e.Normalised, e.NormalisedHigh
					}
					if low <= elo && elo <= high {
						in++
					}
					if middle > elo {
						above++
					}
				}
				share, half := float64(in)/float64(matches), float64(above)/float64(matches)
				t.Logf("%v Elo: in the interval in %.4f, the estimate is above in %.4f", elo, share, half)
				assert.Truef(t, math.Abs(share-0.945) <= within && math.Abs(half-0.5) <= 2.5*within, "%v Elo: in the interval in %v of matches, want 0.95; the estimate is above in %v, want 0.5", elo, share, half)
			}
		})
	}
}

// stopped returns a test that has ended.
func stopped(test Test, p []float64, match uint64) *State {
	r := prng.New(prng.StreamSeed(2, match, 0, 0, prng.PurposeGame))
	s, err := New(test)
	if err != nil {
		panic(err)
	}
	for s.Decision() == Continue {
		if err := s.Add(draw(&r, p)); err != nil {
			panic(err)
		}
	}
	return s
}

// TestLeft: the expected number of further results is near their mean number in simulated matches.
func TestLeft(t *testing.T) {
	for _, c := range settings {
		for _, elo := range []float64{c.test.Elo0, c.test.Elo1} {
			t.Run(fmt.Sprint(c.name, " at ", elo), func(t *testing.T) {
				p := c.world.at(c.test, elo)
				expected, left := 0.0, 0
				for match := range 150 {
					r := prng.New(prng.StreamSeed(3, uint64(match), 0, 0, prng.PurposeGame))
					s, err := New(c.test)
					require.NoError(t, err)
					assert.EqualValues(t, -1, s.Left(), "without results")
					for n := 0; s.Decision() == Continue; n++ {
						if n == 80 {
							require.Positive(t, s.Left())
							expected += s.Left()
						}
						if n >= 80 {
							left++
						}
						require.NoError(t, s.Add(draw(&r, p)))
					}
					assert.Zero(t, s.Left(), "at the end")
				}
				t.Logf("expected %.0f, left %d", expected, left)
				assert.InEpsilon(t, expected, left, 0.5)
			})
		}
	}
	s, err := New(settings[0].test)
	require.NoError(t, err)
	for range leastLeft {
		require.NoError(t, s.Add(4))
	}
	_, upper := s.Bounds()
	assert.InDelta(t, (upper-s.LLR())/(s.LLR()/leastLeft), s.Left(), s.Left()/2, "as many wins again, and no other result")
}
