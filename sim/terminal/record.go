package terminal

import (
	"slices"

	"moonfarm/sim"
)

// Record takes the events of action phases: everything the original writes
// into its frames. A Game with a Record (see Game.Record) appends to it, frame
// by frame; without one, it costs nothing. The lists keep their memory when
// they are cleared. Coordinates are absolute.
//
// Lists are in the original's order. Where the original has none (the units
// shielded by one support in one frame, the targets of an explosion), they are
// in the order of ids.
type Record struct {
	Spawns        []SpawnEvent
	Moves         []MoveEvent
	Breaches      []BreachEvent
	Shields       []ShieldEvent
	SelfDestructs []SelfDestructEvent
	Targets       []Pos // of the explosions
	Damages       []DamageEvent
	Deaths        []DeathEvent
	Attacks       []AttackEvent

	Ends []FrameEnds // one per action frame

	Removed []DeathEvent // the structures taken away by the last restore, in the order of ids
}

// FrameEnds says where the lists of a Record end after a frame.
type FrameEnds struct {
	Spawns, Moves, Breaches, Shields, SelfDestructs, Targets, Damages, Deaths, Attacks int32
}

// Pos is a cell of the arena.
type Pos struct{ X, Y uint8 }

// SpawnEvent is a command that was carried out: Kind is that of the unit, or
// Removal (ID is the structure's), or Upgrade (ID is the structure's new one).
type SpawnEvent struct {
	At     Pos
	Kind   Kind
	Player sim.Player
	ID     uint32
}

// Order returns the order that leads to n events equal to e. It is not swapped.
func (e SpawnEvent) Order(n int) sim.Order {
	x, y := int(e.At.X), int(e.At.Y)
	switch {
	case e.Kind == Removal:
		return RemoveAt(x, y)
	case e.Kind == Upgrade:
		return UpgradeAt(x, y)
	case e.Kind.Structure():
		return Place(e.Kind, x, y)
	}
	return Spawn(e.Kind, x, y, n)
}

// MoveEvent is a step of a mobile unit.
type MoveEvent struct {
	From, To Pos
	Kind     Kind
	Player   sim.Player
	ID       uint32
}

// BreachEvent is a mobile unit that scores.
type BreachEvent struct {
	At     Pos
	Kind   Kind
	Player sim.Player // its owner
	ID     uint32
	Damage float32
}

// ShieldEvent is a support that shields a mobile unit.
type ShieldEvent struct {
	From, To Pos // support, unit
	Kind     Kind
	Player   sim.Player
	ID       uint32 // of the support
	Unit     uint32
	Amount   float32
}

// SelfDestructEvent is an explosion, with its targets of one class.
type SelfDestructEvent struct {
	At     Pos
	Kind   Kind
	Player sim.Player
	ID     uint32
	Damage float32
	First  int32 // its targets are Record.Targets[First:][:Count]
	Count  int32
}

// DamageEvent is damage done to a unit, of which it may have had less.
type DamageEvent struct {
	At     Pos
	Kind   Kind
	Player sim.Player // the unit's owner
	ID     uint32
	Damage float32
}

// DeathEvent is a unit that is gone: it fell, breached, exploded, or (Removed)
// was taken away by its owner.
type DeathEvent struct {
	At      Pos
	Kind    Kind
	Player  sim.Player
	ID      uint32
	Removed bool
	// Repeated: the unit's death is in this frame's list already. The original writes
	// it again when a unit explodes that another explosion has killed; so do we where a
	// unit is killed that has exploded (Rules.DoomedTargets).
	Repeated bool
}

// AttackEvent is a shot.
type AttackEvent struct {
	From, To Pos
	Kind     Kind // of the attacker
	Player   sim.Player
	ID       uint32
	Target   uint32
	Damage   float32
}

// Frame is what a Record holds of one action frame, as parts of its lists.
type Frame struct {
	Spawns        []SpawnEvent
	Moves         []MoveEvent
	Breaches      []BreachEvent
	Shields       []ShieldEvent
	SelfDestructs []SelfDestructEvent
	Targets       []Pos // First counts from the Record's first target, see Frame.TargetsOf
	Damages       []DamageEvent
	Deaths        []DeathEvent
	Attacks       []AttackEvent

	firstTarget int32
}

// Clear empties the record and keeps its memory.
func (r *Record) Clear() {
	*r = Record{
		r.Spawns[:0], r.Moves[:0], r.Breaches[:0], r.Shields[:0], r.SelfDestructs[:0], r.Targets[:0],
		r.Damages[:0], r.Deaths[:0], r.Attacks[:0], r.Ends[:0], r.Removed[:0],
	}
}

// Frame returns frame i of the record, counted from 0 since it was cleared,
// valid until the record changes.
func (r *Record) Frame(i int) Frame {
	var a FrameEnds
	if i > 0 {
		a = r.Ends[i-1]
	}
	b := r.Ends[i]
	return Frame{
		r.Spawns[a.Spawns:b.Spawns], r.Moves[a.Moves:b.Moves], r.Breaches[a.Breaches:b.Breaches],
		r.Shields[a.Shields:b.Shields], r.SelfDestructs[a.SelfDestructs:b.SelfDestructs], r.Targets[a.Targets:b.Targets],
		r.Damages[a.Damages:b.Damages], r.Deaths[a.Deaths:b.Deaths], r.Attacks[a.Attacks:b.Attacks], a.Targets,
	}
}

