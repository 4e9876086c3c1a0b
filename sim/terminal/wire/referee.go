package wire

import (
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/terminal"
)

// Referee plays a match and shows every frame of it as the official engine
// writes it: the deploy frame that the players answer, the action frames, and
// so on to the end frame.
//
//	r, err := NewReferee(rules)
//	write(r.Frame())
//	for r.Waiting() {
//		r.Submit(orders)
//		write(r.Frame())
//		for r.Next() {
//			write(r.Frame())
//		}
//	}
//
// Where the original has no order of its own (the units that one support
// shields in one frame, the targets of an explosion) ours is that of ids.
type Referee struct {
	game   *terminal.Game
	rules  terminal.Rules
	state  terminal.State
	record terminal.Record
	more   bool // another action frame follows

	names  [2]string
	frame  Frame
	end    EndStats
	sums   [2]PlayerEnd
	frames int       // action frames so far
	index  int       // of the last frame
	clock  [2]uint32 // milliseconds of the latest answers
	pieces []terminal.Piece

	// removals are the ids that the removals themselves took, by cell, where
	// the rules give them any.
	removals [bitboard.DiamondSpan]uint32
}

// NewReferee returns a referee at the start of a match. It fails if the rules
// cannot be played.
func NewReferee(rules terminal.Rules) (*Referee, error) {
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

// Name gives the players the names that the end frame tells.
func (r *Referee) Name(names [2]string) { r.names = names }

// Resume goes on from another state, before the players answer, with frames
// numbered from index on. The sums of the end frame then lack what was before.
func (r *Referee) Resume(s *terminal.State, index int) {
	r.state, r.index = *s, index
	r.record.Clear()
	r.deployFrame()
}

// Frame is the frame in hand, valid until the next.
func (r *Referee) Frame() *Frame { return &r.frame }

// State is the state in hand: between turns, or at the end of an action frame.
func (r *Referee) State() *terminal.State { return &r.state }

// Waiting reports whether the frame in hand is a deploy frame: it is the players'
// turn to Submit.
func (r *Referee) Waiting() bool { return r.frame.Phase == PhaseDeploy }

// Submit carries out the orders of both players and makes the first action
// frame. The players' clocks and penalties are among the orders. It does
// nothing if the referee is not Waiting.
func (r *Referee) Submit(t *sim.Turn) {
	if !r.Waiting() {
		return
	}
	r.clock = [2]uint32{}
	for p := range sim.Player(2) {
		r.refereed(p, t.Orders(p))
	}
	r.record.Clear()
	r.game.Deploy(&r.state, t)
	r.spent()
	r.actionFrame(0)
}

// Next makes the frame that follows; false if there is none: the players have
// to Submit, or the match is over.
func (r *Referee) Next() bool {
	if r.frame.Phase != PhaseAction {
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

// deployFrame shows the state before the players answer.
func (r *Referee) deployFrame() {
	f := &r.frame
	f.Phase, f.Turn, f.Number, f.End = PhaseDeploy, int(r.state.Turn), -1, nil
	f.Events = Events{Deaths: r.record.Removed}
	r.show()
}

// actionFrame plays an action frame and shows it.
func (r *Referee) actionFrame(number int) {
	r.more = r.game.Frame(&r.state)
	f, e := &r.frame, r.record.Frame(0)
	f.Phase, f.Number = PhaseAction, number
	f.Events = Events{
		Spawns: e.Spawns, Moves: e.Moves, Breaches: e.Breaches, Shields: e.Shields, SelfDestructs: e.SelfDestructs,
		Targets: e.Targets, Damages: e.Damages, Deaths: e.Deaths, Attacks: e.Attacks,
	}
	r.index++
	r.frames++
	r.lost()
	r.show()
}

// endFrame repeats the last frame with the sums of the match. A match that
// went to the last turn has had its restore: limit.
func (r *Referee) endFrame(limit bool) {
	f := &r.frame
	f.Phase = PhaseEnd
	f.Events = Events{}
	if limit {
		f.Turn, f.Number = int(r.state.Turn), 0
	}
	r.clock = [2]uint32{}
	r.show()
	r.end = r.endStats()
	f.End = &r.end
}

// show fills in what every frame has.
func (r *Referee) show() {
	f := &r.frame
	if f.Index = r.index; r.rules.OldIDs {
		f.Index = -1
	}
	stand := r.stand()
	for p := range sim.Player(2) {
		f.Stats[p] = Stats{r.state.Health[p], r.state.Cores[p], r.state.Bits[p], float64(r.clock[p])}
		r.units(p, stand)
	}
}

// stand reports whether all structures are as they were in the frame before: this
// one is an action frame, but not the first of a turn, and nothing hit them.
func (r *Referee) stand() bool {
	f := &r.frame
	return f.Phase == PhaseAction && f.Number > 0 &&
		!slices.ContainsFunc(f.Events.Damages, func(d terminal.DamageEvent) bool { return d.Kind.Structure() })
}

// units lists the units of player p by kind, each in the order of ids. Structures
// are left as they are listed where they stand.
func (r *Referee) units(p sim.Player, stand bool) {
	units := &r.frame.Units[p]
	for k := range units {
		if !stand || terminal.Kind(k).Mobile() {
			units[k] = units[k][:0]
		}
	}
	r.pieces = r.pieces[:0]
	if !stand {
		r.pieces = r.state.AppendStructures(r.pieces, p)
	}
	if r.frame.Phase != PhaseDeploy {
		r.pieces = r.game.AppendMobile(r.pieces, p)
	}
	for _, x := range r.pieces {
		units[x.Kind] = append(units[x.Kind], Unit{x.At, x.Health, x.ID})
		if x.RemoveIn > 0 {
			units[terminal.Removal] = append(units[terminal.Removal], r.removal(x))
		}
		if x.Upgraded {
			units[terminal.Upgrade] = append(units[terminal.Upgrade], Unit{x.At, 0, x.ID})
		}
	}
	if r.rules.OldIDs {
		sortUnits(units[terminal.Removal])
		units[terminal.Upgrade] = nil
	} else if units[terminal.Upgrade] == nil {
		units[terminal.Upgrade] = []Unit{}
	}
}

// removal is the entry of a structure marked for removal. Before 2020 it had an
// id of its own and did not tell the time. After the last turn the original
// counts all marks down and takes nothing away.
func (r *Referee) removal(x terminal.Piece) Unit {
	if r.rules.OldIDs {
		cell, _ := bitboard.DiamondCell(int(x.At.X), int(x.At.Y))
		return Unit{x.At, 0, r.removals[cell]}
	}
	if r.frame.Phase == PhaseEnd && r.frame.Turn == int(r.rules.MaxTurns) {
		x.RemoveIn--
	}
	return Unit{x.At, float32(x.RemoveIn), x.ID}
}
