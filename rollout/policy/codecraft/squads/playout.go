package squads

import (
	"moonfarm/sim"
	"moonfarm/sim/codecraft"
)

// option is a script of a portfolio: what a fighter does in a playout.
type option uint8

const (
	keep    option = iota // in the first tick its order of the script squads, if it is an own fighter; then it keeps its distance from stronger enemies and approaches others
	assault               // shoots, or approaches the nearest enemy
	hold                  // shoots, or stays
	leave                 // goes away from enemies that come near, else shoots or stays
	toRight               // takes a step in the first tick, as the next three; then it holds
	toLeft
	toUp
	toDown
	options
)

// stepX and stepY are the steps of toRight and the options after it.
var (
	stepX = [...]int{1, -1, 0, 0}
	stepY = [...]int{0, 0, 1, -1}
)

// Numbers of playouts.
const (
	directReach = 12 // distance up to which a fighter goes straight to an enemy, in cells
	clearance   = 2  // distance beyond the reach of an enemy within which a fighter leaves
	unitWorth   = 10 // worth of a movable unit beyond its points, in its cost
	stepWorth   = 6  // worth of a step of an own fighter towards the enemies, in points
	farthest    = 200
)

// fighter is an armed unit in a tick of a playout.
type fighter struct {
	unit          int32 // index in the state
	x, y          int16
	size          int16
	reach, damage int16
	left          int16 // health after the shots assigned in this tick
	worth         int32 // see strength
	moves         bool
	odds          odds // of the other side against it
}

// odds is the result of a comparison of strengths, once it is made.
type odds uint8

const (
	unknown odds = iota
	good
	bad
)

// side is a side of a playout.
type side struct {
	armed int
	arms  [codecraft.MaxUnits]fighter
	rest  int
	other [codecraft.MaxUnits]uint16 // the units that are not armed
	ways  *field                     // distances to the other side's units in the first tick
}

// playout plays a fight on by the exact rules, in a state with only the units nearby that the
// searching seat sees.
type playout struct {
	game   *codecraft.Game // without fog
	rules  *codecraft.Rules
	player sim.Player                 // the searching seat
	root   codecraft.State            // the first tick
	state  codecraft.State            // the current tick
	choice [codecraft.MaxUnits]option // by unit of state
	ids    [codecraft.MaxUnits]uint32 // of the units of state, before a tick
	sides  [2]side                    // 0: the searching seat; 1: all others
	first  bool                       // state is in the first tick
}

// run plays on from the root for some ticks, or until a side has no fighters, by the options of
// the units of root. It returns the value of the last state.
func (k *playout) run(choice *[codecraft.MaxUnits]option, ticks int) int32 {
	s := &k.state
	s.Clone(&k.root)
	copy(k.choice[:s.N], choice[:s.N])
	for t := range ticks {
		k.first = t == 0
		k.muster()
		if k.sides[0].armed == 0 || k.sides[1].armed == 0 {
			break
		}
		k.command(0)
		k.command(1)
		n := s.N
		for i := range s.Units[:n] {
			k.ids[i] = s.Units[i].ID
		}
		k.game.Tick(s)
		if s.N != n {
			k.follow()
		}
	}
	return k.value()
}

// follow moves the options of the units that are left to their new indices.
func (k *playout) follow() {
	from := 0
	for i := range k.state.Units[:k.state.N] {
		for k.ids[from] != k.state.Units[i].ID {
			from++
		}
		k.choice[i] = k.choice[from]
		from++
	}
}

// armedUnit reports whether a unit fights.
func armedUnit(u *codecraft.Unit, t *codecraft.Properties) bool {
	return u.Active && t.CanAttack && !t.Collects
}

// muster lists the units of both sides.
func (k *playout) muster() {
	for p := range k.sides {
		k.sides[p].armed, k.sides[p].rest = 0, 0
	}
	s := &k.state
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		q := &k.sides[1]
		if u.Owner == k.player {
			q = &k.sides[0]
		}
		t := &k.rules.Types[u.Type]
		if !armedUnit(u, t) {
			q.other[q.rest] = uint16(i)
			q.rest++
			continue
		}
		q.arms[q.armed] = fighter{unit: int32(i), x: int16(u.X), y: int16(u.Y), size: int16(t.Size), reach: int16(t.Range),
			damage: int16(t.Damage), left: u.Health, worth: strength(u, t), moves: t.CanMove}
		q.armed++
	}
}

// command gives the fighters of a side their actions.
func (k *playout) command(p int) {
	q, foes := &k.sides[p], &k.sides[1-p]
	for n := range q.arms[:q.armed] {
		f := &q.arms[n]
		how := k.choice[f.unit]
		if k.first && how == keep && p == 0 {
			k.expect(f, foes)
			continue
		}
		k.state.Acts[f.unit] = codecraft.Action{Parts: codecraft.Given}
		target, near, d := f.look(foes)
		switch {
		case k.first && how >= toRight && f.moves && k.enter(f, int(f.x)+stepX[how-toRight], int(f.y)+stepY[how-toRight]):
		case how == leave && f.moves && near >= 0 && d <= foes.arms[near].reach+clearance && k.flee(f, &foes.arms[near]):
		case target >= 0:
			e := &foes.arms[target]
			e.left -= f.damage
			k.state.Acts[f.unit].AddTarget(k.state.Units[e.unit].ID)
		case k.shootOther(f, foes) || !f.moves || how >= hold:
		case how == keep && near >= 0 && d <= aware && !k.favours(q, foes, near):
			k.distance(f, &foes.arms[near], d)
		case near >= 0 && d <= directReach:
			k.approach(f, q, int(foes.arms[near].x), int(foes.arms[near].y))
		default:
			k.descend(f, q)
		}
	}
}

