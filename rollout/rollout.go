// Package rollout plays episodes. Its one idea: a shard is a pure function of
// (game, rules, policies, seed, shard number), so workers need no coordination
// and a run that was killed continues by making the shards that are missing.
//
// An Episode holds the orders that were given. Observations, masks, actions and
// rewards follow from them: a Replayer plays the episode again and writes them.
// A Table that is told to keep them hands them on with the episode instead,
// which is faster and needs memory for the rows of all episodes in hand.
//
//   - Table seats policies at the games of one Vector and plays a range of
//     episodes; Shard is the same in one call.
//   - Run plays the shards of a Job on several workers.
//   - Replayer plays a recorded Episode again, turn by turn, into slabs of the
//     caller; Replay is the same in one call.
//
// There are no clocks, files or logs here. The content of an episode depends on
// the game, the seat's policies, the master seed and the episode's number: not
// on how many games are played at once, nor on workers or shard boundaries.
package rollout

import (
	"context"
	"errors"
	"io"

	"moonfarm/env"
	"moonfarm/sim"
)

// Policy chooses for rows of a Batch. One instance serves one goroutine. Its
// choice for a row must depend on nothing but that row (its observation or
// state, its Key): never on other rows, on the past, or on chance of its own. A policy that
// reads the clock makes shards that cannot be reproduced: it is for tournaments.
//
// A policy that must be closed is an io.Closer too; Run closes it.
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

// Mixture is a Policy of several members, one of which chooses for each row. Episodes tell
// which one.
type Mixture interface {
	Policy
	// Members are the texts of the members, in order; at most 256.
	Members() []string
	// Chosen is the index of the member that chose for a row in the latest Act
	// for that row. The batch must be as that Act left it.
	Chosen(b *env.Batch, row int32) uint8
}

// Interruptible is a Policy whose Act can take long.
type Interruptible interface {
	Policy
	// Until makes Act return soon once ctx is done, from now on. The output of such an Act
	// is of no use, so the caller checks ctx after it.
	Until(ctx context.Context)
}

// Until calls Until of the policies that are Interruptible.
func Until(ctx context.Context, seats ...Policy) {
	for _, p := range seats {
		if i, ok := p.(Interruptible); ok {
			i.Until(ctx)
		}
	}
}

// Searcher is a Policy that searches: it weighs several moves for a row before it chooses.
type Searcher interface {
	Policy
	// SearchResult returns the result of the latest Act for a row, nil for other rows. It is
	// valid until the next Act.
	SearchResult(row int32) *SearchResult
}

// SearchResult is the result of a search for a row.
type SearchResult struct {
	Value  float64     // the result that the row's seat can expect, −1 … 1
	Shares []float32   // of each move, in the search or in its mixed strategy; they sum to 1
	Orders []sim.Order // of move k: Orders[Ends[k-1]:Ends[k]] (with Ends[-1] = 0)
	Ends   []int32
}

// OrdersOf returns the orders of move k.
func (s *SearchResult) OrdersOf(k int) []sim.Order {
	from := int32(0)
	if k > 0 {
		from = s.Ends[k-1]
	}
	return s.Orders[from:s.Ends[k]]
}

// Maker makes an instance of a policy for games of the spec. It fails if the
// policy cannot play them. It may be called by several goroutines at once.
type Maker func(s env.Spec) (Policy, error)

// NewSeats makes the policies of all seats. It fails with the first maker, and
// closes the policies that the others have made.
func NewSeats(makers []Maker, s env.Spec) (seats []Policy, err error) {
	for _, maker := range makers {
		p, err := maker(s)
		if err != nil {
			return nil, errors.Join(err, CloseSeats(seats...))
		}
		seats = append(seats, p)
	}
	return seats, nil
}

// CloseSeats closes the policies that are an io.Closer and returns their errors.
func CloseSeats(seats ...Policy) error {
	var all []error
	for _, p := range seats {
		if c, ok := p.(io.Closer); ok {
			all = append(all, c.Close())
		}
	}
	return errors.Join(all...)
}

// File is a file from which a policy was made, such as a network.
type File struct {
	Name   string // without folders
	SHA256 string // in hexadecimal digits
	Data   []byte // not to be changed
}

// Files finds a file whose sha256 begins with these digits. The error is fs.ErrNotExist if there is none.
type Files func(sha256 string) ([]byte, error)

// WithFiles is a Policy that was made from files. With them it can be made on another machine.
type WithFiles interface {
	Policy
	Files() []File
}

// Episode is one game played: its seed and the orders of every seat and turn.
// These and the game's rules suffice to play it again.
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

	// Chosen tells which member of a Mixture chose for seat p in turn t, at
	// t*Players+p; 0 for seats with another policy. Empty if no seat has a Mixture.
	Chosen []uint8

	// Searches are the results of the searches of its seats; empty if no seat has one.
	Searches SearchResults

	// Networks are the counts of the seats' networks; empty if no policy has one, and for
	// games that were not played here.
	Networks []NetworkCounts

	// Stopped says why a recorded game ends before its rules or a limit end it:
	// the recording stops there, or the next turn differs from the game as it is
	// played here. Its Status is Cut then. Empty for all other games.
	Stopped string
	// Recording is the game in the original's own form if it cannot be played
	// again from seed and orders because its random numbers are not known; else
	// empty. Only a Vector that goes through the recorded states can replay such
	// an episode.
	Recording []byte

	// Rows are the rows that a Replayer would write, if the Table that played the episode
	// keeps them; else nil.
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
