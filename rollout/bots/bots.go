// Package bots plays a game between original contest bots, built-in policies and
// players that give no orders, in any mixture.
//
// It knows no game. What bots are shown, how their answers are read, and what
// the original engine does with a bot that fails, stands in a package for each
// game below this one; package child starts bots and ends them.
//
// What bots decide depends on the machine and its clock, so a Match is no part of
// a shard: it is reproducible only if its bots are.
package bots

import (
	"context"
	"errors"
	"fmt"
	"time"

	"moonfarm/rollout"
	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// Bot is an original bot that plays at a seat of one game.
type Bot interface {
	// Ask shows the bot what its seat may see and appends its orders for the
	// coming turn to dst, within the capacity of dst. It returns soon after the
	// context that the bot joined with is done. An error is a crash: the bot
	// is not asked any more. The orders beside it are still given.
	Ask(dst []sim.Order) ([]sim.Order, error)
	// End tells the bot that the game is over and ends it, with all that it has
	// started: at once if the context is done, else it has a short time for
	// it. crash is what Ask has returned, nil at the end of the game. It is called
	// once, and Ask is not called after it.
	End(ctx context.Context, crash error) Ended
}

// Ended tells of a bot that has ended.
type Ended struct {
	Exit   string        // how a bot that was started here ended by itself, such as "exit status 1" or "signal: killed"; else ""
	Output []string      // the last lines that a bot that was started here printed
	Used   time.Duration // real time that the bot took for all its answers
}

// Join starts a bot, or waits until it has connected. The context is that of the
// match. An error is the bot's first crash, unless it is an ErrHost.
type Join func(ctx context.Context) (Bot, error)

// ErrHost marks errors that are not the bot's fault. They end the match.
var ErrHost = errors.New("the host")

// ErrLate is what errors of bots that took too long are: see Late.
var ErrLate = errors.New("too late")

// Late is an error that is ErrLate, with a text of its own.
func Late(format string, args ...any) error { return lateError(fmt.Sprintf(format, args...)) }

type lateError string

func (e lateError) Error() string { return string(e) }

// Is is for package errors.
func (lateError) Is(target error) bool { return target == ErrLate }

// Seat says who plays at a seat: a built-in policy, a bot, or, with neither, a
// player that gives no orders.
type Seat struct {
	Policy rollout.Maker
	Bot    Join
}

// Limits bound the real time and the bytes of a bot's answers. Zero is no limit.
type Limits struct {
	Accept time.Duration // from the start of the game until the bot has connected
	Answer time.Duration // for a whole answer
	Game   time.Duration // for all answers of a game together
	Bytes  int64         // of one answer
}

// Validate returns an error for negative limits.
func (l *Limits) Validate() error {
	if l.Accept < 0 || l.Answer < 0 || l.Game < 0 || l.Bytes < 0 {
		return fmt.Errorf("a negative limit: %+v", *l)
	}
	return nil
}

// Deadline returns when an answer is late that begins at the given time, after earlier
// answers that took used together. The zero time means never.
func (l *Limits) Deadline(begin time.Time, used time.Duration) (end time.Time) {
	if l.Answer > 0 {
		end = begin.Add(l.Answer)
	}
	if l.Game > 0 {
		if game := begin.Add(l.Game - used); end.IsZero() || game.Before(end) {
			end = game
		}
	}
	return end
}

// UsedUp returns the error of a bot whose answers have taken the time of the whole game,
// used; it is nil if they have not.
func (l *Limits) UsedUp(used time.Duration) error {
	if l.Game == 0 || used < l.Game {
		return nil
	}
	return Late("the %v for all answers of a game are used up", l.Game)
}

// Crash tells of a bot that crashed.
type Crash struct {
	Turn   int   // in which it was to answer; −1: it never joined
	Err    error // why
	Exit   string
	Output []string // as Ended has them
}

// Result tells how a match went.
type Result struct {
	Turns  int
	Status sim.Status
	Time   time.Duration // from the first turn to the end
	// Outcome tells by seat how the game ended.
	Outcome []sim.Outcome
	Sum     prng.Digest     // of orders that were not measured, and outcome: games with the same sum are the same game
	Used    []time.Duration // by seat: what a bot took for all its answers
	// Crashes tells, by seat, of the bots that crashed; nil for others.
	Crashes  []*Crash
	Networks []rollout.NetworkCounts // by seat: what the networks of policies gave
}
