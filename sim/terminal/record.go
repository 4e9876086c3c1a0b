package terminal

import (
	"slices"

	"moonfarm/sim"
)

// Record holds the events of action phases that the original writes into its frames. A Game with a
// Record (see Game.Record) appends events frame by frame; a Game without one does not spend time on
// events. Clear keeps the memory of the lists. Coordinates are absolute.
//
// Lists have the original's order. Two of them have no fixed order in the original and are ordered
// by id: the units shielded by one support in one frame, and the targets of an explosion.
type Record struct {
	Events

	Ends [][9]int // the lengths of the lists after each action frame

	Removed []DeathEvent // structures that the last restore removed, in the order of ids
}

// Events has the lists of a Record, or the parts of them that belong to one action frame.
type Events struct {
	Spawns        []SpawnEvent
	Moves         []MoveEvent
	Breaches      []BreachEvent
	Shields       []ShieldEvent
	SelfDestructs []SelfDestructEvent
	Targets       []Pos // of the explosions; First counts from the first of the Record: see TargetsOf
	Damages       []DamageEvent
	Deaths        []DeathEvent
	Attacks       []AttackEvent

	firstTarget int32
}

// Pos is a cell of the arena.
type Pos struct{ X, Y uint8 }

// SpawnEvent is a command that was carried out. Kind is the kind of the new unit, or Removal (with
// the ID of the structure), or Upgrade (with the new ID of the structure).
type SpawnEvent struct {
	At     Pos
	Kind   Kind
	Player sim.Player
	ID     uint32
}

// Order returns the order that leads to n events equal to e. It is not swapped.
func (s SpawnEvent) Order(n int) sim.Order {
	x, y := int(s.At.X), int(s.At.Y)
	switch {
	case s.Kind == Removal:
		return RemoveAt(x, y)
	case s.Kind == Upgrade:
		return UpgradeAt(x, y)
	case s.Kind.Structure():
		return Place(s.Kind, x, y)
	}
	return Spawn(s.Kind, x, y, n)
}

// MoveEvent is a step of a mobile unit.
type MoveEvent struct {
	From, To Pos
	Kind     Kind
	Player   sim.Player
	ID       uint32
}

// BreachEvent is a mobile unit that breaches.
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

// DamageEvent is damage done to a unit. It may exceed the unit's health.
type DamageEvent struct {
	At     Pos
	Kind   Kind
	Player sim.Player // the unit's owner
	ID     uint32
	Damage float32
}

