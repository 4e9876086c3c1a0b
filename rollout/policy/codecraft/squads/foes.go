package squads

import (
	"moonfarm/sim/codecraft"
)

// Distances in cells, and strength in tenths of a ranged unit with full health.
const (
	dangerMargin = 2  // distance beyond its range within which a fighter endangers builders
	clusterReach = 6  // distance within which enemy fighters fight together
	supportReach = 10 // distance to an enemy within which own fighters fight together
	homeReach    = 14 // distance to an own building within which enemies attack the base
	turretWorth  = 3  // strength of a turret, in fighters
	mostFoes     = 512
)

// foes are the enemies' units in sight. The armed ones, at most mostFoes, can hit others;
// builders do not count as armed.
type foes struct {
	n     int
	at    [codecraft.MaxUnits]uint16
	armed int
	arms  [mostFoes]armed

	near         int // number of armed units near the own base that move
	nearX, nearY int // position of one of them
}

// armed is an enemy that fights.
type armed struct {
	unit   uint16
	x, y   int16
	reach  int16
	moves  bool
	worth  int32 // its strength
	theirs int32 // strength of the enemies within clusterReach, including it
	ours   int32 // strength of own fighters that can fight it
}

func (f *foes) add(i int, u *codecraft.Unit, t *codecraft.Properties) {
	f.at[f.n] = uint16(i)
	f.n++
	if !t.CanAttack || t.Collects || f.armed == mostFoes || !u.Active {
		return
	}
	f.arms[f.armed] = armed{unit: uint16(i), x: int16(u.X), y: int16(u.Y), reach: int16(t.Range), moves: t.CanMove, worth: strength(u, t)}
	f.armed++
}

// strength returns the strength of a fighter; melee counts less.
func strength(u *codecraft.Unit, t *codecraft.Properties) int32 {
	worth := int32(10)
	switch {
	case !t.CanMove:
		worth *= turretWorth
	case t.Range < 2:
		worth = 8
	}
	return worth * (1 + int32(u.Health)) / (1 + t.MaxHealth)
}

// measureFoes computes the strength of both sides around each enemy fighter.
func (c *Commander) measureFoes() {
	f := &c.foes
	f.near = 0
	arms := f.arms[:f.armed]
	for k := range arms {
		a := &arms[k]
		a.theirs, a.ours = 0, 0
		for j := range arms {
			if b := &arms[j]; distance(a.x, a.y, b.x, b.y) <= clusterReach {
				a.theirs += b.worth
			}
		}
		c.markDanger(a)
		if a.moves && c.aboutBase(a) {
			f.near++
			f.nearX, f.nearY = int(a.x), int(a.y)
		}
	}
	for _, i := range c.Army.All() {
		u := &c.State.Units[i]
		if !u.Active {
			continue
		}
		worth := strength(u, &c.Rules.Types[u.Type])
		for k := range arms {
			if a := &arms[k]; distance(a.x, a.y, int16(u.X), int16(u.Y)) <= supportReach {
				a.ours += worth
			}
		}
	}
	for _, i := range c.Fixed.All() {
		u := &c.State.Units[i]
		t := &c.Rules.Types[u.Type]
		if !u.Active || !t.CanAttack {
			continue
		}
		for k := range arms {
			if a := &arms[k]; distance(a.x, a.y, int16(u.X), int16(u.Y)) <= int16(t.Range)+1 {
				a.ours += strength(u, t)
			}
		}
	}
}

// distance returns the number of steps between two cells.
func distance(ax, ay, bx, by int16) int16 { return max(ax-bx, bx-ax) + max(ay-by, by-ay) }

// markDanger marks the cells where an enemy fighter can soon hit a builder.
func (c *Commander) markDanger(a *armed) {
	reach := int(a.reach)
	if a.moves {
		reach += dangerMargin
	}
	mark(&c.danger, int(a.x), int(a.y), reach)
}

// mark adds one to all cells up to a distance from a cell.
func mark(on *[cells]uint8, x0, y0, reach int) {
	for y := max(y0-reach, 0); y <= min(y0+reach, codecraft.Side-1); y++ {
		w := reach - max(y-y0, y0-y)
		for at, end := cellAt(max(x0-w, 0), y), cellAt(min(x0+w, codecraft.Side-1), y); at <= end; at++ {
			on[at] = min(on[at], 254) + 1
		}
	}
}

// fear returns the danger of a cell: the sum, over enemy fighters nearby, of how deep it is in
// their reach.
func (c *Commander) fear(at int) (sum int) {
	x, y := int16(at%wide-1), int16(at/wide-1)
	for k := range c.foes.arms[:c.foes.armed] {
		a := &c.foes.arms[k]
		if d := distance(x, y, a.x, a.y); d < a.reach+2*dangerMargin {
			sum += int(a.reach + 2*dangerMargin - d)
		}
	}
	return sum
}

// aboutBase reports whether an enemy is near to an own building.
func (c *Commander) aboutBase(a *armed) bool {
	for _, i := range c.Fixed.All() {
		x, y, size := c.Corner(int(i))
		if codecraft.Gap(x, y, size, int(a.x), int(a.y), 1) <= homeReach {
			return true
		}
	}
	return false
}
