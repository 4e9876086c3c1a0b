package replay

import (
	"fmt"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/protocol"
	"moonfarm/sim/codecraft/wire/recording"
)

// tick checks one tick of a recorded game, phase by phase. The recording decides between the
// outcomes that the rules allow.
type tick struct {
	game   *codecraft.Game
	rules  codecraft.Rules
	counts [Counts]int

	world  recording.World // before the tick, its entities sorted by id
	after  recording.World
	events []recording.Event
	delta  *recording.Delta
	pos    codecraft.Position
	state  codecraft.State // before the tick, with the actions in effect

	units    []tickUnit // the units of state, then the units that are built in the tick
	health   [codecraft.Cells]int32
	score    [sim.MaxPlayers]int32
	resource [sim.MaxPlayers]int32
	occupied bitboard.Square // in the current phase
	end      bitboard.Square // occupied after the move phase
	victims  []uint32
}

// tickUnit is a unit in the course of the phases.
type tickUnit struct {
	codecraft.Unit
	health int32
	dies   bool // it is removed at the end: its last order is unknown
	acted  bool // it has attacked, built or repaired in this tick
	moves  bool // it has another place after the tick
	toX    int
	toY    int
	missed int32 // health that dying repairers may have added
}

// begin copies the tick that r has read last.
func (t *tick) begin(r *recording.Reader) error {
	t.counts = [Counts]int{}
	r.World.CopyTo(&t.world)
	t.world.SortByID()
	t.world.CopyTo(&t.after)
	t.delta, t.events = &r.Delta, r.Events
	if err := t.after.Apply(t.delta); err != nil {
		return err
	}
	now := make(map[int32]int, len(t.world.Actions))
	for i := range t.world.Actions {
		now[t.world.Actions[i].ID] = i
	}
	for _, a := range t.delta.Actions.Changed {
		t.world.Actions[now[a.ID]] = a
	}
	t.world.Actions = append(t.world.Actions, t.delta.Actions.New...)
	if err := t.world.Position(&t.pos, &t.rules); err != nil {
		return err
	}
	return t.game.Restore(&t.state, &t.pos)
}

// difference returns a difference in this tick.
func (t *tick) difference(entity int32, field string, want, got any) *Difference {
	return &Difference{Tick: int(t.world.CurrentTick), Entity: entity, Field: field, Want: fmt.Sprint(want), Got: fmt.Sprint(got)}
}

// check returns the first difference of the tick, nil if there is none.
func (t *tick) check() *Difference {
	if d := t.stored(); d != nil {
		return d
	}
	t.game.Plan(&t.state)
	t.set()
	for _, phase := range []func() *Difference{t.attacks, t.builds, t.repairs, t.moves, t.cleanUp} {
		if d := phase(); d != nil {
			return d
		}
	}
	return nil
}

// stored checks that the players stay the same and that only units have stored actions.
func (t *tick) stored() *Difference {
	for i, p := range t.after.Players {
		if len(t.after.Players) != len(t.world.Players) || p.Index != t.world.Players[i].Index {
			return t.difference(0, "players", t.after.Players, t.world.Players)
		}
	}
	for _, list := range [][]protocol.EntityOrder{t.delta.Actions.New, t.delta.Actions.Changed} {
		for _, a := range list {
			if t.state.Find(uint32(a.ID)) < 0 {
				return t.difference(a.ID, "stored action", "one", "none: it is not a unit")
			}
		}
	}
	for _, a := range t.after.Actions {
		if _, ok := recording.FindEntity(t.after.Entities, a.ID); !ok {
			return t.difference(a.ID, "stored action", "one", "none: it is dead")
		}
	}
	return nil
}

// set sets the units and boards to the state before the phases.
func (t *tick) set() {
	s := &t.state
	t.units = t.units[:0]
	t.score, t.resource, t.occupied = s.Score, s.Resource, s.Occupied
	t.end = bitboard.Square{}
	for i := range t.after.Entities {
		e := &t.after.Entities[i]
		if x, y, size := int(e.X), int(e.Y), t.size(e.Type); codecraft.OnMap(x, y, size) {
			t.end.AddSquare(x, y, size)
		}
	}
	for i := range s.Units[:s.N] {
		b := tickUnit{Unit: s.Units[i], health: int32(s.Units[i].Health)}
		if e, ok := recording.FindEntity(t.after.Entities, int32(b.ID)); ok {
			b.toX, b.toY = int(e.X), int(e.Y)
			b.moves = b.toX != int(b.X) || b.toY != int(b.Y)
		} else {
			b.dies = true // its cells stay occupied until the end of the tick
			t.end.AddSquare(int(b.X), int(b.Y), t.size(b.Type))
		}
		t.units = append(t.units, b)
	}
	for c := range t.health {
		if t.health[c] = int32(s.Health[c]); t.health[c] > 0 {
			if _, ok := recording.FindEntity(t.after.Entities, int32(s.ResourceID(c%codecraft.Side, c/codecraft.Side))); !ok {
				t.end.Add(c%codecraft.Side, c/codecraft.Side)
			}
		}
	}
}

func (t *tick) size(k codecraft.Type) int { return int(t.rules.Types[k].Size) }

