// Package bots lets clients of the original contests play: programs that speak
// the wire format of their game over a socket. So far those of CodeCraft 2020,
// whose server this is.
//
//   - Port listens for clients and checks their tokens.
//   - Match plays one game between clients, built-in policies and players that
//     do nothing, in any mixture.
//
// What clients decide depends on the machine and its clock, so a Match is no
// part of a shard: it is not reproducible unless its clients are.
//
// A client that breaks the rules of the protocol or a limit crashes, as the
// original says: it is not asked any more, its entities go on as they were told,
// and the results say why. Nothing that it sends or leaves unsent stops a game.
//
// Differences from the original's local runner: clients are asked side by side,
// not one after the other; a limit of time is for an answer as a whole, not for
// each read and write; a client with the wrong token is sent away, and its place
// stays free until the limit for connecting; there is no debug interface.
package bots

import (
	"errors"
	"fmt"
	"io"
	"time"

	"moonfarm/rollout"
)

// Limits bound what a client may use. Zero is no limit.
type Limits struct {
	Accept time.Duration // until it has connected, from the start of the game
	Answer time.Duration // for one answer: real time, of all of it
	Game   time.Duration // for all answers together
	Bytes  int64         // of one answer, debug messages included; 0: DefaultBytes
}

// SiteLimits are those of the contest's site. It counted the time of the
// processor for a whole game; here it is real time.
func SiteLimits() Limits {
	return Limits{Accept: time.Minute, Answer: time.Second, Game: 40 * time.Second}
}

// DefaultBytes are enough for the longest sensible answer, some thousand times.
const DefaultBytes = 64 << 20

// Seat says who plays at a seat. Without a Policy, Port and Command it is a
// player that gives no orders.
type Seat struct {
	Policy  rollout.Maker // a built-in policy
	Port    *Port         // a client that connects there
	Command []string      // a client to be started: see Start
	Output  io.Writer     // takes what a started client prints; nil: nobody; an *os.File serves best
	Limits  Limits        // of a client
}

// client tells whether a client plays at the seat.
func (s *Seat) client() bool { return s.Port != nil || len(s.Command) > 0 }

// validate tells what of a seat cannot be.
func (s *Seat) validate() error {
	kinds := 0
	for _, is := range []bool{s.Policy != nil, s.Port != nil, len(s.Command) > 0} {
		if is {
			kinds++
		}
	}
	if kinds > 1 {
		return errors.New("more than one of a policy, a port and a command")
	}
	if l := s.Limits; l.Accept < 0 || l.Answer < 0 || l.Game < 0 || l.Bytes < 0 {
		return fmt.Errorf("a negative limit: %+v", l)
	}
	return nil
}
