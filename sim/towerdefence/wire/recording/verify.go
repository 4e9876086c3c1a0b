package recording

import (
	"fmt"
	"io"

	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/wire/command"
	"moonfarm/sim/towerdefence/wire/display"
	"moonfarm/sim/towerdefence/wire/referee"
)

// Report is the result of Verify.
type Report struct {
	Games   int // recorded games played again
	Rounds  int // of these games, compared; a game with a difference stops there
	Renders int // positions of which all displays were compared

	// Reordered counts the renders in which only the order of missiles differs: in the
	// lists of the text maps, or of both players' missiles on one cell. A position does not
	// always determine that order, see Round.Position, so these do not count as Different.
	Reordered int

	Different int         // games and renders that are not as recorded
	First     *Difference // the first difference, or nil
}

// Difference is a place where a recording and this engine disagree.
type Difference struct {
	Line  int    // of the recording, from 1
	Game  string // name in the header line, or name of the render
	Round int    // as recorded
	Field string // the key of the line and the place in it, such as "b[3,7].health"
	Want  string // as recorded
	Got   string // as played
}

// Error describes the difference in one line.
func (d *Difference) Error() string {
	return fmt.Sprintf("line %d: game %s, round %d: %s: recorded %s, played %s", d.Line, d.Game, d.Round, d.Field, d.Want, d.Got)
}

// Verify plays every game of a recording again under these rules and compares everything
// that is recorded: players, buildings, missiles and the end with the fast game; the two hit
// lists, which the fast game does not keep, with a Referee. After the first difference in a
// game it goes on with the next game. Verify recognises a file of renders (positions with
// their displays) by its first line: it writes all five displays of each position and
// compares them byte for byte, except for the ids of missiles and the order of the types of
// buildings, which the original leaves to chance.
//
// The name is for errors about lines that cannot be read. The Report then holds the results
// up to that line.
func Verify(name string, in io.Reader, rules towerdefence.Rules) (Report, error) {
	r, err := NewReader(name, in)
	if err != nil {
		return Report{}, err
	}
	game, err := towerdefence.New(rules)
	if err != nil {
		return Report{}, err
	}
	v := verifier{in: r, rules: rules, game: game}
	if r.holdsRenders() {
		err = v.renders()
	} else {
		err = v.games()
	}
	return v.report, err
}

// verifier is the state of a call of Verify.
type verifier struct {
	in     *Reader
	rules  towerdefence.Rules
	report Report

	game    *towerdefence.Game
	state   towerdefence.State
	referee *referee.Referee
	playing towerdefence.Rules // the referee's: with the start of the game
	// If the header lacks the order of a round's commands, A's comes first
	// until a hit list shows that B's did.
	orderKnown bool
	commands   [][2]string // of the game so far
	end        string      // why the game is over
	skip       bool        // a difference was found in this game
	last       *Difference
	played     Round // the round as played; its lists are reused
}

// games compares a file of recorded games.
func (v *verifier) games() error {
	for {
		kind, err := v.in.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch kind {
		case HeaderLine:
			err = v.start()
		case RoundLine:
			v.round()
		case ResultLine:
			v.result()
		}
		if err != nil {
			return err
		}
	}
}

// start begins a game with the energies and healths of its header.
func (v *verifier) start() error {
	h := &v.in.Header
	v.report.Games++
	v.end, v.skip = "", false
	rules := v.rules
	rules.SetStart(h.Energy, h.Health)
	v.playing, v.referee = rules, referee.New(rules)
	v.orderKnown, v.commands = h.First != "", v.commands[:0]
	if h.First == display.Letters[1:] {
		v.referee.First(display.SeatB)
	}
	v.game.Reset(&v.state, 0)
	for p := range h.Energy {
		if h.Energy[p] < 0 || h.Energy[p] > towerdefence.MaxEnergy {
			return v.broken("a start energy from 0 to %d, found %d", towerdefence.MaxEnergy, h.Energy[p])
		}
		if h.Health[p] < 1 || h.Health[p] > towerdefence.MaxHealth {
			return v.broken("a base health from 1 to %d, found %d", towerdefence.MaxHealth, h.Health[p])
		}
		v.game.SetStart(&v.state, sim.Player(p), h.Energy[p], h.Health[p])
	}
	return nil
}

