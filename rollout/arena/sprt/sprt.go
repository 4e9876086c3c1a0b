// Package sprt tests sequentially which of two players is stronger: it looks at the results one by
// one and stops as soon as they are sufficient evidence.
//
// The test is the generalised sequential probability ratio test of X. Li, J. Liu and Z. Ying,
// "Generalized Sequential Probability Ratio Test for Separate Families of Hypotheses", Sequential
// Analysis 33 (2014), on the multinomial distribution of results, as M. Van den Bergh worked it out
// for fishtest ("The Generalized Sequential Probability Ratio Test"; "Comments on normalized Elo").
// A hypothesis fixes one number, the strength of A against B, and leaves the rest of the
// distribution open: the share of draws, and the correlation of the two games of a pair. For each
// hypothesis the test finds the likeliest distribution; the logarithm of the ratio of their
// likelihoods is the LLR.
//
// A result is the number of A's half points, 0 … 4, in a pair of games on the same seed with the
// seats exchanged. The games of a pair are correlated, since both begin from the same seed; pairs
// are independent.
//
// Two models measure strength:
//
//   - Logistic: Elo of the mean score s of A, s = 1/(1 + 10^(−Elo/400)).
//   - Normalised: (s − ½)/σ, where σ is the standard deviation of the score of a
//     game, √2 times that of the mean score of a pair, times 800/ln 10. It
//     determines the length of a test for any rate of draws.
//
// A test ends at bounds of the LLR. The bounds of A. Wald, "Sequential Tests of Statistical
// Hypotheses", Annals of Mathematical Statistics 16 (1945), are ln(β/(1−α)) and ln((1−β)/α). They
// assume that the LLR hits the bound exactly. In fact it jumps over the bound, so the true error
// rates would be below α and β, and games would be wasted. So the bounds move inwards by the expected
// overshoot of the LLR: E[z²]/(2·E[z]) for the heights z of its jumps over its previous extremes (D.
// Siegmund, "Sequential Analysis", 1985, corollary 8.33; fishtest does the same).
//
// TestErrorRates simulates 20,000 matches for each rate. The error rates of tests of 200 to 300 results
// are within 7 % of α and β. The theory is asymptotic: tests of about 30 pairs (0 against 100 Elo) err
// 13 % more often than α and β, and tests far from equal players (100 against 150 Elo) 12 % more often.
package sprt

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"moonfarm/rollout/exact"
)

// Model is the scale of the Elo of hypotheses.
type Model uint8

// The models of the package comment.
const (
	Logistic Model = iota
	Normalised
)

// String returns "logistic" or "normalised".
func (m Model) String() string { return [...]string{"logistic", "normalised"}[m] }

// MarshalText returns String.
func (m Model) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// Bounds of the fields of a Test and of the results.
const (
	// MaxElo bounds the absolute value of every logistic Elo in a result.
	MaxElo = 2400
	// MaxLogistic bounds the absolute value of Elo0 and Elo1 in the logistic model.
	MaxLogistic = 1000
	// MaxNormalised bounds the absolute value of Elo0 and Elo1 in the normalised model: beyond it,
	// the search from the uniform distribution does not find the likeliest one.
	MaxNormalised = 200
	// minError is the least Alpha and Beta.
	minError = 1e-6
)

// Test decides whether the strength of A is Elo0 or Elo1. A strength below Elo0 is recognised at
// least as reliably as Elo0, and one above Elo1 as Elo1.
type Test struct {
	Elo0  float64 `json:"elo0"`
	Elo1  float64 `json:"elo1"`  // above Elo0
	Alpha float64 `json:"alpha"` // probability of accepting H1 at Elo0, at most
	Beta  float64 `json:"beta"`  // probability of accepting H0 at Elo1, at most
	Model Model   `json:"model"`
}

// results is the number of different results of a pair.
const results = 5

// Parse reads "elo0,elo1[,alpha,beta]", such as "0,10" or "-5,0,0.05,0.1". Alpha and Beta default
// to 0.05. The test is in logistic Elo; a caller that changes this calls Check afterwards.
func Parse(text string) (Test, error) {
	t := Test{Alpha: 0.05, Beta: 0.05}
	parts := strings.Split(text, ",")
	if len(parts) != 2 && len(parts) != 4 {
		return t, fmt.Errorf("sprt: %q has %d numbers, expected elo0,elo1 or elo0,elo1,alpha,beta", text, len(parts))
	}
	for i, to := range []struct {
		name  string
		value *float64
	}{{"elo0", &t.Elo0}, {"elo1", &t.Elo1}, {"alpha", &t.Alpha}, {"beta", &t.Beta}}[:len(parts)] {
		x, err := strconv.ParseFloat(strings.TrimSpace(parts[i]), 64)
		if err != nil {
			return t, fmt.Errorf("sprt: %s in %q: %q is not a number", to.name, text, strings.TrimSpace(parts[i]))
		}
		*to.value = x
	}
	if err := t.Check(); err != nil {
		return t, fmt.Errorf("%w (in %q)", err, text)
	}
	return t, nil
}

