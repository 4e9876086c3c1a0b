package sprt

import (
	"encoding/json"
	"fmt"
	"math"
)

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
