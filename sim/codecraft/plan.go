package codecraft

import (
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
)

// aim is the kind of target that a unit attacks by its attack action.
type aim uint8

const (
	aimNone   aim = iota
	aimTarget     // the target of its action is in range
	aimAuto       // a valid target of its auto attack is in range
)

// plan has the results of Plan.
type plan struct {
	aim   [MaxUnits]aim
	steps [MaxUnits]Steps
	sight [sim.MaxPlayers]bitboard.Square // under fog
	aims  aims
	paths paths
}

// Plan finds the targets that the units may attack in s with their stored actions, and their
// possible next cells. Steps and AppendVictims return these until the next Plan or Step, which
// calls Plan after it has stored the orders.
func (g *Game) Plan(s *State) {
	g.updateSight(s)
	g.aims.clear()
	for i := range s.Units[:s.N] {
		g.aim[i], g.steps[i] = aimNone, 0
		u, a := &s.Units[i], &s.Acts[i]
		if !u.Active || a.Parts&(HasTarget|HasAuto) == 0 {
			continue
		}
		t := &g.rules.Types[u.Type]
		if !t.CanAttack {
			continue
		}
		if g.aim[i] = g.takeAim(s, u, a, t); g.aim[i] == aimNone && t.CanMove && a.Parts&HasAuto != 0 {
			g.chase(s, i, u, a, t)
		}
	}
	for i := range g.aims.list[:g.aims.n] {
		g.chaseTargets(s, &g.aims.list[i])
	}
	for i := range s.Units[:s.N] {
		u, a := &s.Units[i], &s.Acts[i]
		if a.Parts&HasMove != 0 && g.aim[i] == aimNone && g.steps[i] == 0 && u.Active && g.rules.Types[u.Type].CanMove {
			g.steps[i] = g.moveSteps(i, u, a)
		}
	}
	g.walk(s)
}

// Steps returns the directions of the possible next cells of unit i: the first steps of all best
// paths (RULES.md, 3.11). The set is empty for units that do not move or that attack instead.
func (g *Game) Steps(i int) Steps { return g.steps[i] }

// AppendVictims appends the ids of the entities that unit i may attack by its attack action, in
// ascending order: its target if that is in range, else the valid targets of its auto attack in
// range. A unit without such targets attacks the entity in its way: see Steps.
func (g *Game) AppendVictims(dst []uint32, s *State, i int) []uint32 {
	switch g.aim[i] {
	case aimTarget:
		return append(dst, s.Acts[i].Target)
	case aimAuto:
		for _, v := range g.candidates(s, i) {
			dst = append(dst, v.id)
		}
	}
	return dst
}

// Draw returns what the next Step draws for unit i in the planned state: the id of the entity that
// it attacks by its attack action, and its next cell. A unit with a victim has no next cell; without
// one the id is 0, and ok tells whether there is a next cell.
func (g *Game) Draw(s *State, i int) (victim uint32, x, y int, ok bool) {
	u := &s.Units[i]
	switch g.aim[i] {
	case aimTarget:
		return s.Acts[i].Target, 0, 0, false
	case aimAuto:
		c := g.candidates(s, i)
		return c[draw(stream(s.Seed, s.Tick, chanceVictim), u.ID, len(c))].id, 0, 0, false
	}
	if g.steps[i] == 0 {
		return 0, 0, 0, false
	}
	cell := nextOf(stream(s.Seed, s.Tick, chanceStep), u, g.steps[i])
	return 0, int(cell) % Side, int(cell) / Side, cell != noCell
}

// updateSight finds the sight of each player, and the cells that the player believes free.
func (g *Game) updateSight(s *State) {
	g.paths.kinds = 0
	for p := range sim.Player(g.rules.Players) {
		if !g.rules.Fog {
			g.paths.terrain[p].Block(&s.Occupied)
			continue
		}
		g.Sight(&g.sight[p], s, p)
		seen := s.Occupied
		seen.And(&g.sight[p])
		g.paths.terrain[p].Block(&seen)
	}
}

// sees reports whether an auto attack of player p may have the unit as its target: under fog
// the player must see it, unless the rules say otherwise.
func (g *Game) sees(p sim.Player, u *Unit) bool {
	return !g.rules.Fog || g.rules.ChaseUnseen || g.sight[p].MeetsSquare(int(u.X), int(u.Y), int(g.rules.Types[u.Type].Size))
}

// sights has the distinct sight ranges of the types, the widest first, and the index of each
// type's range.
type sights struct {
	n      int
	ranges [Types]int
	of     [Types]uint8
}

// prepareSight fills g.sights.
func (g *Game) prepareSight() {
	t := &g.sights
	for next := maxSight; next >= 0; next-- {
		for k := range Types {
			if int(g.rules.Types[k].Sight) != next {
				continue
			}
			if t.n == 0 || t.ranges[t.n-1] != next {
				t.ranges[t.n] = next
				t.n++
			}
			t.of[k] = uint8(t.n - 1)
		}
	}
}

// Sight sets dst to the cells in sight of an entity of player p, with or without fog. A player
// sees an entity if one of its cells is in sight.
//
// The ranges nest: Sight grows the cells of the entities with the widest range by the
// difference to the next range, adds the cells of the entities with that range, and so on. So it
// takes as many steps as the widest range, however many entities there are.
func (g *Game) Sight(dst *bitboard.Square, s *State, p sim.Player) {
	if g.sights.n <= fewSights {
		var has [fewSights]bitboard.Square
		g.look(dst, s, p, has[:])
	} else {
		var has [Types]bitboard.Square
		g.look(dst, s, p, has[:])
	}
}

// fewSights is the number of distinct sight ranges in the presets. To clear the boards of all types would take
// longer than the rest.
const fewSights = 4

// look is Sight with empty boards for the cells of entities, by sight range.
func (g *Game) look(dst *bitboard.Square, s *State, p sim.Player, has []bitboard.Square) {
	t := &g.sights
	for i := range s.Units[:s.N] {
		if u := &s.Units[i]; u.Owner == p {
			has[t.of[u.Type]].AddSquare(int(u.X), int(u.Y), int(g.rules.Types[u.Type].Size))
		}
	}
	*dst = bitboard.Square{}
	for k := range t.n {
		dst.Or(&has[k])
		next := 0
		if k+1 < t.n {
			next = t.ranges[k+1]
		}
		dst.GrowBy(t.ranges[k] - next)
	}
}
