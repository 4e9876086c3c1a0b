// Package replay checks recordings of CodeCraft 2020 against the rules, tick by tick, and plays
// recorded games again: from their seed, or as the sequence of their recorded states.
package replay

import (
	"bufio"
	"fmt"
	"io"

	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/recording"
)

// Count is the index of a count in Report.Counts.
type Count uint8

const (
	CountAttacks     Count = iota // all attacks
	CountBreaks                   // attacks on entities in the way
	CountWasted                   // attacks on entities that are dead already
	CountBuilds                   // successful builds
	CountFailures                 // failed builds, which took an id
	CountRepairs                  // repairs, by repairer
	CountMoves                    // steps
	CountStays                    // units that wanted to move and could not
	CountDeaths                   // removed entities, including used up resources
	CountCompletions              // entities that became active

	// Counts is the number of counts.
	Counts = 10
)

// CountNames has the names of the counts.
var CountNames = [Counts]string{
	"attacks", "breaks", "wasted attacks", "builds", "failed builds", "repairs", "moves", "stays", "deaths", "completions",
}

// Report is the result of Verify.
type Report struct {
	Games     int // recorded games
	Ticks     int // checked ticks of these games
	Counts    [Counts]int
	Views     int     // views of players
	Entities  int     // entities in the views
	Messages  int     // messages of the protocol
	Last      int     // the tick at the end of a game
	Scores    []int64 // of the players then; nil if the game goes on
	Different int     // ticks, views and messages with a difference
	First     *Difference
}

// Difference is a place where a recording differs from the rules.
type Difference struct {
	Line   int    // of JSON Lines, from 1; 0 in a replay file
	Tick   int    // the state before the step
	Entity int32  // its id; 0: no entity
	Field  string // the name of what differs
	Want   string // the recorded value
	Got    string // the value by the rules
}

// Error returns the difference in one line.
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

// Verify checks a recording against the rules. Rules that the recording does not have come from
// base.
//
// Verify checks every tick of a game by itself, from the recorded state before it. The rules
// must allow every attack, and everyone who can attack must attack. Healths, resources, scores
// and ids must be exactly the result of the recorded events. Every step must be the first step of a
// shortest path, and a unit that wants to move stays only if others block its way. Verify
// accepts every action of an entity in the tick of its death, because no recording has the
// last order to it.
//
// Verify makes a state of each view; the player must have the same view of this state. Messages,
// as JSON Lines or raw, must have the same bytes when they are written again, and their views are
// checked, too.
func Verify(name string, in io.Reader, base codecraft.Rules) (Report, error) {
	b := bufio.NewReaderSize(in, 1<<16)
	head, _ := b.Peek(64)
	v := verifier{base: base}
	var err error
	switch recording.KindOf(head) {
	case recording.HoldsViews, recording.HoldsMessages:
		err = v.views(name, b)
	default:
		err = v.play(name, b)
	}
	return v.report, err
}

// verifier holds the data of one call of Verify.
type verifier struct {
	base   codecraft.Rules
	report Report
	line   int
	tick   tick
}

// play checks a recorded game.
func (v *verifier) play(name string, in io.Reader) error {
	r, err := recording.NewReader(name, in)
	if err != nil {
		return err
	}
	v.report.Games++
	rules, err := r.World.Rules(v.base)
	if err != nil {
		return r.Errorf("%w", err)
	}
	if v.tick.game, err = codecraft.New(rules); err != nil {
		return r.Errorf("%w", err)
	}
	v.tick.rules = rules
	for {
		if err := r.Next(); err == io.EOF {
			v.end(&r.World)
			return nil
		} else if err != nil {
			return err
		}
		if err := v.tick.begin(r); err != nil {
			return r.Errorf("%w", err)
		}
		v.report.Ticks++
		v.line = r.Line()
		if d := v.tick.check(); d != nil {
			v.addDifference(d)
			continue
		}
		for i, n := range v.tick.counts {
			v.report.Counts[i] += n
		}
	}
}

// end notes the last tick, and the scores after it if the game is over.
func (v *verifier) end(w *recording.World) {
	t := &v.tick
	v.report.Last = int(w.CurrentTick)
	w.CopyTo(&t.world)
	t.world.SortByID()
	if t.world.Position(&t.pos, &t.rules) != nil || t.game.Restore(&t.state, &t.pos) != nil || !t.game.Over(&t.state) {
		return
	}
	for i := range w.Players {
		v.report.Scores = append(v.report.Scores, int64(w.Players[i].Score))
	}
}

// addDifference adds a difference to the report.
func (v *verifier) addDifference(d *Difference) {
	v.report.Different++
	if d.Line = v.line; v.report.First == nil {
		v.report.First = d
	}
}