// distance keeps a fighter at the distance from a stronger enemy at which squads wait.
func (k *playout) distance(f, e *fighter, d int16) {
	limit := int16(waitAt)
	if !e.moves {
		limit = e.reach + 1
	}
	if d < limit {
		k.flee(f, e)
	}
}

// expect subtracts the damage of a fighter's stored attack from the health left of its target.
func (k *playout) expect(f *fighter, foes *side) {
	a := &k.state.Acts[f.unit]
	if a.Parts&codecraft.HasTarget == 0 {
		return
	}
	for n := range foes.arms[:foes.armed] {
		if e := &foes.arms[n]; k.state.Units[e.unit].ID == a.Target {
			e.left -= f.damage
			return
		}
	}
}

// gap returns the distance between two fighters.
func (f *fighter) gap(e *fighter) int16 {
	if f.size == 1 && e.size == 1 {
		return distance(f.x, f.y, e.x, e.y)
	}
	return int16(codecraft.Gap(int(f.x), int(f.y), int(f.size), int(e.x), int(e.y), int(e.size)))
}

// look returns the armed enemy in range that is the best target, by the priorities of
// Commander.worthShot, and the nearest armed enemy with its distance; −1 if there is none.
func (f *fighter) look(foes *side) (target, near int, least int16) {
	target, near, least = -1, -1, 1<<14
	most := int32(0)
	for n := range foes.arms[:foes.armed] {
		e := &foes.arms[n]
		d := f.gap(e)
		if d < least {
			near, least = n, d
		}
		if d > f.reach {
			continue
		}
		worth := 1<<15 - int32(e.left)
		switch {
		case e.left <= 0:
			worth = int32(e.left)
		case e.left <= f.damage:
			worth = 1 << 16
		}
		if target < 0 || worth > most {
			target, most = n, worth
		}
	}
	return target, near, least
}

// shootOther lets a fighter attack an enemy in range that is not armed: a movable one, if there
// is any.
func (k *playout) shootOther(f *fighter, foes *side) bool {
	best := -1
	for _, at := range foes.other[:foes.rest] {
		u := &k.state.Units[at]
		t := &k.rules.Types[u.Type]
		if codecraft.Gap(int(f.x), int(f.y), int(f.size), int(u.X), int(u.Y), int(t.Size)) > int(f.reach) {
			continue
		}
		if best < 0 || t.CanMove {
			best = int(at)
		}
		if t.CanMove {
			break
		}
	}
	if best >= 0 {
		k.state.Acts[f.unit].AddTarget(k.state.Units[best].ID)
	}
	return best >= 0
}

// favours reports whether side q is strong enough to advance against an enemy, by the rule of
// Commander.favourable.
func (k *playout) favours(q, foes *side, near int) bool {
	e := &foes.arms[near]
	if e.odds == unknown {
		ours, theirs := int32(0), int32(0)
		for n := range foes.arms[:foes.armed] {
			if b := &foes.arms[n]; distance(e.x, e.y, b.x, b.y) <= clusterReach {
				theirs += b.worth
			}
		}
		for n := range q.arms[:q.armed] {
			if b := &q.arms[n]; distance(e.x, e.y, b.x, b.y) <= supportReach {
				ours += b.worth
			}
		}
		e.odds = bad
		if ours*10 >= theirs*bold {
			e.odds = good
		}
	}
	return e.odds == good
}

// value returns the material of the current state, less the steps of own fighters to the enemies.
func (k *playout) value() int32 {
	s, steps := &k.state, int32(0)
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		if t := &k.rules.Types[u.Type]; u.Owner == k.player && t.CanMove && armedUnit(u, t) {
			steps += int32(min(k.sides[0].ways.dist[cellAt(int(u.X), int(u.Y))], farthest))
		}
	}
	return k.material(s) - stepWorth*steps
}

// material returns the worth of the searching seat's units less the worth of the others, in
// points.
func (k *playout) material(s *codecraft.State) (sum int32) {
	for i := range s.Units[:s.N] {
		u := &s.Units[i]
		if w := k.worth(u); u.Owner == k.player {
			sum += w
		} else {
			sum -= w
		}
	}
	return sum
}

// worth returns the worth of a unit in points: half of it does not depend on its health.
func (k *playout) worth(u *codecraft.Unit) int32 {
	t := &k.rules.Types[u.Type]
	w := t.DestroyScore
	if t.CanMove {
		w += unitWorth * t.Cost
	}
	return int32(int64(w) * int64(t.MaxHealth+int32(u.Health)) / int64(2*t.MaxHealth))
}
