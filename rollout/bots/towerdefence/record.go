package towerdefence

import (
	"fmt"
	"time"

	"moonfarm/sim"
	"moonfarm/sim/towerdefence"
)

// FaultKind is what a bot did wrong in a round. None of it ends the match by itself.
type FaultKind uint8

// The kinds of faults.
const (
	Late       FaultKind = iota // it did not end before the limit and was killed
	Killed                      // it was killed for another limit
	Failed                      // it ended with another exit status than 0, or by a signal
	Missing                     // it ended as it should and left no command.txt that can be read
	Garbled                     // its command is none that can be read, or aborts the match
	Refused                     // the rules refuse its command
	FaultKinds                  // how many there are
)

// String returns one word for people and journals.
func (k FaultKind) String() string {
	return [...]string{"late", "killed", "failed", "missing", "garbled", "refused", "kinds"}[min(k, FaultKinds)]
}

// Faults are those of one kind.
type Faults struct {
	Count int
	Round int    // of the first
	Text  string // of the first, one line
	// Lines are the last that the bot printed in the round of the first, where it
	// failed to give a command: the kinds up to Missing.
	Lines []string
}

// Record tells how a bot did in a match.
type Record struct {
	Rounds       int           // in which it was started
	Longest      time.Duration // real time of its longest round
	LongestRound int
	Faults       [FaultKinds]Faults
	told         func(k FaultKind, f *Faults) // of the first of each kind; nil: nobody is
	Lines        []string                     // the last that it printed in the round of its latest failure or, without one, in its last
}

// fault counts a fault. lines are the last that the bot printed in the round. The text
// and the lines of the first fault of each kind alone are kept, so that a record stays
// small when the bot fails in each of 400 rounds.
func (r *Record) fault(k FaultKind, round int, lines []string, format string, args ...any) {
	f := &r.Faults[k]
	f.Count++
	if f.Count > 1 {
		return
	}
	f.Round, f.Text, f.Lines = round, fmt.Sprintf(format, args...), lines
	if r.told != nil {
		r.told(k, f)
	}
}

// failures counts the rounds in which the program did not end as it should.
func (r *Record) failures() int {
	return r.Faults[Late].Count + r.Faults[Killed].Count + r.Faults[Failed].Count
}

// ran notes how long the bot took in a round.
func (r *Record) ran(round int, time time.Duration) {
	if r.Rounds++; time > r.Longest {
		r.Longest, r.LongestRound = time, round
	}
}

// judge notes what became of a command. A command that can be read and is refused
// leaves its player with a failure.
func (r *Record) judge(round int, text string, order sim.Order, aborted bool, failures int) {
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

// maxShown bounds what messages show of a command.
const maxShown = 60

// shown is the beginning of a command as people can read it.
func shown(text string) string {
	if runes := []rune(text); len(runes) > maxShown {
		return fmt.Sprintf("%q…", string(runes[:maxShown]))
	}
	return fmt.Sprintf("%q", text)
}