// Check returns an error if the Test is not valid.
func (t Test) Check() error {
	most := [...]float64{Logistic: MaxLogistic, Normalised: MaxNormalised}[t.Model]
	for _, x := range []float64{t.Elo0, t.Elo1} {
		if !(math.Abs(x) <= most) {
			return fmt.Errorf("sprt: %v points of %v Elo, expected %v to %v", x, t.Model, -most, most)
		}
	}
	if !(t.Elo1-t.Elo0 >= 0.01) {
		return fmt.Errorf("sprt: elo1 is %v, expected more than elo0, %v, by 0.01 at least", t.Elo1, t.Elo0)
	}
	for _, x := range []float64{t.Alpha, t.Beta} {
		if !(x >= minError && x < 1) {
			return fmt.Errorf("sprt: an error rate of %v, expected %v to 1", x, minError)
		}
	}
	if t.Alpha+t.Beta >= 1 {
		return errors.New("sprt: the sum of alpha and beta is 1 or more, expected less")
	}
	return nil
}

// Bounds returns Wald's bounds of the LLR: at or below lower the test accepts H0, at or above upper
// H1.
func (t Test) Bounds() (lower, upper float64) {
	return exact.Log(t.Beta / (1 - t.Alpha)), exact.Log((1 - t.Beta) / t.Alpha)
}

// Decision is the outcome of a test so far.
type Decision string

// The decisions.
const (
	Continue Decision = "continue"
	H0       Decision = "H0" // the strength is Elo0 rather than Elo1
	H1       Decision = "H1" // the strength is Elo1 rather than Elo0
)

// jumps are the jumps of the LLR over its previous extreme on one side. The extreme is the sum of
// their heights.
type jumps struct {
	Extreme float64 `json:"extreme"`
	Squares float64 `json:"squares"` // sum of the squared heights
}

// expected returns the expected overshoot: half of the mean squared height over the mean height.
func (j jumps) expected() float64 {
	if j.Extreme == 0 {
		return 0
	}
	return j.Squares / math.Abs(j.Extreme) / 2
}

// to moves the extreme to llr if that is beyond it.
func (j *jumps) to(llr float64) {
	height := llr - j.Extreme
	j.Squares += float64(height * height)
	j.Extreme = llr
}

// State is a test and its results so far. New makes one.
//
// The order of the results matters, since the test ends once the LLR is beyond a bound. So results
// must be added in the order of the schedule, not in the order in which games end; otherwise quick
// games have too much influence and the decision depends on the machine.
type State struct {
	test     Test
	counts   []int
	llr      float64
	down, up jumps
	decision Decision
}

// New starts a test. It fails if the test is not valid: see Test.Check.
func New(t Test) (*State, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	return &State{test: t, counts: make([]int, results), decision: Continue}, nil
}

// Test returns the test.
func (s *State) Test() Test { return s.test }

// Counts returns the number of each result, from A's side: [LL, LD, DD or WL, WD, WW].
func (s *State) Counts() []int { return append([]int(nil), s.counts...) }

// LLR returns the LLR of the counts.
func (s *State) LLR() float64 { return s.llr }

// Decision returns H0 or H1 if the test has ended.
func (s *State) Decision() Decision { return s.decision }

// Bounds returns the bounds at which the test ends. They change with the results until then.
func (s *State) Bounds() (lower, upper float64) {
	lower, upper = s.test.Bounds()
	// Each bound moves by at most a tenth of the distance, so that a large jump among the first
	// results does not end the test.
	most := (upper - lower) / 20
	return lower + min(most, s.down.expected()), upper - min(most, s.up.expected())
}

// Add counts one result of A in half points, 0 … 4. It fails for other numbers, and after the end of
// the test.
func (s *State) Add(result int) error {
	if s.decision != Continue {
		return fmt.Errorf("sprt: a result after %s was accepted", s.decision)
	}
	if result < 0 || result >= len(s.counts) {
		return fmt.Errorf("sprt: a result of %d half points, expected 0 to %d", result, len(s.counts)-1)
	}
	s.counts[result]++
	s.llr = s.test.LLR(s.counts)
	if s.llr < s.down.Extreme {
		s.down.to(s.llr)
	}
	if s.llr > s.up.Extreme {
		s.up.to(s.llr)
	}
	lower, upper := s.Bounds()
	switch {
	case s.llr <= lower:
		s.decision = H0
	case s.llr >= upper:
		s.decision = H1
	}
	return nil
}

type file struct {
	Test
	Pairs     bool     `json:"pairs"`                // always true: results are pairs
	Overshoot bool     `json:"overshoot_correction"` // always true
	Counts    []int    `json:"counts"`
	LLR       float64  `json:"llr"`
	Lower     float64  `json:"lower"`
	Upper     float64  `json:"upper"`
	Decision  Decision `json:"decision"`
	Estimate
	Down jumps `json:"jumps_down"`
	Up   jumps `json:"jumps_up"`
}

// MarshalJSON writes the test, counts, llr, lower, upper, decision, the keys of Estimate, and the
// state of the correction for overshoot.
func (s *State) MarshalJSON() ([]byte, error) {
	f := file{Test: s.test, Pairs: true, Overshoot: true, Counts: s.counts, LLR: s.llr, Decision: s.decision, Estimate: s.Estimate(), Down: s.down, Up: s.up}
	f.Lower, f.Upper = s.Bounds()
	return json.Marshal(f)
}
