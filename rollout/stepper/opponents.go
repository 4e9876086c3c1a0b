package stepper

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"moonfarm/env"
	"moonfarm/rollout"
)

// outside stands for an opponent whose actions the caller gives.
type outside struct{}

func newOutside(env.Spec) (rollout.Policy, error) { return outside{}, nil }

// Name implements rollout.Policy.
func (outside) Name() string { return "outside" }

// Wants implements rollout.Policy.
func (outside) Wants() env.Want { return 0 }

// Act implements rollout.Policy: the rows play the actions that take has copied.
func (outside) Act(env.Vector, *env.Batch, []int32) {}

// SetWeights makes episodes draw their opponents in proportion to weights, one for each of
// Setup.Opponents. An opponent of weight 0 is not drawn. At first, and with equal weights, all are equally
// likely. Episodes that have begun keep their opponents; blocks under way draw by the weights with which
// they were sent. SetWeights fails, and changes nothing, if a weight is negative or not finite, or
// all are 0.
func (s *Stepper) SetWeights(weights []float64) error {
	if s.fault != nil {
		return s.fault
	}
	if n := len(s.c.Opponents); len(weights) != n {
		return fmt.Errorf("%d weights, expected %d, one for each opponent", len(weights), n)
	}
	if len(weights) == 0 {
		return nil
	}
	for j, w := range weights {
		if !(w >= 0) || math.IsInf(w, 0) {
			return fmt.Errorf("weight %v of opponent %d: expected a finite number, at least 0", w, j)
		}
	}
	most := slices.Max(weights)
	if most == 0 {
		return errors.New("all weights are 0: expected one above 0")
	}
	s.weights = nil
	if slices.Min(weights) < most {
		s.weights = rollout.NewWeights(weights)
	}
	for b := range s.blocks {
		if k := &s.blocks[b]; !k.sent {
			s.weigh(k.parts)
		}
	}
	return nil
}

// weigh makes parts, which no worker plays, draw opponents by the weights that were set last.
func (s *Stepper) weigh(parts []*part) {
	for _, k := range parts {
		k.weights = s.weights
	}
}
