package terminal

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"moonfarm/rollout/bots"
	"moonfarm/rollout/bots/child"
	"moonfarm/sim"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/frame"
)

// seatedBot is a bot that plays at a seat. It implements bots.Bot.
type seatedBot struct {
	player  player // nil: the program could not be started
	failed  error  // why the program could not be started
	started time.Time
	seat    sim.Player
	limits  *Limits
	rules   *terminal.Rules // with the limits
	names   *[8]string      // of units in answers
	feed    feed
	log     *child.Log
	turn    int  // of the next answer
	crashed bool // it gets no more frames

	first  []byte // the first line of its answer
	orders []sim.Order
	total  time.Duration // of all answers
	result PlayerResult
}

// join starts the bot of a seat. If the program cannot be started, the first call of Ask
// reports the crash.
func (s *seatedBot) join(seat *Seat) bots.Join {
	return func(ctx context.Context) (bots.Bot, error) {
		begin := seat.begin
		if begin == nil {
			begin = seat.start
		}
		s.started = time.Now()
		s.player, s.failed = begin(ctx, s.limits.Process)
		if errors.Is(s.failed, bots.ErrHost) {
			return nil, s.failed
		}
		return s, nil
	}
}

// errHard is the error of an answer that came too late.
var errHard = bots.Late("answered too late")

// Ask implements bots.Bot. With an error it returns the orders that the original gives
// instead of the bot's.
func (s *seatedBot) Ask(dst []sim.Order) ([]sim.Order, error) {
	s.log.Line("== turn %d ==", s.turn)
	first, second, took, err := s.answer()
	if p, ok := s.player.(interface{ Settle() }); ok && s.log != nil {
		p.Settle()
	}
	s.log.Line("== turn %d: %.1000s %.1000s ==", s.turn, first, second)
	s.total, s.result.Longest = s.total+took, max(s.result.Longest, took)
	ms, hard := uint32(min(took.Milliseconds(), math.MaxUint32)), uint32(s.rules.MaxTime)
	spent := s.spent(err)
	switch {
	case hard > 0 && ms >= hard && err == nil:
		err = errHard
	case spent != nil && (hard == 0 || ms < hard):
		err = spent
	}
	var penalty float32
	switch {
	case err == nil:
		penalty = s.rules.TimePenalty(ms)
	case hard > 0 && late(err) && err != spent:
		ms = max(ms, hard) // rounding could make it less
		penalty = s.rules.TimePenalty(ms)
	default:
		penalty = s.rules.CrashPenalty()
	}
	if ms > 0 {
		dst = append(dst, terminal.Clock(ms))
	}
	if penalty > 0 {
		dst = append(dst, terminal.Penalty(penalty))
	}
	if err != nil {
		s.crashed = true
		return dst, err
	}
	return s.read(dst, first, second), nil
}

// answer writes the frames to the bot and reads the two lines of its answer, valid until
// the next call. took is the time until the answer or the error.
func (s *seatedBot) answer() (first, second []byte, took time.Duration, err error) {
	if s.player == nil {
		return nil, nil, 0, fmt.Errorf("it could not be started: %w", s.failed)
	}
	begin := s.begin()
	if err := s.player.Write(s.feed.take(), s.deadline(begin)); err != nil {
		return nil, nil, since(begin), s.answerError("did not read what it was sent", err)
	}
	begin = s.begin()
	deadline := s.deadline(begin)
	line, err := s.player.ReadLine(deadline)
	if err == nil {
		s.first = append(s.first[:0], line...)
		second, err = s.player.ReadLine(deadline)
	}
	return s.first, second, since(begin), s.answerError("did not answer", err)
}

// answerError returns the error of an answer. The error of a late answer names the limit of the
// whole answer, because the deadline of a single read or write differs from it.
func (s *seatedBot) answerError(what string, err error) error {
	if err == nil || !late(err) {
		return err
	}
	return bots.Late("%s within %v", what, s.limits.Hard)
}

// begin returns when the time of an answer begins: now, but in the first turn not before
// the end of Limits.Start.
func (s *seatedBot) begin() time.Time {
	now := time.Now()
	if start := s.started.Add(s.limits.Start); s.turn == 0 && start.After(now) {
		return start
	}
	return now
}

// deadline returns when the bot loses if it began to think at the given time.
func (s *seatedBot) deadline(begin time.Time) time.Time {
	return s.limits.answers().Deadline(begin, s.total)
}

// spent returns the error of a bot whose answers have taken the time of the whole game,
// or nil. err is the error of the last answer.
func (s *seatedBot) spent(err error) error {
	if err != nil && !late(err) {
		return nil
	}
	return s.limits.answers().UsedUp(s.total)
}

// since returns the time since begin, 0 if begin is in the future.
func since(begin time.Time) time.Duration { return max(time.Since(begin), 0) }

// read appends the orders of an answer, within the capacity of dst.
func (s *seatedBot) read(dst []sim.Order, first, second []byte) []sim.Order {
	var refused []frame.Refusal
	s.orders, refused = frame.ParseAnswer(s.orders[:0], first, second, s.names, s.seat)
	s.result.Refused.unread(s.turn, refused)
	n := min(len(s.orders), cap(dst)-len(dst))
	s.result.Refused.beyond(s.turn, s.orders[n:])
	s.orders = s.orders[:n]
	s.turn++
	return append(dst, s.orders...)
}

// show keeps a frame until the bot is asked.
func (s *seatedBot) show(f *frame.Frame) {
	if s.crashed {
		return
	}
	if f.Phase == frame.PhaseAction && f.Number == 0 {
		s.result.Refused.rules(s.turn-1, s.orders, f.Events.Spawns, s.seat, s.names)
	}
	s.feed.add(f)
}

// End implements bots.Bot.
func (s *seatedBot) End(ctx context.Context, crash error) bots.Ended {
	e := bots.Ended{}
	if s.player != nil {
		var deadline time.Time // zero: it is killed at once
		if crash == nil && ctx.Err() == nil && s.limits.End > 0 {
			deadline = time.Now().Add(s.limits.End)
			_ = s.player.Write(s.feed.take(), deadline) // fails if the bot has ended already
		}
		e = s.player.stop(deadline)
	}
	e.Used = s.total
	return e
}

// feed collects the lines that a bot reads before its next answer.
type feed struct {
	seat  sim.Player
	view  frame.Frame
	lines frame.Writer
	text  []byte
}

// add adds a frame.
func (f *feed) add(shown *frame.Frame) {
	if f.seat != 0 {
		frame.View(&f.view, shown, f.seat)
		shown = &f.view
	}
	f.text = append(f.lines.Append(f.text, shown), '\n')
}

// take removes and returns all lines, valid until the next add.
func (f *feed) take() []byte {
	text := f.text
	f.text = f.text[:0]
	return text
}
