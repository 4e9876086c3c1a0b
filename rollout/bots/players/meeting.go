package players

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/features"
	"moonfarm/rollout/arena"
	"moonfarm/rollout/arena/schedule"
	"moonfarm/rollout/bots"
	"moonfarm/rollout/bots/child"
	"moonfarm/rollout/view"
	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// Meeting is one game between entrants.
type Meeting struct {
	Seed  uint64     // of the game and of policies that draw
	Seats []*Entrant // one for each player

	// Copies lets bots that work in a folder work in copies of it, so that games do not
	// affect each other and can be played at the same time. Without it a game waits
	// until no other game uses the folder.
	Copies bool
	// Log, if not nil, returns the writer for the output of a seat's bot: all output, or
	// standard error if the bot answers on standard output. Errors of Write are ignored.
	Log func(seat int) io.Writer
	// Replay, if not nil, gets the replay file of the original (Terminal, CodeCraft).
	Replay io.Writer
	// Create, if not nil, makes the files of the original's match log (Tower Defence).
	Create func(name string) (io.WriteCloser, error)
	// Fault, if not nil, is called for faults as they occur: for each crash, and for the
	// first fault of each other kind or text. Calls come from several goroutines at once.
	Fault func(f LiveFault)
	// Watch, if not nil, is called at the start and after every turn with the number of
	// turns played and the scores by seat.
	Watch func(turn int, scores []float64)
	// Show, if not nil, is called at the same times with a function that draws the state
	// as a seat, or features.Spectator, sees it. The function may be called until Show
	// returns. An error of Show ends the game.
	Show func(scene Scene) error
	// Settle is that of bots.Match.
	Settle func(turn int, b *env.Batch) error
	// Drawn, if not nil, is called before each Show but the first, with what the bots
	// drew and logged over the state shown before, by seat. Only CodeCraft's bots draw:
	// Drawn offers them the debug interface. It must not keep the list.
	Drawn func(list []*view.Drawing)
}

// Scene sets dst to what a seat sees: see features.Kit.
type Scene func(dst *features.Scene, seat int)

// Outcome describes a game that was played.
type Outcome struct {
	Turns    int
	Cut      bool          // the game ended before the rules would end it
	Time     time.Duration // from the first turn to the end
	Seats    []SeatOutcome
	Clock    bool        // the shorter time of thinking decided who won: a rule of Terminal
	Sum      prng.Digest // games with the same sum are the same game
	Original []byte      // the results file of the original; nil if it writes none
}

// SeatOutcome is the outcome for the entrant at a seat.
type SeatOutcome struct {
	Result  float32 // sim.Outcome.Result
	Score   float64
	Place   int           // 1 + the number of players with a better result
	Used    time.Duration // real time of all answers of a bot
	Longest time.Duration // the longest answer; 0 if it was not measured
	Crash   *bots.Crash   // nil: the player did not crash
	Comment string        // on the crash: one line
	Faults  []arena.Fault
}

// LiveFault is a fault as it occurs. Its Times is 1.
type LiveFault struct {
	arena.Fault
	Exit   string   // see bots.Ended.Exit
	Output []string // the last lines that the bot printed
}

// hooks returns what a match calls for Fault, Watch, Show and Settle.
func (m *Meeting) hooks() bots.Hooks {
	h := bots.Hooks{Settle: m.Settle}
	if m.Fault != nil {
		h.Crashed = func(seat int, c *bots.Crash) {
			s := SeatOutcome{Crash: c}
			s.noteCrash(seat)
			m.Fault(LiveFault{s.Faults[0], c.Exit, c.Output})
		}
	}
	if m.Watch == nil && m.Show == nil {
		return h
	}
	scores, turn := make([]float64, len(m.Seats)), 0
	h.Watch = func(v env.Vector) error {
		for i := range scores {
			scores[i] = v.Outcome(0, sim.Player(i)).Score
		}
		if m.Watch != nil {
			m.Watch(turn, scores)
		}
		turn++
		if m.Show == nil {
			return nil
		}
		return m.Show(func(dst *features.Scene, seat int) { v.Scene(dst, 0, seat) })
	}
	return h
}