// steps calls f for each cell to which the rules allow unit i to step, until f returns true. It
// reports whether f returned true.
func (t *tick) steps(i int, f func(x, y int) bool) bool {
	u := &t.state.Units[i]
	set := t.game.Steps(i)
	for d, by := range [4][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
		x, y := int(u.X)+by[0], int(u.Y)+by[1]
		if set>>d&1 != 0 && codecraft.OnMap(x, y, 1) && f(x, y) {
			return true
		}
	}
	return false
}

// foreign returns the id of the resource or of another player's entity that covers a cell
// before the tick, 0 if there is none.
func (t *tick) foreign(x, y int, p sim.Player) uint32 {
	c := codecraft.CellOf(x, y)
	if u := t.state.At[c]; u > 0 {
		if o := &t.state.Units[u-1]; o.Owner != p {
			return o.ID
		}
		return 0
	}
	if t.state.Health[c] > 0 {
		return t.state.ResourceID(x, y)
	}
	return 0
}

// attacks checks the attacks and executes them.
func (t *tick) attacks() *Difference {
	for _, e := range t.events {
		i := t.state.Find(uint32(e.Attacker))
		if i < 0 {
			return t.difference(e.Attacker, "attack", fmt.Sprint("on ", e.Victim), "none: it is not a unit")
		}
		b := &t.units[i]
		k := &t.rules.Types[b.Type]
		switch {
		case !b.Active || !k.CanAttack:
			return t.difference(e.Attacker, "attack", fmt.Sprint("on ", e.Victim), "none: it cannot")
		case b.acted:
			return t.difference(e.Attacker, "attack", "two", "one")
		}
		if d := t.attack(i, uint32(e.Victim)); d != nil {
			return d
		}
		b.acted = true
		t.counts[CountAttacks]++
		t.hit(b, k, uint32(e.Victim))
	}
	for i := range t.units {
		b := &t.units[i]
		if b.acted || b.dies || !b.Active || !t.rules.Types[b.Type].CanAttack {
			continue
		}
		if t.victims = t.game.AppendVictims(t.victims[:0], &t.state, i); len(t.victims) > 0 {
			return t.difference(int32(b.ID), "attack", "none", fmt.Sprint("on one of ", t.victims))
		}
		if t.game.Steps(i) != 0 && !t.steps(i, func(x, y int) bool { return t.foreign(x, y, b.Owner) == 0 }) {
			return t.difference(int32(b.ID), "attack", "none", "on the entity in its way")
		}
	}
	return nil
}

// attack checks that unit i may attack the victim.
func (t *tick) attack(i int, victim uint32) *Difference {
	b := &t.units[i]
	if b.dies && t.inRange(b, victim) {
		return nil
	}
	if t.victims = t.game.AppendVictims(t.victims[:0], &t.state, i); len(t.victims) > 0 {
		if !slices.Contains(t.victims, victim) {
			return t.difference(int32(b.ID), "attack", fmt.Sprint("on ", victim), fmt.Sprint("on one of ", t.victims))
		}
		return nil
	}
	if !t.steps(i, func(x, y int) bool { return t.foreign(x, y, b.Owner) == victim }) {
		return t.difference(int32(b.ID), "attack", fmt.Sprint("on ", victim), "none: it is no target of its action, nor in its way")
	}
	t.counts[CountBreaks]++
	return nil
}

// inRange reports whether an entity is in the range of a unit.
func (t *tick) inRange(b *tickUnit, victim uint32) bool {
	x, y, size, ok := t.place(victim)
	return ok && b.ID != victim && codecraft.Gap(int(b.X), int(b.Y), t.size(b.Type), x, y, size) <= int(t.rules.Types[b.Type].Range)
}

// place returns the place of an entity before the tick.
func (t *tick) place(id uint32) (x, y, size int, ok bool) {
	if i := t.state.Find(id); i >= 0 {
		u := &t.state.Units[i]
		return int(u.X), int(u.Y), t.size(u.Type), true
	}
	x, y, ok = t.state.ResourceAt(id)
	return x, y, 1, ok && t.state.Health[codecraft.CellOf(x, y)] > 0
}

// hit executes an attack.
func (t *tick) hit(b *tickUnit, k *codecraft.Properties, victim uint32) {
	health, of, pays := (*int32)(nil), codecraft.Resource, false // a resource has no owner, so its death scores nothing: 3.16
	if i := t.state.Find(victim); i >= 0 {
		v := &t.units[i]
		health, of, pays = &v.health, v.Type, v.Owner != b.Owner
	} else {
		x, y, _ := t.state.ResourceAt(victim)
		health = &t.health[codecraft.CellOf(x, y)]
	}
	dealt := min(k.Damage, *health)
	if dealt == 0 {
		t.counts[CountWasted]++
		return
	}
	*health -= dealt
	if k.Collects {
		t.score[b.Owner] += dealt * t.rules.Types[of].Yield
		t.resource[b.Owner] += dealt * t.rules.Types[of].Yield
	}
	if *health == 0 && pays {
		t.score[b.Owner] += t.rules.Types[of].DestroyScore
	}
}
