package towerdefence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"
	"unicode/utf8"

	"moonfarm/rollout/bots"
	"moonfarm/rollout/bots/child"
	"moonfarm/rollout/shortage"
	"moonfarm/sim"
	"moonfarm/sim/towerdefence/wire/command"
)

// SiteAnswer is the contest's time for a round. LocalAnswer is a generous one for the user's
// own machine.
const (
	SiteAnswer  = 2 * time.Second
	LocalAnswer = time.Minute
)

// Bounds of a bot's output in the match log, in bytes.
const (
	maxRoundOutput = 64 << 10
	maxMatchOutput = 4 << 20
)

// seatedBot is a bot that plays at a seat. It implements bots.Bot.
type seatedBot struct {
	*Seat
	host   *host
	player sim.Player
	work   *os.Root // its folder in this match
	boxed  bool     // the folder is in a box
	dir    string   // the path of work for the bot
	args   []string
	guard  *child.Guard

	stopped func() bool // reports whether the match is being stopped, which is no fault of the bot

	// This round:
	text    string        // the command
	gave    bool          // the bot gave the command
	printed *bytes.Buffer // output for the match log

	state, textMap []byte // content of the files
	output         int64  // bytes of output in the match log
	used           time.Duration
	record         Record
	crash          *bots.Crash // not nil: the bot is not started any more
}

