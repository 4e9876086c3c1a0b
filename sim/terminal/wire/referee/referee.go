// Package referee plays matches of C1 Terminal and shows their frames as the official engine
// writes them.
package referee

import (
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/terminal"
	"moonfarm/sim/terminal/wire/frame"
)

// Referee plays a match and shows each of its frames as the official engine writes it: for
// each turn the deploy frame that the players answer and the action frames, and at last the
// end frame.
//
//	r, err := referee.New(rules)
//	write(r.Frame())
//	for r.Waiting() {
//		r.Submit(orders)
//		write(r.Frame())
//		for r.Next() {
//			write(r.Frame())
//		}
//	}
//
// Two lists have no fixed order in the original: the units that one support shields in one
// frame, and the targets of an explosion. Here they are ordered by id.
type Referee struct {
	game   *terminal.Game
	rules  terminal.Rules
	state  terminal.State
	record terminal.Record
	more   bool // another action frame follows in this turn

	names  [2]string
	frame  frame.Frame
	end    frame.EndStats
	sums   [2]frame.PlayerEnd
	frames int       // action frames so far
	index  int       // of the last frame
	clock  [2]uint32 // milliseconds of the latest answers
	pieces []terminal.Piece

	// removals holds the ids of the removals themselves, by cell, under rules that give
	// them ids.
	removals [bitboard.DiamondSpan]uint32
}

// New returns a referee at the start of a match. It fails if the rules cannot be played.
func New(rules terminal.Rules) (*Referee, error) {
	g, err := terminal.New(rules)
	if err != nil {
		return nil, err
	}
	r := &Referee{game: g, rules: rules}
	g.Record(&r.record)
	g.Reset(&r.state, 0)
	r.deployFrame()
	return r, nil
}

// Name sets the names of the players in the end frame.
func (r *Referee) Name(names [2]string) { r.names = names }

// Resume continues from another state, in which the players are about to answer, and numbers
// frames from index on. The totals of the end frame then lack the turns before it.
func (r *Referee) Resume(s *terminal.State, index int) {
	r.state, r.index = *s, index
	r.record.Clear()
	r.deployFrame()
}

// Frame returns the current frame, which is valid until the next one.
func (r *Referee) Frame() *frame.Frame { return &r.frame }

// State returns the current state: between turns, or at the end of an action frame.
func (r *Referee) State() *terminal.State { return &r.state }

// Waiting reports whether the current frame is a deploy frame, which needs a Submit of the
// players' orders.
func (r *Referee) Waiting() bool { return r.frame.Phase == frame.PhaseDeploy }

// Submit carries out the orders of both players, which include their clocks and penalties,
// and plays the first action frame. It does nothing if the referee is not Waiting.
func (r *Referee) Submit(t *sim.Turn) {
	if !r.Waiting() {
		return
	}
	r.clock = [2]uint32{}
	for p := range sim.Player(2) {
		r.addTimes(p, t.Orders(p))
	}
	r.record.Clear()
	r.game.Deploy(&r.state, t)
	r.spent()
	r.actionFrame(0)
}

// Next plays the next frame. It returns false if no frame follows: the players have to
// Submit, or the match is over.
func (r *Referee) Next() bool {
	if r.frame.Phase != frame.PhaseAction {
		return false
	}
	r.record.Clear()
	if r.more {
		r.actionFrame(r.frame.Number + 1)
		return true
	}
	for p := range r.sums {
		r.spoil(p)
	}
	turn := r.state.Turn
	if r.game.Restore(&r.state) == sim.Running {
		r.index++
		r.deployFrame()
		return true
	}
	r.endFrame(r.state.Turn > turn)
	return true
}

// deployFrame builds the frame that the players answer.
func (r *Referee) deployFrame() {
	f := &r.frame
	f.Phase, f.Turn, f.Number, f.End = frame.PhaseDeploy, int(r.state.Turn), -1, nil
	f.Events = frame.Events{Events: terminal.Events{Deaths: r.record.Removed}}
	r.show()
}

