package wire

import (
	"fmt"
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
)

// builds checks the build phase. Everyone who takes part takes an id in the
// order of processing, so what was built tells when; those who failed must have
// failed at one of the ids that are left. Who fails at one time fails at every
// later time, too, so it does not matter which of them took which.
func (t *tick) builds() *Difference {
	var trying []int // by index, those who take part
	unsure := 0      // of these, those whose action is not known
	for i := range t.bodies {
		b, a := &t.bodies[i], &t.state.Acts[i]
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
		return t.differs(0, "next_id", t.after.NextID, int(t.world.NextID)+len(trying))
	}
	made := slices.Clone(t.delta.Entities.New)
	sortByID(made, entityID)
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
			return t.differs(id, "build", "failed", "built, whoever of the builders took this id")
		}
	}
	return nil
}

// builders finds who built each of the new entities.
func (t *tick) builders(made []Entity, trying []int) (chosen []int, d *Difference) {
	for n := range made {
		e := &made[n]
		if e.ID < t.world.NextID || e.ID >= t.after.NextID {
			return nil, t.differs(e.ID, "id", e.ID, fmt.Sprintf("%d to %d", t.world.NextID, t.after.NextID-1))
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
			return nil, t.differs(e.ID, "build", e.Type, "nothing: nobody builds there")
		}
		chosen = append(chosen, best)
	}
	return chosen, nil
}

// couldBuild reports whether entity e is what unit i builds.
func (t *tick) couldBuild(i int, e *Entity) bool {
	b, a := &t.bodies[i], &t.state.Acts[i]
	return a.BuildType == e.Type && int32(a.BuildX) == e.X && int32(a.BuildY) == e.Y &&
		e.PlayerID == Some(int32(b.Owner)+1) && !b.moves
}

// lastBuilder finds a unit, not one of those chosen, that dies in this tick and can have been told in its
// last action to build e; −1 if there is none.
func (t *tick) lastBuilder(e *Entity, chosen []int) int {
	for i := range t.bodies[:t.state.N] {
		b := &t.bodies[i]
		if !b.dies || !b.Active || b.acted || e.PlayerID != Some(int32(b.Owner)+1) || slices.Contains(chosen, i) {
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

// doubt tells how unlikely it is that unit i built, of several who could have:
// least for those who would not have stayed where they are otherwise, most for
// those who have something to repair.
func (t *tick) doubt(i int) int {
	b, a := &t.bodies[i], &t.state.Acts[i]
	switch {
	case t.game.Steps(i) != 0 && !t.steps(i, t.end.Has):
		return 0
	case a.Parts&codecraft.HasRepair != 0 && t.repairable(b, a.Repair) != nil:
		return 2
	}
	return 1
}

// refused tells why unit i cannot build now, "" if it can.
func (t *tick) refused(i int) string {
	b, a := &t.bodies[i], &t.state.Acts[i]
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
	case len(t.bodies) >= codecraft.MaxUnits:
		return "the map is full"
	}
	used, provided := int32(0), int32(0)
	for n := range t.bodies {
		c := &t.bodies[n]
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

// cost is what one more of a type costs a player.
func (t *tick) cost(p sim.Player, k codecraft.Type) int32 {
	has := int32(0)
	for i := range t.bodies {
		if c := &t.bodies[i]; c.Type == k && c.Owner == p && (c.health > 0 || !t.rules.DeadAreFree) {
			has++
		}
	}
	return t.rules.CostOf(k, has)
}

// build checks that unit i could build e now, and does it.
func (t *tick) build(e *Entity, i int) *Difference {
	if why := t.refused(i); why != "" {
		return t.differs(e.ID, "build", e.Type, "nothing: "+why)
	}
	b := &t.bodies[i]
	o := &t.rules.Types[e.Type]
	t.resource[b.Owner] -= t.cost(b.Owner, e.Type)
	b.acted = true
	health := o.MaxHealth
	if init := t.rules.Types[b.Type].InitHealth; init > 0 {
		health = min(health, init)
	}
	t.occupied.AddSquare(int(e.X), int(e.Y), int(o.Size))
	t.bodies = append(t.bodies, body{
		Unit:   codecraft.Unit{ID: uint32(e.ID), X: uint8(e.X), Y: uint8(e.Y), Type: e.Type, Owner: b.Owner},
		health: health, toX: int(e.X), toY: int(e.Y),
	})
	t.counts[CountBuilds]++
	return nil
}

// repairs does the repair phase, which has nothing of chance.
func (t *tick) repairs() *Difference {
	var done []*body // what is repaired, once for each who does it
	var power []int32
	for i := range t.state.Units[:t.state.N] {
		b, a := &t.bodies[i], &t.state.Acts[i]
		k := &t.rules.Types[b.Type]
		if !b.Active || b.acted || !k.CanRepair {
			continue
		}
		if b.dies { // nobody knows what it did
			for n := range t.bodies {
				if c := &t.bodies[n]; t.repairable(b, c.ID) != nil {
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

// repairable is what unit b can repair now under that id, or nil.
func (t *tick) repairable(b *body, id uint32) *body {
	i, ok := findByID(t.bodies, int32(id), func(c *body) int32 { return int32(c.ID) })
	if !ok {
		return nil
	}
	c, k := &t.bodies[i], &t.rules.Types[b.Type]
	full := c.health >= t.rules.Types[c.Type].MaxHealth
	if !k.Repairs.Set().Has(c.Type) || c.health == 0 || full && !t.rules.RepairFull || c.Owner != b.Owner && !t.rules.RepairOthers {
		return nil
	}
	if codecraft.Gap(int(b.X), int(b.Y), int(k.Size), int(c.X), int(c.Y), t.size(c.Type)) != 1 {
		return nil
	}
	return c
}