// DeathEvent is a unit that was killed, breached or exploded, or (Removed) that its owner removed.
type DeathEvent struct {
	At      Pos
	Kind    Kind
	Player  sim.Player
	ID      uint32
	Removed bool
	// Repeated says that the frame has an earlier death of the same unit. The original repeats
	// the death of a unit that explodes after another explosion has killed it. Here a unit that
	// is killed after it has exploded (Rules.DoomedTargets) has a repeated death, too.
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

// Clear empties the record and keeps its memory.
func (r *Record) Clear() {
	r.Events.Clear()
	r.Ends, r.Removed = r.Ends[:0], r.Removed[:0]
}

// Clear empties the lists and keeps their memory.
func (e *Events) Clear() {
	*e = Events{
		e.Spawns[:0], e.Moves[:0], e.Breaches[:0], e.Shields[:0], e.SelfDestructs[:0], e.Targets[:0],
		e.Damages[:0], e.Deaths[:0], e.Attacks[:0], 0,
	}
}

// Frame returns the events of frame i since the last Clear, from 0. It is valid until the record changes.
func (r *Record) Frame(i int) Events {
	var a [9]int
	if i > 0 {
		a = r.Ends[i-1]
	}
	b := r.Ends[i]
	return Events{
		r.Spawns[a[0]:b[0]], r.Moves[a[1]:b[1]], r.Breaches[a[2]:b[2]], r.Shields[a[3]:b[3]], r.SelfDestructs[a[4]:b[4]],
		r.Targets[a[5]:b[5]], r.Damages[a[6]:b[6]], r.Deaths[a[7]:b[7]], r.Attacks[a[8]:b[8]], int32(a[5]),
	}
}

// TargetsOf returns the cells that an explosion of the frame hit.
func (e *Events) TargetsOf(d SelfDestructEvent) []Pos {
	return e.Targets[d.First-e.firstTarget:][:d.Count]
}

// end ends a frame.
func (r *Record) end() {
	r.Ends = append(r.Ends, [9]int{
		len(r.Spawns), len(r.Moves), len(r.Breaches), len(r.Shields), len(r.SelfDestructs),
		len(r.Targets), len(r.Damages), len(r.Deaths), len(r.Attacks),
	})
}

// recordMove records the step of all units of a stack.
func (a *actionPhase) recordMove(st *stack, to uint16) {
	moves, e := a.record.Moves, MoveEvent{From: positions[st.cell], To: positions[to], Kind: st.unitKind(), Player: st.player()}
	for _, r := range a.runsOf(st) {
		for e.ID = r.first; e.ID < r.first+uint32(r.n); e.ID++ {
			moves = append(moves, e)
		}
	}
	a.record.Moves = moves
}

// recordBreach records that all units of a stack breach.
func (a *actionPhase) recordBreach(st *stack, damage float32) {
	at, k, p := positions[st.cell], st.unitKind(), st.player()
	for _, r := range a.runsOf(st) {
		for j := range uint32(r.n) {
			a.record.Breaches = append(a.record.Breaches, BreachEvent{at, k, p, r.first + j, damage})
			a.recordDeath(at, k, p, r.first+j)
		}
	}
}

// grantEvents stores the events of one shield given to a stack.
func (a *actionPhase) grantEvents(st *stack, support aged, amount float32) {
	for _, r := range a.runsOf(st) {
		for j := range uint32(r.n) {
			a.granted = append(a.granted, ShieldEvent{
				positions[support.cell()], positions[st.cell], Support, st.player(), support.id(), r.first + j, amount,
			})
		}
	}
}

// recordShields records the shields given in this frame, in the order of the supports' ids and,
// for one support, of the units' ids.
func (a *actionPhase) recordShields() {
	slices.SortStableFunc(a.granted, func(e, f ShieldEvent) int { return int(e.ID) - int(f.ID) })
	a.record.Shields = append(a.record.Shields, a.granted...)
	a.granted = a.granted[:0]
}

// recordExplosion records an explosion with the targets from index first on, and returns the index
// of the next target. It does nothing without a record.
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

// recordDeath records a death, if there is a record.
func (a *actionPhase) recordDeath(at Pos, k Kind, p sim.Player, id uint32) {
	if a.record != nil {
		a.record.Deaths = append(a.record.Deaths, DeathEvent{At: at, Kind: k, Player: p, ID: id})
	}
}

// recordUnit records the death of a unit of a stack, if there is a record.
func (a *actionPhase) recordUnit(st *stack, id uint32, repeated bool) {
	if a.record != nil {
		a.record.Deaths = append(a.record.Deaths, DeathEvent{At: positions[st.cell], Kind: st.unitKind(), Player: st.player(), ID: id, Repeated: repeated})
	}
}

// shotEvent is a shot and its effect on the target.
type shotEvent struct {
	AttackEvent
	target Kind
	killed bool
	again  bool // the frame has an earlier death of the target
}

// noteShot stores a shot until recordShots.
func (a *actionPhase) noteShot(e shotEvent) { a.shots[e.Player] = append(a.shots[e.Player], e) }

// recordShots records the shots of both players in the order of the attackers' ids, with their
// damage and the deaths that they caused.
func (a *actionPhase) recordShots() {
	first, second := a.shots[0], a.shots[1]
	attacks, damages := a.record.Attacks, a.record.Damages
	for i, j := 0, 0; i < len(first) || j < len(second); {
		var e *shotEvent
		if i == len(first) || j < len(second) && second[j].ID < first[i].ID {
			e = &second[j]
			j++
		} else {
			e = &first[i]
			i++
		}
		attacks = append(attacks, e.AttackEvent)
		damages = append(damages, DamageEvent{e.To, e.target, e.Player ^ 1, e.Target, e.Damage})
		if e.killed {
			a.record.Deaths = append(a.record.Deaths, DeathEvent{At: e.To, Kind: e.target, Player: e.Player ^ 1, ID: e.Target, Repeated: e.again})
		}
	}
	a.record.Attacks, a.record.Damages = attacks, damages
	a.shots[0], a.shots[1] = first[:0], second[:0]
}
