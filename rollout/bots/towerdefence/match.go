package towerdefence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"moonfarm/env"
	features "moonfarm/features/towerdefence"
	"moonfarm/rollout"
	"moonfarm/rollout/bots"
	"moonfarm/rollout/bots/child"
	"moonfarm/rollout/filelock"
	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire/command"
	"moonfarm/sim/towerdefence/wire/display"
	"moonfarm/sim/towerdefence/wire/matchlog"
	"moonfarm/sim/towerdefence/wire/referee"
)

// Match is one game of Tower Defence.
type Match struct {
	Rules towerdefence.Rules // with the start, see SetStart
	Seed  uint64             // of policies that draw; the game has no chance
	Seats []Seat             // of A and B

	// Tournament makes "Exception" the command of a bot that leaves none, as the
	// original did in the contest: enough of these in a row end the match. Otherwise
	// such a bot does nothing.
	Tournament bool
	// Locks keep other games out of the folders in which bots work; nil: the default
	// locks.
	Locks *filelock.Locker

	// Create, if not nil, makes the files of the match log for matchlog.Writer while the
	// match goes on. After an error the caller deletes incomplete files.
	Create func(name string) (io.WriteCloser, error)
	bots.Hooks
	// Fault, if not nil, is called for the first fault of each kind of a bot. Calls come
	// from several goroutines at once; f changes after the call.
	Fault func(seat int, k FaultKind, f *Faults)
}

// Seat is the player at a seat: a built-in policy, a bot, or, with neither, a player that
// gives no commands.
type Seat struct {
	Policy  rollout.Maker // a built-in policy
	Program *Program
	Name    string // in the match log; "": the bot's name
	// Copy lets the bot work in a copy of its folder, made at the start and deleted at the
	// end of the match, so that other games do not change its files.
	Copy bool
	// Limits of a bot: Accept limits the wait for a folder that another game uses,
	// Answer a round, from the start of its process to its end.
	Limits  bots.Limits
	Process child.Limits // of a bot
	Log     *child.Log   // takes the bot's output of the whole match; may be nil
}

// validate returns an error for a seat with both players, and for negative limits.
func (s *Seat) validate() error {
	if s.Policy != nil && s.Program != nil {
		return errors.New("a policy and a bot")
	}
	return s.Limits.Validate()
}

// name returns the nickname in the match log.
func (s *Seat) name() string {
	switch {
	case s.Name != "":
		return s.Name
	case s.Program != nil:
		return s.Program.Name
	case s.Policy != nil:
		return "policy"
	}
	return "nobody"
}

// Result describes a match that was played.
type Result struct {
	*bots.Result
	Final         referee.Result // the winner, and why the match ended
	Score, Health [2]int
	Records       [2]*Record // of bots; nil for others
}

// Play plays the match to its end. No process of its bots runs when it returns. If the
// context is done, everything is stopped and Play returns the cause. Faults of bots are in
// the Result and are not errors of Play.
func (m *Match) Play(ctx context.Context) (*Result, error) {
	h, err := m.newHost()
	if err != nil {
		return nil, err
	}
	work, release, err := lockFolders(ctx, m.Seats, m.Locks)
	if err != nil {
		return nil, err
	}
	defer release()
	for i, s := range h.bots {
		if s != nil {
			s.dir = s.Program.Work
			if s.work = work[i]; s.work != nil {
				s.dir = s.work.Name()
			}
			s.args = s.Program.args(s.dir)
		}
	}
	ctx, h.stop = context.WithCancelCause(ctx)
	defer h.stop(nil)
	r, err := h.play(ctx)
	if err != nil {
		return nil, err
	}
	return h.result(r), nil
}

// play plays the match and writes its log.
func (h *host) play(ctx context.Context) (*bots.Result, error) {
	if h.Create == nil {
		return h.match.Play(ctx)
	}
	var names [2]string
	for i := range names {
		names[i] = h.Seats[i].name()
	}
	h.log = newLogger(matchlog.NewWriter(names, h.Create))
	r, err := h.match.Play(ctx)
	if unwritten := h.log.close(); err == nil {
		err = unwritten
	}
	return r, err
}

// host plays a Match. The game, which policies see, and the referee, which makes the
// bots' files and the log, both play every round.
type host struct {
	*Match
	match    bots.Match
	game     *towerdefence.Game
	state    *towerdefence.State // of the match's game; only read
	referee  *referee.Referee
	position *display.Position // of the referee; does not change while a bot is being asked
	log      *logger           // nil without Match.Create
	bots     [2]*seatedBot
	stop     context.CancelCauseFunc
	begun    bool
	buffer   []byte
}

