package replay

import (
	"cmp"
	"fmt"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
	"moonfarm/sim/codecraft/wire/protocol"
	"moonfarm/sim/codecraft/wire/recording"
)

// builds checks the build phase. Every builder takes an id in the order of processing, so the id
// of a new entity gives the time of its build. The other ids belong to failed builds. A build
// that fails once also fails at every later time, so it does not matter which failed builder
// took which id.
func (t *tick) builds() *Difference {
	var trying []int // the indices of all builders
	unsure := 0      // the number of dying builders, whose last action is unknown
	for i := range t.units {
		b, a := &t.units[i], &t.state.Acts[i]
		k := &t.rules.Types[b.Type]
		if !b.Active || b.acted || !k.CanBuild && !t.rules.UnableTakeID {
			continue
		}
		if a.Parts&codecraft.HasBuild != 0 {
			trying = append(trying, i)
		}
		if b.dies {
			unsure++
		}
	}
	ids := int(t.after.NextID - t.world.NextID)
	if ids < len(trying)-unsure || ids > len(trying)+unsure {
		return t.difference(0, "next_id", t.after.NextID, int(t.world.NextID)+len(trying))
	}
	made := slices.Clone(t.delta.Entities.New)
	recording.SortEntities(made)
	chosen, d := t.builders(made, trying)
	if d != nil {
		return d
	}
	failed := slices.DeleteFunc(trying, func(i int) bool { return slices.Contains(chosen, i) })
	for id, k := t.world.NextID, 0; id < t.after.NextID; id++ {
		if k < len(made) && made[k].ID == id {
			if d := t.build(&made[k], chosen[k]); d != nil {
				return d
			}
			k++
			continue
		}
		t.counts[CountFailures]++
		at := slices.IndexFunc(failed, func(i int) bool { return t.refused(i) != "" })
		switch {
		case at >= 0:
			failed = slices.Delete(failed, at, at+1)
		case unsure > 0:
			unsure--
		default:
			return t.difference(id, "build", "failed", "built, whoever of the builders took this id")
		}
	}
	return nil
}

// builders returns the index of the builder of each new entity.
func (t *tick) builders(made []protocol.Entity, trying []int) (chosen []int, d *Difference) {
	for n := range made {
		e := &made[n]
		if e.ID < t.world.NextID || e.ID >= t.after.NextID {
			return nil, t.difference(e.ID, "id", e.ID, fmt.Sprintf("%d to %d", t.world.NextID, t.after.NextID-1))
		}
		best, cost := -1, 0
		for _, i := range trying {
			if t.couldBuild(i, e) && !slices.Contains(chosen, i) {
				if c := t.doubt(i); best < 0 || c < cost {
					best, cost = i, c
				}
			}
		}
		if best < 0 {
			best = t.lastBuilder(e, chosen)
		}
		if best < 0 {
			return nil, t.difference(e.ID, "build", e.Type, "nothing: no unit builds there")
		}
		chosen = append(chosen, best)
	}
	return chosen, nil
}

// couldBuild reports whether entity e is what unit i builds.
func (t *tick) couldBuild(i int, e *protocol.Entity) bool {
	b, a := &t.units[i], &t.state.Acts[i]
	return a.BuildType == e.Type && int32(a.BuildX) == e.X && int32(a.BuildY) == e.Y &&
		e.PlayerID == protocol.Some(int32(b.Owner)+1) && !b.moves
}

// lastBuilder returns a dying unit that is not in chosen and whose last action may have been to
// build e, −1 if there is none. It sets the unit's action to this build.
func (t *tick) lastBuilder(e *protocol.Entity, chosen []int) int {
	for i := range t.units[:t.state.N] {
		b := &t.units[i]
		if !b.dies || !b.Active || b.acted || e.PlayerID != protocol.Some(int32(b.Owner)+1) || slices.Contains(chosen, i) {
			continue
		}
		if codecraft.OnMap(int(e.X), int(e.Y), t.size(e.Type)) {
			a := &t.state.Acts[i]
			last := *a
			a.BuildType, a.BuildX, a.BuildY = e.Type, uint8(e.X), uint8(e.Y)
			if t.refused(i) == "" {
				return i
			}
			*a = last
		}
	}
	return -1
}

// doubt returns how unlikely it is that unit i built an entity that several units could have
// built: 0 for a unit that would have moved otherwise, 2 for a unit that has something to
// repair, 1 for all others.
func (t *tick) doubt(i int) int {
	b, a := &t.units[i], &t.state.Acts[i]
	switch {
	case t.game.Steps(i) != 0 && !t.steps(i, t.end.Has):
		return 0
	case a.Parts&codecraft.HasRepair != 0 && t.repairable(b, a.Repair) != nil:
		return 2
	}
	return 1
}

