// Package stepper plays environments for a learner: many games stepped on all
// cores, against opponents, in slabs of memory that belong to the learner.
//
// A Stepper is made of parts. Each part has an env.Vector of some of the games,
// with its own autoreset layer and policies, and is used by one goroutine at a
// time. Step plays a turn of all games. Send plays a turn of a block of games
// in the background, so that a learner works on one block while others are
// played; Recv returns the block that is ready first.
//
// A trajectory depends only on seeds, actions and the weights of opponents: game i has a
// base seed, its episode e has the seed rollout.GameSeed(base, e), and the seat and the
// opponents of an episode are drawn from this seed. The number of workers, the
// blocks and the order of Recv change nothing.
//
// Step, Send and Recv allocate nothing.
package stepper

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"moonfarm/env"
	"moonfarm/rollout"
)

// Values of Setup.Seat other than a seat, which counts from 0.
const (
	AllSeats = -1 // the caller plays every seat: each seat is a row
	AnySeat  = -2 // the caller plays one seat, drawn for each episode
)

// Setup configures a Stepper.
type Setup struct {
	// Vector makes a new Vector of c.N games. The Stepper calls it once per
	// part and, if there are several parts, once per worker (Vector.Borrow).
	Vector func(c env.Settings) (env.Vector, error)
	Env    env.Settings // N games in total, Reward, MaxTurns, Memory
	Seat   int          // the caller's seat: from 0, AllSeats or AnySeat
	// Opponents play the other seats; one is drawn per episode and seat. They
	// must be given if there are other seats, and must be absent with AllSeats.
	// nil stands for an opponent whose actions the caller gives, too: with one of
	// them every seat is a row, and what the rows of the others play is ignored.
	Opponents []rollout.Maker
	Autoreset env.Mode
	Seed      uint64 // the base seed of game i is Seed+i until Reset changes it
	Workers   int    // goroutines that play in parallel, at least 1
	// Batch is the number of games in a block of Send and Recv and divides
	// Env.N. 0: all games are one block.
	Batch int
}

// maxOpponents is the number of values of a byte besides NoOpponent.
const maxOpponents = 255

// NoOpponent is the entry of Slabs.Opponent for the caller's seat.
const NoOpponent = 255

// StateError means that a method was called at a wrong time, such as Step
// before Reset. The call has changed nothing.
type StateError string

// Error implements error.
func (s StateError) Error() string { return string(s) }

// PanicError means that a game or a policy panicked. The state of the Stepper
// is undefined from then on: every later call except Close returns the same
// error.
type PanicError struct {
	First, Games int // the first of the games that were played, and their number
	Value        any // the value that was passed to panic
}

// Error implements error.
func (p *PanicError) Error() string {
	return fmt.Sprintf("a panic while games %d to %d were played: %v", p.First, p.First+p.Games-1, p.Value)
}

// ErrTimeout means that no block was ready in time.
var ErrTimeout = errors.New("no block was ready in time")

const errClosed = StateError("the stepper is closed")

// Stepper plays the games of a Setup. It is not safe for concurrent use.
type Stepper struct {
	c       Setup
	spec    env.Spec // of all games
	players int
	runs    []headRun       // of heads with equally many choices
	weights rollout.Weights // of the opponents; nil: equal
	slabs   *Slabs          // nil before Bind
	parts   []*part
	blocks  []block
	fault   error // returned by every call: the Stepper is closed, or a part panicked

	everySeat   bool // every seat is a row: with AllSeats, or an opponent whose actions the caller gives
	opposed     bool // there are other opponents
	slow        bool // an opponent is rollout.Interruptible
	chooseFirst bool // all opponents choose before any game is stepped
	stop        interruption

	// The arguments of the Reset or the Ask in progress.
	seeds    []uint64
	mask     []bool
	question question

	tools []env.Vector // by worker, from 0, the caller; see Vector.Borrow
	made  time.Time    // when New made the Stepper

	// The tasks of each, one for each method of parts: all parts do it.
	taking, stepping, choosing, playing, observing, resetting, asking *task

	jobs    chan *task // each asks a worker to join
	ready   chan int   // indices of blocks that are done
	started int        // goroutines started
	workers sync.WaitGroup
	sent    int // blocks in progress
	timer   *time.Timer
}

