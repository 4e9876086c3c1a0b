package plain

import (
	"slices"

	"moonfarm/sim"
	"moonfarm/sim/codecraft"
)

// Play plays one tick with the stored actions (RULES.md, 3).
func (g *Game) Play() sim.Status {
	g.Plan()
	g.Attack()
	g.Build()
	g.Repair()
	g.Move()
	return g.CleanUp()
}

// Plan finds the possible targets of attacks and the possible next cells of all entities, and draws
// their next cells (RULES.md, 3.3 to 3.11).
func (g *Game) Plan() {
	g.Attacks, g.Died = nil, nil
	g.sight = [sim.MaxPlayers]*[side][side]bool{}
	g.goals = map[attacker]*[side][side]bool{}
	g.cover()
	for _, e := range g.Entities {
		e.acted, e.next = false, nil
		e.victims = g.candidates(e)
		e.steps = g.nextCells(e)
		var open []int
		for d := range directions {
			if e.steps>>d&1 != 0 {
				open = append(open, d)
			}
		}
		if len(open) > 0 {
			next := e.At.step(open[g.draw(chanceStep, e.ID, len(open))])
			e.next = &next
		}
	}
}

// Victims returns the ids of the entities that e may attack by its attack action, in order.
func (e *Entity) Victims() (ids []uint32) {
	for _, v := range e.victims {
		ids = append(ids, v.ID)
	}
	return ids
}

// Steps returns the directions of the possible next cells of an entity.
func (e *Entity) Steps() codecraft.Steps { return e.steps }

// valid reports whether an auto attack of u may have e as its target. An auto attack neither attacks
// nor chases an entity that the player does not see.
func (g *Game) valid(u, e *Entity) bool {
	return u.Action.Auto.Valid.Has(e.Type) && e.Owner != u.Owner && (g.Rules.ChaseUnseen || g.visible(u.Owner, e))
}

// candidates returns the entities that u may attack by its action (RULES.md, 3.13 and 3.14).
func (g *Game) candidates(u *Entity) (list []*Entity) {
	if !u.Active || !g.of(u).CanAttack || u.Action == nil {
		return nil
	}
	reach := int(g.of(u).Range)
	if u.Action.Target != nil {
		e := g.Find(*u.Action.Target)
		if e != nil && e != u && u.distance(e) <= reach {
			return []*Entity{e}
		}
	}
	if u.Action.Auto == nil {
		return nil
	}
	if g.Rules.RangeGates {
		reach = min(reach, u.Action.Auto.Range)
	}
	nearest := reach
	for _, e := range g.Entities {
		if d := u.distance(e); d <= reach && g.valid(u, e) {
			list = append(list, e)
			nearest = min(nearest, d)
		}
	}
	if g.Rules.NearestVictim {
		list = slices.DeleteFunc(list, func(e *Entity) bool { return u.distance(e) > nearest })
	}
	return list
}

// nextCells returns the directions of u's possible next cells. An entity with a target of its attack
// action has none.
func (g *Game) nextCells(u *Entity) codecraft.Steps {
	if !u.Active || !g.of(u).CanMove || u.Action == nil || len(u.victims) > 0 {
		return 0
	}
	if u.Action.Auto != nil && g.of(u).CanAttack {
		if set := g.chase(u); set != 0 {
			return set
		}
	}
	m := u.Action.Move
	if m == nil || m.Outside && g.Rules.OutsideIgnored {
		return 0
	}
	if !m.Outside && m.To == u.At {
		return 0
	}
	for d := range directions {
		if !m.Outside && m.To == u.At.step(d) {
			return 1 << d
		}
	}
	return g.walk(u, m)
}

// rests reports whether an entity was killed in this tick and may do nothing more.
func (g *Game) rests(e *Entity) bool { return e.Health == 0 && g.Rules.DeadRest }

