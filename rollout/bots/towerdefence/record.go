package towerdefence

import (
	"fmt"
	"time"

	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
)

// FaultKind is the kind of a fault in a round. No fault ends the match by itself.
type FaultKind uint8

// The kinds of faults.
const (
	Late       FaultKind = iota // it did not end before the limit and was killed
	Killed                      // it was killed for another limit
	Failed                      // it ended with an exit status other than 0, or by a signal
	Missing                     // it ended with status 0 and left no command.txt that can be read
	Garbled                     // its command cannot be read, or aborts the match
	Refused                     // the rules refuse its command
	FaultKinds                  // the number of kinds
)

// String returns one word for people and journals.
func (f FaultKind) String() string {
	return [...]string{"late", "killed", "failed", "missing", "garbled", "refused", "kinds"}[min(f, FaultKinds)]
}

// Faults counts a bot's faults of one kind and describes the first.
type Faults struct {
	Count int
	Round int    // of the first fault
	Text  string // of the first fault, one line
	// Lines are the last lines that the bot printed in the round of the first fault. Only
	// the kinds up to Missing have them.
	Lines []string
}

// Record describes a bot's rounds in a match.
type Record struct {
	Rounds  int           // rounds in which the bot was started
	Longest time.Duration // real time of its longest round
	Faults  [FaultKinds]Faults
	Lines   []string // the last lines printed in the round of the latest failure or, without a failure, in the last round

	report func(k FaultKind, f *Faults) // called for the first fault of each kind; may be nil
}

// fault counts a fault. lines are the last lines that the bot printed in the round. Only the
// text and the lines of the first fault of each kind are kept, so that a record stays
// small if the bot fails in each of 400 rounds.
func (r *Record) fault(k FaultKind, round int, lines []string, format string, args ...any) {
	f := &r.Faults[k]
	f.Count++
	if f.Count > 1 {
		return
	}
	f.Round, f.Text, f.Lines = round, fmt.Sprintf(format, args...), lines
	if r.report != nil {
		r.report(k, f)
	}
}

// failures returns the number of rounds in which the program was killed or failed.
func (r *Record) failures() int {
	return r.Faults[Late].Count + r.Faults[Killed].Count + r.Faults[Failed].Count
}

// addCommand records faults of a command. failures is the player's count after the round; it is
// above 0 if the rules refused a command that could be read.
func (r *Record) addCommand(round int, text string, order sim.Order, aborted bool, failures int) {
	c := towerdefence.Decode(order)
	switch {
	case order&towerdefence.Aborted != 0:
		r.fault(Garbled, round, nil, "%s, at which the original gives up the match", shown(text))
	case c.Failures > 0:
		r.fault(Garbled, round, nil, "%s", shown(text))
	}
	if c.Op != towerdefence.OpNothing && !aborted && failures > 0 {
		r.fault(Refused, round, nil, "%s", shown(text))
	}
}

// maxShown is the number of characters of a command in messages.
const maxShown = 60

// shown returns the beginning of a command in quotes.
func shown(text string) string {
	if runes := []rune(text); len(runes) > maxShown {
		return fmt.Sprintf("%q…", string(runes[:maxShown]))
	}
	return fmt.Sprintf("%q", text)
}
