// Package stepper plays environments for a learner: many games stepped on all
// cores, with opponents inside, in slabs of memory that belong to the learner.
//
// A Stepper is made of parts. Each has an env.Vector of some of the games with
// its autoreset layer and policies of its own, and one goroutine at a time works
// on it. A call steps all games (Step), or a block of them in the background
// (Send), so that a learner works on one block while the others are played
// (Recv gives the block that is ready first).
//
// What is played depends on seeds and actions alone: game i has a base seed, its
// episode e the seed rollout.GameSeed(base, e), and the seat and the opponents
// of an episode are drawn from that. Neither the number of workers nor blocks nor
// the order of Recv changes a trajectory.
//
// Step, Send and Recv allocate nothing.
package stepper

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"moonfarm/env"
	"moonfarm/rollout"
)

// Seats of the caller, instead of a number from 0.
const (
	AllSeats = -1 // every seat is a row: the caller plays them all
	AnySeat  = -2 // one seat, drawn for each episode
)

// Setup says what a Stepper plays, and how.
type Setup struct {
	// Vector makes games; the Stepper calls it for each of its parts, with
	// their number in N. Each call must return a Vector of its own.
	Vector func(c env.Settings) (env.Vector, error)
	Env    env.Settings // N games in all, Reward, MaxTurns, Memory
	Seat   int          // of the caller: from 0, AllSeats or AnySeat
	// Opponents play the other seats. For each episode and seat one is drawn.
	// They may not be missing where there are other seats, nor be there with
	// AllSeats.
	Opponents []rollout.Maker
	Autoreset env.Mode
	Seed      uint64 // the base seed of game i is Seed+i, until Reset gives it another
	Workers   int    // goroutines that play at once, at least 1
	// Batch is the number of games in a block of Send and Recv; Env.N must be a
	// multiple of it. 0: all games are one block.
	Batch int
}

// maxOpponents is how many a byte can tell apart from NoOpponent.
const maxOpponents = 255

// NoOpponent is the entry of Slabs.Opponent for the caller's seat.
const NoOpponent = 255

// StateError says that a call came at a wrong time, such as Step before Reset. It
// has changed nothing.
type StateError string

// Error implements error.
func (e StateError) Error() string { return string(e) }

// PanicError says that a game or a policy panicked. What the Stepper holds is not
// known from then on: every later call but Close returns the same error.
type PanicError struct {
	First, Games int // of the games that were played, and how many
	Value        any // of the panic
}

// Error implements error.
func (e *PanicError) Error() string {
	return fmt.Sprintf("a panic while games %d to %d were played: %v", e.First, e.First+e.Games-1, e.Value)
}

// ErrTimeout says that no block was ready in time.
var ErrTimeout = errors.New("no block was ready in time")

const errClosed = StateError("the stepper is closed")

// Stepper plays the games of a Setup. It is not safe for concurrent use.
type Stepper struct {
	c       Setup
	spec    env.Spec // of all games
	players int
	runs    []alike // of the heads
	slabs   *Slabs  // nil before Bind
	parts   []*part
	blocks  []block
	fault   error // every call returns it: the Stepper is closed, or a part panicked

	slow    bool // an opponent is rollout.Interruptible
	careful bool // all opponents choose before a game is stepped
	stop    interruption

	// What Reset was asked for, while the parts do it.
	seeds []uint64
	mask  []bool

	// Work that Step shares out. All is written before next is set to 0, which
	// is what lets the workers begin.
	op   func(*part)
	next atomic.Int64  // the part to be taken next
	left atomic.Int64  // parts that are not done
	done chan struct{} // the last part is done

	jobs    chan int // parts to step, or help
	ready   chan int // blocks that are done
	hired   int      // goroutines
	workers sync.WaitGroup
	sent    int // blocks under way
	timer   *time.Timer
}

// block is what Send and Recv speak of.
type block struct {
	first, n int          // parts
	left     atomic.Int64 // parts that are not done
	sent     bool         // and not received
}

