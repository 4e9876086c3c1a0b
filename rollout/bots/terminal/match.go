package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"moonfarm/env"
	features "moonfarm/features/terminal"
	"moonfarm/rollout"
	"moonfarm/rollout/bots"
	"moonfarm/rollout/bots/child"
	"moonfarm/sim"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/config"
	"moonfarm/sim/terminal/wire/frame"
	"moonfarm/sim/terminal/wire/referee"
	"moonfarm/sim/terminal/wire/replay"
)

// Match is one game of Terminal.
type Match struct {
	Config config.Config // sent to the bots; contains the rules
	Seed   uint64        // of policies that draw; the game itself has no chance
	Seats  [2]Seat
	Limits Limits // of both bots: see SiteLimits and LocalLimits

	// Replay, if not nil, gets the game as a replay file of the original. Each
	// line is one call of Write.
	Replay io.Writer
	bots.Hooks
	// Refused, if not nil, is called for the first 20 refusals of a bot with different texts,
	// in the bot's own coordinates. Calls come from several goroutines at once.
	Refused func(seat, turn int, text string)
}

// Seat is the player at a seat: a built-in policy, a bot, or, with neither, a player that
// gives no orders.
type Seat struct {
	Name    string        // for the replay
	Policy  rollout.Maker // a built-in policy
	Program child.Program // a bot; without Args there is none
	Log     *child.Log    // takes the bot's standard error; nil: only the last lines are kept

	begin func(ctx context.Context, l child.Limits) (player, error) // replaces the program in tests
}

// validate returns an error for a seat with both players, or a program that does not exist.
func (s *Seat) validate() error {
	if s.Policy != nil && s.bot() {
		return errors.New("a policy and a program")
	}
	if len(s.Program.Args) == 0 {
		return nil
	}
	return s.Program.Check()
}

// bot reports whether a bot plays at the seat.
func (s *Seat) bot() bool { return len(s.Program.Args) > 0 || s.begin != nil }

// Result describes a match that was played.
type Result struct {
	*bots.Result
	// End is the content of a replay's end frame: the winner, the scores
	// (points_scored), turns and frames, and by player whether it crashed or timed
	// out, its milliseconds of thinking, and the health that thinking cost it.
	End     frame.EndStats
	Players [2]PlayerResult // of bots
	// ByTime says that the shorter time of thinking decided: one player has won, and
	// both had the same health at the end, or no health.
	ByTime bool
}

// PlayerResult has results of a bot that the end frame does not contain.
type PlayerResult struct {
	Longest time.Duration // real time of the longest answer
	Refused Refused
}

// Play plays the match to its end. When it returns, the bots and their descendants have
// ended. If the context is done, everything is stopped and Play returns the cause. It
// fails if a program does not exist, or for an error of this machine (bots.ErrHost).
// Faults of bots are in the Result.
func (m *Match) Play(ctx context.Context) (*Result, error) {
	h, err := m.newHost()
	if err != nil {
		return nil, err
	}
	r, err := h.match.Play(ctx)
	if err != nil {
		return nil, err
	}
	all := &Result{Result: r, End: h.end, ByTime: h.byTime(r)}
	for p, s := range h.seats {
		if s != nil {
			all.Players[p] = s.result
		}
	}
	return all, nil
}

// byTime returns Result.ByTime.
func (h *host) byTime(r *bots.Result) bool {
	s := h.referee.State()
	none := s.Health[0] <= h.rules.DeadAt && s.Health[1] <= h.rules.DeadAt
	return r.Outcome[0].Result != r.Outcome[1].Result && s.Time[0] != s.Time[1] && (none || s.Health[0] == s.Health[1])
}

// host plays a Match. The game, which policies see, and the referee, which makes the
// frames, both play every turn.
type host struct {
	*Match
	match   bots.Match
	rules   terminal.Rules // with the limits
	referee *referee.Referee
	turn    sim.Turn
	begun   bool
	begin   time.Time
	seats   [2]*seatedBot  // nil: no bot
	replay  *replay.Writer // nil without Match.Replay
	end     frame.EndStats
}

// isClock reports whether an order records the time of an answer.
func isClock(o sim.Order) bool { return terminal.Decode(o).Op == terminal.OpClock }

// newHost makes the game, the referee and the seats.
func (m *Match) newHost() (*host, error) {
	if err := m.Limits.validate(); err != nil {
		return nil, err
	}
	rules := m.Config.Rules
	rules.FirstWins = rules.FirstWins || m.Seats[0].bot() || m.Seats[1].bot() // a match with clocks ends as in the original
	g, err := terminal.New(rules)
	if err != nil {
		return nil, err
	}
	v, err := env.New(g, features.Kit(g), env.Settings{N: 1})
	if err != nil {
		return nil, err
	}
	v.Reset(0, m.Seed)
	h := &host{Match: m, rules: m.Limits.withLimits(rules)}
	if h.referee, err = referee.New(h.rules); err != nil {
		return nil, err
	}
	h.referee.Name([2]string{m.Seats[0].Name, m.Seats[1].Name})
	h.match = bots.Match{Vector: v, Shown: h.shown, Measured: isClock, Hooks: m.Hooks}
	for p := range sim.Player(2) {
		seat := &m.Seats[p]
		if err := seat.validate(); err != nil {
			return nil, fmt.Errorf("seat %d: %w", p+1, err)
		}
		one := bots.Seat{Policy: seat.Policy}
		if seat.bot() {
			h.seats[p] = h.seat(p)
			one.Bot = h.seats[p].join(seat)
		}
		h.match.Seats = append(h.match.Seats, one)
	}
	return h, nil
}

// seat makes the bot of a seat. The config is the first line that it reads.
func (h *host) seat(p sim.Player) *seatedBot {
	s := &seatedBot{seat: p, limits: &h.Limits, rules: &h.rules, names: &h.Config.Shorthands, feed: feed{seat: p}}
	s.log = h.Seats[p].Log
	if h.Refused != nil {
		s.result.Refused.tell = func(turn int, text string) { h.Refused(int(p), turn, text) }
	}
	s.feed.text = append(h.Config.Append(s.feed.text, config.Local), '\n')
	return s
}

// shown plays the turn with the referee. It writes the frames to the replay and keeps them
// for the bots until they are asked.
func (h *host) shown(b *env.Batch) error {
	if h.begun {
		most := len(b.Orders) / len(h.seats)
		for p := range sim.Player(2) {
			h.turn.Set(p, b.Orders[int(p)*most:][:b.OrderLen[p]])
		}
		h.referee.Submit(&h.turn)
	} else {
		h.begun, h.begin = true, time.Now()
		if h.Replay != nil {
			h.replay = replay.NewWriter(h.Replay, &h.Config, config.Local)
		}
	}
	for more := true; more; more = h.referee.Next() {
		if err := h.show(h.referee.Frame()); err != nil {
			return err
		}
	}
	if running := b.Status[0] == sim.Running; running != h.referee.Waiting() {
		return fmt.Errorf("turn %d: the referee and the game disagree on the end", h.referee.State().Turn)
	}
	return nil
}

// show passes a frame to the bots and the replay.
func (h *host) show(f *frame.Frame) error {
	if f.End != nil {
		f.End.Duration = float64(time.Since(h.begin).Milliseconds())
		h.end = *f.End
	}
	for _, s := range h.seats {
		if s != nil {
			s.show(f)
		}
	}
	if h.replay == nil {
		return nil
	}
	if err := h.replay.Frame(f); err != nil {
		return fmt.Errorf("the replay: %w", err)
	}
	return nil
}