// block is a block of games that Send and Recv play together.
type block struct {
	*task      // the steps of its parts
	sent  bool // sent but not received
}

// New makes the games of c. Call Reset before the first Step, and Close at the
// end. New fails if c is incomplete or inconsistent, and with the error of the
// first Vector or Maker that fails.
func New(c Setup) (*Stepper, error) {
	s := &Stepper{c: c, made: time.Now(), timer: time.NewTimer(time.Hour)}
	s.timer.Stop()
	s.everySeat, s.c.Opponents = c.Seat == AllSeats, slices.Clone(c.Opponents)
	for j, m := range c.Opponents {
		if m == nil {
			s.everySeat, s.c.Opponents[j] = true, newOutside
		}
		s.opposed = s.opposed || m != nil
	}
	if err := s.build(); err != nil {
		return nil, errors.Join(err, s.closeParts())
	}
	all := func(op func(*part)) *task { return s.newTask(op, s.parts, make(chan int, 1), 0) }
	s.taking, s.stepping, s.choosing, s.playing = all((*part).take), all((*part).step), all((*part).act), all((*part).play)
	s.observing, s.resetting, s.asking = all((*part).observe), all((*part).reset), all((*part).ask)
	const tasks = 7 // of all parts
	s.jobs = make(chan *task, (len(s.blocks)+tasks)*c.Workers)
	s.chooseFirst = s.slow
	s.renewContext()
	return s, nil
}

// check returns what is wrong in a Setup, as far as it can be said without
// making games.
func (s *Setup) check() error {
	n := s.Env.N
	switch {
	case n < 1:
		return fmt.Errorf("%d games: there must be at least 1", n)
	case s.Workers < 1:
		return fmt.Errorf("%d workers: there must be at least 1", s.Workers)
	case s.Batch < 0 || s.Batch > n || s.Batch > 0 && n%s.Batch != 0:
		return fmt.Errorf("blocks of %d games: expected a divisor of %d games, or 0", s.Batch, n)
	case len(s.Opponents) > maxOpponents:
		return fmt.Errorf("%d opponents: there may be %d", len(s.Opponents), maxOpponents)
	}
	return nil
}

// checkSeat returns what is wrong with the seat and the opponents.
func (s *Setup) checkSeat(game string, players int) error {
	switch {
	case s.Seat < AnySeat || s.Seat >= players:
		return fmt.Errorf("seat %d: %s has %d, from 0", s.Seat, game, players)
	case s.Seat == AllSeats && len(s.Opponents) > 0:
		return errors.New("opponents, but the caller plays all seats")
	case s.Seat != AllSeats && players > 1 && len(s.Opponents) == 0:
		return fmt.Errorf("no opponents: somebody must play the other seats of %s", game)
	}
	return nil
}

// Spec describes all games of the Stepper.
func (s *Stepper) Spec() env.Spec { return s.spec }

// Rows returns the number of rows of the Slabs: games, or games × seats if every
// seat is a row.
func (s *Stepper) Rows() int {
	if s.everySeat {
		return s.spec.Games * s.players
	}
	return s.spec.Games
}

// Blocks returns the number of blocks; block b has the games from b*BlockGames
// on.
func (s *Stepper) Blocks() int { return len(s.blocks) }

// BlockGames returns the number of games in a block.
func (s *Stepper) BlockGames() int { return s.spec.Games / len(s.blocks) }

// Close stops the workers after their current part and closes the policies.
// Opponents that are rollout.Interruptible stop choosing, as by Abandon. Close
// returns the errors of the policies. A second Close does nothing.
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
		all = append(all, rollout.CloseSeats(k.opponents...), k.closeAskers())
	}
	return errors.Join(all...)
}
