package replay

import (
	"fmt"
	"io"
	"math"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/config"
	"moonfarm/sim/terminal/wire/frame"
	"moonfarm/sim/terminal/wire/referee"
)

// Report counts what Verify compared and has the first difference.
type Report struct {
	Turns    int // turns whose action phase was played again
	Frames   int // action frames compared; the frames after the first difference of a turn are not
	Restores int // deploy frames compared with the restore before them
	Units    int // entries of unit lists compared
	Events   [frame.EventKinds]int

	Complete  bool        // the recording has an end frame, and it was compared
	Different int         // turns that differ from the recording, including the restore after a turn and the end
	First     *Difference // nil if there is no difference
}

// Difference is a field in which a recording differs from the match as played here.
type Difference struct {
	Line  int // of the file, from 1
	Turn  int // as recorded
	Frame int // as recorded; −1 in a deploy frame
	Field string
	Want  string // as recorded
	Got   string // as played
}

// Error returns the difference as one line of text.
func (d *Difference) Error() string {
	return fmt.Sprintf("line %d: turn %d, frame %d: %s: recorded %s, played %s", d.Line, d.Turn, d.Frame, d.Field, d.Want, d.Got)
}

// Verify plays a replay again, with the orders that readMatch extracts, and compares its
// frames with those of a referee: resources, health as float32, unit lists with their ids,
// the lists of removals and upgrades, all events, the restores, and the totals of the end
// frame except its duration.
//
// Some facts are taken from the recording: whether a player crashed or ran out of time, and
// the times in recordings whose frames lack them (August 2018). If health and times are equal at
// the end, the recorded winner must be player 1, and the rules of the Match have FirstWins; a
// recording without times may have no winner, since it was made here. Lists that the original writes
// in random order may have any order: the units that one support shields in one frame, and the
// targets of explosions with the damage and deaths they cause; before 2020 also all shields and
// deaths of a frame and the removals of a restore. Melee events and damage of 0 have no effect
// before 2020 and are not compared there.
//
// A turn is compared up to its first difference; the next turn starts from its recorded deploy
// frame. Totals that depend on all turns are compared only if no turn differs.
//
// The rules are those of the recording's config, or *rules if rules is not nil. Verify returns
// the match that readMatch returns. Errors contain the name; the Match and the Report then
// have the turns before the error.
func Verify(name string, in io.Reader, rules *terminal.Rules) (*Match, Report, error) {
	r, err := newTurnReader(name, in)
	if err != nil {
		return nil, Report{}, err
	}
	c := r.in.Config
	if rules != nil {
		c = config.Of(*rules)
	}
	played, err := referee.New(c.Rules)
	if err != nil {
		return nil, Report{}, fmt.Errorf("replay %s: its rules: %w", name, err)
	}
	v := verifier{in: r, referee: played, match: &Match{Config: c}, turn: new(sim.Turn)}
	v.compare.old = c.Rules.OldIDs
	for {
		err := r.next()
		if err == io.EOF {
			return v.match, v.report, nil
		}
		if err == nil {
			err = v.frame()
		}
		if err != nil {
			return v.match, v.report, err
		}
	}
}

// verifier is the state of one call of Verify.
type verifier struct {
	in      *turnReader
	referee *referee.Referee
	match   *Match
	turn    *sim.Turn
	report  Report
	compare comparer

	skip bool // this turn has a difference
	// next is the id that the next unit of the recording gets. Deploy frames lack it.
	next uint32
	time [2]uint32 // milliseconds thought so far
}

// frame plays up to the current frame of the recording and compares it.
func (v *verifier) frame() error {
	f := &v.in.frame
	if f.Phase == frame.PhaseEnd && f.End != nil {
		v.referee.Recorded(f.End)
	}
	if v.in.submitted() {
		if err := v.submit(); err != nil {
			return err
		}
	} else if first := f.Phase == frame.PhaseDeploy && f.Turn == 0; !first && !v.skip && !v.referee.Next() {
		v.differ("turnInfo", fmt.Sprint([]int{f.Phase, f.Turn, f.Number}), "no further frame")
	}
	v.match.finish(f)
	if !v.skip {
		v.check()
	}
	if f.Phase == frame.PhaseDeploy && v.skip {
		return v.resume()
	}
	return nil
}

// submit carries out the orders that led to the current frame, the first of a turn.
func (v *verifier) submit() error {
	if err := v.in.orders(v.turn); err != nil {
		return err
	}
	v.match.Add(v.turn)
	v.referee.Submit(v.turn)
	v.report.Turns++
	f := &v.in.frame
	for p := range v.time {
		v.time[p] = uint32(min(float64(v.time[p])+f.Stats[p].Time, math.MaxUint32))
	}
	for _, e := range f.Events.Spawns {
		if e.ID >= v.next {
			v.next = e.ID + 1
			if v.compare.old && e.Kind.Structure() {
				v.next++
			}
		}
	}
	return nil
}

// check compares the current frame with the referee's.
func (v *verifier) check() {
	want, got := &v.in.frame, v.referee.Frame()
	if want.Phase == frame.PhaseEnd {
		v.compare.end(want, got, v.report.Different == 0)
		if c := &v.match.Config; v.compare.firstWins && v.compare.field == "" {
			c.Rules.FirstWins, c.Generation = true, ""
		}
	} else {
		v.compare.frame(want, got)
	}
	if c := &v.compare; c.field != "" {
		v.differ(c.field, c.want, c.got)
		return
	}
	v.count(want)
}

// count adds a frame that was compared to the report.
func (v *verifier) count(f *frame.Frame) {
	n := &v.report
	switch {
	case f.Phase == frame.PhaseAction:
		n.Frames++
	case f.Phase == frame.PhaseEnd:
		n.Complete = true
	case f.Turn > 0:
		n.Restores++
	}
	for p := range f.Units {
		for _, list := range f.Units[p] {
			n.Units += len(list)
		}
	}
	for i, k := range f.Events.Counts() {
		n.Events[i] += k
	}
}

// differ counts a difference and skips the rest of the turn.
func (v *verifier) differ(field, want, got string) {
	v.skip = true
	v.report.Different++
	if f := &v.in.frame; v.report.First == nil {
		v.report.First = &Difference{v.in.in.Line(), f.Turn, f.Number, field, want, got}
	}
}

// resume continues from the current frame, a deploy frame.
func (v *verifier) resume() error {
	s, err := v.in.frame.State(&v.match.Config.Rules)
	if err != nil {
		return v.in.errorf("%v", err)
	}
	s.NextID, s.Time = max(s.NextID, v.next), v.time
	v.referee.Resume(&s, max(v.in.frame.Index, 0))
	v.skip = false
	return nil
}