// join starts the guard of the bot.
func (s *seatedBot) join(ctx context.Context) (bots.Bot, error) {
	s.stopped = func() bool { return ctx.Err() != nil }
	p := s.Program
	program, inside := child.Program{Args: s.args, Dir: s.dir, Folder: s.dir, Typed: p.typed}, "."
	var err error
	if s.work == nil { // it gets a copy of the folder
		program.Folder = p.Dir
		if inside, err = p.inside(); err != nil {
			s.crash = &bots.Crash{Turn: -1, Err: err}
			return nil, err
		}
	}
	if s.guard, err = child.Start(ctx, s.Process, child.Box{Program: program}); err != nil {
		return nil, fmt.Errorf("%w: %w", bots.ErrHost, err)
	}
	if s.work == nil {
		if folder := s.guard.Folder(); folder == nil {
			err = fmt.Errorf("a box has no copy of the folder %s; expected a folder of the bot's own", program.Folder)
		} else if s.work, err = folder.OpenRoot(inside); err == nil {
			s.boxed = true
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", bots.ErrHost, err), s.guard.Close())
	}
	return s, nil
}

// reportFaults passes the bot's faults to Match.Fault while the match is played, until it is stopped.
func (s *seatedBot) reportFaults() {
	s.record.report = func(k FaultKind, f *Faults) {
		if s.host.Fault != nil && !s.stopped() {
			s.host.Fault(int(s.player), k, f)
		}
	}
}

// Ask implements bots.Bot. For a bot that has crashed it returns the order of the missing
// command.
func (s *seatedBot) Ask(dst []sim.Order) ([]sim.Order, error) {
	s.text, s.gave = "", false
	s.printed.Reset()
	round := s.host.position.Round
	if s.crash == nil {
		s.Log.Line("== round %d ==", round)
		if err := s.play(round); err != nil {
			s.crash = &bots.Crash{Turn: round, Err: err, Output: s.record.Lines}
			if s.host.Crashed != nil && !s.stopped() {
				s.host.Crashed(int(s.player), s.crash)
			}
		}
		if s.gave {
			s.Log.Line("== round %d: command %s ==", round, shown(s.text))
		} else {
			s.Log.Line("== round %d: no command ==", round)
		}
	}
	if !s.gave && s.host.Tournament {
		s.text = "Exception"
	}
	return append(dst, command.Parse(s.text)), nil
}

// play plays a round. An error is a crash: the program is not started any more.
func (s *seatedBot) play(round int) error {
	limit, err := s.limit()
	if err != nil {
		return err
	}
	p := s.host.position
	s.state = p.AppendState(s.state[:0], s.player)
	s.textMap = p.AppendTextMap(s.textMap[:0], s.player)
	if !s.boxed {
		err = inPlace(s.work, s.dir)
	}
	if err == nil {
		err = writeRound(s.work, s.state, s.textMap)
	}
	if err != nil {
		err = fmt.Errorf("the files of the round cannot be written: %w", err)
		if s.boxed {
			return err // the bot has filled its copy
		}
		return s.blame(err)
	}
	r, err := s.run(limit)
	if err != nil {
		return s.blame(err)
	}
	s.record.Rounds++
	s.record.Longest = max(s.record.Longest, r.Time)
	s.used += r.Time
	noted, err := s.note(round, r, limit)
	text, missing := commandText(s.work, s.guard.Means() != child.Nothing)
	if missing == nil {
		s.gave = true
		var found bool
		if s.text, found = command.FromFile(text); !found && !utf8.ValidString(text) {
			s.record.fault(Garbled, round, nil, "command.txt is not UTF-8: the original takes no command from it")
		}
	} else if s.blame(missing); !noted {
		s.record.fault(Missing, round, r.Lines, "%v", missing)
	}
	return err
}

// blame returns an error of a round. It ends the match if this machine is at fault.
func (s *seatedBot) blame(err error) error {
	if shortage.Of(err) {
		s.host.stop(fmt.Errorf("seat %d: %w: %w", s.player+1, bots.ErrHost, err))
	}
	return err
}

// limit returns the time for this round, 0 for no limit.
func (s *seatedBot) limit() (time.Duration, error) {
	answer, game := s.Limits.Answer, s.Limits.Game
	if game == 0 {
		return answer, nil
	}
	left := game - s.used
	switch {
	case left <= 0:
		return 0, s.usedUp()
	case answer == 0:
		return left, nil
	}
	return min(answer, left), nil
}

// usedUp returns the error of a bot whose rounds together took too long.
func (s *seatedBot) usedUp() error {
	return bots.Late("the %v for all rounds of a match are used up", s.Limits.Game)
}

// run runs the bot's program until it ends or the limit is over.
func (s *seatedBot) run(limit time.Duration) (*child.Exit, error) {
	c := child.Command{Program: child.Program{Args: s.args, Dir: s.dir}, Log: s.logs()}
	begin := time.Now()
	process, err := s.guard.Run(c)
	if err != nil {
		return nil, fmt.Errorf("it could not be started: %w", err)
	}
	var deadline time.Time
	if limit > 0 {
		deadline = begin.Add(limit)
	}
	r := process.End(deadline)
	if r.Fault != nil && r.Fault.Kind == child.Lost {
		s.printed = new(bytes.Buffer) // a lost process may still write to the old one
	}
	s.output += int64(s.printed.Len())
	return r, nil
}

// logs returns the log for the bot's output in a round. It writes to the match log, to the
// bot's own log, or to both.
func (s *seatedBot) logs() *child.Log {
	if s.host.log == nil {
		return s.Log
	}
	round := child.NewLog(s.printed, min(maxRoundOutput, maxMatchOutput-s.output))
	if s.Log == nil {
		return round
	}
	return child.NewLog(io.MultiWriter(round, s.Log), math.MaxInt64) // each has its own limit
}

// note records how the bot's process ended; noted says that this was a fault. After an
// error the program is not started any more.
func (s *seatedBot) note(round int, r *child.Exit, limit time.Duration) (noted bool, err error) {
	last := ""
	if n := len(r.Lines); n > 0 {
		last = ": " + r.Lines[n-1]
	}
	noted = r.Fault != nil || r.Code != 0
	if noted || s.record.failures() == 0 {
		s.record.Lines = r.Lines
	}
	switch {
	case !noted:
	case r.Fault == nil:
		s.record.fault(Failed, round, r.Lines, "%s%s", r.Status, last)
	case r.Fault.Kind == child.Lost, r.Fault.Kind == child.CPU: // of all rounds
		return noted, r.Fault
	case r.Fault.Kind == child.Time && s.Limits.Game > 0 && s.used >= s.Limits.Game:
		return noted, s.usedUp()
	case r.Fault.Kind == child.Time:
		s.record.fault(Late, round, r.Lines, "did not end within %v%s", limit, last)
	default:
		s.record.fault(Killed, round, r.Lines, "%v%s", r.Fault, last)
	}
	return noted, nil
}

// End implements bots.Bot. No process runs between rounds.
func (s *seatedBot) End(context.Context, error) bots.Ended {
	if s.boxed {
		s.work.Close()
	}
	if err := s.guard.Close(); err != nil && s.crash == nil {
		s.crash = &bots.Crash{Turn: s.host.position.Round, Err: err}
	}
	return bots.Ended{Used: s.used}
}