// TargetsOf returns the cells that an explosion of the frame hit.
func (f *Frame) TargetsOf(e SelfDestructEvent) []Pos {
	return f.Targets[e.First-f.firstTarget:][:e.Count]
}

// end closes a frame.
func (r *Record) end() {
	r.Ends = append(r.Ends, FrameEnds{
		int32(len(r.Spawns)), int32(len(r.Moves)), int32(len(r.Breaches)), int32(len(r.Shields)), int32(len(r.SelfDestructs)),
		int32(len(r.Targets)), int32(len(r.Damages)), int32(len(r.Deaths)), int32(len(r.Attacks)),
	})
}

// The events of an action phase. Those that are called without a look at
// actionPhase.record look at it themselves.

// recordMove records the step of all units of a stack.
func (a *actionPhase) recordMove(st *stack, to uint16) {
	for _, r := range a.runsOf(st) {
		for j := range uint32(r.n) {
			a.record.Moves = append(a.record.Moves, MoveEvent{positions[st.cell], positions[to], st.unitKind(), st.player(), r.first + j})
		}
	}
}

// recordBreach records that all units of a stack score.
func (a *actionPhase) recordBreach(st *stack, damage float32) {
	at, k, p := positions[st.cell], st.unitKind(), st.player()
	for _, r := range a.runsOf(st) {
		for j := range uint32(r.n) {
			a.record.Breaches = append(a.record.Breaches, BreachEvent{at, k, p, r.first + j, damage})
			a.recordDeath(at, k, p, r.first+j)
		}
	}
}

// grantEvents notes the events of one shield given to a stack.
func (a *actionPhase) grantEvents(st *stack, support aged, amount float32) {
	for _, r := range a.runsOf(st) {
		for j := range uint32(r.n) {
			a.granted = append(a.granted, ShieldEvent{
				positions[support.cell()], positions[st.cell], Support, st.player(), support.id(), r.first + j, amount,
			})
		}
	}
}

// recordShields records the shields given in this frame in the order of the
// supports' ids. Those of one support are together, oldest unit first.
func (a *actionPhase) recordShields() {
	slices.SortStableFunc(a.granted, func(e, f ShieldEvent) int { return int(e.ID) - int(f.ID) })
	a.record.Shields = append(a.record.Shields, a.granted...)
	a.granted = a.granted[:0]
}

// recordExplosion records an explosion with the targets from first on, and
// returns where the next ones begin.
func (a *actionPhase) recordExplosion(st *stack, id uint32, damage float32, first int32) int32 {
	if a.record == nil {
		return 0
	}
	end := int32(len(a.record.Targets))
	a.record.SelfDestructs = append(a.record.SelfDestructs, SelfDestructEvent{
		positions[st.cell], st.unitKind(), st.player(), id, damage, first, end - first,
	})
	return end
}

// recordHit records that an explosion hits a unit.
func (a *actionPhase) recordHit(at Pos, k Kind, p sim.Player, id uint32, damage float32) {
	a.record.Targets = append(a.record.Targets, at)
	a.record.Damages = append(a.record.Damages, DamageEvent{at, k, p, id, damage})
}

// recordDeath records a death.
func (a *actionPhase) recordDeath(at Pos, k Kind, p sim.Player, id uint32) {
	if a.record != nil {
		a.record.Deaths = append(a.record.Deaths, DeathEvent{At: at, Kind: k, Player: p, ID: id})
	}
}

// recordUnit records the death of a unit of a stack, repeated if it is in this frame's
// list already.
func (a *actionPhase) recordUnit(st *stack, id uint32, repeated bool) {
	if a.record != nil {
		a.record.Deaths = append(a.record.Deaths, DeathEvent{At: positions[st.cell], Kind: st.unitKind(), Player: st.player(), ID: id, Repeated: repeated})
	}
}

// shotEvent is a shot with what became of its target.
type shotEvent struct {
	AttackEvent
	target Kind
	killed bool
	again  bool // its death is in this frame's list already
}

// noteShot notes a shot.
func (a *actionPhase) noteShot(e shotEvent) { a.shots[e.Player] = append(a.shots[e.Player], e) }

// recordShots records the shots of both players in the order of the attackers'
// ids, with the damage and the deaths they did.
func (a *actionPhase) recordShots() {
	first, second := a.shots[0], a.shots[1]
	for len(first)+len(second) > 0 {
		next := &first
		if len(first) == 0 || len(second) > 0 && second[0].ID < first[0].ID {
			next = &second
		}
		e := (*next)[0]
		*next = (*next)[1:]
		a.record.Attacks = append(a.record.Attacks, e.AttackEvent)
		a.record.Damages = append(a.record.Damages, DamageEvent{e.To, e.target, e.Player ^ 1, e.Target, e.Damage})
		if e.killed {
			a.record.Deaths = append(a.record.Deaths, DeathEvent{At: e.To, Kind: e.target, Player: e.Player ^ 1, ID: e.Target, Repeated: e.again})
		}
	}
	a.shots[0], a.shots[1] = a.shots[0][:0], a.shots[1][:0]
}