// Attack plays the attack phase (RULES.md, 3.12 to 3.17).
func (g *Game) Attack() {
	var order []*Entity
	for _, e := range g.Entities {
		if e.Active && g.of(e).CanAttack {
			order = append(order, e)
		}
	}
	g.shuffle(chanceAttacks, order)
	for _, u := range order {
		if v := g.victim(u); v != nil && !g.rests(u) {
			g.hit(u, v)
		}
	}
}

// victim returns the entity that u attacks, or nil.
func (g *Game) victim(u *Entity) *Entity {
	if len(u.victims) > 0 {
		return u.victims[g.draw(chanceVictim, u.ID, len(u.victims))]
	}
	if u.next != nil {
		if e := g.occupied(*u.next); e != nil && e.Owner != u.Owner {
			return e
		}
	}
	return nil
}

// hit executes an attack.
func (g *Game) hit(u, v *Entity) {
	p := g.of(u)
	g.Attacks = append(g.Attacks, codecraft.Hit{Attacker: u.ID, Victim: v.ID})
	u.acted = true
	dealt := min(int(p.Damage), v.Health)
	v.Health -= dealt
	if p.Collects {
		got := int32(dealt) * g.of(v).Yield
		g.Resource[u.Owner] += got
		g.Score[u.Owner] += got
	}
	if dealt > 0 && v.Health == 0 && v.Owner != nobody && v.Owner != u.Owner {
		g.Score[u.Owner] += g.of(v).DestroyScore
	}
}

// Build plays the build phase (RULES.md, 3.18 to 3.21).
func (g *Game) Build() {
	var order []*Entity
	for _, e := range g.Entities {
		able := g.of(e).CanBuild || g.Rules.UnableTakeID
		if e.Active && e.Action != nil && e.Action.Build != nil && able && !e.acted && !g.rests(e) {
			order = append(order, e)
		}
	}
	g.shuffle(chanceBuilds, order)
	for _, u := range order {
		b := u.Action.Build
		if g.buildable(u, b) {
			u.acted = true
			g.create(u, b)
		}
		g.NextID++
	}
}

// counts reports whether an entity counts for costs and population.
func (g *Game) counts(e *Entity) bool { return e.Health > 0 || !g.Rules.DeadAreFree }

// buildable reports whether u's build action succeeds.
func (g *Game) buildable(u *Entity, b *Build) bool {
	if !g.of(u).CanBuild || !slices.Contains(g.of(u).Builds.All(), b.Type) {
		return false
	}
	p := &g.Rules.Types[b.Type]
	for _, c := range square(b.At, int(p.Size)) {
		if !c.inside() || g.occupied(c) != nil {
			return false
		}
	}
	if gap(u.At, u.size, b.At, int(p.Size)) != 1 {
		return false
	}
	used, provided, units := p.PopUse, int32(0), 0
	for _, e := range g.Entities {
		if e.Owner != nobody {
			units++
		}
		if e.Owner != u.Owner || !g.counts(e) {
			continue
		}
		used += g.of(e).PopUse
		if e.Active {
			provided += g.of(e).PopProvide
		}
	}
	limited := p.PopUse > 0 || g.Rules.PopulationAll
	return units < codecraft.MaxUnits && g.Resource[u.Owner] >= g.price(u.Owner, b.Type) && (used <= provided || !limited)
}

// price returns the price of an entity of a type for a player.
func (g *Game) price(owner int, t codecraft.Type) int32 {
	p := &g.Rules.Types[t]
	price := p.Cost
	if p.CanMove {
		for _, e := range g.Entities {
			if e.Owner == owner && e.Type == t && g.counts(e) {
				price++
			}
		}
	}
	return price
}

