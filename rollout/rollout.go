// Package rollout plays episodes. Its one idea: a shard is a pure function of
// (game, rules, policies, seed, shard number), so workers need no coordination
// and a run that was killed continues by making the shards that are missing.
//
// An Episode is the orders that were given. Everything else about it (the
// observations, masks, actions, rewards) follows by playing them again, which
// costs less than storing or copying it: whoever wants rows replays.
//
//   - Table seats policies at the games of one Vector and plays a range of
//     episodes; Shard is the same in one call.
//   - Run plays the shards of a Job on several workers.
//   - Replayer plays a recorded Episode again, turn by turn, straight into
//     slabs of the caller.
//
// There are no clocks, files or logs here. What an episode holds depends on
// the game, the seat's policies, the master seed and the episode's number: not
// on how many games are played at once, nor on workers or shard boundaries.
package rollout

import (
	"moonfarm/env"
	"moonfarm/sim"
)

// Policy chooses for rows of a Batch. One instance serves one goroutine. What
// it chooses for a row must depend on nothing but that row (its observation or
// state, its Key): never on other rows, on the past, or on chance of its own.
//
// A policy that holds something to let go of is an io.Closer too; Run closes
// it.
type Policy interface {
	// Name is the text from which the policy was made, such as "random".
	Name() string
	// Wants says which slabs of the Batch it reads or writes.
	Wants() env.Want
	// Act chooses for the given rows (game*Players + seat): it writes their
	// Action, or their Orders and OrderLen. Policies that read the state take
	// it from env.States.
	Act(v env.Vector, b *env.Batch, rows []int32)
}

// Maker makes an instance of a policy for games of the spec. It fails if the
// policy cannot play them. It may be called by several goroutines at once.
type Maker func(s env.Spec) (Policy, error)

// Episode is one game played: its seed and the orders of every seat and turn.
// With the game's rules this is all that is needed to play it again.
type Episode struct {
	ID       uint64   // number in the run, from 0
	Seed     uint64   // the seed the game was Reset with
	Policies []string // name per seat; shared between episodes, not to be changed
	Players  int
	Turns    int // turns played
	Status   sim.Status
	Outcome  [sim.MaxPlayers]sim.Outcome

	// The orders of seat p in turn t are Orders[Ends[k-1]:Ends[k]] with
	// k = t*Players+p (and Ends[-1] = 0).
	Orders []sim.Order
	Ends   []int32

	// Rows are the rows of the batches in which the episode was played, if the
	// Table keeps them; else nil.
	Rows *Rows
}

// OrdersOf returns the orders of seat p in turn t.
func (e *Episode) OrdersOf(t int, p sim.Player) []sim.Order {
	k := t*e.Players + int(p)
	from := int32(0)
	if k > 0 {
		from = e.Ends[k-1]
	}
	return e.Orders[from:e.Ends[k]]
}

// Sink takes the episodes of one shard, in the order of their IDs. The Episode
// is reused after the call.
type Sink interface {
	Episode(e *Episode) error
}

// outcomer is the part of env.Snapshotter that recording needs; a Vector of
// env.New has it.
type outcomer interface {
	Outcome(i int, p sim.Player) sim.Outcome
}