// New makes the games of c. They begin with Reset, which must be called before
// the first Step. New fails if something is missing in c or does not fit, and
// with the error of the first Vector or Maker that fails. Close lets go of what a
// Stepper holds.
func New(c Setup) (*Stepper, error) {
	s := &Stepper{c: c, done: make(chan struct{}, 1), timer: time.NewTimer(time.Hour)}
	s.timer.Stop()
	if err := s.build(); err != nil {
		return nil, errors.Join(err, s.closeParts())
	}
	s.jobs = make(chan int, len(s.parts)+c.Workers)
	s.ready = make(chan int, len(s.blocks))
	s.next.Store(int64(len(s.parts)))
	s.careful = s.slow
	s.listen()
	return s, nil
}

// check finds what is wrong in a Setup without making games.
func (c *Setup) check() error {
	n := c.Env.N
	switch {
	case c.Vector == nil:
		return errors.New("Setup.Vector is nil")
	case n < 1:
		return fmt.Errorf("%d games: there must be at least 1", n)
	case c.Workers < 1:
		return fmt.Errorf("%d workers: there must be at least 1", c.Workers)
	case c.Batch < 0 || c.Batch > n || c.Batch > 0 && n%c.Batch != 0:
		return fmt.Errorf("blocks of %d games: want a divisor of %d games, or 0", c.Batch, n)
	case len(c.Opponents) > maxOpponents:
		return fmt.Errorf("%d opponents: there may be %d", len(c.Opponents), maxOpponents)
	}
	for j, m := range c.Opponents {
		if m == nil {
			return fmt.Errorf("the maker of opponent %d is nil", j)
		}
	}
	return nil
}

// checkSeat finds what is wrong with the seat and the opponents.
func (c *Setup) checkSeat(game string, players int) error {
	switch {
	case c.Seat < AnySeat || c.Seat >= players:
		return fmt.Errorf("seat %d: %s has %d, from 0", c.Seat, game, players)
	case c.Seat == AllSeats && len(c.Opponents) > 0:
		return errors.New("opponents, but the caller plays all seats")
	case c.Seat != AllSeats && players > 1 && len(c.Opponents) == 0:
		return fmt.Errorf("no opponents: somebody must play the other seats of %s", game)
	}
	return nil
}

// build makes blocks and parts.
func (s *Stepper) build() error {
	if err := s.c.check(); err != nil {
		return err
	}
	games := s.c.Env.N
	if s.c.Batch > 0 {
		games = s.c.Batch
	}
	s.blocks = make([]block, s.c.Env.N/games)
	for b := range s.blocks {
		n := partsOf(games, s.c.Workers, len(s.blocks))
		s.blocks[b].first, s.blocks[b].n = len(s.parts), n
		for k := range n {
			from, to := games*k/n, games*(k+1)/n
			p, err := newPart(s, b, b*games+from, to-from)
			if err != nil {
				return err
			}
			s.parts = append(s.parts, p)
		}
	}
	return nil
}

// partsOf is into how many parts a block is cut. More parts than workers even
// out what one of them is late; a part of few games costs more than it saves.
func partsOf(games, workers, blocks int) int {
	if workers == 1 {
		return 1
	}
	const more, few = 4, 16
	hands := (workers + blocks - 1) / blocks // that work on a block
	return min(games, max(hands, min(more*hands, games/few)))
}

// Spec is that of the games, all of them.
func (s *Stepper) Spec() env.Spec { return s.spec }

// Rows is the number of rows of the Slabs: games, or games × seats with AllSeats.
func (s *Stepper) Rows() int {
	if s.c.Seat == AllSeats {
		return s.spec.Games * s.players
	}
	return s.spec.Games
}

// Blocks is the number of blocks; block b has the games from b*BlockGames on.
func (s *Stepper) Blocks() int { return len(s.blocks) }

// BlockGames is the number of games in a block.
func (s *Stepper) BlockGames() int { return s.spec.Games / len(s.blocks) }

// Close ends the workers, after what they have in hand, and closes the policies.
// Opponents that are rollout.Interruptible choose no more (Abandon). It returns the
// policies' errors. A second Close does nothing.
func (s *Stepper) Close() error {
	if s.fault == errClosed {
		return nil
	}
	s.fault = errClosed
	s.Abandon()
	close(s.jobs)
	s.workers.Wait()
	return s.closeParts()
}

func (s *Stepper) closeParts() error {
	var all []error
	for _, k := range s.parts {
		all = append(all, rollout.CloseSeats(k.opponents...))
	}
	return errors.Join(all...)
}