// create puts the entity that u builds on the map.
func (g *Game) create(u *Entity, b *Build) {
	p := &g.Rules.Types[b.Type]
	health := p.MaxHealth
	if first := g.of(u).InitHealth; first > 0 {
		health = min(first, p.MaxHealth)
	}
	g.Resource[u.Owner] -= g.price(u.Owner, b.Type)
	e := &Entity{ID: g.NextID, Owner: u.Owner, Type: b.Type, At: b.At, Health: int(health), size: int(p.Size)}
	g.Entities = append(g.Entities, e)
	for _, c := range e.cells() {
		g.grid[c.X][c.Y] = e
	}
}

// Repair plays the repair phase (RULES.md, 3.22 and 3.23).
func (g *Game) Repair() {
	before := map[*Entity]int{}
	for _, e := range g.Entities {
		before[e] = e.Health
	}
	for _, u := range g.Entities {
		p := g.of(u)
		if !u.Active || !p.CanRepair || u.Action == nil || u.Action.Repair == nil || u.acted || g.rests(u) {
			continue
		}
		e := g.Find(*u.Action.Repair)
		if e == nil || e.Owner == nobody || before[e] == 0 || !slices.Contains(p.Repairs.All(), e.Type) || u.distance(e) != 1 {
			continue
		}
		if e.Owner != u.Owner && !g.Rules.RepairOthers {
			continue
		}
		most := int(g.of(e).MaxHealth)
		if before[e] >= most && !g.Rules.RepairFull {
			continue
		}
		u.acted = true
		e.Health = max(e.Health, min(most, e.Health+int(p.Power)))
	}
}

// Move plays the move phase (RULES.md, 3.24 and 3.25).
func (g *Game) Move() {
	for moved := true; moved; {
		moved = false
		contenders := map[Pos][]*Entity{}
		for _, u := range g.Entities {
			if u.next == nil || u.acted || u.Health == 0 && !g.Rules.DeadMove || g.occupied(*u.next) != nil {
				continue
			}
			contenders[*u.next] = append(contenders[*u.next], u)
		}
		for c, list := range contenders {
			u := list[g.draw(chanceCell, uint32(c.Y*side+c.X), len(list))]
			g.grid[u.At.X][u.At.Y] = nil
			g.grid[c.X][c.Y] = u
			u.At, u.next, moved = c, nil, true
		}
	}
}

// CleanUp plays the clean-up (RULES.md, 3.26 and 3.27) and returns the status of the game.
func (g *Game) CleanUp() sim.Status {
	var left []*Entity
	var resources []uint32
	for _, e := range g.Entities {
		switch {
		case e.Health > 0:
			left = append(left, e)
		case e.Owner == nobody:
			resources = append(resources, e.ID)
		default:
			g.Died = append(g.Died, e.ID)
		}
	}
	g.Died = append(g.Died, resources...)
	g.Entities = left
	for _, e := range g.Entities {
		if !e.Active && e.Health >= int(g.of(e).MaxHealth) {
			e.Active = true
			g.Score[e.Owner] += g.of(e).BuildScore
		}
	}
	g.Tick++
	return g.end()
}

// end returns the status of the game (RULES.md, 5).
func (g *Game) end() sim.Status {
	lives := map[int]bool{}
	for _, e := range g.Entities {
		lifeless := g.Rules.WallsDoNotLive && (e.Type == codecraft.Wall || e.Type == codecraft.House)
		if e.Owner != nobody && !lifeless {
			lives[e.Owner] = true
		}
	}
	alone := g.players() == 1 && !g.Rules.SoloEnds
	if len(lives) <= 1 && !alone {
		for p := range lives {
			g.bonus(p)
		}
		return sim.Over
	}
	if g.Tick >= g.Rules.MaxTurns {
		return sim.Over
	}
	return sim.Running
}

// bonus gives the last player left the points that it needs to win.
func (g *Game) bonus(last int) {
	if !g.Rules.Bonus {
		return
	}
	for p := range g.players() {
		if p != last {
			g.Score[last] = max(g.Score[last], g.Score[p]+g.Rules.BonusOver)
		}
	}
}