// Kinds of faults of all games. Tower Defence adds words of towerdefence.FaultKind.
const (
	FaultCrash   = "crash"   // the bot ended, broke the protocol or exceeded a limit
	FaultTimeout = "timeout" // the bot did not answer in time
	FaultIllegal = "illegal" // orders that cannot be read or carried out
)

// ErrSeats says that the number of players differs from the number of the game's seats.
var ErrSeats = errors.New("not as many players as seats")

// Play plays one game. Faults of bots are in the Outcome and are not errors of Play. If
// the context is done, everything is stopped and Play returns the cause.
func (r *Runner) Play(ctx context.Context, m *Meeting) (*Outcome, error) {
	if len(m.Seats) != r.Seats {
		return nil, fmt.Errorf("%w: %d, the game has %d", ErrSeats, len(m.Seats), r.Seats)
	}
	if r.host == nil {
		return playPolicies(ctx, r.game, r.Rules, m)
	}
	return r.host.play(ctx, m)
}

// playPolicies plays a game between policies.
func playPolicies(ctx context.Context, game catalog.Entry, rules string, m *Meeting) (*Outcome, error) {
	v, err := game.New(rules, env.Settings{N: 1})
	if err != nil {
		return nil, err
	}
	v.Reset(0, m.Seed)
	match := bots.Match{Vector: v, Hooks: m.hooks()}
	for _, p := range m.Seats {
		match.Seats = append(match.Seats, bots.Seat{Policy: p.Policy})
	}
	r, err := match.Play(ctx)
	if err != nil {
		return nil, err
	}
	return outcomeOf(r), nil
}

// outcomeOf returns the part of the outcome that is the same for all games.
func outcomeOf(r *bots.Result) *Outcome {
	o := &Outcome{Turns: r.Turns, Cut: r.Status == sim.Cut, Time: r.Time, Sum: r.Sum}
	for i, own := range r.Outcome {
		s := SeatOutcome{Result: own.Result, Score: own.Score, Place: 1, Used: r.Used[i], Crash: r.Crashes[i]}
		for _, other := range r.Outcome {
			if other.Result > own.Result {
				s.Place++
			}
		}
		if s.Crash != nil {
			s.noteCrash(i)
		}
		s.Faults = append(s.Faults, arena.NetworkFaults(i, r.Networks[i])...)
		o.Seats = append(o.Seats, s)
	}
	return o
}

// noteCrash adds the comment and the fault of the seat's crash.
func (s *SeatOutcome) noteCrash(seat int) {
	text := s.Crash.Err.Error()
	if exit := s.Crash.Exit; s.Crash.Turn >= 0 && !strings.Contains(text, exit) {
		text += " (" + exit + ")"
	}
	s.Comment = text
	if s.Crash.Turn >= 0 {
		s.Comment = fmt.Sprintf("turn %d: %s", s.Crash.Turn, text)
	}
	kind := FaultCrash
	if late(s.Crash.Err) {
		kind = FaultTimeout
	}
	s.Faults = append(s.Faults, arena.Fault{Seat: seat, Turn: s.Crash.Turn, Kind: kind, Times: 1, Text: text, Output: joined(s.Crash.Output)})
}

// joined returns the last lines of a bot as the text of a fault. Package child bounds them.
func joined(lines []string) string { return strings.Join(lines, "\n") }

// late reports whether an error says that a bot took too long.
func late(err error) bool {
	var fault *child.Fault
	return errors.Is(err, bots.ErrLate) || errors.As(err, &fault) && (fault.Kind == child.Time || fault.Kind == child.CPU)
}

// Played returns the outcome as the result of a game of a tournament.
func (o *Outcome) Played(g schedule.Fixture) arena.Played {
	p := arena.Played{Fixture: g, Turns: o.Turns, Cut: o.Cut, Clock: o.Clock, Sum: o.Sum}
	for i := range o.Seats {
		s := &o.Seats[i]
		p.Results, p.Scores = append(p.Results, s.Result), append(p.Scores, s.Score)
		p.Faults = append(p.Faults, s.Faults...)
		p.Seconds = append(p.Seconds, s.Used.Seconds())
	}
	return p
}