// newHost makes the game, the referee and the seats.
func (m *Match) newHost() (*host, error) {
	if len(m.Seats) != 2 {
		return nil, fmt.Errorf("%d seats for a game of 2 players", len(m.Seats))
	}
	g, err := towerdefence.New(m.Rules)
	if err != nil {
		return nil, err
	}
	v, err := env.New(g, features.Kit(g), env.Settings{N: 1})
	if err != nil {
		return nil, err
	}
	v.Reset(0, m.Seed)
	states, _ := env.States[towerdefence.State](v)
	h := &host{Match: m, game: g, state: &states[0], referee: referee.New(m.Rules)}
	h.position = h.referee.Position()
	h.match = bots.Match{Vector: v, OneByOne: true, Shown: h.shown, Hooks: m.Hooks}
	if m.Settle != nil {
		h.match.Settle = h.settle
	}
	for i := range m.Seats {
		s := &m.Seats[i]
		if err := s.validate(); err != nil {
			return nil, fmt.Errorf("seat %d: %w", i+1, err)
		}
		seat := bots.Seat{Policy: s.Policy}
		if s.Program != nil {
			h.bots[i] = &seatedBot{Seat: s, host: h, player: sim.Player(i), printed: new(bytes.Buffer)}
			h.bots[i].reportFaults()
			seat.Bot = h.bots[i].join
		}
		h.match.Seats = append(h.match.Seats, seat)
	}
	return h, nil
}

// settle calls Hooks.Settle, and writes the commands of bots whose orders it replaces.
func (h *host) settle(turn int, b *env.Batch) error {
	if err := h.Settle(turn, b); err != nil {
		return err
	}
	most := len(b.Orders) / len(h.bots)
	for i, s := range h.bots {
		order := sim.Order(0)
		if b.OrderLen[i] > 0 {
			order = b.Orders[i*most]
		}
		if s != nil && command.Parse(s.text) != order {
			s.text, s.gave = string(command.Append(nil, order)), false
		}
	}
	return nil
}

// shown plays the round with the referee and writes it to the log.
func (h *host) shown(b *env.Batch) error {
	if h.begun {
		if err := h.round(b); err != nil {
			return err
		}
	}
	h.begun = true
	result := h.referee.Result()
	if err := h.agree(b.Status[0], result.End); err != nil {
		return fmt.Errorf("round %d: the game and its referee differ: %w", h.position.Round, err)
	}
	if b.Status[0] == sim.Over && h.log != nil {
		return h.log.write(logged{position: h.position, result: &result})
	}
	return nil
}

// round plays a round with the referee and writes it to the log.
func (h *host) round(b *env.Batch) error {
	var orders [2]sim.Order
	var commands [2]string
	var printed [2][]byte
	most := len(b.Orders) / len(commands)
	for i, s := range h.bots {
		if b.OrderLen[i] > 0 {
			orders[i] = b.Orders[i*most]
		}
		if s != nil {
			commands[i], printed[i] = s.text, bytes.Clone(s.printed.Bytes())
			continue
		}
		h.buffer = command.Append(h.buffer[:0], orders[i])
		commands[i] = string(h.buffer)
	}
	if h.log != nil {
		if err := h.log.write(logged{position: h.position, commands: commands, printed: printed}); err != nil {
			return err
		}
	}
	round := h.position.Round
	end := h.referee.Play(commands[0], commands[1])
	h.position = h.referee.Position()
	for i, s := range h.bots {
		if s != nil && s.gave {
			s.record.addCommand(round, s.text, orders[i], end == referee.EndAborted, h.position.Players[i].FailCount)
		}
	}
	return nil
}

// agree checks that the game and the referee have the same state.
func (h *host) agree(status sim.Status, end string) error {
	p := h.position
	if int(h.state.Round) != p.Round {
		return fmt.Errorf("round %d, not %d", h.state.Round, p.Round)
	}
	want := sim.Over
	switch end {
	case referee.EndCut: // the match goes on
		want = sim.Running
	case referee.EndAborted:
		want = sim.Cut
	}
	if status != want {
		return fmt.Errorf("the game is %v, the referee says %q", status, end)
	}
	for i := range p.Players {
		own, player := &h.state.Half[i], &p.Players[i]
		for _, f := range []struct {
			name      string
			got, want int
		}{
			{"energy", int(own.Energy), player.Energy},
			{"health", own.Health(), player.Health},
			{"score", h.game.Score(h.state, sim.Player(i)), player.Score},
			{"failures", int(own.Failures), player.FailCount},
		} {
			if f.got != f.want {
				return fmt.Errorf("player %c: %s %d, not %d", 'A'+i, f.name, f.got, f.want)
			}
		}
	}
	return nil
}

// result adds the referee's result and the records to the result.
func (h *host) result(r *bots.Result) *Result {
	all := &Result{Result: r, Final: h.referee.Result()}
	for i, s := range h.bots {
		all.Score[i], all.Health[i] = h.position.Players[i].Score, h.position.Players[i].Health
		if s != nil {
			all.Records[i] = &s.record
			r.Crashes[i] = s.crash
		}
	}
	return all
}
