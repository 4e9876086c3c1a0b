package policy

import (
	"moonfarm/env"
	"moonfarm/rollout"
)

// empty gives no orders: whatever the game does then is what happens.
type empty struct{}

func newEmpty(env.Spec) (rollout.Policy, error) { return empty{}, nil }

func (empty) Name() string { return "empty" }

func (empty) Wants() env.Want { return 0 }

func (empty) Act(_ env.Vector, b *env.Batch, rows []int32) {
	b.Need(0, "empty")
	for _, row := range rows {
		b.OrderLen[row] = 0
	}
}
