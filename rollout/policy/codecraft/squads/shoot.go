package squads

import (
	"moonfarm/sim/codecraft"
)

// shots is the health of each enemy that the shots of this tick leave.
type shots struct {
	left    [codecraft.MaxUnits]int16
	inRange [codecraft.MaxUnits]uint8 // of own units: enemy fighters in range
}

// shoot deals out the attacks: the fighters with the fewest targets choose first,
// each the enemy that a blow kills, else the one with the least health left.
func (c *Commander) shoot() {
	for _, at := range c.foes.at[:c.foes.n] {
		c.shots.left[at] = c.State.Units[at].Health
	}
	for few := 1; few <= 4; few++ {
		for _, at := range c.Army.All() {
			i := int(at)
			if c.busy[i] {
				continue
			}
			if few == 1 {
				c.shots.inRange[i] = c.armedInRange(i)
			}
			n := int(c.shots.inRange[i])
			if n == few || few == 4 && n > few {
				c.aim(i)
			}
		}
	}
	for _, at := range c.Army.All() {
		if i := int(at); !c.busy[i] && c.shots.inRange[i] == 0 {
			c.aimAtAny(i)
		}
	}
}

// armedInRange counts the enemy fighters in range of a unit, up to 255.
func (c *Commander) armedInRange(i int) uint8 {
	u := &c.State.Units[i]
	reach := int16(c.Rules.Types[u.Type].Range)
	n := 0
	for k := range c.foes.arms[:c.foes.armed] {
		if a := &c.foes.arms[k]; c.gapTo(u, int(a.unit)) <= reach {
			n++
		}
	}
	return uint8(min(n, 255))
}

// gapTo is the distance from an own unit to unit j.
func (c *Commander) gapTo(u *codecraft.Unit, j int) int16 {
	x, y, size := c.Corner(j)
	return int16(codecraft.Gap(int(u.X), int(u.Y), int(c.Rules.Types[u.Type].Size), x, y, size))
}

// aim has a unit attack an enemy fighter in range.
func (c *Commander) aim(i int) {
	u := &c.State.Units[i]
	t := &c.Rules.Types[u.Type]
	best, value := -1, 0
	for k := range c.foes.arms[:c.foes.armed] {
		a := &c.foes.arms[k]
		if !t.CanAttack || c.gapTo(u, int(a.unit)) > int16(t.Range) {
			continue
		}
		if v := c.worthShot(int(a.unit), int(t.Damage)); best < 0 || v > value {
			best, value = int(a.unit), v
		}
	}
	if best >= 0 {
		c.attack(i, best, int16(t.Damage))
	}
}

// worthShot orders the targets: first enemies that a blow kills, then hurt ones and ones
// aimed at, then all others, and dead ones last.
func (c *Commander) worthShot(j, damage int) int {
	left := int(c.shots.left[j])
	switch {
	case left <= 0:
		return left
	case left <= damage:
		return 1 << 16
	}
	return 1<<15 - left
}

// aimAtAny has a unit attack any enemy in range.
func (c *Commander) aimAtAny(i int) {
	u := &c.State.Units[i]
	t := &c.Rules.Types[u.Type]
	if !t.CanAttack {
		return
	}
	best, value := -1, 0
	for _, at := range c.foes.at[:c.foes.n] {
		if c.gapTo(u, int(at)) > int16(t.Range) {
			continue
		}
		v := c.worthShot(int(at), int(t.Damage))
		if c.Rules.Types[c.State.Units[at].Type].CanMove {
			v += 1 << 17
		}
		if best < 0 || v > value {
			best, value = int(at), v
		}
	}
	if best >= 0 {
		c.attack(i, best, int16(t.Damage))
	}
}

// attack has a unit attack another, or any in range should that be gone.
func (c *Commander) attack(i, j int, damage int16) {
	c.shots.left[j] -= damage
	var a codecraft.Action
	a.AddTarget(c.State.Units[j].ID)
	c.give(i, a)
	c.stay(i)
}
