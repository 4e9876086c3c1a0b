package wire

import (
	"bufio"
	"fmt"
	"io"

	"moonfarm/sim/codecraft"
)

// Count is what Verify counts.
type Count uint8

const (
	CountAttacks     Count = iota // all of them
	CountBreaks                   // of what stands in the way
	CountWasted                   // of what is dead already
	CountBuilds                   // that succeeded
	CountFailures                 // builds that failed, and took an id
	CountRepairs                  // by repairers
	CountMoves                    // steps
	CountStays                    // units that wanted to move and could not
	CountDeaths                   // resources that were used up, too
	CountCompletions              // entities that became active

	// Counts is how many kinds there are.
	Counts = 10
)

// CountNames are the names of the counts.
var CountNames = [Counts]string{
	"attacks", "breaks", "wasted attacks", "builds", "failed builds", "repairs", "moves", "stays", "deaths", "completions",
}

// Report is what Verify found.
type Report struct {
	Games     int // recorded games
	Ticks     int // of these games, checked
	Counts    [Counts]int
	Views     int // views of players
	Entities  int // in the views
	Messages  int // of the protocol
	Different int // ticks, views and messages that are not as they should be
	First     *Difference
}

// Difference is a place where a recording is not what the rules make of it.
type Difference struct {
	Line   int    // of JSON Lines, from 1; 0 in a replay file
	Tick   int    // the state before the step
	Entity int32  // 0: none
	Field  string // what differs
	Want   string // as recorded
	Got    string // as it should be
}

// Error tells the difference in one line.
func (d *Difference) Error() string {
	where := fmt.Sprintf("tick %d", d.Tick)
	if d.Line > 0 {
		where = fmt.Sprintf("line %d: %s", d.Line, where)
	}
	if d.Entity > 0 {
		where += fmt.Sprintf(", entity %d", d.Entity)
	}
	return fmt.Sprintf("%s: %s: recorded %s, by the rules %s", where, d.Field, d.Want, d.Got)
}

// RecordingKind is what a recording holds.
type RecordingKind string

// The kinds of recordings.
const (
	HoldsGame     RecordingKind = "games"
	HoldsViews    RecordingKind = "views"
	HoldsMessages RecordingKind = "messages"
	HoldsNothing  RecordingKind = ""
)

// KindOf tells by its first bytes what a recording holds.
func KindOf(head []byte) RecordingKind {
	if !looksJSON(head) {
		if len(head) > 8 && head[4] == codecraft.Side && head[5]|head[6]|head[7] == 0 && head[8] < 2 {
			return HoldsGame
		}
		if looksRaw(head) {
			return HoldsMessages
		}
		return HoldsNothing
	}
	switch kind := jsonKind(head); kind {
	case "initial":
		return HoldsGame
	case "view":
		return HoldsViews
	case "raw_get_action":
		return HoldsMessages
	}
	return HoldsNothing
}

// Verify checks a recording against the rules; base are those that it does not
// tell.
//
// In a game every tick is checked by itself, from the state that is recorded:
// every attack is one that the attacker may make, and all who can attack do;
// healths, resources, scores and ids are exactly what follows; every step is
// the first of a path as good as any, and whoever stays is kept by others. What
// entities do in the tick of their death is taken as it is, for their last
// action is in no recording.
//
// Of views a state is made that holds what the player saw: the player must see
// the same of it. Messages, as JSON Lines or raw, must have the same bytes when
// they are written again, and their views are checked, too.
//
// The name is for errors, which tell of what cannot be read. Report then holds
// what was checked up to there.
func Verify(name string, in io.Reader, base codecraft.Rules) (Report, error) {
	b := bufio.NewReaderSize(in, 1<<16)
	head, _ := b.Peek(64)
	v := verifier{base: base}
	var err error
	switch KindOf(head) {
	case HoldsViews:
		err = v.views(name, b)
	case HoldsMessages:
		err = v.messages(name, b)
	default:
		err = v.play(name, b)
	}
	return v.report, err
}

// verifier is one call of Verify.
type verifier struct {
	base   codecraft.Rules
	report Report
	line   int
	tick   tick
}

// play checks a recorded game.
func (v *verifier) play(name string, in io.Reader) error {
	r, err := NewRecording(name, in)
	if err != nil {
		return err
	}
	v.report.Games++
	rules, err := r.World.Rules(v.base)
	if err != nil {
		return r.errorf("%w", err)
	}
	if v.tick.game, err = codecraft.New(rules); err != nil {
		return r.errorf("%w", err)
	}
	v.tick.rules = rules
	for {
		if err := r.Next(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := v.tick.begin(r); err != nil {
			return r.errorf("%w", err)
		}
		v.report.Ticks++
		if r.json {
			v.line = v.report.Ticks + 1
		}
		if d := v.tick.check(); d != nil {
			v.differ(d)
			continue
		}
		for i, n := range v.tick.counts {
			v.report.Counts[i] += n
		}
	}
}

// differ notes a difference.
func (v *verifier) differ(d *Difference) {
	v.report.Different++
	if d.Line = v.line; v.report.First == nil {
		v.report.First = d
	}
}
