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
