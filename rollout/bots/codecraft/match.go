package codecraft

import (
	"context"
	"errors"
	"fmt"
	"io"

	"moonfarm/env"
	features "moonfarm/features/codecraft"
	"moonfarm/rollout"
	"moonfarm/rollout/bots"
	"moonfarm/rollout/bots/child"
	"moonfarm/rollout/view"
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/protocol"
	"moonfarm/sim/codecraft/wire/recording"
)

// Match is one game of CodeCraft.
type Match struct {
	Rules codecraft.Rules
	Seed  uint64
	Seats []Seat // one for each player

	// Debug tells clients that there is a debug interface and asks them to draw before
	// every tick. Their drawings go to Drawn, and their requests are answered with an
	// empty window.
	Debug bool
	// Drawn, if not nil, gets what the clients drew and logged before they gave the
	// orders of a tick, by seat; nil for seats that drew nothing. It is called after
	// every tick, before Hooks.Watch, and must not keep the list or the drawings.
	Drawn func(list []*view.Drawing)
	// StopWhenCrashed ends the game when all clients have crashed, unless a policy
	// plays.
	StopWhenCrashed bool

	// Replay, if not nil, gets the game as a replay file of the original.
	Replay io.Writer
	bots.Hooks
}

// Seat is the player at a seat. At most one of Policy, Port and Program is set; without
// them the player gives no orders.
type Seat struct {
	Policy rollout.Maker // a built-in policy
	Port   *Port         // where a client connects
	// Program is a client to be started; without Args there is none. In Args {host}, {port}
	// and {token} stand for the address and the token; if Args contains none of the three,
	// they are added as three arguments, which is how the original clients take them.
	Program child.Program
	Log     *child.Log   // takes what a started client prints; nil: only the last lines are kept
	Limits  bots.Limits  // of a client
	Process child.Limits // of the processes of a started client
}

// validate returns an error for contradicting fields and negative limits.
func (s *Seat) validate() error {
	kinds := 0
	for _, is := range []bool{s.Policy != nil, s.Port != nil, s.started()} {
		if is {
			kinds++
		}
	}
	if kinds > 1 {
		return errors.New("more than one of a policy, a port and a program")
	}
	return s.Limits.Validate()
}

// started reports whether the match starts the seat's client.
func (s *Seat) started() bool { return len(s.Program.Args) > 0 }

// Result describes a match that was played.
type Result struct {
	*bots.Result
	protocol.RunnerResults // as the original writes them
}

// Play plays the match to its end. It starts the clients that have a Program; when it
// returns, their processes and all descendants have ended. A program that plays with
// such clients must call child.Main at its beginning. If the context is done, everything
// is stopped and Play returns the cause. Faults of clients are in the Result and are not
// errors of Play.
func (m *Match) Play(ctx context.Context) (*Result, error) {
	h, err := m.newHost()
	if err != nil {
		return nil, err
	}
	r, err := h.match.Play(ctx)
	if err == nil && h.replay != nil {
		err = h.replay.Close()
	}
	if err != nil {
		return nil, err
	}
	return h.result(r), nil
}

// host plays a Match.
type host struct {
	*Match
	rules  codecraft.Rules
	match  bots.Match
	game   *codecraft.Game
	state  *codecraft.State    // of the match's game; only read
	replay *recording.Recorder // nil without a Replay and before the start

	sketches []sketch // by seat; nil without Drawn
	begun    bool     // shown has been called
}

// newHost makes the game and the seats.
func (m *Match) newHost() (*host, error) {
	h := &host{Match: m}
	var err error
	if h.game, err = codecraft.New(m.Rules); err != nil {
		return nil, err
	}
	v, err := env.New(h.game, features.Kit(h.game), env.Settings{N: 1})
	if err != nil {
		return nil, err
	}
	v.Reset(0, m.Seed)
	states, _ := env.States[codecraft.State](v)
	h.rules, h.state = h.game.Rules(), &states[0]
	h.match = bots.Match{Vector: v, Over: h.state.Tick >= h.rules.MaxTurns, Shown: h.shown, StopWhenCrashed: m.StopWhenCrashed, Hooks: m.Hooks}
	if m.Drawn != nil {
		h.sketches = make([]sketch, len(m.Seats))
	}
	for i := range m.Seats {
		s := &m.Seats[i]
		if err := s.validate(); err != nil {
			return nil, fmt.Errorf("seat %d: %w", i+1, err)
		}
		seat := bots.Seat{Policy: s.Policy}
		if h.sketches != nil {
			h.sketches[i].player = sim.Player(i)
		}
		if s.Port != nil || s.started() {
			seat.Bot = h.join(sim.Player(i), s)
		}
		h.match.Seats = append(h.match.Seats, seat)
	}
	return h, nil
}

// shown passes the drawings to Drawn and writes the state to the replay. Its first call, when all bots have joined, begins the replay.
func (h *host) shown(*env.Batch) error {
	if h.Drawn != nil && h.begun {
		h.drawn()
	}
	h.begun = true
	if h.replay != nil {
		if err := h.replay.Tick(h.state); err != nil {
			return fmt.Errorf("the replay: %w", err)
		}
	} else if h.Replay != nil {
		h.replay = recording.NewRecorder(h.Replay, h.game, h.state)
	}
	return nil
}

// drawn passes the drawings of a tick to Drawn.
func (h *host) drawn() {
	list := make([]*view.Drawing, len(h.sketches))
	for i := range h.sketches {
		list[i] = h.sketches[i].drawing()
	}
	h.Drawn(list)
	for i := range h.sketches {
		h.sketches[i].shown.clear()
	}
}

// result adds the original's results file to the result.
func (h *host) result(r *bots.Result) *Result {
	all := &Result{Result: r, RunnerResults: protocol.RunnerResults{Seed: h.Seed}}
	for i, c := range r.Crashes {
		one := protocol.PlayerResult{}
		if c != nil {
			comment := commentOf(c)
			one = protocol.PlayerResult{Crashed: true, Comment: &comment}
		}
		all.Players = append(all.Players, one)
		all.Results = append(all.Results, int64(h.state.Score[i]))
	}
	return all
}

// commentOf returns the comment on a crash for the results file.
func commentOf(c *bots.Crash) string {
	text := protocol.CrashComment
	if c.Turn >= 0 {
		text += fmt.Sprintf("tick %d: ", c.Turn)
	}
	text += c.Err.Error()
	if c.Exit != "" && c.Turn >= 0 {
		text += " (" + c.Exit + ")"
	}
	return text
}