// actionFrame plays an action frame.
func (r *Referee) actionFrame(number int) {
	r.more = r.game.Frame(&r.state)
	f := &r.frame
	f.Phase, f.Number = frame.PhaseAction, number
	f.Events = frame.Events{Events: r.record.Frame(0)}
	r.index++
	r.frames++
	r.lost()
	r.show()
}

// endFrame repeats the last frame with the totals of the match. limit says that the match
// reached the last turn, after which its restore was carried out.
func (r *Referee) endFrame(limit bool) {
	f := &r.frame
	f.Phase = frame.PhaseEnd
	f.Events = frame.Events{}
	if limit {
		f.Turn, f.Number = int(r.state.Turn), 0
	}
	r.clock = [2]uint32{}
	r.show()
	r.end = r.endStats()
	f.End = &r.end
}

// show fills in the fields that all kinds of frames have.
func (r *Referee) show() {
	f := &r.frame
	if f.Index = r.index; r.rules.OldIDs {
		f.Index = -1
	}
	same := r.structuresKept()
	for p := range sim.Player(2) {
		f.Stats[p] = frame.Stats{Health: r.state.Health[p], Cores: r.state.Cores[p], Bits: r.state.Bits[p], Time: float64(r.clock[p])}
		r.units(p, same)
	}
}

// structuresKept reports whether all structures are as in the frame before: the current frame
// is an action frame but not the first of its turn, and no structure was damaged.
func (r *Referee) structuresKept() bool {
	f := &r.frame
	return f.Phase == frame.PhaseAction && f.Number > 0 &&
		!slices.ContainsFunc(f.Events.Damages, func(d terminal.DamageEvent) bool { return d.Kind.Structure() })
}

// units lists the units of player p by kind, each list in the order of ids. If same is true,
// it leaves the lists of structures as they are.
func (r *Referee) units(p sim.Player, same bool) {
	units := &r.frame.Units[p]
	for k := range units {
		if !same || terminal.Kind(k).Mobile() {
			units[k] = units[k][:0]
		}
	}
	r.pieces = r.pieces[:0]
	if !same {
		r.pieces = r.state.AppendStructures(r.pieces, p)
	}
	if r.frame.Phase != frame.PhaseDeploy {
		r.pieces = r.game.AppendMobile(r.pieces, p)
	}
	for _, x := range r.pieces {
		units[x.Kind] = append(units[x.Kind], frame.Unit{At: x.At, Value: x.Health, ID: x.ID})
		if x.RemoveIn > 0 {
			units[terminal.Removal] = append(units[terminal.Removal], r.removal(x))
		}
		if x.Upgraded {
			units[terminal.Upgrade] = append(units[terminal.Upgrade], frame.Unit{At: x.At, Value: 0, ID: x.ID})
		}
	}
	if r.rules.OldIDs {
		sortUnits(units[terminal.Removal])
		units[terminal.Upgrade] = nil
	} else if units[terminal.Upgrade] == nil {
		units[terminal.Upgrade] = []frame.Unit{}
	}
}

// removal returns the entry of a structure marked for removal. Before 2020 it had an id of
// its own and did not tell the time. After the last turn the original counts all marks down
// but removes nothing.
func (r *Referee) removal(x terminal.Piece) frame.Unit {
	if r.rules.OldIDs {
		cell, _ := bitboard.DiamondCell(int(x.At.X), int(x.At.Y))
		return frame.Unit{At: x.At, Value: 0, ID: r.removals[cell]}
	}
	if r.frame.Phase == frame.PhaseEnd && r.frame.Turn == int(r.rules.MaxTurns) {
		x.RemoveIn--
	}
	return frame.Unit{At: x.At, Value: float32(x.RemoveIn), ID: x.ID}
}