// broken returns the error for an invalid value in the line just read.
func (v *verifier) broken(want string, args ...any) error {
	return fmt.Errorf("recording %s: line %d: expected %s", v.in.name, v.in.line, fmt.Sprintf(want, args...))
}

// differ records a difference and skips the rest of the game.
func (v *verifier) differ(game string, round int, field string, want, got any) {
	v.skip = true
	v.report.Different++
	v.last = &Difference{v.in.line, game, round, field, fmt.Sprint(want), fmt.Sprint(got)}
	if v.report.First == nil {
		v.report.First = v.last
	}
}

// round plays a recorded round and compares the position after it.
func (v *verifier) round() {
	if v.skip {
		return
	}
	want, name := &v.in.Round, v.in.Header.Game
	if v.end != "" {
		v.differ(name, want.Number, "r", "a further round", "the end: "+v.end)
		return
	}
	v.report.Rounds++
	a, b := want.Commands[0], want.Commands[1]
	status := v.game.Play(&v.state, command.Parse(a), command.Parse(b))
	v.end = v.endOf(status)
	v.referee.Play(a, b)
	v.commands = append(v.commands, want.Commands)
	v.played.fromState(v.game, &v.state)
	if v.end == referee.EndAborted {
		v.played.Number++ // the aborted round was not played to its end
	}
	v.played.TeslaHits, v.played.CurtainHits = v.referee.Hits()
	if field, wanted, got := want.differs(&v.played); field != "" && !v.inOtherOrder(field) {
		v.differ(name, want.Number, field, wanted, got)
	}
}

// inOtherOrder reports whether the round just played is as recorded when B's commands come
// first; the game then goes on that way. Only the hit lists depend on the order, so it
// returns false for every other field.
func (v *verifier) inOtherOrder(field string) bool {
	if v.orderKnown || field != "th" && field != "ih" {
		return false
	}
	v.orderKnown = true // the order does not change within a game
	other := referee.New(v.playing)
	other.First(display.SeatB)
	for _, c := range v.commands {
		other.Play(c[0], c[1])
	}
	v.played.TeslaHits, v.played.CurtainHits = other.Hits()
	if field, _, _ := v.in.Round.differs(&v.played); field != "" {
		return false
	}
	v.referee = other
	return true
}

// endOf returns the reason why the fast game is over, or "" while it goes on.
func (v *verifier) endOf(status sim.Status) string {
	a, b := &v.state.Half[0], &v.state.Half[1]
	switch {
	case status == sim.Cut:
		return referee.EndAborted
	case status == sim.Running:
		return ""
	case int(max(a.Failures, b.Failures)) >= v.rules.MaxDoNothings:
		return referee.EndTimeout
	case a.Health() == 0 || b.Health() == 0:
		return referee.EndDead
	}
	return referee.EndMaxRounds
}

// result compares the end of a game.
func (v *verifier) result() {
	if v.skip {
		return
	}
	want := v.in.Result
	got := referee.Result{End: v.end, Rounds: int(v.state.Round), Winner: referee.Tie}
	if got.End == "" {
		got.End = referee.EndCut
	}
	switch r := v.game.Outcome(&v.state, display.SeatA).Result; {
	case r > 0:
		got.Winner = referee.WinnerA
	case r < 0:
		got.Winner = referee.WinnerB
	}
	for p := range v.state.Half {
		if v.state.Half[p].Health() == 0 {
			got.Dead++
		}
	}
	name, round := v.in.Header.Game, got.Rounds-1
	switch {
	case want.End != got.End:
		v.differ(name, round, "end", want.End, got.End)
	case want.Rounds != got.Rounds:
		v.differ(name, round, "round", want.Rounds, got.Rounds)
	case want.Winner != got.Winner:
		v.differ(name, round, "winner", want.Winner, got.Winner)
	case want.Dead != got.Dead:
		v.differ(name, round, "dead", want.Dead, got.Dead)
	}
}
