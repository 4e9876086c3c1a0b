package wire

import (
	"fmt"
	"io"
	"math"

	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// Report is what Verify found.
type Report struct {
	Turns    int // turns whose action phase was played again
	Frames   int // action frames compared; those of a turn after its first difference are not
	Restores int // deploy frames compared with the restore before them
	Units    int // entries of unit lists compared
	Events   [EventKinds]int

	Complete  bool        // the recording has an end frame, and it was compared
	Tied      bool        // health and times are equal at the end: the winner was not compared
	Different int         // turns that are not as recorded, the restore after them or the end among them
	First     *Difference // the first difference; nil if there is none
}

// Difference is a place where a recording and this engine disagree.
type Difference struct {
	Line  int // of the file, from 1
	Turn  int // as recorded
	Frame int // as recorded; −1 in a deploy frame
	Field string
	Want  string // as recorded
	Got   string // as played
}

// Error tells the difference in one line.
func (d *Difference) Error() string {
	return fmt.Sprintf("line %d: turn %d, frame %d: %s: recorded %s, played %s", d.Line, d.Turn, d.Frame, d.Field, d.Want, d.Got)
}

// Verify plays a replay again from the spawn events of every turn and compares
// all that is in its frames with what a Referee makes of them: resources,
// healths as float32, unit lists with their ids, the lists of removals and
// upgrades, all events, the restores, and the sums of the end frame but for
// its duration. That a player crashed or ran out of time is taken from the end
// frame, and so are the times of recordings whose frames have none (August
// 2018); who wins when health and times are equal is not known: see
// Report.Tied. Lists that the original itself writes in another order each
// time (the units that one support shields in one frame, the targets of
// explosions and the damage and deaths they cause; before 2020 all shields and
// deaths of a frame and the removals of a restore) may have any order. Melee events and
// damage of 0, which have no effect before 2020, are left aside there.
//
// A turn is compared up to its first difference; the next goes on from its
// recorded deploy frame. Sums that need all turns are compared if none differs.
//
// The recording's rules are those of its first line, or the given ones if
// rules is not nil. The match is what ReadMatch returns. The name is for
// errors, as there; Match and Report then hold what there is up to the error.
func Verify(name string, in io.Reader, rules *terminal.Rules) (*Match, Report, error) {
	r, err := newTurnReader(name, in)
	if err != nil {
		return nil, Report{}, err
	}
	config := r.in.Config
	if rules != nil {
		config = ConfigOf(*rules)
	}
	referee, err := NewReferee(config.Rules)
	if err != nil {
		return nil, Report{}, fmt.Errorf("replay %s: its rules: %w", name, err)
	}
	v := verifier{in: r, referee: referee, match: &Match{Config: config}, turn: new(sim.Turn)}
	v.compare.old = config.Rules.OldIDs
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

// verifier is one call of Verify.
type verifier struct {
	in      *turnReader
	referee *Referee
	match   *Match
	turn    *sim.Turn
	report  Report
	compare comparer

	skip bool // a difference was found in this turn
	// next is the id that the next unit gets by the recording: that of a state
	// taken from a frame.
	next uint32
	time [2]uint32 // milliseconds thought so far
}

// frame plays up to the frame in hand and compares it.
func (v *verifier) frame() error {
	f := &v.in.frame
	if f.Phase == PhaseEnd && f.End != nil {
		v.referee.told(f.End)
	}
	if v.in.submitted() {
		if err := v.submit(); err != nil {
			return err
		}
	} else if first := f.Phase == PhaseDeploy && f.Turn == 0; !first && !v.skip && !v.referee.Next() {
		v.differ("turnInfo", fmt.Sprint([]int{f.Phase, f.Turn, f.Number}), "no further frame")
	}
	v.match.finish(f)
	if !v.skip {
		v.check()
	}
	if f.Phase == PhaseDeploy && v.skip {
		return v.resume()
	}
	return nil
}

// submit gives the orders of the frame in hand, the first of a turn.
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

// check compares the frame in hand with the referee's.
func (v *verifier) check() {
	want, got := &v.in.frame, v.referee.Frame()
	if want.Phase == PhaseEnd {
		v.compare.end(want, got, v.report.Different == 0)
		v.report.Tied = v.compare.tied
	} else {
		v.compare.frame(want, got)
	}
	if c := &v.compare; c.field != "" {
		v.differ(c.field, c.want, c.got)
		return
	}
	v.count(want)
}

// count counts what was compared.
func (v *verifier) count(f *Frame) {
	n := &v.report
	switch {
	case f.Phase == PhaseAction:
		n.Frames++
	case f.Phase == PhaseEnd:
		n.Complete = true
	case f.Turn > 0:
		n.Restores++
	}
	for p := range f.Units {
		for _, list := range f.Units[p] {
			n.Units += len(list)
		}
	}
	for i, k := range f.Events.counts() {
		n.Events[i] += k
	}
}

// differ notes a difference and leaves the rest of the turn alone.
func (v *verifier) differ(field, want, got string) {
	v.skip = true
	v.report.Different++
	if f := &v.in.frame; v.report.First == nil {
		v.report.First = &Difference{v.in.in.Line(), f.Turn, f.Number, field, want, got}
	}
}

// resume goes on from the recorded deploy frame in hand.
func (v *verifier) resume() error {
	s, err := StateOf(&v.in.frame, &v.match.Config.Rules)
	if err != nil {
		return v.in.errorf("%v", err)
	}
	s.NextID, s.Time = max(s.NextID, v.next), v.time
	v.referee.Resume(&s, max(v.in.frame.Index, 0))
	v.skip = false
	return nil
}
