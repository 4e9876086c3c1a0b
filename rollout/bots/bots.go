// Package bots plays a game between original contest bots, built-in policies and
// players that give no orders, in any mixture.
//
// It knows no game. A package for each game below this one shows bots the game,
// reads their answers, and treats a bot that fails as the original engine does.
// Each has a Match, a Seat and a Result, named like the types here on purpose: its
// Match makes a bots.Match with a bots.Seat for each of its seats, plays it, and adds
// the game's own results to the bots.Result. Package child starts the processes of
// bots and ends them. Package players reads texts that name players and plays games
// with the package of their game.
//
// The decisions of bots depend on the machine and its clock, so a Match is not part
// of a shard: it is reproducible only if its bots are.
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
	// Ask shows the bot the part of the state that its seat may see and appends
	// its orders for the coming turn to dst, within the capacity of dst. It returns
	// soon after the context passed to Join is done. An error is a crash: the
	// orders returned with it count, and the bot is not asked again.
	Ask(dst []sim.Order) ([]sim.Order, error)
	// End tells the bot that the game is over and ends all of its processes: at once
	// if the context is done, else after a short time in which the bot can end by
	// itself. crash is the error of Ask, nil at the end of the game. End is called
	// once, and Ask is not called after it.
	End(ctx context.Context, crash error) Ended
}

// Ended describes a bot that has ended. Exit and Output are empty for a bot that
// connected by itself.
type Ended struct {
	Exit   string        // how the bot ended, such as "exit status 1" or "signal: killed"; can be "" if the match killed it
	Output []string      // the last lines that the bot printed
	Used   time.Duration // real time that the bot took for all its answers
}

// Join starts a bot, or waits until it has connected. The match passes its own
// context. An error is the bot's first crash, unless it is an ErrHost.
type Join func(ctx context.Context) (Bot, error)

// ErrHost marks errors that are not the bot's fault. They end the match.
var ErrHost = errors.New("the host")

// ErrLate marks errors of bots that took too long: see Late.
var ErrLate = errors.New("too late")

// Late returns an error with a text of its own for which errors.Is reports ErrLate.
func Late(format string, args ...any) error { return lateError(fmt.Sprintf(format, args...)) }

type lateError string

func (l lateError) Error() string { return string(l) }

// Is implements the interface of errors.Is.
func (lateError) Is(target error) bool { return target == ErrLate }

// Seat is the player at a seat: a built-in policy, a bot, or, with neither, a player that
// gives no orders.
type Seat struct {
	Policy rollout.Maker
	Bot    Join
}

// Limits bound the real time of a bot's answers. Zero is no limit.
type Limits struct {
	Accept time.Duration // from the start of the game until the bot has connected
	Answer time.Duration // for a whole answer
	Game   time.Duration // for all answers of a game together
}

// Validate returns an error for negative limits.
func (l *Limits) Validate() error {
	if l.Accept < 0 || l.Answer < 0 || l.Game < 0 {
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

// Crash describes the crash of a bot.
type Crash struct {
	Turn   int      // the turn whose answer failed; −1: the bot never joined
	Err    error    // the reason
	Exit   string   // see Ended.Exit
	Output []string // see Ended.Output
}

// Result describes a match that was played. Its slices are indexed by seat.
type Result struct {
	Turns    int
	Status   sim.Status
	Time     time.Duration // from the first turn to the end
	Outcome  []sim.Outcome
	Sum      prng.Digest             // of the outcome and of all orders but measured ones: games with the same sum are the same game
	Used     []time.Duration         // real time of all answers of a bot
	Crashes  []*Crash                // nil for players that did not crash
	Networks []rollout.NetworkCounts // outputs of the policies' networks
}
