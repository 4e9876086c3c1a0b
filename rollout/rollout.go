// Package rollout plays episodes. Its one idea: a shard is a pure function of
// (game, rules, policies, seed, shard number), so workers need no coordination
// and a run that was killed continues by making the shards that are missing.
//
// An Episode holds the orders that were given. Observations, masks, actions and
// rewards follow from them: a Replayer plays the episode again and writes them.
// Games can keep them while they play and deliver them with the episode, which
// is faster and needs memory for the rows of all episodes in hand.
//
//   - Games are the games of one Vector with a policy at each seat; they play a
//     range of episodes. Shard does the same in one call.
//   - Run plays the shards of a Job on several workers; a ShardPlayer is one
//     such worker.
//   - Replayer plays a recorded Episode again, turn by turn, into slabs of the
//     caller; Replay does the same in one call.
//
// There are no clocks, files or logs here. The content of an episode depends on
// the game, the seat's policies, the master seed and the episode's number: not
// on how many games are played at once, nor on workers or shard boundaries.
package rollout

import (
	"context"
	"errors"
	"io"
	"slices"

	"moonfarm/env"
	"moonfarm/sim"
)

// Policy chooses for rows of a Batch. One instance serves one goroutine. Its
// choice for a row must depend on nothing but that row (its observation or
// state, its RowSeed): never on other rows, on earlier turns, or on random numbers
// from elsewhere. Only a Recurrent policy depends on earlier turns, too: on the rows
// of the same seat in the same game. A policy that reads the clock makes shards that
// cannot be reproduced: it is for tournaments.
//
// A policy that must be closed is an io.Closer too; Run closes it.
type Policy interface {
	// Name is the text from which the policy was made, such as "random".
	Name() string
	// Wants returns the slabs of the Batch that it reads or writes.
	Wants() env.Want
	// Act chooses for the given rows (game*Players + seat): it writes their
	// Action, or their Orders and OrderLen. Policies that read the state take
	// it from env.States.
	Act(v env.Vector, b *env.Batch, rows []int32)
}

// MaxMembers is the most members of a Mixture: Episode.Chosen has their index as a byte.
const MaxMembers = 256

// Mixture is a Policy of several members, one of which chooses for each row.
// Episode.Chosen records which one.
type Mixture interface {
	Policy
	// Members returns the members, in order, at most MaxMembers. None of them is a Mixture.
	// What a member can do besides choosing (Interruptible, Searcher, Networked, WithFiles,
	// io.Closer), the Mixture need not do.
	Members() []Policy
	// Chosen returns the index of the member that chose for a row in the latest
	// Act for that row. The batch must be as that Act left it.
	Chosen(b *env.Batch, row int32) uint8
}

// Interruptible is a Policy whose Act can take long.
type Interruptible interface {
	Policy
	// Until makes every later Act return soon once ctx is done. The output of an
	// interrupted Act is undefined, so the caller checks ctx after it.
	Until(ctx context.Context)
}

// Until calls Until of the policies, and members of them, that are Interruptible.
func Until(ctx context.Context, seats ...Policy) {
	for _, p := range seats {
		switch i := p.(type) {
		case Mixture:
			Until(ctx, i.Members()...)
		case Interruptible:
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

// Has reports whether a policy, or a member of it, is a T, such as a Searcher.
func Has[T Policy](p Policy) bool {
	if m, ok := p.(Mixture); ok {
		return slices.ContainsFunc(m.Members(), Has[T])
	}
	_, ok := p.(T)
	return ok
}

// ResultOf returns the result of a policy's latest Act for a row; nil if the policy, or the member
// that chose, does not search. The batch must be as that Act left it.
func ResultOf(p Policy, b *env.Batch, row int32) *SearchResult {
	if s, ok := chooser(p, b, row).(Searcher); ok {
		return s.SearchResult(row)
	}
	return nil
}

// chooser returns the policy that chose for a row: p, or a member of it.
func chooser(p Policy, b *env.Batch, row int32) Policy {
	if m, ok := p.(Mixture); ok {
		return m.Members()[m.Chosen(b, row)]
	}
	return p
}

// SearchResult is the result of a search for a row.
type SearchResult struct {
	Value  float64     // the result that the row's seat can expect, −1 … 1
	Shares []float32   // share of each move in the visits or in the mixed strategy; they sum to 1
	Orders []sim.Order // move k has Orders[Ends[k-1]:Ends[k]] (with Ends[-1] = 0)
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

// NewSeats makes the policies of all seats. If a maker fails, it closes the
// policies that are already made and returns the error.
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

// CloseSeats closes the policies, and members of them, that are an io.Closer and returns their errors.
func CloseSeats(seats ...Policy) error {
	var all []error
	for _, p := range seats {
		switch c := p.(type) {
		case Mixture:
			all = append(all, CloseSeats(c.Members()...))
		case io.Closer:
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

// Files returns the content of a file whose sha256 begins with these digits. The
// error is fs.ErrNotExist if there is no such file.
type Files func(sha256 string) ([]byte, error)

// WithFiles is a Policy that was made from files. Another machine can make the
// same policy from its name and these files.
type WithFiles interface {
	Policy
	Files() []File
}

// FilesOf returns the files of a policy, or of its members.
func FilesOf(p Policy) (all []File) {
	switch f := p.(type) {
	case Mixture:
		for _, m := range f.Members() {
			all = append(all, FilesOf(m)...)
		}
	case WithFiles:
		all = f.Files()
	}
	return all
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

	// Chosen has, at t*Players+p, the index of the member of a Mixture that chose
	// for seat p in turn t; 0 for seats with another policy. Empty if no seat has a
	// Mixture.
	Chosen []uint8

	// Searches are the results of the seats' searches; empty if no seat has a
	// Searcher.
	Searches SearchResults

	// AskedOrders are the orders that another policy would give (Job.Ask), as in Orders and
	// Ends; empty if none is asked.
	AskedOrders []sim.Order
	AskedEnds   []int32

	// Networks are the counts of each seat's network; empty if no seat has a
	// network, and for games that were not played here.
	Networks []NetworkCounts

	// Stopped is the reason why a recorded game ends before its rules or a limit
	// end it: the recording stops there, or the next turn differs from the game as
	// it is played here. Status is Cut then. Empty for all other games.
	Stopped string
	// Recording is the game in the original engine's format if seed and orders do
	// not determine it, because the engine's random numbers are unknown; else
	// empty. Only a Vector that steps through the recorded states can replay such
	// an episode.
	Recording []byte

	// Steps divide the turns into the actions of a sequential form; nil for episodes as
	// they are played and stored: see Replayer.Unfold.
	Steps *Steps

	// Rows are the rows that a Replayer would write; nil unless the Games that
	// played the episode keep rows.
	Rows *Rows
}

// OrdersOf returns the orders of seat p in turn t.
func (e *Episode) OrdersOf(t int, p sim.Player) []sim.Order {
	return between(e.Orders, e.Ends, t*e.Players+int(p))
}

// AskedOf returns the orders that the policy that is asked would give at seat p in
// turn t.
func (e *Episode) AskedOf(t int, p sim.Player) []sim.Order {
	return between(e.AskedOrders, e.AskedEnds, t*e.Players+int(p))
}

// between returns list k of lists that lie one after the other.
func between(all []sim.Order, ends []int32, k int) []sim.Order {
	from := int32(0)
	if k > 0 {
		from = ends[k-1]
	}
	return all[from:ends[k]]
}

// Sink takes the episodes of one shard, in the order of their IDs. The Episode
// is reused after the call.
type Sink interface {
	Episode(e *Episode) error
}