// refused returns the reason why unit i cannot build now, "" if it can.
func (t *tick) refused(i int) string {
	b, a := &t.units[i], &t.state.Acts[i]
	k := &t.rules.Types[b.Type]
	if !k.Builds.Set().Has(a.BuildType) {
		return "it is no option of the builder's"
	}
	x, y, size := int(a.BuildX), int(a.BuildY), t.size(a.BuildType)
	switch {
	case !codecraft.OnMap(x, y, size):
		return "it is not on the map"
	case t.occupied.MeetsSquare(x, y, size):
		return "the place is occupied"
	case codecraft.Gap(int(b.X), int(b.Y), int(k.Size), x, y, size) != 1:
		return "it is not adjacent"
	case t.resource[b.Owner] < t.cost(b.Owner, a.BuildType):
		return fmt.Sprintf("it costs %d of %d", t.cost(b.Owner, a.BuildType), t.resource[b.Owner])
	case len(t.units) >= codecraft.MaxUnits:
		return "the map is full"
	}
	used, provided := int32(0), int32(0)
	for n := range t.units {
		c := &t.units[n]
		if c.Owner != b.Owner || c.health == 0 && t.rules.DeadAreFree {
			continue
		}
		used += t.rules.Types[c.Type].PopUse
		if c.Active {
			provided += t.rules.Types[c.Type].PopProvide
		}
	}
	if !t.rules.RoomFor(a.BuildType, used, provided) {
		return fmt.Sprintf("it makes a population of %d of %d", used+t.rules.Types[a.BuildType].PopUse, provided)
	}
	return ""
}

// cost returns the price of another entity of a type for a player.
func (t *tick) cost(p sim.Player, k codecraft.Type) int32 {
	has := int32(0)
	for i := range t.units {
		if c := &t.units[i]; c.Type == k && c.Owner == p && (c.health > 0 || !t.rules.DeadAreFree) {
			has++
		}
	}
	return t.rules.CostOf(k, has)
}

// build checks that unit i can build e now, and builds it.
func (t *tick) build(e *protocol.Entity, i int) *Difference {
	if why := t.refused(i); why != "" {
		return t.difference(e.ID, "build", e.Type, "nothing: "+why)
	}
	b := &t.units[i]
	o := &t.rules.Types[e.Type]
	t.resource[b.Owner] -= t.cost(b.Owner, e.Type)
	b.acted = true
	health := o.MaxHealth
	if init := t.rules.Types[b.Type].InitHealth; init > 0 {
		health = min(health, init)
	}
	t.occupied.AddSquare(int(e.X), int(e.Y), int(o.Size))
	t.units = append(t.units, tickUnit{
		Unit:   codecraft.Unit{ID: uint32(e.ID), X: uint8(e.X), Y: uint8(e.Y), Type: e.Type, Owner: b.Owner},
		health: health, toX: int(e.X), toY: int(e.Y),
	})
	t.counts[CountBuilds]++
	return nil
}

// repairs executes the repair phase, in which nothing is random.
func (t *tick) repairs() *Difference {
	var done []*tickUnit // the repaired units, one entry per repairer
	var power []int32
	for i := range t.state.Units[:t.state.N] {
		b, a := &t.units[i], &t.state.Acts[i]
		k := &t.rules.Types[b.Type]
		if !b.Active || b.acted || !k.CanRepair {
			continue
		}
		if b.dies { // its last action is unknown
			for n := range t.units {
				if c := &t.units[n]; t.repairable(b, c.ID) != nil {
					c.missed += k.Power
				}
			}
			continue
		}
		if c := t.repairable(b, a.Repair); a.Parts&codecraft.HasRepair != 0 && c != nil {
			b.acted = true
			t.counts[CountRepairs]++
			done, power = append(done, c), append(power, k.Power)
		}
	}
	for i, c := range done {
		c.health = min(c.health+power[i], t.rules.Types[c.Type].MaxHealth)
	}
	return nil
}

// repairable returns the unit with that id if unit b can repair it now, else nil.
func (t *tick) repairable(b *tickUnit, id uint32) *tickUnit {
	i, ok := slices.BinarySearchFunc(t.units, id, func(c tickUnit, id uint32) int { return cmp.Compare(c.ID, id) })
	if !ok {
		return nil
	}
	c, k := &t.units[i], &t.rules.Types[b.Type]
	full := c.health >= t.rules.Types[c.Type].MaxHealth
	if !k.Repairs.Set().Has(c.Type) || c.health == 0 || full && !t.rules.RepairFull || c.Owner != b.Owner && !t.rules.RepairOthers {
		return nil
	}
	if codecraft.Gap(int(b.X), int(b.Y), int(k.Size), int(c.X), int(c.Y), t.size(c.Type)) != 1 {
		return nil
	}
	return c
}
