package env

import (
	"moonfarm/features"
	"moonfarm/sim"
)

// tools are the game and the form with which a pool plays and observes, and their tables and scratch
// memory.
type tools[S any] struct {
	game    sim.Game[S]
	encoder features.Encoder[S]
	batch   features.BatchEncoder[S] // the encoder if it is a BatchEncoder, else nil
	actions features.ActionSpace[S]
	measure *features.Measure[S] // nil: the reward is the result
	turn    *sim.Turn
}

// Borrow implements Vector.
func (v *pool[S]) Borrow(from Vector) bool {
	f, ok := from.Unwrap().(*pool[S])
	if !ok || f.print != v.print || f.spec.Form != v.spec.Form || f.spec.Reward != v.spec.Reward {
		return false
	}
	v.tools = f.own
	return true
}

// Return implements Vector.
func (v *pool[S]) Return() { v.tools = v.own }
