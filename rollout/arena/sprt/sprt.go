// Package sprt tests sequentially which of two players is the stronger one: it
// looks at the results one by one and stops as soon as they say enough.
//
// The test is the generalised sequential probability ratio test of X. Li, J. Liu
// and Z. Ying, "Generalized Sequential Probability Ratio Test for Separate
// Families of Hypotheses", Sequential Analysis 33 (2014), on the multinomial
// distribution of results, as M. Van den Bergh worked it out for fishtest
// ("The Generalized Sequential Probability Ratio Test"; "Comments on normalized
// Elo"). A hypothesis fixes one number, the strength of A against B, and leaves the
// rest of the distribution open: how often games are drawn, and how the two games
// of a pair depend on each other. For each hypothesis the likeliest distribution
// is found; the logarithm of the ratio of their likelihoods is the LLR.
//
// A result is that of a pair of games on the same seed with the seats exchanged,
// in half points of A: 0 … 4. Games of a pair depend on each other, since both
// begin from the same seed; pairs do not. Where no pairs can be had, a result is
// that of a game: 0 … 2.
//
// Strength is measured as one of two models says:
//
//   - Logistic: Elo of the mean score s of A, s = 1/(1 + 10^(−Elo/400)).
//   - Normalised: (s − ½)/σ, where σ is the standard deviation of the score of a
//     game, times 800/ln 10. It tells how many games a test takes, whatever the
//     rate of draws. For pairs σ is √2 times that of the mean score of a pair.
//
// A test ends at bounds of the LLR. Those of A. Wald, "Sequential Tests of
// Statistical Hypotheses", Annals of Mathematical Statistics 16 (1945), are
// ln(β/(1−α)) and ln((1−β)/α). They hold for an LLR that hits the bound exactly.
// But it jumps over the bound, so that the true error rates are below α and β, and
// games are wasted. See Test.Overshoot.
//
// TestErrorRates simulates 20,000 matches for each rate. With the correction for
// overshoot tests of 200 to 300 results err within 7 % of α and β, without it up to
// 17 % less often. The theory is one of many results: tests of about 30 pairs (0
// against 100 Elo) err 13 % more often than α and β with the correction and 5 %
// less often without it, and tests far from equal players (100 against 150 Elo)
// 12 % and 3 % more often.
package sprt

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Model is the scale of Elo in which hypotheses are told.
type Model uint8

// The models of the package comment.
const (
	Logistic Model = iota
	Normalised
)

var modelNames = [...]string{"logistic", "normalised"}

// String is "logistic" or "normalised".
func (m Model) String() string {
	if int(m) < len(modelNames) {
		return modelNames[m]
	}
	return "Model(" + strconv.Itoa(int(m)) + ")"
}

// MarshalText fails for a Model that is none.
func (m Model) MarshalText() ([]byte, error) {
	if int(m) >= len(modelNames) {
		return nil, fmt.Errorf("sprt: there is no model %d", m)
	}
	return []byte(modelNames[m]), nil
}

// UnmarshalText reads what MarshalText writes, and "normalized".
func (m *Model) UnmarshalText(text []byte) error {
	switch string(text) {
	case "logistic":
		*m = Logistic
	case "normalised", "normalized":
		*m = Normalised
	default:
		return fmt.Errorf("sprt: there is no model %q, want logistic or normalised", text)
	}
	return nil
}

// Bounds of what a Test may ask and of what comes out.
const (
	// MaxElo bounds every logistic Elo that comes out, either way.
	MaxElo = 2400
	// MaxLogistic bounds Elo0 and Elo1 of the logistic model.
	MaxLogistic = 1000
	// MaxNormalised bounds Elo0 and Elo1 of the normalised model: beyond, the
	// likeliest distribution is not found from the uniform one.
	MaxNormalised = 200
	// minError is the least Alpha and Beta.
	minError = 1e-6
)

// Test is what is to be decided: whether the strength of A is Elo0 or Elo1. If it
// lies below Elo0, that is found at least as surely as if it is Elo0, and so above.
type Test struct {
	Elo0  float64 `json:"elo0"`
	Elo1  float64 `json:"elo1"`  // above Elo0
	Alpha float64 `json:"alpha"` // most probable error at Elo0: H1 is accepted
	Beta  float64 `json:"beta"`  // most probable error at Elo1: H0 is accepted
	Model Model   `json:"model"`
	Pairs bool    `json:"pairs"` // results are those of pairs, else those of games
	// Overshoot moves the bounds inwards by as much as the LLR is expected to jump
	// over them: E[z²]/(2·E[z]) for the heights z by which it jumped over its
	// extremes so far (D. Siegmund, "Sequential Analysis", 1985, corollary 8.33;
	// so does fishtest). With it the error rates come near to Alpha and Beta and
	// tests take fewer games; without it they are below.
	Overshoot bool `json:"overshoot_correction"`
}

// Parse reads "elo0,elo1[,alpha,beta]", such as "0,10" or "-5,0,0.05,0.1". Alpha
// and Beta are 0.05 if they are left out. The test is on pairs, in logistic Elo,
// with Overshoot; the caller changes that, and then asks Check.
func Parse(text string) (Test, error) {
	t := Test{Alpha: 0.05, Beta: 0.05, Pairs: true, Overshoot: true}
	parts := strings.Split(text, ",")
	if len(parts) != 2 && len(parts) != 4 {
		return t, fmt.Errorf("sprt: %q has %d numbers, want elo0,elo1 or elo0,elo1,alpha,beta", text, len(parts))
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

// Check says what is wrong with a Test.
func (t Test) Check() error {
	most := float64(MaxLogistic)
	switch t.Model {
	case Logistic:
	case Normalised:
		most = MaxNormalised
	default:
		return fmt.Errorf("sprt: there is no model %d", t.Model)
	}
	for _, x := range []float64{t.Elo0, t.Elo1} {
		if !(math.Abs(x) <= most) {
			return fmt.Errorf("sprt: %v points of %v Elo, want %v to %v", x, t.Model, -most, most)
		}
	}
	if !(t.Elo1-t.Elo0 >= 0.01) {
		return fmt.Errorf("sprt: elo1 is %v, want more than elo0, %v, by 0.01 at least", t.Elo1, t.Elo0)
	}
	for _, x := range []float64{t.Alpha, t.Beta} {
		if !(x >= minError && x < 1) {
			return fmt.Errorf("sprt: an error rate of %v, want %v to 1", x, minError)
		}
	}
	if t.Alpha+t.Beta >= 1 {
		return errors.New("sprt: alpha and beta are 1 or more together, want less")
	}
	return nil
}

// Bounds are those of the LLR, after Wald: at lower or below H0 is accepted, at
// upper or above H1.
func (t Test) Bounds() (lower, upper float64) {
	return ln(t.Beta / (1 - t.Alpha)), ln((1 - t.Beta) / t.Alpha)
}

// Cells is how many different results there are: 5 of pairs, 3 of games.
func (t Test) Cells() int {
	if t.Pairs {
		return 5
	}
	return 3
}
